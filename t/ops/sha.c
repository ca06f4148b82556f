/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "t/lib/copier.h"
#include "t/lib/entries.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Digests as tasks.  Memory and buffers are those of a copier. */

#define LEN (4u << 20)
#define MILLION 1000000
#define FAR_LEN 4096	/* of a peer */
#define LONG 15		/* buffers of LEN, which take long */
#define MANY 200	/* digests of LEN, which take seconds */

static struct pier_dev *dev;
static struct copier c;
static struct pier_sha *sha;

static bool open_sha(const struct pier_sha_config *cfg)
{
	return copier_open(&c, dev, NULL, LEN) &&
	       IS(pier_sha_create(&sha), 0) &&
	       (!cfg || IS(pier_sha_configure(sha, cfg), 0)) &&
	       IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0);
}

static void close_sha(void)
{
	pier_sha_destroy(sha);
	sha = NULL;
	copier_close(&c);
}

/* The digests of FIPS 180-2's examples, and of no bytes. */
static const struct known {
	const char *text;		/* NULL: a million times "a" */
	const char *digest[3];		/* by enum pier_sha_algorithm */
} known[] = {
	{ "", {
		"da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"e3b0c44298fc1c149afbf4c8996fb924"
		"27ae41e4649b934ca495991b7852b855",
		"cf83e1357eefb8bdf1542850d66d8007"
		"d620e4050b5715dc83f4a921d36ce9ce"
		"47d0d13c5d85f2b0ff8318d2877eec2f"
		"63b931bd47417a81a538327af927da3e" } },
	{ "abc", {
		"a9993e364706816aba3e25717850c26c9cd0d89d",
		"ba7816bf8f01cfea414140de5dae2223"
		"b00361a396177a9cb410ff61f20015ad",
		"ddaf35a193617abacc417349ae204131"
		"12e6fa4e89a97ea20a9eeee64b55d39a"
		"2192992a274fc1a836ba3c23a3feebbd"
		"454d4423643ce80e2a9ac94fa54ca49f" } },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", {
		"84983e441c3bd26ebaae4aa1f95129e5e54670f1",
		"248d6a61d20638b8e5c026930c3e6039"
		"a33ce45964ff2167f6ecedd419db06c1",
		"204a8fc6dda82f0a0ced7beb8e08a416"
		"57c16ef468b228a8279be331a703c335"
		"96fd15c13b1b07f9aa1d3bea57789ca0"
		"31ad85c7a71dd70354ec631238ca3445" } },
	{ NULL, {
		"34aa973cd4c4daa4f61eeb2bdbad27316534016f",
		"cdc76e5c9914fb9281a1c7e284d73e67"
		"f1809a48a497200e046d39ccc7112cd0",
		"e718483d0ce769644e2e42c7bc15b463"
		"8e1f98b13b2044285632a803afa973eb"
		"de0ff244877ea60a4cb0432ce577c31b"
		"eb009c5c2c49aa2e4eadb217ad8cc09b" } },
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static size_t put_message(const struct known *k)
{
	if (k->text) {
		memcpy(c.src, k->text, strlen(k->text));
		return strlen(k->text);
	}
	memset(c.src, 'a', MILLION);
	return MILLION;
}

static int hash(enum pier_sha_algorithm algorithm, struct pier_buf *src,
		struct pier_buf *dst)
{
	struct pier_task *task;
	int status;

	if (!IS(pier_sha_task_hash(sha, algorithm, src, dst, &task), 0) ||
	    !IS(pier_task_submit(task, 0), 0))
		return 1;
	status = copier_wait(&c, task);
	pier_task_free(task);
	return status;
}

/* The digest at @at of the destination, in hexadecimal. */
static const char *hex(size_t at, size_t len)
{
	static char text[2 * PIER_SHA_DIGEST_MAX + 1];

	text[0] = 0;
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", c.dst[at + i]);
	return text;
}

