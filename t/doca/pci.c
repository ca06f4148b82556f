/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_dma.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/*
 * What another process exports by PCI.  That process has no engine, and sleeps
 * or waits between two orders, as programs of the host do in getchar().
 */
#define LEN 65536
#define SPINS 100000000

static const union doca_data no_data = { .ptr = NULL };

static struct pair pair;
static uint8_t *theirs;			/* the exporter's, seen by both */
static struct doca_dev *dev;
static struct doca_pe *pe;

enum order { READ_ONLY, READ_WRITE, EVENT, ANSWER, QUIT };

static struct doca_mmap *map(struct doca_dev *on, void *memory,
			     uint32_t access)
{
	struct doca_mmap *mmap = NULL;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_permissions(mmap, access), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, LEN), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, on), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

/* What the exporter has. */
static struct doca_mmap *mapped;
static struct doca_sync_event *event;

static bool export_mmap(struct pair *me, struct doca_dev *on, uint32_t access)
{
	const void *desc;
	size_t len;

	mapped = map(on, theirs, access);
	return IS(doca_mmap_export_pci(mapped, on, &desc, &len),
		  DOCA_SUCCESS) && OK(len <= 512) && pair_send(me, desc, len);
}

static bool export_event(struct pair *me, struct doca_dev *on)
{
	const uint8_t *desc;
	size_t len;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_pci(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, on),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	return IS(doca_sync_event_export_to_remote_pci(event, on, &desc, &len),
		  DOCA_SUCCESS) && OK(len <= 1024) && pair_send(me, desc, len);
}

static bool answer(void)
{
	return IS(doca_sync_event_wait_eq_yield(event, 1, UINT64_MAX),
		  DOCA_SUCCESS) &&
	       IS(doca_sync_event_update_set(event, 2), DOCA_SUCCESS);
}

