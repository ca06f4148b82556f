/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/graphs.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* A function of a graph changes the tasks of nodes that have not begun. */

static struct pier_dev *dev;

/* A function, and two copies after it. */
static struct adjust {
	struct pier_graph_node *n[3];
	struct pier_task *task, *copy[2];
	struct pier_buf *old[2];	/* their destinations, at 0 and at 8 */
	struct pier_buf *src, *new;	/* the latter at 16 */
	struct graphs_outcome outcome;
	int changed;			/* what the change returned */
} a;

static bool open_adjust(pier_graph_fn *fn)
{
	memset(&a, 0, sizeof(a));
	if (!graphs_open(dev))
		return false;
	IS(pier_graph_add_user(graphs.graph, fn, &a.n[0]), 0);
	for (int i = 0; i < 2; i++) {
		a.n[1 + i] = graphs_ctx_node(graphs.c.ctx);
		a.copy[i] = graphs_copy((size_t)i * 8);
		a.old[i] = graphs_copy_dst();
		graphs_order(a.n[i], a.n[1 + i]);
	}
	if (!graphs_start(graphs.graph))
		return false;
	a.new = copier_tail(&graphs.c, 16, 8);
	a.task = graphs_instance(graphs.graph);
	for (int i = 0; i < 2; i++)
		IS(pier_graph_task_set_task(a.task, a.n[1 + i], a.copy[i]), 0);
	return tap_holds();
}

static void close_adjust(void)
{
	pier_task_free(a.task);
	for (int i = 0; i < 2; i++)
		pier_task_free(a.copy[i]);
	pier_buf_put(a.new);
	graphs_put();
	graphs_close();
}

/* The first copy from @arg, into the new destination. */
static int redirect(void *arg)
{
	IS(pier_buf_refs(a.old[0]), 2);
	OK(pier_task_may_change(a.copy[0]));
	a.changed = pier_dma_task_set_bufs(a.copy[0], arg, a.new);
	IS(pier_task_submit(a.copy[0], 0), -EBUSY);
	IS(pier_task_free(a.copy[0]), -EBUSY);
	OK(!pier_task_may_free(a.copy[0]));
	return 0;
}

static void a_function_changes_the_next_task(void)
{
	struct pier_buf *src;

	if (!open_adjust(redirect))
		return;
	src = copier_data(&graphs.c, 0, 8);
	a.changed = 1;
	OK(pier_task_may_change(a.copy[0]));
	IS(pier_graph_task_set_arg(a.task, a.n[0], src), 0);
	IS(graphs_run(a.task, &a.outcome), 0);
	IS(a.changed, 0);
	OK(!graphs_copied(0));
	OK(graphs_copied(8));
	OK(graphs_copied(16));
	IS(pier_buf_refs(a.old[0]), 1);
	IS(pier_buf_refs(a.new), 1);
	IS(pier_buf_refs(src), 1);
	pier_buf_put(src);
	close_adjust();
}

/* Of nodes that wait it is held when the function has returned. */
static int redirect_last(void *arg)
{
	struct graphs_letter *letter = arg;

	if (letter->again == 1)
		IS(pier_dma_task_set_bufs(a.copy[1], a.src, a.new), 0);
	return graphs_write(arg);
}

static void what_it_is_changed_to_is_held(void)
{
	struct graphs_letter letter = { 'f', 0, 1 };

	if (!open_adjust(redirect_last))
		return;
	a.src = copier_data(&graphs.c, 0, 8);
	IS(pier_graph_task_set_arg(a.task, a.n[0], &letter), 0);
	pier_task_set_done(a.task, graphs_ended, &a.outcome);
	IS(pier_task_submit(a.task, 0), 0);
	pier_pe_progress(graphs.c.pe, 0);
	IS(letter.again, 0);
	IS(pier_buf_refs(a.old[1]), 1);
	IS(pier_buf_refs(a.new), 2);
	IS(pier_buf_refs(a.src), 2);
	pier_buf_put(a.src);
	OK(copier_count(&graphs.c, &a.outcome.calls, 1));
	IS(a.outcome.status, 0);
	OK(graphs_copied(16));
	IS(pier_buf_refs(a.new), 1);
	close_adjust();
}

static struct pier_task *stranger;	/* of another instance */

static int change_others(void *arg)
{
	(void)arg;
	a.changed = pier_task_set_timeout_ms(stranger, 1);
	OK(!pier_task_may_change(stranger));
	return 0;
}

