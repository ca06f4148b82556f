/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ops/sync_event_remote.h"
#include "t/lib/far.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Calls on sync events that another process owns, and their descriptors. */

#define CPU PIER_SYNC_EVENT_CPU
#define REMOTE PIER_SYNC_EVENT_REMOTE
#define BUSY PIER_SYNC_EVENT_BUSY
#define YIELD PIER_SYNC_EVENT_YIELD
#define ALL UINT64_MAX

static uint64_t value_of(const struct pier_sync_event *event)
{
	uint64_t value = 0xbad;

	IS(pier_sync_event_get(event, &value), 0);
	return value;
}

static void calls_reach_an_owner_that_sleeps(void)
{
	uint64_t before = 0;

	if (far_start()) {
		IS(value_of(theirs), 0);
		IS(pier_sync_event_set(theirs, ALL - 1), 0);
		OK(*far_word == ALL - 1);
		OK(value_of(theirs) == ALL - 1);
		IS(pier_sync_event_add(theirs, 3, &before), 0);
		OK(before == ALL - 1);
		IS(*far_word, 1);
		IS(pier_sync_event_add(theirs, 1, NULL), 0);
		IS(value_of(theirs), 2);
	}
	far_end(true);
}

/* Each waits for what the other sets, in each way. */
static void owner_and_importer_wait_in_turn(void)
{
	static const uint64_t values[] = { 1, 0x100, UINT64_C(1) << 40,
					   ALL - 1 };

	if (far_start()) {
		for (int i = 0; i < 4; i++) {
			far_tell(FAR_ANSWER, values[i]);
			IS(pier_sync_event_set(theirs, values[i]), 0);
			IS(pier_sync_event_wait_eq(theirs, values[i] + 1, ALL,
						   i % 2 ? BUSY : YIELD,
						   LIMIT_MS),
			   0);
			far_answered();
		}
		far_tell(FAR_ANSWER, 5);
		IS(pier_sync_event_set(theirs, 5), 0);
		IS(pier_sync_event_wait_gt(theirs, 5, ALL, YIELD, -1), 0);
		far_answered();
		far_tell(FAR_ANSWER, 8);
		IS(pier_sync_event_set(theirs, 8), 0);
		IS(pier_sync_event_wait_neq(theirs, 8, 0xff, BUSY, -1), 0);
		far_answered();
	}
	far_end(true);
}

typedef int wait_fn(struct pier_sync_event *event, uint64_t value,
		    uint64_t mask, enum pier_sync_event_wait how,
		    int timeout_ms);

/* Wait as @wait does; again, if the owner had no time to answer. */
static int answered(wait_fn *wait, uint64_t value, uint64_t mask,
		    enum pier_sync_event_wait how, int timeout_ms)
{
	long long limit = limit_from_now();
	int err;

	do
		err = wait(theirs, value, mask, how, timeout_ms);
	while (err == -ETIMEDOUT && strstr(pier_last_error(), "no answer") &&
	       limit_holds(limit));
	return err;
}

static void a_wait_ends_at_its_time(void)
{
	if (far_start()) {
		IS(pier_sync_event_set(theirs, 0x1f0), 0);
		IS(answered(pier_sync_event_wait_eq, 0x1f0, ALL, YIELD, 0), 0);
		IS(answered(pier_sync_event_wait_eq, 0x1f1, ALL, BUSY, 0),
		   -ETIMEDOUT);
		LIKE(pier_last_error(), "after 0 ms its value 0x1f0");
		IS(answered(pier_sync_event_wait_gt, 0, 0xf, YIELD, 20),
		   -ETIMEDOUT);
		LIKE(pier_last_error(), "after 20 ms its value 0x1f0 under the "
					"mask 0xf is not greater than 0x0");
		IS(answered(pier_sync_event_wait_neq, 0x1f0, ALL, BUSY, 20),
		   -ETIMEDOUT);
		LIKE(pier_last_error(), "not different from 0x1f0");
		IS(pier_sync_event_wait_eq(theirs, 0x30, 0x30, YIELD, -1), 0);
		IS(pier_sync_event_wait_eq(theirs, 0, 0,
					   (enum pier_sync_event_wait)7, 0),
		   -EINVAL);
	}
	far_end(true);
}

