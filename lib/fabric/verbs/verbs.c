/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/verbs/verbs.h"

static struct ibv_pd *verbs_pd(struct pier__fdev *fdev)
{
	return verbs_dev(fdev)->pd;
}

static struct ibv_qp *verbs_ibv(struct pier__qp *qp)
{
	return verbs_qp(qp)->ibv;
}

static const struct pier__fabric_dev verbs_dev_calls = {
	.list = pier__verbs_list,
	.open = pier__verbs_open,
	.adopt = pier__verbs_adopt,
	.close = pier__verbs_close,
	.query = pier__verbs_query,
	.event = pier__verbs_event,
	.reg = pier__verbs_reg,
	.dereg = pier__verbs_dereg,
	.pd = verbs_pd,
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
	.qp_create = pier__verbs_qp_create,
	.qp_modify = pier__verbs_qp_modify,
	.qp_destroy = pier__verbs_qp_destroy,
	.post = pier__verbs_post,
	.ibv = verbs_ibv,
};

const struct pier__fabric pier__verbs = {
	.name = "verbs",
	.dev = &verbs_dev_calls,
	.qp = &verbs_qp_calls,
};
