/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ops/origin.h"
#include "t/lib/copier.h"
#include "t/lib/limit.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Copies from and to memory that another process exports while it sleeps. */

#define LEN (8u << 20)
#define PART 65536
#define CHAIN 70
#define TASKS 255

static struct pier_dev *dev;
static struct copier c;
static struct pair pair;
static uint8_t *theirs;		/* the owner's memory, seen by both */
static struct pier_mmap *remote;

/* What the owner does next. */
enum order { EXPORT_READ, EXPORT_WRITE, TAKE_BACK, QUIT };

static int export(struct pair *me, struct pier_dev *on, uint32_t access,
		  struct pier_mmap **ret_mmap, struct pier_dma_export **ret)
{
	const void *desc;
	size_t len;

	if (pier_mmap_map(on, theirs, LEN, access, ret_mmap) ||
	    pier_dma_export_create(*ret_mmap, on, ret))
		return 1;
	pier_dma_export_desc(*ret, &desc, &len);
	return !pair_send(me, desc, len);
}

static int take_back(struct pair *me, struct pier_mmap *mmap,
		     struct pier_dma_export *exported)
{
	pier_dma_export_destroy(exported);
	return pier_mmap_stop(mmap) || !pair_send(me, "", 1);
}

/* Follow orders; between two of them it sleeps, and has no engine. */
static int owner(struct pair *me, void *arg)
{
	struct pier_dma_export *exported = NULL;
	struct pier_mmap *mmap = NULL;
	enum order order;
	int err = pier_dev_open(NULL, &dev);

	(void)arg;
	while (!err && pair_recv(me, &order, sizeof(order)) == sizeof(order)) {
		if (order == QUIT)
			break;
		err = order == TAKE_BACK ? take_back(me, mmap, exported) :
		      export(me, dev, order == EXPORT_READ ? PIER_PEER_READ :
							     PIER_PEER_WRITE,
			     &mmap, &exported);
		if (order == TAKE_BACK) {
			pier_mmap_destroy(mmap);
			mmap = NULL;
			exported = NULL;
		}
	}
	pier_dma_export_destroy(exported);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	return err;
}

static bool tell(enum order order)
{
	return OK(pair_send(&pair, &order, sizeof(order)));
}

/* Have the owner export, and import it. */
static struct pier_mmap *import(enum order order)
{
	uint8_t desc[PIER_DESC_MAX];
	struct pier_mmap *mmap = NULL;
	int len;

	if (!tell(order))
		return NULL;
	len = pair_recv(&pair, desc, sizeof(desc));
	if (OK(len > 0) && OK(len <= PIER_DMA_EXPORT_DESC_MAX))
		IS(pier_dma_import(dev, desc, (size_t)len, &mmap), 0);
	return mmap;
}

static bool taken_back(void)
{
	char word;

	return tell(TAKE_BACK) && IS(pair_recv(&pair, &word, 1), 1);
}

static void fill(uint8_t *mem, size_t len)
{
	for (size_t i = 0; i < len; i++)
		mem[i] = (uint8_t)rand();
}

static bool begin(enum order order)
{
	theirs = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(theirs != MAP_FAILED))
		return false;
	pair_start(&pair, owner, NULL);
	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !copier_open(&c, dev, NULL, LEN))
		return false;
	fill(theirs, LEN);
	fill(c.src, LEN);
	fill(c.dst, LEN);
	remote = import(order);
	return remote;
}

static void end(bool quit)
{
	if (quit && tell(QUIT))
		IS(pair_wait(&pair), 0);
	pier_mmap_destroy(remote);
	remote = NULL;
	copier_close(&c);
	pier_dev_close(dev);
	dev = NULL;
	munmap(theirs, LEN);
}

