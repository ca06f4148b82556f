/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ops/sync_event_remote.h"
#include "t/lib/far.h"
#include "t/lib/limit.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * One side of a sync event between processes is killed, at every stage: each
 * call and task of the other side ends, with an error message, and the event
 * can be stopped.
 */
#define ALL UINT64_MAX
#define YIELD PIER_SYNC_EVENT_YIELD
#define ROUNDS 5		/* of an engine while it connects */
#define TASKS 8

static void an_owner_is_killed_before_the_importer_connects(void)
{
	if (far_start()) {
		pair_kill(&far_owner);
		OK(pier_sync_event_set(theirs, 1) < 0);
		LIKE(pier_last_error(),
		     "no access to the export: ");
		OK(pier_sync_event_wait_eq(theirs, 1, ALL, YIELD, -1) < 0);
		IS(pier_sync_event_stop(theirs), 0);
	}
	far_end(false);
}

static int statuses[TASKS];
static struct pier_task *tasks[TASKS];

static void submit(int count)
{
	for (int i = 0; i < count; i++) {
		statuses[i] = -EINPROGRESS;
		IS(pier_sync_event_task_set(theirs, 1, &tasks[i]), 0);
		pier_task_set_done(tasks[i], peer_done, &statuses[i]);
		IS(pier_task_submit(tasks[i], 0), 0);
	}
}

/* Until each has ended.  Returns how many have failed. */
static int await(int count)
{
	long long limit = limit_from_now();
	int failed = 0;

	while (pier_pe_inflight(far_pe) && limit_holds(limit))
		pier_pe_wait(far_pe, 100);
	for (int i = 0; i < count; i++) {
		OK(statuses[i] != -EINPROGRESS);
		failed += statuses[i] < 0;
		pier_task_free(tasks[i]);
	}
	return failed;
}

static void stops(void)
{
	IS(pier_ctx_stop_wait(pier_sync_event_ctx(theirs), LIMIT_MS), 0);
	IS(pier_pe_inflight(far_pe), 0);
}

static void an_owner_is_killed_while_the_importer_connects(void)
{
	for (int rounds = 1; rounds <= ROUNDS && tap_holds(); rounds++) {
		if (far_start_ctx()) {
			submit(1);
			for (int i = 0; i < rounds; i++)
				pier_pe_progress(far_pe, 1);
			pair_kill(&far_owner);
			await(1);
			submit(1);
			IS(await(1), 1);
			stops();
		}
		far_end(false);
	}
}

static void an_owner_is_killed_while_the_importer_stops(void)
{
	if (far_start_ctx()) {
		submit(1);
		IS(await(1), 0);
		kill(far_owner.pid, SIGSTOP);
		OK(pair_is_stopped(&far_owner, true));
		submit(TASKS);
		pier_pe_progress(far_pe, 0);
		IS(pier_ctx_stop(pier_sync_event_ctx(theirs)), -EINPROGRESS);
		pair_kill(&far_owner);
		await(TASKS);
		stops();
	}
	far_end(false);
}

static void *wait_in_thread(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)pier_sync_event_wait_eq(theirs, 77, ALL,
							 YIELD, -1);
}

static void an_owner_is_killed_while_a_thread_waits(void)
{
	long long limit = limit_from_now();
	void *status = NULL;
	pthread_t thread;

	if (far_start() &&
	    IS(pthread_create(&thread, NULL, wait_in_thread, NULL), 0)) {
		IS(pier_sync_event_set(theirs, 1), 0);
		while (!atomic_load(&theirs->sleepers) && limit_nap(limit))
			;
		pair_kill(&far_owner);
		pthread_join(thread, &status);
		OK((int)(intptr_t)status < 0);
		IS(pier_sync_event_stop(theirs), 0);
	}
	far_end(false);
}

/* What an importer does when it is killed. */
enum stage {
	CONNECTING,	/* it has begun to, and does no more */
	CONNECTED,	/* it sleeps */
	WAITING,
	STOPPING,	/* with tasks in flight */
};

static struct pair pair;
static struct pier_sync_event *ours;


