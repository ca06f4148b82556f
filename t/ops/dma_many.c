/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/tap.h"

/* Copies of more pieces than a context has requests, from several exports. */

#define EXPORTS 6
#define PIECES 80		/* of a copy: each is a buffer of its own */
#define PIECE 4096
#define LEN ((size_t)PIECES * PIECE)

static struct pier_dev *dev;
static struct copier c;
static struct pair pair;
static uint8_t *theirs;		/* the owner's memory, seen by both */
static struct pier_mmap *remote[EXPORTS];

/* Export the memory EXPORTS times, and sleep until the end. */
static int owner(struct pair *me, void *arg)
{
	struct pier_dma_export *exported[EXPORTS] = { NULL };
	struct pier_mmap *mmap = NULL;
	const void *desc;
	size_t len;
	char word;
	int err = pier_dev_open(NULL, &dev);

	(void)arg;
	if (!err)
		err = pier_mmap_map(dev, theirs, LEN, PIER_PEER_READ, &mmap);
	for (int i = 0; !err && i < EXPORTS; i++) {
		err = pier_dma_export_create(mmap, dev, &exported[i]);
		if (err)
			break;
		pier_dma_export_desc(exported[i], &desc, &len);
		err = !pair_send(me, desc, len);
	}
	if (!err)
		pair_recv(me, &word, 1);
	for (int i = 0; i < EXPORTS; i++)
		pier_dma_export_destroy(exported[i]);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return err;
}

static bool import_all(void)
{
	uint8_t desc[PIER_DMA_EXPORT_DESC_MAX];
	int len;

	for (int i = 0; i < EXPORTS; i++) {
		len = pair_recv(&pair, desc, sizeof(desc));
		if (!OK(len > 0) ||
		    !IS(pier_dma_import(dev, desc, (size_t)len, &remote[i]), 0))
			return false;
	}
	return true;
}

static bool begin(void)
{
	theirs = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(theirs != MAP_FAILED))
		return false;
	for (size_t i = 0; i < LEN; i++)
		theirs[i] = (uint8_t)rand();
	pair_start(&pair, owner, NULL);
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       copier_open(&c, dev, NULL, EXPORTS * LEN) && import_all();
}

static void end(void)
{
	for (int i = 0; i < EXPORTS; i++) {
		pier_mmap_destroy(remote[i]);
		remote[i] = NULL;
	}
	copier_close(&c);
	pier_dev_close(dev);
	dev = NULL;
	munmap(theirs, LEN);
}

/* All of the export, a buffer for each piece. */
static struct pier_buf *pieces(struct pier_mmap *mmap)
{
	char *addr = pier_mmap_addr(mmap);
	struct pier_buf *first = NULL, *buf;

	for (int i = 0; i < PIECES; i++, addr += PIECE) {
		if (!IS(pier_buf_by_args(c.inv, mmap, addr, PIECE, addr, PIECE,
					 &buf), 0))
			break;
		if (first)
			IS(pier_buf_chain(first, buf), 0);
		else
			first = buf;
	}
	return first;
}

struct from_all {
	struct pier_task *task[EXPORTS];
	struct pier_buf *src[EXPORTS], *dst[EXPORTS];
};

/* Copy the export @from(i) to the place of each i. */
static void submit_all(struct from_all *copies, bool one)
{
	for (int i = 0; i < EXPORTS; i++) {
		copies->src[i] = pieces(remote[one ? 0 : i]);
		copies->dst[i] = copier_tail(&c, (size_t)i * LEN, LEN);
		IS(pier_dma_task_copy(c.dma, copies->src[i], copies->dst[i],
				      &copies->task[i]), 0);
		IS(pier_task_submit(copies->task[i], 0), 0);
	}
}

static void free_all(struct from_all *copies)
{
	for (int i = 0; i < EXPORTS; i++) {
		IS(pier_task_free(copies->task[i]), 0);
		pier_buf_put(copies->src[i]);
		pier_buf_put(copies->dst[i]);
	}
}

static void copies_of_many_exports_share_the_requests(void)
{
	struct from_all copies = { 0 };

	if (begin()) {
		submit_all(&copies, false);
		for (int i = 0; i < EXPORTS; i++) {
			IS(copier_wait(&c, copies.task[i]), 0);
			OK(!memcmp(c.dst + (size_t)i * LEN, theirs, LEN));
		}
		free_all(&copies);
		OK(pair_send(&pair, "", 1));
		IS(pair_wait(&pair), 0);
	}
	end();
}

/* One event a call, as programs for DOCA do. */
static int wait_step_by_step(struct pier_task *task)
{
	long long limit = limit_from_now();

	while (pier_task_status(task) == -EINPROGRESS && limit_holds(limit))
		pier_pe_progress(c.pe, 1);
	return pier_task_status(task);
}

static void copies_from_an_owner_that_dies_end_one_by_one(void)
{
	struct from_all first = { 0 }, copies = { 0 };

	if (begin()) {
		submit_all(&first, true);
		IS(wait_step_by_step(first.task[0]), 0);
		pair_kill(&pair);
		submit_all(&copies, true);
		OK(wait_step_by_step(copies.task[EXPORTS - 1]) < 0);
		for (int i = 0; i < EXPORTS; i++)
			OK(pier_task_status(copies.task[i]) < 0 &&
			   pier_task_status(copies.task[i]) != -EINPROGRESS);
		LIKE(pier_last_error(), "copy: no access to the export: ");
		free_all(&first);	/* their ends were before */
		free_all(&copies);
	}
	end();
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	dev = NULL;
	TEST(copies_of_many_exports_share_the_requests);
	TEST(copies_from_an_owner_that_dies_end_one_by_one);
	return tap_done();
}