static void *wait_in_thread(void *arg)
{
	return (void *)(intptr_t)pier_sync_event_wait_eq(
		theirs, 77, ALL, arg ? BUSY : YIELD, -1);
}

/* Start a thread that waits for 77. */
static bool waiter_start(bool busy, pthread_t *ret)
{
	return IS(
		pthread_create(ret, NULL, wait_in_thread, busy ? theirs : NULL),
		0);
}

static int waiter_join(pthread_t thread)
{
	void *status = NULL;

	pthread_join(thread, &status);
	return (int)(intptr_t)status;
}

static void threads_share_an_imported_event(void)
{
	pthread_t thread;

	for (int busy = 0; busy < 2; busy++) {
		if (far_start() && waiter_start(busy, &thread)) {
			for (uint64_t i = 0; i < 70; i++) {
				IS(pier_sync_event_set(theirs, i), 0);
				IS(value_of(theirs), i);
			}
			IS(pier_sync_event_set(theirs, 77), 0);
			IS(waiter_join(thread), 0);
		}
		far_end(true);
	}
}

static void a_stop_ends_the_waits_of_threads(void)
{
	pthread_t thread;

	for (int busy = 0; busy < 2; busy++) {
		if (far_start() && waiter_start(busy, &thread)) {
			IS(value_of(theirs), 0);
			IS(pier_sync_event_stop(theirs), 0);
			IS(waiter_join(thread), -ESHUTDOWN);
			IS(pier_sync_event_stop(theirs), 0);
			IS(pier_sync_event_set(theirs, 1), -ESHUTDOWN);
			IS(pier_sync_event_start(theirs), -ESHUTDOWN);
		}
		far_end(true);
	}
}

static bool taken_back(void)
{
	return far_tell(FAR_TAKE_BACK, 0) && far_answered();
}

static void an_event_that_was_taken_back_is_not_changed(void)
{
	if (far_start()) {
		IS(pier_sync_event_set(theirs, 3), 0);
		if (taken_back())
			*far_word = 4;
		OK(pier_sync_event_set(theirs, 5) < 0);
		LIKE(pier_last_error(),
		     "no access to the export: ");
		IS(*far_word, 4);
		/* now there is no service any more */
		IS(pier_sync_event_set(theirs, 5), -ECONNREFUSED);
		LIKE(pier_last_error(), "no program listens on that port");
		IS(*far_word, 4);
		IS(pier_sync_event_stop(theirs), 0);
	}
	far_end(true);
}

static void an_owner_that_died_is_an_error_and_the_rest_succeeds(void)
{
	uint64_t value = 0xbad;

	if (far_start()) {
		IS(value_of(theirs), 0);
		pair_kill(&far_owner);
		OK(pier_sync_event_get(theirs, &value) < 0);
		LIKE(pier_last_error(),
		     "no access to the export: ");
		IS(value, 0xbad);
		OK(pier_sync_event_wait_eq(theirs, 1, ALL, YIELD, -1) < 0);
		IS(pier_sync_event_stop(theirs), 0);
	}
	far_end(false);
}

/* A kernel serves the memory of a process that is stopped. */
static bool soft_owner(void)
{
	return !strcmp(pier_devinfo_kind(pier_dev_info(far_dev)), "soft");
}

/*
 * Connected to an owner that is away, longer than the connection would last
 * with the retries that are usual.
 */
static bool start_without_owner(void)
{
	if (!far_start())
		return false;
	theirs->remote->cfg.ack_timeout = 20;	/* 4.3 s */
	IS(pier_sync_event_set(theirs, 1), 0);
	kill(far_owner.pid, SIGSTOP);
	return OK(pair_is_stopped(&far_owner, true));
}

static void a_wait_for_an_owner_that_is_away_ends_at_its_time(void)
{
	if (start_without_owner()) {
		IS(pier_sync_event_wait_eq(theirs, 2, ALL, YIELD, 20),
		   -ETIMEDOUT);
		if (soft_owner())
			LIKE(pier_last_error(),
			     "no answer of its owner in 100 ms");
		IS(pier_sync_event_wait_eq(theirs, 2, ALL, BUSY, 20),
		   -ETIMEDOUT);
		pair_go_on(&far_owner);
		far_tell(FAR_ANSWER, 1);
		IS(pier_sync_event_wait_eq(theirs, 2, ALL, YIELD, LIMIT_MS), 0);
		far_answered();
	}
	far_end(true);
}