static void wait_for_ever(void)
{
	pier_sync_event_wait_eq(theirs, 77, ALL, PIER_SYNC_EVENT_BUSY, -1);
}

/* Its tasks, on an engine of its own, until the stage. */
static int run_tasks(enum stage stage)
{
	struct pier_ctx *ctx = pier_sync_event_ctx(theirs);

	if (pier_pe_create(&far_pe) || pier_ctx_start(ctx, far_pe))
		return 1;
	submit(TASKS);
	for (int i = 0; stage == CONNECTING && i < 3; i++)
		pier_pe_progress(far_pe, 1);
	if (stage != STOPPING)
		return 0;
	await(TASKS);
	submit(TASKS);
	pier_pe_progress(far_pe, 1);
	pier_ctx_stop(ctx);
	pier_pe_progress(far_pe, 1);
	return 0;
}

static int importer(struct pair *me, void *arg)
{
	enum stage stage = *(enum stage *)arg;
	bool is_ctx = stage == CONNECTING || stage == STOPPING;
	uint8_t desc[PIER_DESC_MAX];
	int len = pair_recv(me, desc, sizeof(desc)), err;

	if (len <= 0 || pier_dev_open(NULL, &far_dev) ||
	    pier_sync_event_import_process(far_dev, desc, (size_t)len, &theirs))
		return 1;
	err = is_ctx ? run_tasks(stage) : pier_sync_event_start(theirs);
	if (!err && !is_ctx)
		err = pier_sync_event_set(theirs, 1);
	if (err || !pair_send(me, "", 1))
		return 1;
	if (stage == WAITING)
		wait_for_ever();
	for (;;)
		pause();
}

/* Others use the event, here its own process. */
static void is_served(const void *desc, size_t len)
{
	uint64_t value = 0;

	if (!IS(pier_sync_event_import_process(far_dev, desc, len, &theirs),
		0) || !IS(pier_sync_event_start(theirs), 0))
		return;
	IS(pier_sync_event_set(theirs, 5), 0);
	IS(pier_sync_event_get(ours, &value), 0);
	IS(value, 5);
}

static void kill_importer(enum stage stage)
{
	const void *desc;
	size_t len;
	char byte;

	pair_start(&pair, importer, &stage);
	if (!IS(pier_dev_open(NULL, &far_dev), 0))
		return;
	ours = far_create(far_dev, PIER_SYNC_EVENT_REMOTE, NULL);
	if (OK(ours) &&
	    IS(pier_sync_event_export_process(ours, &desc, &len), 0) &&
	    OK(pair_send(&pair, desc, len)) &&
	    IS(pair_recv(&pair, &byte, 1), 1)) {
		pair_kill(&pair);
		if (stage != CONNECTING)
			IS(pier_sync_event_export_wait(ours, LIMIT_MS), 0);
		is_served(desc, len);
		IS(pier_sync_event_stop(ours), 0);
	}
	pier_sync_event_destroy(theirs);
	pier_sync_event_destroy(ours);
	pier_dev_close(far_dev);
	theirs = ours = NULL;
	far_dev = NULL;
}

static void an_importer_is_killed_while_it_connects(void)
{
	kill_importer(CONNECTING);
}

static void an_importer_is_killed_while_it_sleeps(void)
{
	kill_importer(CONNECTED);
}

static void an_importer_is_killed_while_it_waits(void)
{
	kill_importer(WAITING);
}

static void an_importer_is_killed_while_it_stops(void)
{
	kill_importer(STOPPING);
}

int main(void)
{
	if (!far_supported())
		return tap_skip_all(pier_last_error());
	TEST(an_owner_is_killed_before_the_importer_connects);
	TEST(an_owner_is_killed_while_the_importer_connects);
	TEST(an_owner_is_killed_while_a_thread_waits);
	TEST(an_owner_is_killed_while_the_importer_stops);
	TEST(an_importer_is_killed_while_it_connects);
	TEST(an_importer_is_killed_while_it_sleeps);
	TEST(an_importer_is_killed_while_it_waits);
	TEST(an_importer_is_killed_while_it_stops);
	return tap_done();
}
