/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <pier/pier.h>

#include "ops/sync_event_impl.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Sync events in blocking mode, between the threads of a process. */

#define CPU PIER_SYNC_EVENT_CPU
#define BUSY PIER_SYNC_EVENT_BUSY
#define YIELD PIER_SYNC_EVENT_YIELD
#define ALL UINT64_MAX
#define ADDERS 4
#define ADDS 20000
#define ROUNDS 2000

typedef int wait_fn(struct pier_sync_event *event, uint64_t value,
		    uint64_t mask, enum pier_sync_event_wait how,
		    int timeout_ms);

static const enum pier_sync_event_wait ways[] = { BUSY, YIELD };

static int configure(struct pier_sync_event *event, uint32_t publisher,
		     uint32_t subscriber, uint64_t *word)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = publisher,
		.subscriber = subscriber,
		.word = word,
	};

	return pier_sync_event_configure(event, &cfg);
}

static struct pier_sync_event *create(void)
{
	struct pier_sync_event *event = NULL;

	IS(pier_sync_event_create(&event), 0);
	return event;
}

/* One that is started, in @word unless it is NULL. */
static struct pier_sync_event *start(uint64_t *word)
{
	struct pier_sync_event *event = create();

	IS(configure(event, CPU, CPU, word), 0);
	IS(pier_sync_event_start(event), 0);
	return event;
}

static void finish(struct pier_sync_event *event)
{
	IS(pier_sync_event_stop(event), 0);
	pier_sync_event_destroy(event);
}

static uint64_t value_of(const struct pier_sync_event *event)
{
	uint64_t value = 0xbad;

	IS(pier_sync_event_get(event, &value), 0);
	return value;
}

static void an_event_begins_at_zero_and_has_64_bits(void)
{
	struct pier_sync_event *event = start(NULL);
	uint64_t before = 1;

	IS(value_of(event), 0);
	IS(pier_sync_event_get(event, NULL), -EINVAL);
	LIKE(pier_last_error(), "no place for the value");
	IS(pier_sync_event_set(event, ALL), 0);
	OK(value_of(event) == ALL);
	IS(pier_sync_event_add(event, 3, &before), 0);
	OK(before == ALL);
	IS(value_of(event), 2);
	IS(pier_sync_event_add(event, UINT64_C(1) << 63, NULL), 0);
	OK(value_of(event) == (UINT64_C(1) << 63) + 2);
	finish(event);
	pier_sync_event_destroy(NULL);
}

static void the_word_of_the_program_is_the_value(void)
{
	uint64_t word = 77;
	struct pier_sync_event *event = start(&word);
	struct pier_sync_event_config cfg;

	pier_sync_event_get_config(event, &cfg);
	IS(cfg.size, sizeof(cfg));
	OK(cfg.word == &word);
	IS(cfg.publisher, CPU);
	IS(value_of(event), 77);
	IS(pier_sync_event_set(event, 5), 0);
	IS(word, 5);
	word = 6;
	IS(value_of(event), 6);
	finish(event);
	IS(word, 6);
}

static void bad_configurations_are_refused(void)
{
	struct pier_sync_event *event = create();
	struct pier_sync_event_config cfg = { 0 };
	uint64_t words[2];
	char *odd = (char *)words + 4;

	IS(pier_sync_event_configure(event, &cfg), -EINVAL);
	IS(configure(event, 64, CPU, NULL), -EINVAL);
	LIKE(pier_last_error(), "publisher 0x40");
	IS(configure(event, CPU, 64, NULL), -EINVAL);
	LIKE(pier_last_error(), "subscriber 0x40");
	IS(configure(event, CPU | PIER_SYNC_EVENT_REMOTE, CPU, NULL), -EINVAL);
	LIKE(pier_last_error(), "publisher 0x3 is more than one");
	IS(configure(event, CPU, CPU | PIER_SYNC_EVENT_REMOTE, NULL), -EINVAL);
	LIKE(pier_last_error(), "subscriber 0x3 is more than one");
	IS(configure(event, CPU, CPU, (uint64_t *)(void *)odd), -EINVAL);
	LIKE(pier_last_error(), "not aligned");
	pier_sync_event_get_config(event, &cfg);
	IS(cfg.publisher, 0);
	pier_sync_event_destroy(event);
}