static void it_changes_no_task_of_another_instance(void)
{
	struct graphs_letter gate = { 'g', 0, 1 << 30 };
	struct graphs_outcome outcome = { 0 };
	struct pier_graph_node *first, *next;
	struct pier_graph *mine, *other;
	struct pier_task *task;

	if (!open_adjust(change_others) || !IS(pier_graph_create(&other), 0))
		return;
	mine = graphs.graph;
	graphs.graph = other;
	first = graphs_letter_node();
	next = graphs_ctx_node(graphs.c.ctx);
	graphs_order(first, next);
	graphs_start(other);
	task = graphs_instance(other);
	stranger = graphs_copy(24);
	IS(pier_graph_task_set_arg(task, first, &gate), 0);
	IS(pier_graph_task_set_task(task, next, stranger), 0);
	pier_task_set_done(task, graphs_ended, &outcome);
	IS(pier_task_submit(task, 0), 0);
	IS(graphs_run(a.task, &a.outcome), 0);
	IS(a.changed, -EBUSY);
	gate.again = 0;
	OK(copier_count(&graphs.c, &outcome.calls, 1));
	OK(pier_task_may_change(stranger));
	pier_task_free(task);
	pier_task_free(stranger);
	pier_graph_destroy(other);
	graphs.graph = mine;
	close_adjust();
}

/* An instance that is a node's task: @arg is another task for its node. */
static struct pier_task *part;
static struct pier_graph_node *inner;

static int change_part(void *arg)
{
	a.changed = pier_graph_task_set_task(part, inner, arg);
	return 0;
}

static void it_sets_no_task_of_a_sub_graph(void)
{
	struct pier_graph_node *n[2];
	struct pier_graph *sub;
	struct pier_task *task, *copy[2];

	if (!graphs_open(dev) || !IS(pier_graph_create(&sub), 0))
		return;
	IS(pier_graph_add_ctx(sub, graphs.c.ctx, &inner), 0);
	IS(pier_graph_add_user(graphs.graph, change_part, &n[0]), 0);
	n[1] = graphs_ctx_node(pier_graph_ctx(sub));
	graphs_order(n[0], n[1]);
	if (!graphs_start(sub) || !graphs_start(graphs.graph))
		return;
	task = graphs_instance(graphs.graph);
	part = graphs_instance(sub);
	copy[0] = graphs_copy(0);
	copy[1] = graphs_copy(8);
	IS(pier_graph_task_set_task(part, inner, copy[0]), 0);
	IS(pier_graph_task_set_task(task, n[1], part), 0);
	IS(pier_graph_task_set_arg(task, n[0], copy[1]), 0);
	IS(graphs_run(task, &a.outcome), 0);
	IS(a.changed, -EBUSY);
	OK(graphs_copied(0));
	OK(!graphs_copied(8));
	pier_task_free(task);
	pier_task_free(part);
	pier_task_free(copy[0]);
	pier_task_free(copy[1]);
	graphs_put();
	pier_graph_destroy(graphs.graph);
	graphs.graph = sub;
	graphs_close();
}

/* A write of nothing becomes one of a buffer. */
static struct pier_task *write_task;
static struct pier_buf *piece, *far;

static int fill_write(void *arg)
{
	(void)arg;
	a.changed = pier_rdma_task_set_bufs(write_task, piece, far);
	IS(pier_task_submit(write_task, 0), -EBUSY);
	return 0;
}

static void a_write_of_nothing_gets_a_buffer(void)
{
	struct pier_graph_node *n[2];
	struct pier_task *task;
	struct pier_graph *graph;
	struct peer near, end;
	int status;

	if (!peer_pair(&near, &end, dev, NULL, 64) ||
	    !IS(pier_graph_create(&graph), 0))
		return;
	IS(pier_graph_add_user(graph, fill_write, &n[0]), 0);
	IS(pier_graph_add_ctx(graph, pier_rdma_ctx(near.rdma), &n[1]), 0);
	IS(pier_graph_add_dependency(graph, n[0], n[1]), 0);
	IS(pier_ctx_start(pier_graph_ctx(graph), near.pe), 0);
	piece = peer_data(&near, 0, 64);
	far = peer_far_tail(&near, 0, 64);
	memset(near.mem, 'w', 64);
	IS(pier_rdma_task_write(near.conn, NULL, NULL, &write_task), 0);
	IS(pier_graph_task(graph, &task), 0);
	IS(pier_graph_task_set_task(task, n[1], write_task), 0);
	for (int i = 0; i < 2; i++) {
		memset(end.mem, 0, 64);
		a.changed = 1;
		status = -EINPROGRESS;
		pier_task_set_done(task, peer_done, &status);
		IS(pier_task_submit(task, 0), 0);
		IS(peer_await(&status), 0);
		IS(a.changed, 0);
		IS(memcmp(near.mem, end.mem, 64), 0);
		pier_buf_reset(far);
		IS(pier_rdma_task_set_bufs(write_task, NULL, NULL), 0);
	}
	pier_task_free(task);
	pier_task_free(write_task);
	pier_buf_put(piece);
	pier_buf_put(far);
	pier_graph_destroy(graph);
	peer_unpair(&near, &end);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_function_changes_the_next_task);
	TEST(what_it_is_changed_to_is_held);
	TEST(it_changes_no_task_of_another_instance);
	TEST(it_sets_no_task_of_a_sub_graph);
	TEST(a_write_of_nothing_gets_a_buffer);
	pier_dev_close(dev);
	return tap_done();
}