static void *get_in_thread(void *arg)
{
	uint64_t value;

	(void)arg;
	return (void *)(intptr_t)pier_sync_event_get(theirs, &value);
}

/* The thread's call has no limit, and no answer. */
static void a_wait_behind_another_call_ends_at_its_time(void)
{
	long long limit = limit_from_now();
	pthread_t thread;
	unsigned int callers;

	if (start_without_owner() && soft_owner() &&
	    IS(pthread_create(&thread, NULL, get_in_thread, NULL), 0)) {
		while (!atomic_load(&theirs->remote->turn) && limit_nap(limit))
			;
		IS(pier_sync_event_wait_eq(theirs, 2, ALL, YIELD, 20),
		   -ETIMEDOUT);
		callers = atomic_load(&theirs->remote->callers);
		LIKE(pier_last_error(), "no answer of its owner in 100 ms");
		IS(callers, 1);
		pair_go_on(&far_owner);
		IS(waiter_join(thread), 0);
	}
	pair_go_on(&far_owner);
	far_end(true);
}

static void a_stop_succeeds_while_the_owner_is_away(void)
{
	if (start_without_owner()) {
		IS(pier_sync_event_wait_eq(theirs, 2, ALL, YIELD, 20),
		   -ETIMEDOUT);
		IS(pier_sync_event_stop(theirs), 0);
		pair_go_on(&far_owner);
	}
	far_end(true);
}

static void another_token_is_rejected(void)
{
	if (far_start()) {
		theirs->mmap->origin->token[3] ^= 1;
		IS(pier_sync_event_set(theirs, 1), -ECONNREFUSED);
		LIKE(pier_last_error(), "rejected");
		theirs->mmap->origin->token[3] ^= 1;
		IS(*far_word, 0);
		IS(pier_sync_event_set(theirs, 1), 0);
	}
	far_end(true);
}

static void another_key_changes_nothing(void)
{
	if (far_start()) {
		theirs->mmap->keys[0].rkey ^= 0x100;
		OK(pier_sync_event_set(theirs, 1) < 0);
		LIKE(pier_last_error(), "no access to the export: ");
		theirs->mmap->keys[0].rkey ^= 0x100;
		theirs->mmap->keys[0].dev_id[0] ^= 1;
		IS(pier_sync_event_set(theirs, 1), -ESTALE);
		theirs->mmap->keys[0].dev_id[0] ^= 1;
		IS(*far_word, 0);
		IS(pier_sync_event_set(theirs, 1), 0);
	}
	far_end(true);
}

static void damaged_descriptors_are_refused(void)
{
	struct pier_sync_event *event = NULL;
	uint8_t desc[PIER_DESC_MAX];
	struct pier_mmap *mmap = NULL;
	int len;

	if (far_begin() && taken_back()) {
		len = far_describe(desc);
		for (int i = 0; i < len; i++) {
			desc[i] ^= 0x10;
			OK(pier_sync_event_import_process(
				   far_dev, desc, (size_t)len, &event) < 0);
			desc[i] ^= 0x10;
			OK(pier_sync_event_import_process(
				   far_dev, desc, (size_t)i, &event) < 0);
		}
		OK(!event);
		IS(pier_dma_import(NULL, desc, (size_t)len, &mmap),
		   -PIER_EKIND);
		IS(pier_sync_event_create_from_export(NULL, desc, (size_t)len,
						      &event),
		   -PIER_EKIND);
	}
	far_end(true);
}

