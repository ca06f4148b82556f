/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <pthread.h>

#include <doca_dma.h>
#include <doca_mmap_advise.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* Where callbacks run, what they may do, and how a program sleeps. */

#define SPINS 20000000

static const union doca_data no_data = { .ptr = NULL };
static struct end a, b;

static void open_pair(void)
{
	end_open(&a);
	end_open(&b);
}

static void close_pair(void)
{
	end_close(&a);
	end_close(&b);
}

static void put(struct doca_buf *buf)
{
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

/* Callbacks count themselves, and those on another thread than @driver. */

static pthread_t driver;
static int calls, elsewhere;

static void called(void)
{
	calls++;
	elsewhere += !pthread_equal(pthread_self(), driver);
}

static void on_receive(struct doca_rdma_task_receive *task,
		       union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	called();
}

static void on_wait(struct doca_sync_event_task_wait_eq *task,
		    union doca_data data, union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
	called();
}

static void on_state(const union doca_data data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	(void)next;
	called();
}

/* Make progress on @b until there were as many calls. */
static void *drive(void *arg)
{
	const int *want = arg;

	driver = pthread_self();
	for (long i = 0; i < SPINS && calls < *want; i++)
		doca_pe_progress(b.pe);
	return NULL;
}

static void drive_elsewhere(int want)
{
	pthread_t thread;

	if (!IS(pthread_create(&thread, NULL, drive, &want), 0))
		return;
	pthread_join(thread, NULL);
	IS(calls, want);
	IS(elsewhere, 0);
}

static struct doca_rdma_task_receive *post(void)
{
	struct doca_rdma_task_receive *task = NULL;

	IS(doca_rdma_task_receive_allocate_init(b.rdma, NULL, no_data, &task),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_receive_as_task(task)),
	   DOCA_SUCCESS);
	return task;
}

static doca_error_t send_nothing(void)
{
	struct doca_rdma_task_send *task = NULL;

	IS(doca_rdma_task_send_allocate_init(a.rdma, a.conn, NULL, no_data,
					     &task), DOCA_SUCCESS);
	return ends_run(&a, &a, doca_rdma_task_send_as_task(task));
}