static bool obey(struct pair *me, struct doca_dev *on, enum order order)
{
	switch (order) {
	case READ_ONLY:
		return export_mmap(me, on, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	case READ_WRITE:
		return export_mmap(me, on, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	case EVENT:
		return export_event(me, on);
	case ANSWER:
		return answer();
	default:
		return false;
	}
}

static int exporter(struct pair *me, void *arg)
{
	struct doca_dev *on = end_device();
	enum order order;

	(void)arg;
	while (pair_recv(me, &order, sizeof(order)) == sizeof(order) &&
	       order != QUIT)
		OK(obey(me, on, order));
	if (event)
		IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	if (event)
		IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	if (mapped)
		IS(doca_mmap_stop(mapped), DOCA_SUCCESS);
	if (mapped)
		IS(doca_mmap_destroy(mapped), DOCA_SUCCESS);
	return doca_dev_close(on);
}

static void tell(enum order order)
{
	OK(pair_send(&pair, &order, sizeof(order)));
}

/* What it exports by @order. */
static size_t ask(enum order order, uint8_t desc[4096])
{
	int len;

	tell(order);
	len = pair_recv(&pair, desc, 4096);
	return OK(len > 0) ? (size_t)len : 0;
}

static void begin(void)
{
	theirs = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pair_start(&pair, exporter, NULL);
	dev = end_device();
	IS(doca_pe_create(&pe), DOCA_SUCCESS);
}

static void end(void)
{
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	munmap(theirs, LEN);
}

static void quit(void)
{
	tell(QUIT);
	IS(pair_wait(&pair), 0);
}

static void fill(uint8_t *memory)
{
	for (int i = 0; i < LEN; i++)
		memory[i] = (uint8_t)rand();
}

/* A context that copies, and memory of this process. */
struct importer {
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_mmap *local, *remote;
	struct doca_buf_inventory *inv;
	uint8_t *memory;
	int ended;
};

static void copied(struct doca_dma_task_memcpy *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task;
	(void)ctx_data;
	++*(int *)data.ptr;
}

static bool importer_open(struct importer *c, enum order order)
{
	uint8_t desc[4096];
	size_t len = ask(order, desc);

	memset(c, 0, sizeof(*c));
	c->memory = calloc(1, LEN);
	c->local = map(dev, c->memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	IS(doca_buf_inventory_create(4, &c->inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(c->inv), DOCA_SUCCESS);
	IS(doca_dma_create(dev, &c->dma), DOCA_SUCCESS);
	c->ctx = doca_dma_as_ctx(c->dma);
	IS(doca_dma_task_memcpy_set_conf(c->dma, copied, copied, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, c->ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(c->ctx), DOCA_SUCCESS);
	return IS(doca_mmap_create_from_export(NULL, desc, len, dev,
					       &c->remote), DOCA_SUCCESS);
}

static bool idle(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	for (int i = 0; i < SPINS && state != DOCA_CTX_STATE_IDLE; i++) {
		doca_pe_progress(pe);
		doca_ctx_get_state(ctx, &state);
	}
	return state == DOCA_CTX_STATE_IDLE;
}

static void importer_close(struct importer *c)
{
	doca_ctx_stop(c->ctx);
	OK(idle(c->ctx));
	IS(doca_dma_destroy(c->dma), DOCA_SUCCESS);
	IS(doca_mmap_stop(c->remote), DOCA_SUCCESS);
	IS(doca_mmap_destroy(c->remote), DOCA_SUCCESS);
	IS(doca_mmap_destroy(c->local), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(c->inv), DOCA_SUCCESS);
	free(c->memory);
}

/* Copy all of one to all of the other. */
static doca_error_t copy(struct importer *c, struct doca_mmap *from,
			 struct doca_mmap *to)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	union doca_data data = { .ptr = &c->ended };
	void *at[2];
	size_t len;
	doca_error_t error;

	IS(doca_mmap_get_memrange(from, &at[0], &len), DOCA_SUCCESS);
	IS(doca_mmap_get_memrange(to, &at[1], &len), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(c->inv, from, at[0], LEN, &src),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_addr(c->inv, to, at[1], LEN, &dst),
	   DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_alloc_init(c->dma, src, dst, data, &task),
	   DOCA_SUCCESS);
	c->ended = 0;
	IS(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_SUCCESS);
	for (int i = 0; i < SPINS && !c->ended; i++)
		doca_pe_progress(pe);
	IS(c->ended, 1);
	error = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	IS(doca_buf_dec_refcount(src, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(dst, NULL), DOCA_SUCCESS);
	return error;
}

static void memory_of_another_process_is_copied(void)
{
	struct importer c;

	begin();
	if (importer_open(&c, READ_WRITE)) {
		fill(theirs);
		IS(copy(&c, c.remote, c.local), DOCA_SUCCESS);
		OK(!memcmp(c.memory, theirs, LEN));
		fill(c.memory);
		IS(copy(&c, c.local, c.remote), DOCA_SUCCESS);
		OK(!memcmp(c.memory, theirs, LEN));
	}
	importer_close(&c);
	quit();
	end();
}

static void memory_for_reading_is_not_written(void)
{
	struct importer c;

	begin();
	if (importer_open(&c, READ_ONLY)) {
		IS(copy(&c, c.remote, c.local), DOCA_SUCCESS);
		fill(c.memory);
		IS(copy(&c, c.local, c.remote), DOCA_ERROR_NOT_PERMITTED);
		IS(theirs[0], 0);
		OK(!memcmp(theirs, theirs + 1, LEN - 1));
	}
	importer_close(&c);
	quit();
	end();
}

/* The import stays one, and the task fails as others do. */
static void memory_of_a_process_that_ended_is_an_error(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	struct importer c;

	begin();
	if (importer_open(&c, READ_WRITE)) {
		IS(copy(&c, c.remote, c.local), DOCA_SUCCESS);
		quit();
		OK(copy(&c, c.remote, c.local) != DOCA_SUCCESS);
		IS(doca_ctx_get_state(c.ctx, &state), DOCA_SUCCESS);
		OK(state != DOCA_CTX_STATE_RUNNING);
	}
	importer_close(&c);
	end();
}

static struct doca_sync_event *import(void)
{
	struct doca_sync_event *far = NULL;
	uint8_t desc[4096];
	size_t len = ask(EVENT, desc);

	IS(doca_sync_event_create_from_export(dev, desc, len - 1, &far),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_sync_event_create_from_export(dev, desc, len, &far),
	   DOCA_SUCCESS);
	return far;
}

static void an_event_of_another_process_is_set_and_waited_for(void)
{
	struct doca_sync_event *far;
	uint64_t value = 9;

	begin();
	far = import();
	if (far) {
		IS(doca_sync_event_add_publisher_location_cpu(far, dev),
		   DOCA_ERROR_NOT_PERMITTED);
		IS(doca_sync_event_start(far), DOCA_SUCCESS);
		IS(doca_sync_event_get(far, &value), DOCA_SUCCESS);
		IS(value, 0);
		tell(ANSWER);
		IS(doca_sync_event_update_add(far, 1, &value), DOCA_SUCCESS);
		IS(value, 0);
		IS(doca_sync_event_wait_eq(far, 2, UINT64_MAX), DOCA_SUCCESS);
		quit();		/* what follows needs it no more */
		IS(doca_sync_event_stop(far), DOCA_SUCCESS);
		IS(doca_sync_event_destroy(far), DOCA_SUCCESS);
	}
	end();
}

static int ended;

static void on_set(struct doca_sync_event_task_notify_set *task,
		   union doca_data data, union doca_data ctx_data)
{
	struct doca_task *base =
		doca_sync_event_task_notify_set_as_doca_task(task);

	(void)data;
	(void)ctx_data;
	IS(doca_task_get_status(base), DOCA_SUCCESS);
	doca_task_free(base);
	ended++;
}

static void on_wait(struct doca_sync_event_task_wait_eq *task,
		    union doca_data data, union doca_data ctx_data)
{
	struct doca_task *base =
		doca_sync_event_task_wait_eq_as_doca_task(task);

	(void)ctx_data;
	IS(doca_task_get_status(base), (doca_error_t)data.u64);
	doca_task_free(base);
	ended++;
}

static struct doca_sync_event *import_ctx(void)
{
	struct doca_sync_event *far = import();
	struct doca_ctx *ctx = doca_sync_event_as_ctx(far);

	ended = 0;
	IS(doca_sync_event_task_notify_set_set_conf(far, on_set, on_set, 1),
	   DOCA_SUCCESS);
	IS(doca_sync_event_task_wait_eq_set_conf(far, on_wait, on_wait, 1),
	   DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	return far;
}

static void submit_wait(struct doca_sync_event *far, uint64_t value,
			doca_error_t expected)
{
	const union doca_data data = { .u64 = expected };
	struct doca_sync_event_task_wait_eq *wait;

	IS(doca_sync_event_task_wait_eq_alloc_init(far, value, UINT64_MAX,
						   data, &wait), DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(wait)),
	   DOCA_SUCCESS);
}

/* As programs do: the first progress that counts is that of their task. */
static void progress_once(void)
{
	int before = ended;

	for (int i = 0; i < SPINS && !doca_pe_progress(pe); i++)
		;
	IS(ended, before + 1);
}

/* As programs do: stop, progress until no task is in flight, look. */
static void tear_down(struct doca_sync_event *far)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(far);
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	size_t n = 1;

	if (doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS) {
		for (int i = 0; i < SPINS && n; i++) {
			doca_pe_progress(pe);
			IS(doca_ctx_get_num_inflight_tasks(ctx, &n),
			   DOCA_SUCCESS);
		}
	}
	IS(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
	IS(state, DOCA_CTX_STATE_IDLE);
	IS(doca_sync_event_destroy(far), DOCA_SUCCESS);
}

static void tasks_of_an_imported_event_count_and_nothing_else(void)
{
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event *far;

	begin();
	far = import_ctx();
	tell(ANSWER);
	IS(doca_sync_event_task_notify_set_alloc_init(far, 1, no_data, &set),
	   DOCA_SUCCESS);
	IS(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(set)),
	   DOCA_SUCCESS);
	progress_once();
	submit_wait(far, 2, DOCA_SUCCESS);
	progress_once();
	tear_down(far);
	quit();
	end();
}

static void a_wait_in_flight_is_flushed_by_the_tear_down(void)
{
	struct doca_sync_event *far;

	begin();
	far = import_ctx();
	submit_wait(far, 7, DOCA_ERROR_IO_FAILED);
	tear_down(far);
	IS(ended, 1);
	quit();
	end();
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	doca_dev_close(dev);
	TEST(memory_of_another_process_is_copied);
	TEST(memory_for_reading_is_not_written);
	TEST(memory_of_a_process_that_ended_is_an_error);
	TEST(an_event_of_another_process_is_set_and_waited_for);
	TEST(tasks_of_an_imported_event_count_and_nothing_else);
	TEST(a_wait_in_flight_is_flushed_by_the_tear_down);
	return tap_done();
}