/* @len bytes of the owner's memory at @at, as data or as tail space. */
static struct pier_buf *part(struct pier_mmap *mmap, size_t at, size_t len,
			     bool data)
{
	char *addr = (char *)pier_mmap_addr(mmap) + at;
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_args(c.inv, mmap, addr, len, addr, data ? len : 0, &buf),
	   0);
	return buf;
}

static int copy(struct pier_buf *src, struct pier_buf *dst)
{
	int status = copier_copy(&c, src, dst);

	pier_buf_put(src);
	pier_buf_put(dst);
	return status;
}

static void memory_of_a_sleeping_owner_is_read_and_written(void)
{
	if (begin(EXPORT_WRITE)) {
		IS(copy(part(remote, 0, LEN, true), copier_tail(&c, 0, LEN)),
		   0);
		OK(!memcmp(c.dst, theirs, LEN));
		IS(copy(copier_data(&c, 0, LEN), part(remote, 0, LEN, false)),
		   0);
		OK(!memcmp(c.src, theirs, LEN));
	}
	end(true);
}

/* Of CHAIN buffers of random lengths, 0 included, with gaps. */
static struct pier_buf *chain(struct pier_mmap *mmap, size_t total, bool data,
			      size_t *at)
{
	struct pier_buf *first = NULL;
	size_t done = 0;

	for (int i = 0; i < CHAIN; i++) {
		size_t most = 2 * total / CHAIN;
		size_t len = i % 7 ? (size_t)rand() % most : 0;
		struct pier_buf *buf;

		if (i == CHAIN - 1 || len > total - done)
			len = total - done;
		at[2 * i] = done;
		at[2 * i + 1] = len;
		buf = part(mmap, done + (size_t)i * 8, len, data);
		if (first)
			IS(pier_buf_chain(first, buf), 0);
		else
			first = buf;
		done += len;
	}
	return first;
}

/* Are both the same, piece by piece? */
static bool same(const uint8_t *a, const size_t *at_a, const uint8_t *b,
		 const size_t *at_b, size_t total)
{
	static uint8_t flat[2][LEN];
	const uint8_t *mem[2] = { a, b };
	const size_t *at[2] = { at_a, at_b };

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < CHAIN; i++)
			memcpy(flat[k] + at[k][2 * i],
			       mem[k] + at[k][2 * i] + i * 8,
			       at[k][2 * i + 1]);
	return !memcmp(flat[0], flat[1], total);
}

static void chains_of_both_sides_are_copied(void)
{
	size_t at[2][2 * CHAIN];

	if (begin(EXPORT_WRITE)) {
		for (size_t total = 1000; total < LEN / 2; total *= 10) {
			fill(c.src, LEN);
			IS(copy(chain(c.from, total, true, at[0]),
				chain(remote, total, false, at[1])), 0);
			OK(same(c.src, at[0], theirs, at[1], total));
			fill(theirs, LEN);
			IS(copy(chain(remote, total, true, at[0]),
				chain(c.to, total, false, at[1])), 0);
			OK(same(theirs, at[0], c.dst, at[1], total));
		}
	}
	end(true);
}

static void count_done(struct pier_task *task, void *arg)
{
	IS(pier_task_status(task), 0);
	++*(int *)arg;
}

static void many_tasks_run_at_once_and_none_ends_in_its_submit(void)
{
	struct pier_buf *src[TASKS], *dst[TASKS];
	int done = 0;

	if (begin(EXPORT_WRITE)) {
		for (int i = 0; i < TASKS; i++) {
			src[i] = copier_data(&c, (size_t)i * PART / 4,
					     PART / 4);
			dst[i] = part(remote, (size_t)i * PART / 4, PART / 4,
				      false);
			IS(pier_dma_copy(c.dma, src[i], dst[i], count_done,
					 &done), 0);
			IS(done, 0);
		}
		OK(copier_count(&c, &done, TASKS));
		OK(!memcmp(c.src, theirs, (size_t)TASKS * PART / 4));
		for (int i = 0; i < TASKS; i++) {
			IS(pier_buf_data_len(dst[i]), PART / 4);
			pier_buf_put(src[i]);
			pier_buf_put(dst[i]);
		}
	}
	end(true);
}

