/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/verbs.h>

#include "cm/conn_impl.h"
#include "core/fail.h"
#include "mem/buf_impl.h"

int pier_conn_rkey(struct pier_conn *conn, const struct pier_buf *buf,
		   uint32_t *ret)
{
	if (!conn)
		return pier__no_object(__func__);
	if (!buf->mmap->remote)
		return pier__fail(-EINVAL, "the buffer is local memory: its "
				  "key is that of pier_buf_rkey()");
	return pier__conn_rkey(conn, buf->mmap, ret);
}

int pier_conn_qp(const struct pier_conn *conn, struct ibv_qp **ret)
{
	struct ibv_qp *qp;

	if (!conn)
		return pier__no_object(__func__);
	if (!conn->qp)
		return pier__fail(-ENOTCONN, "the connection is closed");
	qp = conn->queues->fab->ibv(conn->qp);
	if (!qp)
		return pier__fail(-EOPNOTSUPP, "%s has no verbs queue pair",
				  conn->queues->dev->info.port.name);
	*ret = qp;
	return 0;
}
