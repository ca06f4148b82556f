/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric's tables of the verbs device, and its counters. */
#include <errno.h>

#include "core/fail.h"
#include "fabric/verbs/sys.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"

static struct ibv_pd *verbs_pd(struct pier__fdev *fdev)
{
	return verbs_dev(fdev)->pd;
}

static struct ibv_qp *verbs_ibv(struct pier__qp *qp)
{
	return verbs_qp(qp)->ibv;
}

static int verbs_counters(struct pier__fdev *fdev, const struct pier__qp *qp,
			  struct pier_counters *ret)
{
	const struct pier__port *port = &fdev->port;

	if (qp)
		return pier__fail(-EOPNOTSUPP, "%s counts by port, not by "
				  "connection", port->name);
	pier__sys_counters("", port->name, port->port, ret);
	if (!ret->count)
		return pier__fail(-EOPNOTSUPP, "%s port %u has no counters in "
				  "/sys/class/infiniband", port->name,
				  port->port);
	return 0;
}

/* Other processes read the counters of a port in sysfs. */
static int verbs_counted(int pid, struct pier__counteds *list)
{
	(void)pid;
	(void)list;
	return 0;
}

static const struct pier__fabric_dev verbs_dev_calls = {
	.list = pier__verbs_list,
	.open = pier__verbs_open,
	.adopt = pier__verbs_adopt,
	.close = pier__verbs_close,
	.query = pier__verbs_query,
	.event = pier__verbs_event,
	.reg = pier__verbs_reg,
	.reg_dmabuf = pier__verbs_reg_dmabuf,
	.dereg = pier__verbs_dereg,
	.pd = verbs_pd,
	.counters = verbs_counters,
	.counted = verbs_counted,
};

static const struct pier__fabric_qp verbs_qp_calls = {
	.chan_create = pier__verbs_chan_create,
	.chan_destroy = pier__verbs_chan_destroy,
	.chan_clear = pier__verbs_chan_clear,
	.cq_create = pier__verbs_cq_create,
	.cq_destroy = pier__verbs_cq_destroy,
	.poll = pier__verbs_poll,
	.arm = pier__verbs_arm,
	.srq_create = pier__verbs_srq_create,
	.srq_destroy = pier__verbs_srq_destroy,
	.srq_post = pier__verbs_srq_post,
	.srq_recall = NULL,
	.qp_create = pier__verbs_qp_create,
	.qp_modify = pier__verbs_qp_modify,
	.qp_destroy = pier__verbs_qp_destroy,
	.post = pier__verbs_post,
	.rnr = NULL,
	.psns = pier__verbs_qp_psns,
	.fault = pier__verbs_qp_fault,
	.refused = NULL,
	.ibv = verbs_ibv,
};

static const struct pier__fabric_cm verbs_cm_calls = {
	.create = pier__verbs_cm_create,
	.destroy = pier__verbs_cm_destroy,
	.next = pier__verbs_cm_next,
	.listen = pier__verbs_cm_listen,
	.unlisten = pier__verbs_cm_unlisten,
	.resolve = pier__verbs_cm_resolve,
	.connect = pier__verbs_cm_connect,
	.accept = pier__verbs_cm_accept,
	.establish = pier__verbs_cm_establish,
	.reject = pier__verbs_cm_reject,
	.disconnect = pier__verbs_cm_disconnect,
	.release = pier__verbs_cm_release,
	.qp_attr = pier__verbs_cm_qp_attr,
};

const struct pier__fabric pier__verbs = {
	.name = "verbs",
	.dev = &verbs_dev_calls,
	.qp = &verbs_qp_calls,
	.cm = &verbs_cm_calls,
};