static void a_copy_into_memory_for_reading_changes_nothing(void)
{
	uint8_t *before = malloc(LEN);

	if (OK(before) && begin(EXPORT_READ)) {
		memcpy(before, theirs, LEN);
		IS(copy(copier_data(&c, 0, PART),
			part(remote, 0, PART, false)), -EACCES);
		LIKE(pier_last_error(), "exported without PIER_PEER_WRITE");
		/* nor if the importer believes that it may */
		remote->cfg.access |= PIER_REMOTE_WRITE;
		OK(copy(copier_data(&c, 0, PART),
			part(remote, 0, PART, false)) < 0);
		OK(!memcmp(before, theirs, LEN));
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
		OK(!memcmp(c.dst, theirs, PART));
	}
	end(true);
	free(before);
}

static void an_export_that_was_taken_back_is_not_accessible(void)
{
	if (begin(EXPORT_WRITE)) {
		IS(copy(copier_data(&c, 0, PART),
			part(remote, 0, PART, false)), 0);
		if (taken_back())
			fill(c.src, PART);
		OK(copy(copier_data(&c, 0, PART),
			part(remote, 0, PART, false)) < 0);
		LIKE(pier_last_error(), "copy: no access to the export: ");
		OK(memcmp(c.src, theirs, PART));
		/* now there is no service any more */
		IS(copy(copier_data(&c, 0, PART),
			part(remote, 0, PART, false)), -ECONNREFUSED);
		LIKE(pier_last_error(), "no program listens on that port");
		OK(memcmp(c.src, theirs, PART));
	}
	end(true);
}

static void a_copy_from_an_owner_that_died_says_so(void)
{
	if (begin(EXPORT_READ)) {
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
		pair_kill(&pair);
		OK(copy(part(remote, 0, LEN, true), copier_tail(&c, 0, LEN)) <
		   0);
		LIKE(pier_last_error(), "copy: no access to the export: ");
	}
	end(false);
}

static void another_token_is_rejected(void)
{
	if (begin(EXPORT_READ)) {
		remote->origin->token[3] ^= 1;
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   -ECONNREFUSED);
		LIKE(pier_last_error(), "rejected");
		remote->origin->token[3] ^= 1;
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
	}
	end(true);
}

/* A kernel serves the memory of a process that is stopped. */
static bool soft_owner(void)
{
	return !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft");
}

static void a_context_stops_while_its_owner_is_away(void)
{
	struct pier_task *task = NULL;
	struct pier_buf *src, *dst;

	if (begin(EXPORT_READ)) {
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
		kill(pair.pid, SIGSTOP);
		OK(pair_is_stopped(&pair, true));
		src = part(remote, 0, LEN, true);
		dst = copier_tail(&c, 0, LEN);
		IS(pier_dma_task_copy(c.dma, src, dst, &task), 0);
		IS(pier_task_submit(task, 0), 0);
		pier_pe_progress(c.pe, 0);
		if (soft_owner())
			IS(pier_task_status(task), -EINPROGRESS);
		IS(pier_ctx_stop(c.ctx), -EINPROGRESS);
		OK(copier_state(&c, PIER_CTX_IDLE));
		if (soft_owner())
			OK(pier_task_status(task) < 0);
		IS(pier_buf_data_len(dst), pier_task_status(task) ? 0 : LEN);
		pier_task_free(task);
		pier_buf_put(src);
		pier_buf_put(dst);
		pair_go_on(&pair);
		/* and it starts again */
		IS(pier_ctx_start(c.ctx, c.pe), 0);
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
		OK(!memcmp(c.dst, theirs, PART));
	}
	end(true);
}