static void what_cannot_be_exported_or_used_is_refused(void)
{
	struct pier_sync_event *local, *event = NULL;
	struct pier_task *task;
	const void *desc;
	size_t len;

	if (far_start()) {
		local = far_create(far_dev, CPU, NULL);
		IS(pier_sync_event_export_process(local, &desc, &len), -EACCES);
		IS(pier_sync_event_export_wait(local, 0), -EINVAL);
		pier_sync_event_destroy(local);
		IS(pier_sync_event_export_process(theirs, &desc, &len),
		   -EOPNOTSUPP);
		IS(pier_rdma_task_remote_get(NULL, theirs, NULL, &task),
		   -EINVAL);
		local = far_create(far_dev, REMOTE, NULL);
		IS(pier_sync_event_export(local, &desc, &len), 0);
		IS(pier_sync_event_import_process(far_dev, desc, len, &event),
		   -PIER_EKIND);
		IS(pier_sync_event_stop(local), 0);
		IS(pier_sync_event_export_process(local, &desc, &len),
		   -ESHUTDOWN);
		pier_sync_event_destroy(local);
	}
	far_end(true);
}

static void an_owner_waits_for_the_end_of_its_importers(void)
{
	struct pier_sync_event *event, *mine = NULL;
	const void *desc, *again;
	size_t len, len_again;

	if (!IS(pier_dev_open(NULL, &far_dev), 0))
		return;
	event = far_create(far_dev, REMOTE, NULL);
	IS(pier_sync_event_export_process(event, &desc, &len), 0);
	IS(pier_sync_event_export_process(event, &again, &len_again), 0);
	OK(desc == again && len == len_again);
	IS(pier_sync_event_import_process(far_dev, desc, len, &mine), 0);
	IS(pier_sync_event_start(mine), 0);
	IS(pier_sync_event_export_wait(event, 1), -ETIMEDOUT);
	IS(pier_sync_event_add(mine, 6, NULL), 0);
	IS(value_of(event), 6);
	IS(pier_sync_event_export_wait(event, 1), -ETIMEDOUT);
	IS(pier_sync_event_stop(mine), 0);
	IS(pier_sync_event_export_wait(event, LIMIT_MS), 0);
	pier_sync_event_destroy(mine);
	IS(pier_sync_event_stop(event), 0);
	IS(pier_sync_event_export_wait(event, 0), -EINVAL);
	pier_sync_event_destroy(event);
	pier_dev_close(far_dev);
	far_dev = NULL;
}

static void a_descriptor_is_printed_without_its_token(void)
{
	char text[2048], token[2 * PIER__TOKEN + 1] = "";
	struct pier_sync_event *event, *mine = NULL;
	const void *desc;
	size_t len;

	if (!IS(pier_dev_open(NULL, &far_dev), 0))
		return;
	event = far_create(far_dev, REMOTE, NULL);
	IS(pier_sync_event_export_process(event, &desc, &len), 0);
	OK(pier_desc_print(desc, len, text, sizeof(text)) > 0);
	LIKE(text, "kind: sync event for processes");
	LIKE(text, "length: 8");
	LIKE(text, "udp port: ");
	LIKE(text, "gid: ");
	IS(pier_sync_event_import_process(far_dev, desc, len, &mine), 0);
	for (int i = 0; i < PIER__TOKEN; i++)
		sprintf(token + 2 * i, "%02x", mine->mmap->origin->token[i]);
	OK(!strstr(text, token));
	pier_sync_event_destroy(mine); /* it was never started */
	pier_sync_event_destroy(event);
	pier_dev_close(far_dev);
	far_dev = NULL;
}

int main(void)
{
	if (!far_supported())
		return tap_skip_all(pier_last_error());
	TEST(calls_reach_an_owner_that_sleeps);
	TEST(owner_and_importer_wait_in_turn);
	TEST(a_wait_ends_at_its_time);
	TEST(threads_share_an_imported_event);
	TEST(a_stop_ends_the_waits_of_threads);
	TEST(an_event_that_was_taken_back_is_not_changed);
	TEST(an_owner_that_died_is_an_error_and_the_rest_succeeds);
	TEST(a_wait_for_an_owner_that_is_away_ends_at_its_time);
	TEST(a_wait_behind_another_call_ends_at_its_time);
	TEST(a_stop_succeeds_while_the_owner_is_away);
	TEST(another_token_is_rejected);
	TEST(another_key_changes_nothing);
	TEST(damaged_descriptors_are_refused);
	TEST(what_cannot_be_exported_or_used_is_refused);
	TEST(an_owner_waits_for_the_end_of_its_importers);
	TEST(a_descriptor_is_printed_without_its_token);
	return tap_done();
}
