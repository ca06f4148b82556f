/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA tasks that are waited for: what they wait for, and whether it ended. */
#include <errno.h>
#include <netinet/in.h>

#include "core/fail.h"
#include "ops/task_type.h"

static bool takes_receive(enum pier_task_type type)
{
	return type == PIER_TASK_SEND || type == PIER_TASK_SEND_IMM ||
	       type == PIER_TASK_WRITE_IMM;
}

const char *pier__rdma_obstacle(const struct pier_task *task)
{
	const struct pier_conn *conn = task->conn;

	if (!conn->queues)
		return "";
	if (pier__conn_rnr(conn))
		return "the peer has no receive posted (RNR NAK): ";
	if (conn->queues->fab->rnr || !takes_receive(task->type))
		return "";
	return "the peer has no receive posted or does not answer, the device "
	       "does not say which: ";
}

static bool is_open(const struct pier_conn *conn)
{
	enum pier_conn_state state = pier_conn_state(conn);

	return state == PIER_CONN_INIT || state == PIER_CONN_CONNECTED;
}

static int ended(const struct pier_conn *conn)
{
	char gid[INET6_ADDRSTRLEN];

	if (conn->error)
		return pier__fail_again(conn->error,
					pier_conn_error_text(conn));
	return pier__fail(-ENOTCONN, "the connection to %s QPN 0x%06x has "
			  "ended", pier__gid_text(conn->remote_gid.raw, gid),
			  conn->remote.qpn);
}

int pier__rdma_recv_hope(const struct pier_task *task,
			 const struct pier_conn *conn)
{
	const struct pier__conn_owner *owner = &pier__rdma_of(task->ctx)->owner;
	struct pier__list *link = owner->conns.next;

	if (conn)
		return is_open(conn) ? 1 : ended(conn);
	for (; link != &owner->conns; link = link->next) {
		conn = pier__container_of(link, struct pier_conn, link);
		if (is_open(conn))
			return 1;
	}
	if (!pier__list_empty(&owner->listeners))
		return 1;
	return conn ? ended(conn) : 0;
}

int pier_task_wait_conn(struct pier_task *task, struct pier_conn *conn,
			int timeout_ms)
{
	const char *fault = NULL;
	int err;

	if (!task)
		return pier__no_object(__func__);
	if (task->type != PIER_TASK_RECEIVE)
		fault = "a connection, which is for receives only";
	else if (!conn)
		fault = "no connection";
	else if (conn->owner->ctx != task->ctx)
		fault = "a connection of another context";
	if (fault) {
		pier__fail(-EINVAL, "waited for with %s", fault);
		return pier__task_named(task, -EINVAL);
	}
	pier__conn_hold(conn);		/* a callback may destroy it */
	err = pier__task_wait(task, conn, timeout_ms);
	pier__conn_drop(conn);
	return err;
}
