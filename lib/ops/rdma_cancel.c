/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA tasks that the program cancels. */
#include "cm/recall.h"
#include "ops/task_type.h"

static struct pier__rdma_task *rdma_task(struct pier_task *task)
{
	return pier__container_of(task, struct pier__rdma_task, task);
}

/* It was recalled. */
static void end(struct pier__posted *posted)
{
	struct pier__rdma_task *t =
		pier__container_of(posted, struct pier__rdma_task, posted);
	const struct pier__rdma_kind *kind = pier__container_of(
		(struct pier__task_ops *)(uintptr_t)pier__task_ops(&t->task),
		struct pier__rdma_kind, ops);

	posted->succeed = kind->succeed;
	pier__rdma_finish_failed(t, pier__task_cancelled(&t->task));
}

int pier__rdma_cancel_send(struct pier_task *task)
{
	struct pier__rdma_task *t = rdma_task(task);

	pier__conn_recall(task->conn, &t->posted, end, pier__rdma_name(t));
	return 0;
}

int pier__rdma_cancel_recv(struct pier_task *task)
{
	struct pier__rdma_task *t = rdma_task(task);
	struct pier__queues *queues = pier__rdma_of(task->ctx)->owner.queues;

	return pier__queues_recall(queues, &t->posted, end,
				   pier__rdma_name(t));
}
