/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/*
 * One side of an export is killed, at every stage: on the other side each task
 * ends once, with an error message, and everything can be stopped.
 */
#define LEN (4u << 20)
#define TASKS 8
#define PART (LEN / TASKS)
#define ROUNDS 8		/* of an engine while it connects */

static struct pier_dev *dev;
static struct copier c;
static uint8_t *memory;		/* the owner's, seen by both */
static struct pair pair;
static struct pier_mmap *exported_mmap, *remote;
static struct pier_dma_export *exported;

static bool share_memory(void)
{
	memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(memory != MAP_FAILED))
		return false;
	memset(memory, 0x5a, LEN);
	return true;
}

static int export(const void **ret_desc, size_t *ret_len)
{
	int err = pier_dev_open(NULL, &dev);

	if (!err)
		err = pier_mmap_map(dev, memory, LEN,
				    PIER_PEER_READ | PIER_PEER_WRITE,
				    &exported_mmap);
	if (!err)
		err = pier_dma_export_create(exported_mmap, dev, &exported);
	if (!err)
		pier_dma_export_desc(exported, ret_desc, ret_len);
	return err;
}

static bool import(const void *desc, size_t len)
{
	return IS(pier_dma_import(dev, desc, len, &remote), 0) &&
	       copier_open(&c, dev, NULL, LEN);
}

/* Tasks, each of which writes its part. */
static struct pier_task *tasks[TASKS];

static void submit(int count)
{
	struct pier_buf *src, *dst = NULL;

	for (int i = 0; i < count; i++) {
		char *at = (char *)pier_mmap_addr(remote) + i * PART;

		src = copier_data(&c, (size_t)i * PART, PART);
		IS(pier_buf_by_addr(c.inv, remote, at, PART, &dst), 0);
		IS(pier_dma_task_copy(c.dma, src, dst, &tasks[i]), 0);
		IS(pier_task_submit(tasks[i], 0), 0);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
}

/* Until each has ended.  Returns how many have failed. */
static int await(int count)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		failed += copier_wait(&c, tasks[i]) < 0;
		OK(pier_task_status(tasks[i]) != -EINPROGRESS);
		pier_task_free(tasks[i]);
	}
	return failed;
}

static void close_all(void)
{
	pier_mmap_destroy(remote);
	copier_close(&c);
	pier_dma_export_destroy(exported);
	pier_mmap_destroy(exported_mmap);
	pier_dev_close(dev);
	remote = exported_mmap = NULL;
	exported = NULL;
	dev = NULL;
	munmap(memory, LEN);
}

/* A process that exports, and sleeps until it is killed. */
static int owner(struct pair *me, void *arg)
{
	const void *desc;
	size_t len;

	(void)arg;
	if (export(&desc, &len) || !pair_send(me, desc, len))
		return 1;
	for (;;)
		pause();
}

static bool begin_import(void)
{
	uint8_t desc[PIER_DESC_MAX];
	int len;

	if (!share_memory())
		return false;
	pair_start(&pair, owner, NULL);
	len = pair_recv(&pair, desc, sizeof(desc));
	return OK(len > 0) && IS(pier_dev_open(NULL, &dev), 0) &&
	       import(desc, (size_t)len);
}

/* The engine goes on, and another export can be used. */
static void stops_and_starts(void)
{
	IS(pier_ctx_stop_wait(c.ctx, LIMIT_MS), 0);
	IS(pier_pe_inflight(c.pe), 0);
	IS(pier_ctx_start(c.ctx, c.pe), 0);
}

static void an_owner_is_killed_before_the_importer_connects(void)
{
	if (begin_import()) {
		pair_kill(&pair);
		submit(TASKS);
		IS(await(TASKS), TASKS);
		LIKE(pier_last_error(), "copy: no access to the export: ");
		stops_and_starts();
	}
	close_all();
}

static void an_owner_is_killed_while_the_importer_connects(void)
{
	for (int rounds = 1; rounds <= ROUNDS && tap_holds(); rounds++) {
		if (begin_import()) {
			submit(1);
			for (int i = 0; i < rounds; i++)
				pier_pe_progress(c.pe, 1);
			pair_kill(&pair);
			await(1);
			submit(1);
			IS(await(1), 1);
			stops_and_starts();
		}
		close_all();
	}
}

