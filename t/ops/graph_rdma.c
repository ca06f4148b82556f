/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Graphs with nodes that move data between peers. */

#define LEN 4096
#define PIECE 512
#define WRITES (LEN / PIECE)
#define QUEUE 2		/* writes on the connection at a time */

static struct pier_dev *dev;
static struct peer a, b;

/* Writes of all pieces of @a's memory into @b's, and then a function. */
static struct writes {
	struct pier_graph *graph;
	struct pier_graph_node *node[WRITES], *last;
	struct pier_buf *src[WRITES], *dst[WRITES];
	struct pier_task *task[WRITES], *instance;
	int calls;			/* of the function */
} writes;

static int compare(void *arg)
{
	writes.calls++;
	return memcmp(a.mem, b.mem, LEN) ? -EILSEQ : *(int *)arg;
}

static bool open_nodes(void)
{
	struct pier_ctx *ctx = pier_rdma_ctx(a.rdma);

	IS(pier_graph_create(&writes.graph), 0);
	IS(pier_graph_add_user(writes.graph, compare, &writes.last), 0);
	for (int i = 0; i < WRITES; i++) {
		IS(pier_graph_add_ctx(writes.graph, ctx, &writes.node[i]), 0);
		IS(pier_graph_add_dependency(writes.graph, writes.node[i],
					     writes.last), 0);
	}
	return IS(pier_ctx_start(pier_graph_ctx(writes.graph), a.pe), 0);
}

static bool open_writes(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.conn_send_queue = QUEUE };

	memset(&writes, 0, sizeof(writes));
	if (!peer_pair(&a, &b, dev, &cfg, LEN) || !open_nodes() ||
	    !IS(pier_graph_task(writes.graph, &writes.instance), 0))
		return false;
	for (size_t i = 0; i < WRITES; i++) {
		writes.src[i] = peer_data(&a, i * PIECE, PIECE);
		writes.dst[i] = peer_far_tail(&a, i * PIECE, PIECE);
		IS(pier_rdma_task_write(a.conn, writes.src[i], writes.dst[i],
					&writes.task[i]), 0);
		IS(pier_graph_task_set_task(writes.instance, writes.node[i],
					    writes.task[i]), 0);
	}
	return tap_holds();
}

static void close_writes(void)
{
	for (int i = 0; i < WRITES; i++) {
		pier_task_free(writes.task[i]);
		pier_buf_put(writes.src[i]);
		pier_buf_put(writes.dst[i]);
	}
	pier_task_free(writes.instance);
	pier_graph_destroy(writes.graph);
	peer_unpair(&a, &b);
}

static int run(int *result)
{
	int status = -EINPROGRESS;

	IS(pier_graph_task_set_arg(writes.instance, writes.last, result), 0);
	pier_task_set_done(writes.instance, peer_done, &status);
	IS(pier_task_submit(writes.instance, 0), 0);
	return peer_await(&status);
}

static void more_nodes_than_the_queue_holds_begin_one_after_the_other(void)
{
	int result = 0;

	if (!open_writes())
		return;
	IS(pier_task_submit(writes.instance, 8), -EINVAL);
	for (unsigned int i = 0; i < 3; i++) {
		peer_fill(&a, i);
		for (int j = 0; j < WRITES; j++)
			pier_buf_reset(writes.dst[j]);
		IS(run(&result), 0);
	}
	IS(writes.calls, 3);
	OK(!strstr(pier_last_error(), "queue"));	/* a full one is none */
	close_writes();
}

static void the_error_of_a_connection_is_that_of_the_instance(void)
{
	int result = 0;

	if (!open_writes())
		return;
	IS(pier_conn_disconnect(a.conn), 0);
	OK(peer_conn(a.conn, PIER_CONN_RESET));
	IS(run(&result), -ENOTCONN);
	IS(writes.calls, 0);
	close_writes();
}

/* That of a device names addresses and limits, and is long. */
static void a_long_message_of_a_node_is_that_of_the_instance(void)
{
	const char *text;
	int result = 0;

	if (!open_writes())
		return;
	IS(pier_mmap_stop(b.mmap), 0);
	OK(run(&result) < 0);
	for (int i = 0; i < WRITES; i++) {
		text = pier_task_error_text(writes.task[i]);
		if (strstr(text, "the peer refused access"))
			break;
	}
	LIKE(text, "the peer refused access");
	LIKE(pier_task_error_text(writes.instance), strchr(text, ' '));
	OK(strlen(text) > 160);
	close_writes();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(more_nodes_than_the_queue_holds_begin_one_after_the_other);
	TEST(the_error_of_a_connection_is_that_of_the_instance);
	TEST(a_long_message_of_a_node_is_that_of_the_instance);
	pier_dev_close(dev);
	return tap_done();
}
