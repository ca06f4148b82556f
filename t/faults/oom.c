/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/pier.h>

#include "t/lib/entries.h"
#include "t/lib/failing.h"
#include "t/lib/tap.h"

/*
 * A whole life, from opening a device to closing it, in which every allocation
 * is made to fail once: each time it ends with an error and nothing is left.
 */

#define LEN 4096
#define STEPS_MAX 2000
#define WAIT_MS 5000

struct life {
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_mmap *local, *remote;
	struct pier_buf_inventory *inv;
	struct pier_buf *src, *dst;
	struct pier_conn *one, *two;
};

static char memory[2 * LEN];

static void read_done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static int begin(struct life *l)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .drain_ms = 500,
		.connect_timeout_ms = 2000,
	};
	int err;

	err = pier_dev_open(NULL, &l->dev);
	if (!err)
		err = pier_pe_create(&l->pe);
	if (!err)
		err = pier_rdma_create(l->dev, &l->rdma);
	if (!err)
		err = pier_rdma_configure(l->rdma, &cfg);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(l->rdma), l->pe);
	return err;
}

static int take_memory(struct life *l)
{
	const void *desc;
	size_t len;
	int err;

	err = pier_mmap_map(l->dev, memory, sizeof(memory), PIER_REMOTE_READ |
			    PIER_LOCAL_WRITE, &l->local);
	if (!err)
		err = pier_mmap_export(l->local, &desc, &len);
	if (!err)
		err = pier_mmap_create_from_export(NULL, desc, len, &l->remote);
	if (!err)
		err = pier_buf_inventory_create(2, &l->inv);
	if (!err)
		err = pier_buf_by_data(l->inv, l->remote, memory, LEN,
				       &l->src);
	if (!err)
		err = pier_buf_by_addr(l->inv, l->local, memory + LEN, LEN,
				       &l->dst);
	return err;
}

/* Two connections of one context, with each other. */
static int meet(struct life *l)
{
	const void *desc_one, *desc_two;
	size_t len_one, len_two;
	int err;

	err = pier_rdma_export(l->rdma, &desc_one, &len_one, &l->one);
	if (!err)
		err = pier_rdma_export(l->rdma, &desc_two, &len_two, &l->two);
	if (!err)
		err = pier_rdma_connect(l->one, desc_two, len_two);
	if (!err)
		err = pier_rdma_connect(l->two, desc_one, len_one);
	if (!err)
		err = pier_conn_wait(l->one, WAIT_MS);
	if (!err)
		err = pier_conn_wait(l->two, WAIT_MS);
	return err;
}

static int read_once(struct life *l)
{
	int status = -EINPROGRESS, err;

	err = pier_rdma_read(l->one, l->src, l->dst, read_done, &status);
	while (!err && status == -EINPROGRESS)
		err = pier_pe_wait(l->pe, WAIT_MS);
	return err ? err : status;
}

static void end(struct life *l)
{
	pier_conn_disconnect(l->one);
	pier_buf_put(l->dst);
	pier_buf_put(l->src);
	pier_buf_inventory_destroy(l->inv);
	pier_mmap_destroy(l->remote);
	pier_mmap_destroy(l->local);
	pier_rdma_destroy(l->rdma);
	pier_pe_destroy(l->pe);
	pier_dev_close(l->dev);
}

static int live_once(void)
{
	struct life life;
	int err, stopped = 0;

	memset(&life, 0, sizeof(life));
	memset(memory, 'x', LEN);
	memset(memory + LEN, 0, LEN);
	err = begin(&life);
	if (!err)
		err = take_memory(&life);
	if (!err)
		err = meet(&life);
	if (!err)
		err = read_once(&life);
	if (!err && memcmp(memory, memory + LEN, LEN))
		err = -EBADMSG;
	if (life.rdma)
		stopped = pier_ctx_stop_wait(pier_rdma_ctx(life.rdma),
					     WAIT_MS);
	IS(stopped, 0);
	end(&life);
	return err;
}

static void all_goes_well_without_failures(void)
{
	long before = failing_live();

	if (!IS(live_once(), 0))
		tap_note("%s", pier_last_error());
	IS(failing_live(), before);
	OK(failing_allocations() > 10);		/* they are seen at all */
	OK(failing_frees() > 10);
}

static void every_allocation_fails_once(void)
{
	long before = failing_live(), n;
	int files = entries_in("/proc/self/fd"), err;

	for (n = 0; n < STEPS_MAX; n++) {
		failing_at(n);
		err = live_once();
		if (!failing_happened())
			break;
		failing_at(-1);
		if (!IS(err, -ENOMEM) || !IS(failing_live(), before) ||
		    !IS(entries_in("/proc/self/fd"), files)) {
			tap_note("allocation %ld: %s; oldest left: %zu bytes",
				 n, pier_last_error(), failing_oldest());
			before = failing_live();
			files = entries_in("/proc/self/fd");
		}
	}
	failing_at(-1);
	IS(err, 0);
	OK(n > 10);
	OK(n < STEPS_MAX);
	tap_note("%ld allocations", n);
}

static void all_goes_well_afterwards(void)
{
	IS(live_once(), 0);
}

int main(void)
{
	struct pier_dev *dev;

	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(all_goes_well_without_failures);
	TEST(every_allocation_fails_once);
	TEST(all_goes_well_afterwards);
	return tap_done();
}