static void digests_are_those_of_the_norm(void)
{
	if (!open_sha(NULL))
		return;
	for (size_t i = 0; i < KNOWN; i++) {
		size_t len = put_message(&known[i]);

		for (int a = PIER_SHA_1; a <= PIER_SHA_512; a++) {
			struct pier_buf *src = copier_data(&c, 0, len);
			struct pier_buf *dst = copier_tail(&c, 8, 100);

			IS(hash(a, src, dst), 0);
			IS_STR(hex(8, pier_sha_digest_len(a)),
			       known[i].digest[a]);
			IS(pier_buf_data_len(dst), pier_sha_digest_len(a));
			IS(c.dst[7], 0);
			IS(c.dst[8 + pier_sha_digest_len(a)], 0);
			memset(c.dst, 0, 100);
			pier_buf_put(src);
			pier_buf_put(dst);
		}
	}
	close_sha();
}

/* A chain of the first @len bytes, in pieces of @piece and empty ones. */
static struct pier_buf *in_pieces(size_t len, size_t piece)
{
	struct pier_buf *first = copier_data(&c, 0, 0);

	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		IS(pier_buf_chain(first, copier_data(&c, at, n)), 0);
		IS(pier_buf_chain(first, copier_data(&c, 0, 0)), 0);
	}
	return first;
}

static void sources_and_destinations_may_be_chains(void)
{
	size_t sizes[] = { 1, 7, 64, 1000 };
	size_t len;

	if (!open_sha(NULL))
		return;
	len = put_message(&known[2]);
	for (size_t i = 0; i < 4; i++) {
		struct pier_buf *src = in_pieces(len, sizes[i]);
		struct pier_buf *dst = copier_tail(&c, 0, 5);

		IS(pier_buf_chain(dst, copier_tail(&c, 100, 0)), 0);
		IS(pier_buf_chain(dst, copier_tail(&c, 200, 40)), 0);
		IS(hash(PIER_SHA_256, src, dst), 0);
		OK(!strncmp(hex(0, 5), known[2].digest[1], 10));
		IS_STR(hex(200, 27), known[2].digest[1] + 10);
		IS(c.dst[227], 0);
		IS(pier_buf_chain_data_len(dst), 32);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	close_sha();
}

/* A submit that looks at the buffers fails as the hash would. */
static void refused_at_once(struct pier_buf *src, struct pier_buf *dst, int err,
			    const char *text)
{
	struct pier_task *task;

	if (!IS(pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &task), 0))
		return;
	IS(pier_task_try_submit(task, 0), err);
	LIKE(pier_last_error(), text);
	pier_task_free(task);
}

/* The hash completes with @err and a message that has @text. */
static void refused(struct pier_buf *src, struct pier_buf *dst, int err,
		    const char *text)
{
	IS(hash(PIER_SHA_256, src, dst), err);
	LIKE(pier_last_error(), text);
	refused_at_once(src, dst, err, text);
	IS(c.dst[0], 0);
	IS(c.dst[31], 0);
}

static void bad_buffers_are_errors_of_the_task(void)
{
	struct pier_buf *src, *dst, *tail, *old, *fixed;

	if (!open_sha(NULL))
		return;
	src = copier_data(&c, 0, 10);
	dst = copier_tail(&c, 0, 31);
	tail = copier_tail(&c, 40, 1);
	old = copier_data(&c, 0, 10);
	pier_buf_put(old);
	refused(NULL, dst, -EINVAL, "no source");
	refused(src, NULL, -EINVAL, "no destination");
	refused(src, dst, -EMSGSIZE, "32 bytes, the tail space of the "
		"destination is 31");
	refused(old, dst, -EINVAL, "was put before");
	IS(pier_buf_chain(dst, tail), 0);
	refused(src, tail, -EINVAL, "the destination is not the first");
	if (IS(pier_buf_by_addr(c.inv, c.from, c.src, 64, &fixed), 0))
		refused(src, fixed, -EACCES, "needs PIER_LOCAL_WRITE");
	IS(hash(PIER_SHA_256, src, dst), 0);
	pier_buf_put(fixed);
	pier_buf_put(src);
	pier_buf_put(dst);
	close_sha();
}

