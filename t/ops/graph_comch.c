/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/clerk.h"
#include "t/lib/tap.h"

/* Requests of a Comm Channel as tasks of a graph. */

#define LEN 4096
#define ASKED 10		/* bytes of the request, and of its reply */

static struct pier_dev *dev;
static struct ask ask;

/* A function that holds a request back, and that. */
static struct held {
	struct pier_graph *graph;
	struct pier_task *task;
	bool back;
	int ended;
	struct pier_mmap *mmap;		/* for the reply */
	struct pier_buf_inventory *inv;
	struct pier_buf *dst;
} held;

static int hold_back(void *arg)
{
	(void)arg;
	return held.back ? -EAGAIN : 0;
}

static void has_ended(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), 0);
	held.ended++;
}

static bool open_graph(void)
{
	struct pier_graph_node *first = NULL, *next = NULL;

	if (!IS(pier_graph_create(&held.graph), 0))
		return false;
	IS(pier_graph_add_user(held.graph, hold_back, &first), 0);
	IS(pier_graph_add_ctx(held.graph, clerk.client.ctx, &next), 0);
	IS(pier_graph_add_dependency(held.graph, first, next), 0);
	IS(pier_ctx_start(pier_graph_ctx(held.graph), clerk.client.pe), 0);
	IS(pier_graph_task(held.graph, &held.task), 0);
	IS(pier_graph_task_set_task(held.task, next, ask.task), 0);
	pier_task_set_done(held.task, has_ended, NULL);
	return tap_holds();
}

static bool open_held(void)
{
	const uint32_t access = PIER_LOCAL_WRITE | PIER_REMOTE_WRITE;

	memset(&held, 0, sizeof(held));
	held.back = true;
	if (!clerk_open(dev, NULL, false) || !ask_take(&ask, 1, ASKED) ||
	    !IS(pier_mmap_map(dev, NULL, LEN, access, &held.mmap), 0) ||
	    !IS(pier_buf_inventory_create(1, &held.inv), 0))
		return false;
	IS(pier_buf_by_addr(held.inv, held.mmap, pier_mmap_addr(held.mmap), LEN,
			    &held.dst), 0);
	IS(pier_comch_task_set_reply_buf(ask.task, held.dst), 0);
	return open_graph();
}

static void close_held(void)
{
	pier_task_free(held.task);
	pier_task_free(ask.task);
	pier_graph_destroy(held.graph);
	clerk_close();
	pier_buf_inventory_destroy(held.inv);
	pier_mmap_destroy(held.mmap);
}

static void the_buffer_of_a_request_that_waits_is_held(void)
{
	struct pier_buf *more = NULL;

	if (open_held()) {
		IS(pier_task_submit(held.task, 0), 0);
		IS(pier_buf_refs(held.dst), 2);
		pier_buf_put(held.dst);
		IS(pier_buf_by_addr(held.inv, held.mmap,
				    pier_mmap_addr(held.mmap), LEN, &more),
		   -ENOBUFS);
		held.back = false;
		talker_count(&held.ended, 1);
		IS(pier_comch_reply_len(ask.task), ASKED);
		IS(memcmp(pier_mmap_addr(held.mmap), ask.msg, ASKED), 0);
		IS(pier_buf_inventory_free_count(held.inv), 1);
	}
	close_held();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(the_buffer_of_a_request_that_waits_is_held);
	pier_dev_close(dev);
	return tap_done();
}