static void a_start_needs_a_publisher_and_a_subscriber(void)
{
	struct pier_sync_event *event = create();

	IS(pier_sync_event_start(event), -EINVAL);
	LIKE(pier_last_error(), "publisher");
	IS(configure(event, 0, CPU, NULL), 0);
	IS(pier_sync_event_start(event), -EINVAL);
	LIKE(pier_last_error(), "publisher");
	IS(configure(event, CPU, 0, NULL), 0);
	IS(pier_sync_event_start(event), -EINVAL);
	LIKE(pier_last_error(), "subscriber");
	IS(configure(event, CPU, CPU, NULL), 0);
	IS(pier_sync_event_start(event), 0);
	finish(event);
}

/* What every call returns that uses the value. */
static void is_unusable(struct pier_sync_event *event)
{
	uint64_t value = 9;

	IS(pier_sync_event_set(event, 1), -ESHUTDOWN);
	IS(pier_sync_event_add(event, 1, &value), -ESHUTDOWN);
	IS(pier_sync_event_get(event, &value), -ESHUTDOWN);
	IS(pier_sync_event_wait_eq(event, 0, ALL, BUSY, 0), -ESHUTDOWN);
	IS(pier_sync_event_wait_gt(event, 0, ALL, YIELD, 0), -ESHUTDOWN);
	IS(pier_sync_event_wait_neq(event, 1, ALL, YIELD, 0), -ESHUTDOWN);
	IS(value, 9);
}

static void an_event_is_used_between_start_and_stop_only(void)
{
	struct pier_sync_event *event = create();

	is_unusable(event);
	IS(pier_sync_event_stop(event), -EINVAL);
	IS(configure(event, CPU, CPU, NULL), 0);
	IS(pier_sync_event_start(event), 0);
	IS(pier_sync_event_start(event), -EBUSY);
	IS(configure(event, CPU, CPU, NULL), -EBUSY);
	IS(value_of(event), 0);
	IS(pier_sync_event_stop(event), 0);
	is_unusable(event);
	pier_sync_event_destroy(event);
}

static void a_stopped_event_can_only_be_destroyed(void)
{
	struct pier_sync_event *event = start(NULL);

	IS(pier_sync_event_stop(event), 0);
	IS(pier_sync_event_stop(event), 0);
	IS(pier_sync_event_start(event), -ESHUTDOWN);
	LIKE(pier_last_error(), "destroy");
	IS(configure(event, CPU, CPU, NULL), -EBUSY);
	pier_sync_event_destroy(event);
}

static const struct {
	wait_fn *fn;
	uint64_t now, value, mask;
	bool holds;
} cases[] = {
	{ pier_sync_event_wait_gt, 5, 4, ALL, true },
	{ pier_sync_event_wait_gt, 5, 5, ALL, false },
	{ pier_sync_event_wait_gt, 0, 0, ALL, false },
	{ pier_sync_event_wait_gt, ALL, ALL - 1, ALL, true },
	{ pier_sync_event_wait_gt, ALL, ALL, ALL, false },
	{ pier_sync_event_wait_gt, UINT64_C(1) << 63, INT64_MAX, ALL, true },
	{ pier_sync_event_wait_gt, 0x1ff, 0xff, 0xff, false },
	{ pier_sync_event_wait_gt, 0x1ff, 0xfe, 0xff, true },
	{ pier_sync_event_wait_eq, 255, 255, ALL, true },
	{ pier_sync_event_wait_eq, 256, 0, ALL, false },
	{ pier_sync_event_wait_eq, 256, 0, 0xff, true },
	{ pier_sync_event_wait_eq, ALL, ALL, ALL, true },
	{ pier_sync_event_wait_eq, 1, 0, UINT64_C(1) << 63, true },
	{ pier_sync_event_wait_eq, 0x1234, 0x1234, 0xff, false },
	{ pier_sync_event_wait_eq, 7, 0, 0, true },
	{ pier_sync_event_wait_neq, 7, 7, ALL, false },
	{ pier_sync_event_wait_neq, 7, 8, ALL, true },
	{ pier_sync_event_wait_neq, 0x107, 7, 0xff, false },
	{ pier_sync_event_wait_neq, ALL, INT64_MAX, ALL, true },
};