/* There is nothing at its address here: it must not be read. */
static void memory_of_a_peer_is_refused(void)
{
	void *there = mmap(NULL, FAR_LEN, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pier_mmap *local, *remote;
	struct pier_buf *far = NULL, *dst;
	const void *desc;
	size_t len;

	if (!OK(there != MAP_FAILED) || !open_sha(NULL) ||
	    !IS(pier_mmap_map(dev, there, FAR_LEN, PIER_REMOTE_READ, &local),
		0) ||
	    !IS(pier_mmap_export(local, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	pier_mmap_destroy(local);
	munmap(there, FAR_LEN);
	dst = copier_tail(&c, 0, 64);
	IS(pier_buf_by_data(c.inv, remote, there, 10, &far), 0);
	refused(far, dst, -EINVAL, "the source is remote memory");
	pier_buf_put(far);
	pier_buf_put(dst);
	pier_mmap_destroy(remote);
	close_sha();
}

/* It becomes a chain of its own when it is too late. */
static void a_source_that_becomes_usable_later_is_refused(void)
{
	struct pier_buf *first, *second, *dst;
	struct pier_task *task;

	if (!open_sha(NULL))
		return;
	first = copier_data(&c, 0, 10);
	second = copier_data(&c, 10, 10);
	dst = copier_tail(&c, 0, 64);
	IS(pier_buf_chain(first, second), 0);
	IS(pier_sha_task_hash(sha, PIER_SHA_256, dst, dst, &task), 0);
	IS(pier_sha_task_set_bufs(task, second, dst), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_task_submit(task, 0), -EBUSY);
	IS(pier_buf_unchain(first, second), 0);
	IS(copier_wait(&c, task), -EINVAL);
	LIKE(pier_last_error(), "the source was changed");
	IS(pier_buf_data_len(dst), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&c, task), 0);
	IS(pier_buf_data_len(dst), 32);
	pier_task_free(task);
	pier_buf_put(first);
	pier_buf_put(second);
	pier_buf_put(dst);
	close_sha();
}

static void a_buffer_chained_behind_another_since_is_refused(void)
{
	struct pier_buf *first, *src, *dst;
	struct pier_task *task;

	if (!open_sha(NULL))
		return;
	first = copier_data(&c, 0, 10);
	src = copier_data(&c, 10, 10);
	dst = copier_tail(&c, 0, 96);
	IS(pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &task), 0);
	for (size_t len = 32; len <= 64; len += 32) {
		IS(pier_task_submit(task, 0), 0);
		IS(copier_wait(&c, task), 0);
		IS(pier_buf_data_len(dst), len);
	}
	IS(pier_buf_chain(first, src), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(&c, task), -EINVAL);
	LIKE(pier_last_error(), "the source is not the first of its chain");
	IS(pier_buf_data_len(dst), 64);
	pier_task_free(task);
	pier_buf_put(first);
	pier_buf_put(dst);
	close_sha();
}

static void lengths_are_bounded(void)
{
	struct pier_buf *src, *dst;

	if (!open_sha(NULL))
		return;
	dst = copier_tail(&c, 0, 64);
	src = copier_data(&c, 0, LEN);
	for (size_t i = 1; i < PIER_SHA_MAX / LEN; i++)
		IS(pier_buf_chain(src, copier_data(&c, 0, LEN)), 0);
	IS(pier_buf_chain(src, copier_data(&c, 0, 1)), 0);
	refused(src, dst, -EMSGSIZE, "1073741825 bytes, at most 1073741824");
	pier_buf_put(src);
	pier_buf_put(dst);
	close_sha();
}

static void an_unknown_algorithm_is_refused(void)
{
	struct pier_task *task;

	if (!open_sha(NULL))
		return;
	IS(pier_sha_task_hash(sha, PIER_SHA_512 + 1, NULL, NULL, &task),
	   -EINVAL);
	IS(pier_sha_digest_len(PIER_SHA_512 + 1), 0);
	IS(pier_sha_digest_len(-1), 0);
	close_sha();
}

static int done, failed, cancelled;

static void count(struct pier_task *task, void *arg)
{
	int status = pier_task_status(task);

	(void)arg;
	done++;
	failed += status != 0;
	cancelled += status == -ECANCELED;
}

/* @n digests of all the memory. */
static void submit_many(int n)
{
	struct pier_buf *src = copier_data(&c, 0, LEN);

	done = failed = cancelled = 0;
	for (int i = 0; i < n; i++) {
		struct pier_buf *dst = copier_tail(&c, (size_t)i * 64, 64);

		IS(pier_sha_hash(sha, PIER_SHA_512, src, dst, count, NULL), 0);
		pier_buf_put(dst);
	}
	pier_buf_put(src);
}

static void many_are_completed_by_a_sleeping_engine(void)
{
	if (!open_sha(NULL))
		return;
	submit_many(20);
	IS(done, 0);
	IS(pier_ctx_inflight(pier_sha_ctx(sha)), 20);
	OK(copier_count(&c, &done, 20));
	IS(failed, 0);
	for (int i = 1; i < 20; i++)
		OK(!memcmp(c.dst, c.dst + i * 64, 64));
	close_sha();
}

static void the_thread_of_digests_ends_no_wait(void)
{
	if (!open_sha(NULL))
		return;
	submit_many(1);
	OK(copier_count(&c, &done, 1));
	IS(pier_pe_wait(c.pe, 0), -ETIMEDOUT);
	close_sha();
}

/* While digests are computed, a context of another kind goes on. */
static void the_engine_does_not_wait_for_a_digest(void)
{
	struct pier_buf *src, *dst;

	if (!open_sha(NULL))
		return;
	submit_many(MANY);
	src = copier_data(&c, 0, 10);
	dst = copier_tail(&c, LEN - 10, 10);
	IS(copier_copy(&c, src, dst), 0);
	OK(done < MANY);
	pier_buf_put(src);
	pier_buf_put(dst);
	close_sha();
}

static void a_stop_cancels_what_was_not_begun(void)
{
	if (!open_sha(NULL))
		return;
	submit_many(MANY);
	IS(pier_ctx_stop_wait(pier_sha_ctx(sha), 10000), 0);
	IS(done, MANY);
	IS(failed, cancelled);
	OK(cancelled > 0);
	IS(pier_buf_inventory_free_count(c.inv), COPIER_BUFS);
	IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0);
	submit_many(3);
	OK(copier_count(&c, &done, 3));
	IS(failed, 0);
	close_sha();
}

static void a_destroy_waits_for_the_one_that_runs(void)
{
	struct pier_buf *src, *dst;

	if (!open_sha(NULL))
		return;
	src = copier_data(&c, 0, LEN);
	for (int i = 0; i < LONG; i++)
		IS(pier_buf_chain(src, copier_data(&c, 0, LEN)), 0);
	dst = copier_tail(&c, 1000, 64);
	submit_many(1);
	IS(pier_sha_hash(sha, PIER_SHA_512, src, dst, count, NULL), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	OK(copier_count(&c, &done, 1));
	pier_sha_destroy(sha);
	sha = NULL;
	IS(done, 2);
	IS(failed, cancelled);
	close_sha();
}

static void a_round_completes_no_more_than_its_budget(void)
{
	if (!open_sha(NULL))
		return;
	submit_many(MANY);
	pier_ctx_stop(pier_sha_ctx(sha));
	for (int i = 1; i <= MANY / 2; i++) {
		IS(pier_pe_progress(c.pe, 1), 1);
		IS(done, i);
		IS(pier_pe_arm(c.pe), -EAGAIN);
	}
	IS(pier_ctx_stop_wait(pier_sha_ctx(sha), 10000), 0);
	IS(done, MANY);
	close_sha();
}

static void only_a_running_context_has_a_thread(void)
{
	long long limit = limit_from_now();
	int threads;

	if (!open_sha(NULL))
		return;
	threads = entries_in("/proc/self/task");
	IS(pier_ctx_stop_wait(pier_sha_ctx(sha), 10000), 0);
	while (entries_in("/proc/self/task") != threads - 1 && limit_nap(limit))
		;
	IS(pier_ctx_start(pier_sha_ctx(sha), c.pe), 0);
	IS(entries_in("/proc/self/task"), threads);
	close_sha();
}

static void destroy_it(struct pier_task *task, void *arg)
{
	count(task, arg);
	pier_sha_destroy(sha);
	sha = NULL;
}

static void a_destroy_in_a_callback_works(void)
{
	struct pier_buf *src, *dst;

	if (!open_sha(NULL))
		return;
	submit_many(2);
	src = copier_data(&c, 0, 10);
	dst = copier_tail(&c, 1000, 64);
	IS(pier_sha_hash(sha, PIER_SHA_1, src, dst, destroy_it, NULL), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	OK(copier_count(&c, &done, 3));
	IS(failed, 0);
	OK(!sha);
	close_sha();
}

static void a_digest_without_a_callback_is_retrieved(void)
{
	struct pier_event event = { 0 };
	struct pier_buf *src, *dst;
	long long limit = limit_from_now();

	if (!open_sha(NULL))
		return;
	src = copier_data(&c, 0, 10);
	dst = copier_tail(&c, 0, 64);
	IS(pier_sha_hash(sha, PIER_SHA_1, src, dst, NULL, NULL), 0);
	while (pier_pe_retrieve(c.pe, &event) && limit_holds(limit))
		pier_pe_wait(c.pe, 100);
	if (OK(event.task)) {
		IS(event.status, 0);
		IS(pier_task_type(event.task), PIER_TASK_HASH);
	}
	pier_task_free(event.task);
	pier_buf_put(src);
	pier_buf_put(dst);
	close_sha();
}

static void the_configuration_is_that_of_other_contexts(void)
{
	struct pier_sha_config cfg = { .size = sizeof(cfg), .tasks = 1,
				       .stop_on_task_error = 1 };
	struct pier_task *task, *more;

	if (!open_sha(&cfg))
		return;
	pier_sha_get_config(sha, &cfg);
	IS(cfg.tasks, 1);
	IS(pier_sha_configure(sha, &cfg), -EBUSY);
	IS(pier_sha_task_hash(sha, PIER_SHA_1, NULL, NULL, &task), 0);
	IS(pier_sha_task_hash(sha, PIER_SHA_1, NULL, NULL, &more), -ENOBUFS);
	IS(pier_sha_task_set_bufs(task, NULL, NULL), 0);
	IS(pier_task_submit(task, 0), 0);
	IS(pier_sha_task_set_bufs(task, NULL, NULL), -EBUSY);
	IS(copier_wait(&c, task), -EINVAL);
	OK(pier_ctx_state(pier_sha_ctx(sha)) != PIER_CTX_RUNNING);
	pier_task_free(task);
	close_sha();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(digests_are_those_of_the_norm);
	TEST(sources_and_destinations_may_be_chains);
	TEST(bad_buffers_are_errors_of_the_task);
	TEST(memory_of_a_peer_is_refused);
	TEST(a_source_that_becomes_usable_later_is_refused);
	TEST(a_buffer_chained_behind_another_since_is_refused);
	TEST(lengths_are_bounded);
	TEST(an_unknown_algorithm_is_refused);
	TEST(many_are_completed_by_a_sleeping_engine);
	TEST(the_thread_of_digests_ends_no_wait);
	TEST(the_engine_does_not_wait_for_a_digest);
	TEST(a_stop_cancels_what_was_not_begun);
	TEST(a_destroy_waits_for_the_one_that_runs);
	TEST(a_round_completes_no_more_than_its_budget);
	TEST(only_a_running_context_has_a_thread);
	TEST(a_destroy_in_a_callback_works);
	TEST(a_digest_without_a_callback_is_retrieved);
	TEST(the_configuration_is_that_of_other_contexts);
	pier_dev_close(dev);
	return tap_done();
}