/* A copy that is not begun, then one in flight: its connection ends. */
static void a_copy_from_an_owner_that_is_away_is_taken_back(void)
{
	struct pier_task *task = NULL;
	struct pier_buf *src, *dst;

	if (begin(EXPORT_READ)) {
		src = part(remote, 0, PART, true);
		dst = copier_tail(&c, 0, PART);
		IS(pier_dma_task_copy(c.dma, src, dst, &task), 0);
		for (int i = 0; i < 2; i++) {
			bool away = i == 0 || soft_owner();

			kill(pair.pid, SIGSTOP);
			OK(pair_is_stopped(&pair, true));
			memset(c.dst, 'x', PART);
			pier_buf_reset(dst);
			IS(pier_task_run(task, 50), away ? -ETIMEDOUT : 0);
			IS(pier_buf_refs(dst), 1);
			pair_go_on(&pair);
			IS(pier_task_run(task, LIMIT_MS),
			   away ? 0 : -EMSGSIZE);
			OK(!memcmp(c.dst, theirs, PART));
		}
		pier_task_free(task);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	end(true);
}

static void what_cannot_be_exported_is_refused(void)
{
	struct pier_dma_export *exported = NULL;
	struct pier_mmap *mmap;

	if (begin(EXPORT_READ)) {
		IS(pier_dma_export_create(c.from, dev, &exported), -EACCES);
		LIKE(pier_last_error(), "needs PIER_PEER_READ or");
		IS(pier_dma_export_create(remote, dev, &exported), -EINVAL);
		IS(pier_mmap_map(dev, NULL, PART, PIER_PEER_READ, &mmap), 0);
		IS(pier_mmap_stop(mmap), 0);
		IS(pier_dma_export_create(mmap, dev, &exported), -EINVAL);
		LIKE(pier_last_error(), "not started");
		IS(pier_mmap_start(mmap), 0);
		IS(pier_dma_export_create(mmap, dev, &exported), 0);
		IS(pier_mmap_stop(mmap), -EBUSY);
		LIKE(pier_last_error(), "1 export for DMA contexts");
		IS(pier_mmap_buf_count(mmap), 0);
		pier_dma_export_destroy(exported);
		IS(pier_mmap_stop(mmap), 0);
		pier_mmap_destroy(mmap);
		pier_dma_export_destroy(NULL);
	}
	end(true);
}

static void copies_between_two_exports_or_by_rdma_are_refused(void)
{
	struct pier_mmap *other = NULL;
	struct pier_buf *buf;

	if (begin(EXPORT_READ)) {
		const void *desc;
		size_t len;

		buf = part(remote, 0, PART, true);
		IS(copy(part(remote, 0, PART, true),
			part(remote, PART, PART, false)), -EINVAL);
		LIKE(pier_last_error(), "both remote");
		pier_buf_put(buf);
		/* memory that was exported for RDMA */
		IS(pier_mmap_map(dev, NULL, PART, PIER_REMOTE_READ, &other), 0);
		IS(pier_mmap_export(other, &desc, &len), 0);
		pier_mmap_destroy(remote);
		remote = NULL;
		IS(pier_dma_import(dev, desc, len, &remote), -PIER_EKIND);
		IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0);
		IS(copy(part(remote, 0, PART, true), copier_tail(&c, 0, PART)),
		   -EINVAL);
		LIKE(pier_last_error(), "not of one export");
		pier_mmap_destroy(other);
	}
	end(true);
}