static void an_owner_is_killed_in_the_middle_of_copies(void)
{
	if (begin_import()) {
		submit(1);
		IS(await(1), 0);
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		submit(TASKS);
		pier_pe_progress(c.pe, 0);
		pair_kill(&pair);
		await(TASKS);	/* a kernel may have carried some out */
		submit(1);
		IS(await(1), 1);
		LIKE(pier_last_error(), "copy: no access to the export: ");
		stops_and_starts();
	}
	close_all();
}

static void an_owner_is_killed_while_the_importer_stops(void)
{
	if (begin_import()) {
		submit(1);
		IS(await(1), 0);
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		submit(TASKS);
		pier_pe_progress(c.pe, 0);
		IS(pier_ctx_stop(c.ctx), -EINPROGRESS);
		pair_kill(&pair);
		OK(copier_state(&c, PIER_CTX_IDLE));
		await(TASKS);
		IS(pier_ctx_start(c.ctx, c.pe), 0);
	}
	close_all();
}

/* What an importer does when it is killed. */
enum stage {
	CONNECTING,	/* it has begun to, and does no more */
	CONNECTED,	/* it sleeps */
	COPYING,
	STOPPING,	/* with copies in flight */
};

static void copy_for_ever(void)
{
	for (;;) {
		submit(TASKS);
		await(TASKS);
	}
}

static void stop_once(void)
{
	submit(TASKS);
	pier_pe_progress(c.pe, 1);
	pier_ctx_stop(c.ctx);
	pier_pe_progress(c.pe, 1);
}

static int importer(struct pair *me, void *arg)
{
	enum stage stage = *(enum stage *)arg;
	uint8_t desc[PIER_DESC_MAX];
	int len = pair_recv(me, desc, sizeof(desc));

	if (len <= 0 || pier_dev_open(NULL, &dev) || !import(desc, (size_t)len))
		return 1;
	submit(1);
	for (int i = 0; stage == CONNECTING && i < ROUNDS / 2; i++)
		pier_pe_progress(c.pe, 1);
	if (stage != CONNECTING)
		await(1);
	if (stage == STOPPING)
		stop_once();
	if (!pair_send(me, "", 1))
		return 1;
	if (stage == COPYING)
		copy_for_ever();
	for (;;)
		pause();
}

/*
 * Its export is usable by others, here by a context of its own process.  The
 * memory is another thread's until the service has ended.
 */
static void is_served(const void *desc, size_t len)
{
	if (!import(desc, len))
		return;
	memset(c.src, 0x33, LEN);
	submit(TASKS);
	IS(await(TASKS), 0);
	pier_dma_export_destroy(exported);
	exported = NULL;
	OK(!memcmp(memory, c.src, LEN));
}

static void kill_importer(enum stage stage)
{
	const void *desc;
	size_t len;
	char byte;

	if (!share_memory())
		return;
	pair_start(&pair, importer, &stage);
	if (IS(export(&desc, &len), 0) && OK(pair_send(&pair, desc, len)) &&
	    IS(pair_recv(&pair, &byte, 1), 1)) {
		pair_kill(&pair);
		if (stage != CONNECTING)
			IS(pier_dma_export_wait(exported, LIMIT_MS), 0);
		is_served(desc, len);
	}
	close_all();
}

static void an_importer_is_killed_while_it_connects(void)
{
	kill_importer(CONNECTING);
}

static void an_importer_is_killed_while_it_sleeps(void)
{
	kill_importer(CONNECTED);
}

static void an_importer_is_killed_in_the_middle_of_copies(void)
{
	kill_importer(COPYING);
}

static void an_importer_is_killed_while_it_stops(void)
{
	kill_importer(STOPPING);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(an_owner_is_killed_before_the_importer_connects);
	TEST(an_owner_is_killed_while_the_importer_connects);
	TEST(an_owner_is_killed_in_the_middle_of_copies);
	TEST(an_owner_is_killed_while_the_importer_stops);
	TEST(an_importer_is_killed_while_it_connects);
	TEST(an_importer_is_killed_while_it_sleeps);
	TEST(an_importer_is_killed_in_the_middle_of_copies);
	TEST(an_importer_is_killed_while_it_stops);
	return tap_done();
}