/* The message has arrived when its sender's task is done. */
static void callbacks_wait_for_the_thread_that_makes_progress(void)
{
	struct doca_rdma_task_receive *task;

	open_pair();
	calls = elsewhere = 0;
	driver = pthread_self();
	IS(doca_rdma_task_receive_set_conf(b.rdma, on_receive, on_receive, 1),
	   DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(b.ctx, on_state), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	IS(calls, 1);		/* here, inside the start */
	ends_connect(&a, &b);
	task = post();
	IS(send_nothing(), DOCA_SUCCESS);
	IS(calls, 1);
	drive_elsewhere(2);
	driver = pthread_self();
	doca_task_free(doca_rdma_task_receive_as_task(task));
	IS(doca_ctx_stop(b.ctx), DOCA_ERROR_IN_PROGRESS);
	IS(calls, 3);		/* here, inside the stop */
	drive_elsewhere(4);	/* idle, when there is progress */
	close_pair();
}

static struct doca_sync_event *event_on(struct doca_pe *pe)
{
	struct doca_sync_event *event = end_event(b.dev);

	IS(doca_sync_event_task_wait_eq_set_conf(event, on_wait, on_wait, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, doca_sync_event_as_ctx(event)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	return event;
}

/* The thread that sets an event does not run what waits for it. */
static void a_wait_ends_on_the_thread_that_makes_progress(void)
{
	struct doca_sync_event_task_wait_eq *wait = NULL;
	struct doca_sync_event *event;

	end_open(&b);
	calls = elsewhere = 0;
	event = event_on(b.pe);
	IS(doca_sync_event_task_wait_eq_alloc_init(event, 1, UINT64_MAX,
						   no_data, &wait),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)),
	   DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 1), DOCA_SUCCESS);
	IS(calls, 0);
	drive_elsewhere(1);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	IS(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	end_close(&b);
}

/* A callback that lasts, as one that waits for Enter: the peer reads. */

static int reads;

static void *read_from_b(void *arg)
{
	struct doca_buf *src = end_far_data(&a, 0, 8);
	struct doca_buf *dst = end_space(&a, 0, 8);
	struct doca_rdma_task_read *task = NULL;

	(void)arg;
	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(ends_run(&a, &a, doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	reads += !memcmp(a.memory, b.memory, 8);
	put(src);
	put(dst);
	return NULL;
}

static void read_meanwhile(void)
{
	pthread_t thread;

	if (IS(pthread_create(&thread, NULL, read_from_b, NULL), 0))
		pthread_join(thread, NULL);
}

static void connect_and_last(const union doca_data data, struct doca_ctx *ctx,
			     enum doca_ctx_states prev,
			     enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	ends_connect(&a, &b);
	read_meanwhile();
}

static void receive_and_last(struct doca_rdma_task_receive *task,
			     union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	read_meanwhile();
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void peers_are_served_while_a_callback_lasts(void)
{
	open_pair();
	reads = 0;
	memcpy(b.memory, "a prompt", 8);
	IS(doca_rdma_task_receive_set_conf(b.rdma, receive_and_last,
					   receive_and_last, 1), DOCA_SUCCESS);
	IS(doca_ctx_set_state_changed_cb(b.ctx, connect_and_last),
	   DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	IS(reads, 1);
	post();
	IS(send_nothing(), DOCA_SUCCESS);
	for (long i = 0; i < SPINS && reads < 2; i++)
		doca_pe_progress(b.pe);
	IS(reads, 2);
	close_pair();
}

/* What a callback of a task does: it starts, exports, and copies. */

static struct doca_dma *dma;
static struct doca_task *copy;
static int copied, exported;
static char memory[64];

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data data,
		      union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	IS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)),
	   DOCA_SUCCESS);
	copied++;
}

static void export_all(void)
{
	struct doca_mmap *mmap = NULL;
	const void *desc;
	size_t len;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE |
				     DOCA_ACCESS_FLAG_RDMA_READ),
	   DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, b.dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_mmap_export_pci(mmap, b.dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_export_rdma(mmap, b.dev, &desc, &len), DOCA_SUCCESS);
	IS(doca_mmap_stop(mmap), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	exported++;
}

static void start_another(struct doca_mmap_advise_task_invalidate_cache *task,
			  union doca_data data, union doca_data ctx_data)
{
	struct doca_dma_task_memcpy *next = NULL;
	enum doca_ctx_states state;

	(void)task;
	(void)data;
	(void)ctx_data;
	export_all();
	IS(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_ctx_get_state(doca_dma_as_ctx(dma), &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_RUNNING);
	IS(doca_dma_task_memcpy_alloc_init(dma, end_data(&b, 0, 8),
					   end_space(&b, 8, 8), no_data, &next),
	   DOCA_SUCCESS);
	copy = doca_dma_task_memcpy_as_task(next);
	IS(doca_task_submit(copy), DOCA_SUCCESS);
	IS(copied, 0);
}

static struct doca_mmap_advise *start_advise(void)
{
	struct doca_mmap_advise *advise = NULL;

	IS(doca_mmap_advise_create(b.dev, &advise), DOCA_SUCCESS);
	IS(doca_mmap_advise_task_invalidate_cache_set_conf(
		advise, start_another, start_another, 1), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(b.pe, doca_mmap_advise_as_ctx(advise)),
	   DOCA_SUCCESS);
	IS(doca_ctx_start(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	return advise;
}

static void run_in_callback(struct doca_mmap_advise *advise)
{
	struct doca_mmap_advise_task_invalidate_cache *task = NULL;
	struct doca_buf *buf = end_data(&b, 0, 8);
	struct doca_task *base;

	IS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf,
							     no_data, &task),
	   DOCA_SUCCESS);
	base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
	IS(doca_task_submit(base), DOCA_SUCCESS);
	for (long i = 0; i < SPINS && !copied; i++)
		doca_pe_progress(b.pe);
	IS(copied, 1);
	IS(exported, 1);
	doca_task_free(base);
	put(buf);
}

static void a_callback_starts_another_context_and_exports(void)
{
	struct doca_mmap_advise *advise;
	struct doca_dma_task_memcpy *task;

	end_open(&b);
	IS(doca_dma_create(b.dev, &dma), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, on_copied, on_copied, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(b.pe, doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	advise = start_advise();
	run_in_callback(advise);
	task = (struct doca_dma_task_memcpy *)(void *)copy;
	put((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task));
	put(doca_dma_task_memcpy_get_dst(task));
	doca_task_free(copy);
	IS(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
	IS(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)), DOCA_SUCCESS);
	IS(doca_mmap_advise_destroy(advise), DOCA_SUCCESS);
	end_close(&b);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout_ms) == 1;
}

/* Read, asleep; @clears: as one mode asks for, and the other does not. */
static void sleep_and_read(bool clears)
{
	struct doca_buf *src = end_far_data(&a, 0, 8);
	struct doca_buf *dst = end_space(&a, 0, 8);
	struct doca_rdma_task_read *task = NULL;
	doca_notification_handle_t fd;
	int want = a.done + 1;

	IS(doca_rdma_task_read_allocate_init(a.rdma, a.conn, src, dst, no_data,
					     &task), DOCA_SUCCESS);
	IS(doca_task_submit(doca_rdma_task_read_as_task(task)), DOCA_SUCCESS);
	IS(doca_pe_get_notification_handle(a.pe, &fd), DOCA_SUCCESS);
	for (int i = 0; i < 1000 && a.done < want; i++) {
		IS(doca_pe_request_notification(a.pe), DOCA_SUCCESS);
		if (!OK(readable(fd, 20000)))
			break;
		if (clears)
			IS(doca_pe_clear_notification(a.pe, 0), DOCA_SUCCESS);
		while (doca_pe_progress(a.pe))
			;
	}
	IS(a.done, want);
	doca_task_free(doca_rdma_task_read_as_task(task));
	put(src);
	put(dst);
}

/* Two contexts on one engine; what ended a sleep before ends no other. */
static void sleep_in(enum doca_pe_event_mode mode, bool clears)
{
	doca_notification_handle_t fd;
	struct doca_sync_event *event;
	bool sleeps = false;

	open_pair();
	IS(doca_pe_set_event_mode(a.pe, mode), DOCA_SUCCESS);
	end_start(&a);
	end_start(&b);
	ends_connect(&a, &b);
	event = event_on(a.pe);
	for (int i = 0; i < 3; i++)
		sleep_and_read(clears);
	while (doca_pe_progress(a.pe))
		;
	IS(doca_pe_get_notification_handle(a.pe, &fd), DOCA_SUCCESS);
	for (int i = 0; i < 1000 && !sleeps; i++) {
		IS(doca_pe_request_notification(a.pe), DOCA_SUCCESS);
		sleeps = !readable(fd, 0);
		if (clears)
			IS(doca_pe_clear_notification(a.pe, 0), DOCA_SUCCESS);
		IS(doca_pe_progress(a.pe), 0);
	}
	OK(sleeps);
	IS(doca_pe_clear_notification(a.pe, 0), DOCA_SUCCESS);
	IS(doca_ctx_stop(doca_sync_event_as_ctx(event)), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	close_pair();
}

static void programs_sleep_in_both_modes(void)
{
	sleep_in(DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE, true);
	sleep_in(DOCA_PE_EVENT_MODE_PROGRESS_ALL, true);
}

static void a_request_clears_where_all_make_progress(void)
{
	sleep_in(DOCA_PE_EVENT_MODE_PROGRESS_ALL, false);
}

int main(void)
{
	TEST(callbacks_wait_for_the_thread_that_makes_progress);
	TEST(a_wait_ends_on_the_thread_that_makes_progress);
	TEST(peers_are_served_while_a_callback_lasts);
	TEST(a_callback_starts_another_context_and_exports);
	TEST(programs_sleep_in_both_modes);
	TEST(a_request_clears_where_all_make_progress);
	return tap_done();
}
