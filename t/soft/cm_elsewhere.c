/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * The REJ of a request for an address at which no listener is, and its private
 * data.
 */
static struct pier__cm owner = { .elsewhere = "key.1234" };
static const uint8_t none[PIER__CM_REJ_DATA];
static struct in6_addr listen_ip;
static uint8_t got[PIER__CM_REJ_DATA];

/* What a REQ with @key as private data is answered with, in got. */
static bool asks_with(const char *key, bool is_known)
{
	struct cm_pair *pair = cm_open(3, false, 8);
	const struct cm_sent *rej = &pair->sent[SOFT_MAD_REJ];
	struct soft_addr src = pair->node[0].addr;
	struct soft_hdr hdr;
	struct soft_mad mad;
	uint8_t data[92];
	bool ok;

	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	memcpy(data + SOFT_MAD_IP_LEN, key, 4);
	pair->node[1].listener.ip = listen_ip;
	if (is_known)
		pier__soft_cm_owner(pair->node[1].cm, &owner);
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	memset(got, 0xee, sizeof(got));
	ok = IS(rej->count, 1) && IS(rej->mad.reason, ROCE_REJ_GID) &&
	     IS(rej->mad.info_len, 16) &&
	     OK(!memcmp(rej->mad.info, &listen_ip, 16)) &&
	     OK(pier__soft_mad_decode(rej->packet.data +
				      pier__soft_decode(rej->packet.data,
							rej->packet.len, &hdr),
				      SOFT_MAD_LEN, &mad)) &&
	     IS(mad.len, sizeof(got));
	if (ok)
		memcpy(got, mad.data, sizeof(got));
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	cm_close(pair);
	return ok;
}

static void a_client_of_pier_gets_the_address_as_private_data(void)
{
	if (!asks_with("key.", true))
		return;
	OK(!memcmp(got, owner.elsewhere, PIER__CM_ELSEWHERE_HEAD));
	OK(!memcmp(got + PIER__CM_ELSEWHERE_HEAD, &listen_ip, 16));
	OK(!memcmp(got + PIER__CM_ELSEWHERE, none,
		   sizeof(got) - PIER__CM_ELSEWHERE));
}

static void another_client_gets_none(void)
{
	if (asks_with("key?", true))
		OK(!memcmp(got, none, sizeof(got)));
	if (asks_with("key.", false))
		OK(!memcmp(got, none, sizeof(got)));
}

int main(void)
{
	inet_pton(AF_INET6, "::ffff:192.0.2.3", &listen_ip);
	TEST(a_client_of_pier_gets_the_address_as_private_data);
	TEST(another_client_gets_none);
	return tap_done();
}
