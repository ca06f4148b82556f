/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_SHA_H
#define PIER_SHA_H

#include <stddef.h>
#include <stdint.h>

#include <pier/ctx.h>
#include <pier/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A SHA context: digests of local memory as tasks of an engine, computed by a
 * thread of the context while the engine goes on.  Configure it while idle,
 * start it on a progress engine, stop it, destroy it.  When it is idle again it
 * can be configured and started again.
 *
 * Calls return 0 or a negative errno value and do not write *ret on failure.
 * They belong to the engine's thread.
 */
struct pier_buf;
struct pier_sha;

enum pier_sha_algorithm {
	PIER_SHA_1,		/* 20 bytes */
	PIER_SHA_256,		/* 32 bytes */
	PIER_SHA_512,		/* 64 bytes */
};

struct pier_sha_config {
	size_t size;		/* sizeof(struct pier_sha_config), always */
	uint32_t tasks;		/* to preallocate, 1..1048576; 0 means 256 */
	uint32_t stop_on_task_error;	/* non-zero: a failed task stops the */
				/* context */
};

/* The most bytes in one task: 1 GiB. */
#define PIER_SHA_MAX (UINT32_C(1) << 30)

/* The length of the longest digest. */
#define PIER_SHA_DIGEST_MAX 64

/* The length of a digest; 0: unknown @algorithm.  Any thread. */
size_t pier_sha_digest_len(enum pier_sha_algorithm algorithm);

/*
 * Create an idle context.  The caller destroys it by pier_sha_destroy().
 * Errors: -ENOMEM.
 */
int pier_sha_create(struct pier_sha **ret);

/* Copy @cfg.  Errors: -EBUSY, not idle; -EINVAL, a member is out of range. */
int pier_sha_configure(struct pier_sha *sha, const struct pier_sha_config *cfg);

/* The values in use. */
void pier_sha_get_config(const struct pier_sha *sha,
			 struct pier_sha_config *ret);

/*
 * Stop it if it runs, which waits for the digest that is being computed, and
 * destroy it.  NULL is allowed.
 */
void pier_sha_destroy(struct pier_sha *sha);

struct pier_ctx *pier_sha_ctx(struct pier_sha *sha);

/*
 * Take a preallocated task that appends the digest of the data of the chain
 * @src to the chain @dst.  No data is a message of no bytes.  What is wrong
 * with the buffers is the status of the task, as with pier_dma_task_copy(); so
 * is -EOPNOTSUPP, libcrypto does not have @algorithm.
 * Errors: -ENOBUFS, no task is free; -EINVAL, unknown @algorithm.
 */
int pier_sha_task_hash(struct pier_sha *sha, enum pier_sha_algorithm algorithm,
		       struct pier_buf *src, struct pier_buf *dst,
		       struct pier_task **ret);

/*
 * Change the buffers of the next submit.
 * Errors: -EBUSY, submitted; -EINVAL, another type of task.
 */
int pier_sha_task_set_bufs(struct pier_task *task, struct pier_buf *src,
			   struct pier_buf *dst);

/*
 * One shot: take a task, submit it, and free it after @fn has run; with @fn
 * NULL the caller frees it after pier_pe_retrieve().
 * Errors: as pier_sha_task_hash() and pier_task_submit().
 */
int pier_sha_hash(struct pier_sha *sha, enum pier_sha_algorithm algorithm,
		  struct pier_buf *src, struct pier_buf *dst, pier_task_fn *fn,
		  void *arg);

#ifdef __cplusplus
}
#endif

#endif
