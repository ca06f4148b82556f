/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>

#include <pier/error.h>

#include "fabric/soft/rc/qp.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/* With an address of IPv6 instead of one of IPv4, and the reverse. */
static struct soft_addr of_other_family(const struct soft_addr *addr)
{
	bool mapped = IN6_IS_ADDR_V4MAPPED(&addr->ip);
	struct soft_addr ret = *addr;

	inet_pton(AF_INET6, mapped ? "2001:db8::1" : "::ffff:192.0.2.1",
		  &ret.ip);
	return ret;
}

static void peers_that_cannot_be_addressed_are_refused(void)
{
	static const struct softpair_opts opts;
	struct soft_addr src, dst, other;
	struct softpair *pair = softpair_open(&opts, 1);
	struct softpair_end *a = &pair->end[0];
	struct soft_qp *qp;

	src = vnet_addr(a->io);
	dst = vnet_addr(pair->end[1].io);
	qp = softpair_qp(a);
	IS(softpair_init(qp, &pair->opts), 0);
	other = of_other_family(&dst);
	IS(softpair_rtr_by(qp, &pair->opts, 0, &src, &other, 5), -EINVAL);
	LIKE(pier_last_error(), "not both of IPv4 or both of IPv6");
	other = dst;
	other.port = 0;
	IS(softpair_rtr_by(qp, &pair->opts, 0, &src, &other, 5), -EINVAL);
	LIKE(pier_last_error(), "UDP port is 0");
	other.ip = in6addr_any;
	IS(softpair_rtr_by(qp, &pair->opts, 0, &src, &other, 5), -EINVAL);
	LIKE(pier_last_error(), ":: is no address of a host");
	IS(qp->state, IBV_QPS_INIT);
	IS(softpair_rtr_by(qp, &pair->opts, 0, &src, &dst, 5), 0);
	pier__soft_qp_destroy(qp);
	softpair_close(pair);
}

int main(void)
{
	TEST(peers_that_cannot_be_addressed_are_refused);
	return tap_done();
}
