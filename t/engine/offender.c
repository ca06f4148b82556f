/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

#include <pier/pier.h>

/*
 * One thread is inside a call on an engine while another one makes a call; and
 * engines that are handed over.  Only a debug build detects the former.
 */

static struct pier_pe *pe;
static struct pier_func *func;
static struct pier_graph *graph;	/* of one node */
static struct pier_graph_node *node;
static struct pier_dev *dev;
static struct pier_rdma *rdma;
static struct pier_task *task;

static bool begin(void)
{
	return IS(pier_pe_create(&pe), 0) && IS(pier_func_create(&func), 0) &&
	       IS(pier_ctx_start(pier_func_ctx(func), pe), 0) &&
	       IS(pier_graph_create(&graph), 0) &&
	       IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &node), 0) &&
	       IS(pier_ctx_start(pier_graph_ctx(graph), pe), 0) &&
	       IS(pier_dev_open(NULL, &dev), 0) &&
	       IS(pier_rdma_create(dev, &rdma), 0) &&
	       IS(pier_ctx_start(pier_rdma_ctx(rdma), pe), 0);
}

static void end(void)
{
	pier_rdma_destroy(rdma);
	pier_graph_destroy(graph);
	pier_func_destroy(func);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Work until @limit, or until @task is complete. */
static void complete(struct pier_task *which)
{
	long long limit = limit_from_now();

	while (pier_task_status(which) == -EINPROGRESS && limit_holds(limit))
		pier_pe_wait(pe, 100);
	IS(pier_task_status(which), 0);
}

static void *use(void *arg)
{
	(void)arg;
	IS(pier_task_submit(task, 0), 0);
	complete(task);
	return NULL;
}

/* No call is inside while another thread works with it, and then this one. */
static void an_engine_is_handed_over(void)
{
	pthread_t thread;

	if (!begin())
		return;
	IS(pier_func_task_call(func, nothing, NULL, &task), 0);
	pthread_create(&thread, NULL, use, NULL);
	pthread_join(thread, NULL);
	use(NULL);
	pier_task_free(task);
	end();
}

#ifdef PIER_DEBUG

static struct pier_task *inner;
static atomic_int held;			/* 1: the owner is in its callback, */
					/* 2: it may leave */
static pid_t owner_tid;

static int hold(void *arg)
{
	long long limit = limit_from_now();

	(void)arg;
	IS(pier_task_submit(inner, 0), 0);	/* the owner may */
	atomic_store(&held, 1);
	while (atomic_load(&held) != 2 && limit_nap(limit))
		;
	return 0;
}

static void *own(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "the owner");
	owner_tid = gettid();
	while (atomic_load(&held) != 2)
		pier_pe_progress(pe, 0);
	return NULL;
}

static char logged[512];
static int log_lines;

static void keep(enum pier_log_level level, const char *area,
		 const char *message, void *arg)
{
	(void)area;
	(void)arg;
	if (level != PIER_LOG_CRITICAL)
		return;
	snprintf(logged, sizeof(logged), "%s", message);
	log_lines++;
}

/* The last line names both threads, and both calls; @what the first is for. */
static void names_all(const char *call, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "thread \"an offender\" (%d) makes the "
		 "call %s%s while thread \"the owner\" (%d) is inside "
		 "pier_pe_progress", (int)gettid(), call, what,
		 (int)owner_tid);
	LIKE(logged, text);
}

static void names_both(const char *call)
{
	names_all(call, "");
}

static void names_the_task(const char *call)
{
	char text[64];

	snprintf(text, sizeof(text), " (task \"call\" at %p)", (void *)task);
	names_all(call, text);
}