static void waits_compare_all_bits_under_the_mask(void)
{
	struct pier_sync_event *event = start(NULL);
	size_t i, way;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		IS(pier_sync_event_set(event, cases[i].now), 0);
		for (way = 0; way < 2; way++) {
			int err = cases[i].fn(event, cases[i].value,
					      cases[i].mask, ways[way], 1);

			if (!IS(err, cases[i].holds ? 0 : -ETIMEDOUT))
				tap_note("case %zu, way %d", i,
					 (int)ways[way]);
		}
	}
	IS(pier_sync_event_wait_gt(event, ALL, ALL, YIELD, 0), -ETIMEDOUT);
	LIKE(pier_last_error(), "after 0 ms");
	LIKE(pier_last_error(), "is not greater than 0xffffffffffffffff");
	IS(pier_sync_event_wait_eq(event, 5, 7, BUSY, 0), -ETIMEDOUT);
	LIKE(pier_last_error(), "under the mask 0x7 is not equal to 0x5");
	IS(pier_sync_event_wait_eq(event, 0, ALL,
				   (enum pier_sync_event_wait)7, 0), -EINVAL);
	finish(event);
}

/* A thread that waits. */
struct waiter {
	pthread_t thread;
	struct pier_sync_event *event;
	wait_fn *fn;
	uint64_t value;
	enum pier_sync_event_wait how;
	int err;
};

static void *run_waiter(void *arg)
{
	struct waiter *w = arg;

	w->err = w->fn(w->event, w->value, ALL, w->how, -1);
	return NULL;
}

/* Begin, and return once it sleeps, if that is what it does. */
static void begin(struct waiter *w)
{
	long long limit = limit_from_now();
	unsigned int sleepers = atomic_load(&w->event->sleepers);

	w->err = -EINPROGRESS;
	if (!IS(pthread_create(&w->thread, NULL, run_waiter, w), 0))
		return;
	while (w->how == YIELD &&
	       atomic_load(&w->event->sleepers) == sleepers && limit_nap(limit))
		;
}

static int end(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->err;
}

static void a_waiter_sees_a_set_and_an_add(void)
{
	struct pier_sync_event *event = start(NULL);
	size_t way;

	for (way = 0; way < 2; way++) {
		struct waiter eq = { .event = event, .how = ways[way],
				     .fn = pier_sync_event_wait_eq,
				     .value = ALL };
		struct waiter gt = { .event = event, .how = ways[way],
				     .fn = pier_sync_event_wait_gt,
				     .value = 999 };
		struct waiter neq = { .event = event, .how = ways[way],
				      .fn = pier_sync_event_wait_neq };

		IS(pier_sync_event_set(event, 0), 0);
		begin(&eq);
		begin(&gt);
		begin(&neq);
		IS(pier_sync_event_set(event, 1), 0);
		IS(end(&neq), 0);
		IS(pier_sync_event_add(event, 999, NULL), 0);
		IS(end(&gt), 0);
		IS(pier_sync_event_set(event, ALL), 0);
		IS(end(&eq), 0);
		IS(atomic_load(&event->sleepers), 0);
	}
	IS(atomic_load(&event->changes), 3);	/* one for each set, add */
	finish(event);
}

static void a_sleeper_sees_a_store_to_the_word_of_the_program(void)
{
	uint64_t word = 0;
	struct pier_sync_event *event = start(&word);
	struct waiter w = { .event = event, .how = YIELD, .value = 4,
			    .fn = pier_sync_event_wait_eq };

	begin(&w);
	__atomic_store_n(&word, 4, __ATOMIC_RELEASE);
	IS(end(&w), 0);
	finish(event);
}