static void a_descriptor_is_printed_without_its_token(void)
{
	struct pier_dma_export *exported = NULL;
	char text[2048], token[2 * PIER__TOKEN + 1] = "";
	struct pier_mmap *mmap = NULL, *again = NULL;
	const void *desc;
	size_t len;

	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	IS(pier_mmap_map(dev, NULL, PART, PIER_PEER_WRITE, &mmap), 0);
	IS(pier_dma_export_create(mmap, dev, &exported), 0);
	pier_dma_export_desc(exported, &desc, &len);
	OK(pier_desc_print(desc, len, text, sizeof(text)) > 0);
	LIKE(text, "kind: memory for DMA");
	LIKE(text, "length: 65536");
	LIKE(text, "access: read write");
	LIKE(text, "udp port: ");
	LIKE(text, "gid: ");
	IS(pier_dma_import(dev, desc, len, &again), 0);
	for (int i = 0; i < PIER__TOKEN; i++)
		sprintf(token + 2 * i, "%02x", again->origin->token[i]);
	OK(!strstr(text, token));
	pier_mmap_destroy(again);
	pier_dma_export_destroy(exported);
	pier_mmap_destroy(mmap);
	pier_dev_close(dev);
	dev = NULL;
}

static void an_export_outlives_the_others_of_its_device(void)
{
	if (begin(EXPORT_READ)) {
		struct pier_dma_export *first = NULL;
		struct pier_mmap *mine = NULL, *own = NULL;
		const void *desc;
		size_t len;

		IS(pier_mmap_map(dev, NULL, PART, PIER_PEER_READ, &mine), 0);
		IS(pier_dma_export_create(mine, dev, &first), 0);
		pier_dma_export_desc(first, &desc, &len);
		IS(pier_dma_import(dev, desc, len, &own), 0);
		for (int i = 0; i < 3; i++) {
			struct pier_dma_export *other = NULL;

			IS(pier_dma_export_create(mine, dev, &other), 0);
			IS(copy(part(own, 0, PART, true),
				copier_tail(&c, 0, PART)), 0);
			pier_dma_export_destroy(other);
		}
		IS(copy(part(own, 0, PART, true), copier_tail(&c, 0, PART)),
		   0);
		OK(!memcmp(c.dst, pier_mmap_addr(mine), PART));
		IS(pier_dma_export_wait(first, 1), -ETIMEDOUT);
		IS(pier_ctx_stop(c.ctx), -EINPROGRESS);
		OK(copier_state(&c, PIER_CTX_IDLE));
		IS(pier_dma_export_wait(first, 20000), 0);
		pier_dma_export_destroy(first);
		pier_mmap_destroy(own);
		pier_mmap_destroy(mine);
	}
	end(true);
}

static void damaged_descriptors_are_refused(void)
{
	uint8_t desc[PIER_DESC_MAX];
	struct pier_mmap *mmap = NULL;
	int len;

	if (!begin(EXPORT_READ) || !taken_back() || !tell(EXPORT_READ)) {
		end(true);
		return;
	}
	len = pair_recv(&pair, desc, sizeof(desc));
	for (int i = 0; i < len; i++) {
		desc[i] ^= 0x10;
		OK(pier_dma_import(dev, desc, (size_t)len, &mmap) < 0);
		desc[i] ^= 0x10;
		OK(pier_dma_import(dev, desc, (size_t)i, &mmap) < 0);
	}
	OK(!mmap);
	end(true);
}

int main(void)
{
	int err = pier_dev_open(NULL, &dev);

	if (err)
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	dev = NULL;
	TEST(memory_of_a_sleeping_owner_is_read_and_written);
	TEST(chains_of_both_sides_are_copied);
	TEST(many_tasks_run_at_once_and_none_ends_in_its_submit);
	TEST(a_copy_into_memory_for_reading_changes_nothing);
	TEST(an_export_that_was_taken_back_is_not_accessible);
	TEST(a_copy_from_an_owner_that_died_says_so);
	TEST(another_token_is_rejected);
	TEST(a_context_stops_while_its_owner_is_away);
	TEST(a_copy_from_an_owner_that_is_away_is_taken_back);
	TEST(what_cannot_be_exported_is_refused);
	TEST(copies_between_two_exports_or_by_rdma_are_refused);
	TEST(a_descriptor_is_printed_without_its_token);
	TEST(an_export_outlives_the_others_of_its_device);
	TEST(damaged_descriptors_are_refused);
	return tap_done();
}