static void offend(void)
{
	struct pier_event event;

	IS(pier_task_submit(task, 0), -EDEADLK);
	LIKE(pier_last_error(), "an engine belongs to one thread");
	names_the_task("pier_task_submit");
	IS(pier_task_try_submit(task, 0), -EDEADLK);
	names_the_task("pier_task_try_submit");
	IS(pier_pe_progress(pe, 0), -EDEADLK);
	names_both("pier_pe_progress");
	IS(pier_pe_wait(pe, 0), -EDEADLK);
	IS(pier_pe_arm(pe), -EDEADLK);
	IS(pier_pe_retrieve(pe, &event), -EDEADLK);
	IS(pier_ctx_stop(pier_func_ctx(func)), -EDEADLK);
	names_both("pier_ctx_stop");
	IS(pier_ctx_stop_wait(pier_func_ctx(func), 0), -EDEADLK);
	IS(pier_func_task_call(func, nothing, NULL, &task), -EDEADLK);
	names_both("a call that takes a task");
	IS(pier_func_task_set(task, nothing, NULL), -EDEADLK);
	names_the_task("a call that changes a task");
	IS(log_lines, 10);
}

/* Contexts of another thread, which run. */
static void offend_by_configuring(void)
{
	static const char call[] = "a call that configures a context";
	struct pier_func_config func_cfg = { .size = sizeof(func_cfg) };
	struct pier_graph_config graph_cfg = { .size = sizeof(graph_cfg) };
	struct pier_rdma_config rdma_cfg = { .size = sizeof(rdma_cfg) };
	struct pier_graph_node *other;

	log_lines = 0;
	IS(pier_func_configure(func, &func_cfg), -EDEADLK);
	names_both(call);
	IS(pier_graph_configure(graph, &graph_cfg), -EDEADLK);
	IS(pier_graph_add_ctx(graph, pier_func_ctx(func), &other), -EDEADLK);
	names_both(call);
	IS(pier_graph_add_user(graph, nothing, &other), -EDEADLK);
	IS(pier_graph_add_dependency(graph, node, node), -EDEADLK);
	logged[0] = '\0';
	IS(pier_rdma_configure(rdma, &rdma_cfg), -EDEADLK);
	names_both(call);
	IS(log_lines, 6);
}

/* Calls that return nothing log it, and do nothing. */
static void offend_silently(void)
{
	log_lines = 0;
	pier_task_free(task);
	names_the_task("pier_task_free");
	pier_task_set_done(task, NULL, NULL);
	pier_func_destroy(func);
	names_both("a call that destroys a context");
	pier_pe_clear(pe);
	names_both("pier_pe_clear");
	pier_pe_destroy(pe);
	names_both("pier_pe_destroy");
	IS(log_lines, 5);
	pier_pe_wake(pe);		/* allowed */
	IS(log_lines, 5);
}

static void wait_until_held(void)
{
	long long limit = limit_from_now();

	while (!atomic_load(&held) && limit_nap(limit))
		;
}

static void both_threads_are_named_with_the_task(void)
{
	enum pier_log_level level = pier_log_level();
	struct pier_task *outer;
	pthread_t owner;
	char saved[16];

	if (!begin())
		return;
	pthread_getname_np(pthread_self(), saved, sizeof(saved));
	pthread_setname_np(pthread_self(), "an offender");
	pier_log_set_callback(keep, NULL);
	pier_log_set_level(PIER_LOG_CRITICAL);
	IS(pier_func_task_call(func, nothing, NULL, &inner), 0);
	IS(pier_func_task_call(func, nothing, NULL, &task), 0);
	IS(pier_func_task_call(func, hold, NULL, &outer), 0);
	IS(pier_task_submit(outer, 0), 0);
	pthread_create(&owner, NULL, own, NULL);
	wait_until_held();
	offend();
	offend_by_configuring();
	offend_silently();
	atomic_store(&held, 2);
	pthread_join(owner, NULL);
	pier_log_set_callback(NULL, NULL);
	pier_log_set_level(level);
	pthread_setname_np(pthread_self(), saved);

	complete(inner);		/* it belongs to this thread again */
	use(NULL);
	pier_task_free(outer);
	pier_task_free(inner);
	pier_task_free(task);
	end();
}

#endif

int main(void)
{
	TEST(an_engine_is_handed_over);
#ifdef PIER_DEBUG
	TEST(both_threads_are_named_with_the_task);
#endif
	return tap_done();
}