static void a_stop_ends_every_wait(void)
{
	struct pier_sync_event *event = start(NULL);
	struct waiter busy = { .event = event, .how = BUSY, .value = 4,
			       .fn = pier_sync_event_wait_eq };
	struct waiter asleep = { .event = event, .how = YIELD, .value = 4,
				 .fn = pier_sync_event_wait_eq };

	begin(&busy);
	begin(&asleep);
	IS(pier_sync_event_stop(event), 0);
	IS(end(&busy), -ESHUTDOWN);
	IS(end(&asleep), -ESHUTDOWN);
	pier_sync_event_destroy(event);
}

static void a_set_makes_no_wake_where_no_thread_sleeps(void)
{
	struct pier_sync_event *event = start(NULL);
	struct waiter w = { .event = event, .how = BUSY, .value = 2,
			    .fn = pier_sync_event_wait_eq };

	begin(&w);
	IS(pier_sync_event_set(event, 1), 0);
	IS(pier_sync_event_add(event, 1, NULL), 0);
	IS(end(&w), 0);
	IS(atomic_load(&event->changes), 0);
	finish(event);
}

static void *add_many(void *arg)
{
	int i;

	for (i = 0; i < ADDS; i++)
		pier_sync_event_add(arg, 1, NULL);
	return NULL;
}

static void threads_add_without_losing_any(void)
{
	struct pier_sync_event *event = start(NULL);
	pthread_t thread[ADDERS];
	int i;

	for (i = 0; i < ADDERS; i++)
		IS(pthread_create(&thread[i], NULL, add_many, event), 0);
	IS(pier_sync_event_wait_eq(event, ADDERS * ADDS, ALL, YIELD, LIMIT_MS),
	   0);
	for (i = 0; i < ADDERS; i++)
		pthread_join(thread[i], NULL);
	IS(value_of(event), ADDERS * ADDS);
	finish(event);
}

/* The other half of a ping-pong: odd values are its turn. */
struct echo {
	struct pier_sync_event *event;
	enum pier_sync_event_wait how;
	int data;		/* ordered by the event alone */
	int err;
};

static void *answer(void *arg)
{
	struct echo *echo = arg;
	uint64_t i;

	for (i = 1; !echo->err && i < 2 * ROUNDS; i += 2) {
		echo->err = pier_sync_event_wait_eq(echo->event, i, ALL,
						    echo->how, LIMIT_MS);
		echo->data++;
		if (!echo->err)
			echo->err = pier_sync_event_set(echo->event, i + 1);
	}
	return NULL;
}

static void two_threads_take_turns(void)
{
	size_t way;

	for (way = 0; way < 2; way++) {
		struct echo echo = { .event = start(NULL), .how = ways[way] };
		uint64_t i;
		int err = 0;
		pthread_t thread;

		if (!IS(pthread_create(&thread, NULL, answer, &echo), 0))
			return;
		for (i = 1; !err && i < 2 * ROUNDS; i += 2) {
			echo.data++;
			err = pier_sync_event_set(echo.event, i);
			if (!err)
				err = pier_sync_event_wait_gt(
					echo.event, i, ALL, ways[way],
					LIMIT_MS);
		}
		IS(err, 0);
		pthread_join(thread, NULL);
		IS(echo.err, 0);
		IS(echo.data, 2 * ROUNDS);
		finish(echo.event);
	}
}

int main(void)
{
	TEST(an_event_begins_at_zero_and_has_64_bits);
	TEST(the_word_of_the_program_is_the_value);
	TEST(bad_configurations_are_refused);
	TEST(a_start_needs_a_publisher_and_a_subscriber);
	TEST(an_event_is_used_between_start_and_stop_only);
	TEST(a_stopped_event_can_only_be_destroyed);
	TEST(waits_compare_all_bits_under_the_mask);
	TEST(a_waiter_sees_a_set_and_an_add);
	TEST(a_sleeper_sees_a_store_to_the_word_of_the_program);
	TEST(a_stop_ends_every_wait);
	TEST(a_set_makes_no_wake_where_no_thread_sleeps);
	TEST(threads_add_without_losing_any);
	TEST(two_threads_take_turns);
	return tap_done();
}
