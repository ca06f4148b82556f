/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Memory that is taken back while another process writes it, again and again:
 * nothing of that process is written any more once the call has returned.
 */

#define LEN (4u << 20)
#define ROUNDS 8
#define MORE 3		/* copies that are tried after the first that failed */

enum { THEIRS = 0xaa, OURS = 0x55 };

static struct pier_dev *dev;

/* Has the other process written all of @mem once? */
static bool is_written(const uint8_t *mem)
{
	const volatile uint8_t *last = mem + LEN - 1;
	long long limit = limit_from_now();

	while (*last != THEIRS && limit_nap(limit))
		;
	return *last == THEIRS;
}

static bool is_ours(const uint8_t *mem)
{
	for (size_t i = 0; i < LEN; i++)
		if (mem[i] != OURS)
			return false;
	return true;
}

/* The owner changes it at once; compare before and after the peer's failure. */
static void changes_stay(struct pair *pair, uint8_t *mem)
{
	char word;

	memset(mem, OURS, LEN);
	OK(is_ours(mem));
	IS(pair_recv(pair, &word, 1), 1);	/* it has failed */
	OK(is_ours(mem));
	IS(pair_recv(pair, &word, 1), 1);	/* so have more of them */
	OK(is_ours(mem));
}

/* Exports for DMA. */

/* Copy into all of @remote.  Returns the status. */
static int copy(struct copier *c, struct pier_mmap *remote)
{
	struct pier_buf *src = copier_data(c, 0, LEN), *dst = NULL;
	int status;

	IS(pier_buf_by_addr(c->inv, remote, pier_mmap_addr(remote), LEN, &dst),
	   0);
	status = copier_copy(c, src, dst);
	pier_buf_put(src);
	pier_buf_put(dst);
	return status;
}

static int import_and_copy(struct pair *me, void *arg)
{
	struct pier_mmap *remote = NULL;
	uint8_t desc[PIER_DESC_MAX];
	struct copier c;
	int len;

	(void)arg;
	if (pier_dev_open(NULL, &dev) || !copier_open(&c, dev, NULL, LEN))
		return 1;
	memset(c.src, THEIRS, LEN);
	len = pair_recv(me, desc, sizeof(desc));
	if (!OK(len > 0) ||
	    !IS(pier_dma_import(dev, desc, (size_t)len, &remote), 0))
		return 1;
	while (!copy(&c, remote))
		;
	LIKE(pier_last_error(), "copy: no access to the export: ");
	OK(pair_send(me, "", 1));
	for (int i = 0; i < MORE; i++)
		OK(copy(&c, remote) < 0);
	OK(pair_send(me, "", 1));
	pier_mmap_destroy(remote);
	copier_close(&c);
	pier_dev_close(dev);
	return 0;
}

static struct pier_dma_export *export(uint8_t *mem, struct pier_mmap **mmap)
{
	struct pier_dma_export *exported = NULL;

	IS(pier_mmap_map(dev, mem, LEN, PIER_PEER_WRITE, mmap), 0);
	IS(pier_dma_export_create(*mmap, dev, &exported), 0);
	return exported;
}

static void send_desc(struct pair *pair, const struct pier_dma_export *exported)
{
	const void *desc;
	size_t len;

	pier_dma_export_desc(exported, &desc, &len);
	OK(pair_send(pair, desc, len));
}

/* The owner calls nothing of pier's meanwhile. */
static void take_back_export(bool last)
{
	struct pier_dma_export *exported, *other = NULL;
	static uint8_t mem[LEN], others[LEN];
	struct pier_mmap *mmap, *mmap_of_other = NULL;
	struct pair pair;

	memset(mem, 0, LEN);
	pair_start(&pair, import_and_copy, NULL);
	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	exported = export(mem, &mmap);
	if (!last)
		other = export(others, &mmap_of_other);
	send_desc(&pair, exported);
	OK(is_written(mem));
	pier_dma_export_destroy(exported);
	changes_stay(&pair, mem);
	IS(pair_wait(&pair), 0);
	IS(pier_mmap_stop(mmap), 0);
	pier_mmap_destroy(mmap);
	pier_dma_export_destroy(other);
	pier_mmap_destroy(mmap_of_other);
	pier_dev_close(dev);
}

static void nothing_is_copied_into_an_export_that_was_taken_back(void)
{
	for (int i = 0; i < ROUNDS; i++)
		take_back_export(false);
}

static void nothing_is_copied_into_the_last_export_of_a_device(void)
{
	for (int i = 0; i < ROUNDS; i++)
		take_back_export(true);
}

/* Memory of RDMA contexts. */

/* Write all of the other's memory.  Returns the status. */
static int write_all(struct peer *me)
{
	struct pier_buf *src = peer_data(me, 0, LEN);
	struct pier_buf *dst = peer_far_tail(me, 0, LEN);
	int status = -EINPROGRESS;

	if (!pier_rdma_write(me->conn, src, dst, peer_done, &status))
		peer_await(&status);
	pier_buf_put(src);
	pier_buf_put(dst);
	return status;
}

static int meet_and_write(struct pair *pair, void *arg)
{
	struct peer me;

	(void)arg;
	if (pier_dev_open(NULL, &dev) ||
	    !peer_open(&me, dev, NULL, NULL, LEN) || !peer_meet(&me, pair))
		return 1;
	memset(me.mem, THEIRS, LEN);
	while (!write_all(&me))
		;
	OK(pair_send(pair, "", 1));
	OK(write_all(&me) != 0);
	OK(pair_send(pair, "", 1));
	peer_close(&me);
	pier_dev_close(dev);
	return 0;
}

/* @sleeps: the owner's engine is not driven while it is written. */
static void stop_mmap(bool sleeps)
{
	struct pair pair;
	struct peer me;

	pair_start(&pair, meet_and_write, NULL);
	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !peer_open(&me, dev, NULL, NULL, LEN) || !peer_meet(&me, &pair))
		return;
	OK(is_written(me.mem));
	if (!sleeps)
		peer_drive_quietly(20);
	IS(pier_mmap_stop(me.mmap), 0);
	changes_stay(&pair, me.mem);
	IS(pair_wait(&pair), 0);
	peer_drive_quietly(20);
	OK(is_ours(me.mem));
	peer_close(&me);
	pier_dev_close(dev);
}

static void nothing_is_written_to_memory_that_was_stopped(void)
{
	for (int i = 0; i < ROUNDS; i++)
		stop_mmap(false);
}

static void nothing_is_written_while_its_owner_does_something_else(void)
{
	for (int i = 0; i < ROUNDS; i++)
		stop_mmap(true);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(nothing_is_copied_into_an_export_that_was_taken_back);
	TEST(nothing_is_copied_into_the_last_export_of_a_device);
	TEST(nothing_is_written_to_memory_that_was_stopped);
	TEST(nothing_is_written_while_its_owner_does_something_else);
	return tap_done();
}
