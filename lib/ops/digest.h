/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DIGEST_H
#define PIER_OPS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <pier/sha.h>

/* SHA by libcrypto; one thread at a time. */
struct pier__digest;

/* Has libcrypto the algorithm?  Errors: -EOPNOTSUPP. */
int pier__digest_has(enum pier_sha_algorithm algorithm);

/* Fail because it has not.  Returns -EOPNOTSUPP. */
int pier__digest_lacks(enum pier_sha_algorithm algorithm);

/*
 * The digest of @len bytes at @data, once.  Any thread.
 * Errors: -EOPNOTSUPP; -EIO, libcrypto failed.
 */
int pier__digest_bytes(enum pier_sha_algorithm algorithm, const void *data,
		       size_t len, uint8_t *ret);

/* For the algorithms that libcrypto has.  Errors: -ENOMEM. */
int pier__digest_create(struct pier__digest **ret);
void pier__digest_destroy(struct pier__digest *digest);

/*
 * The digest of the data of the chain @src.  Allocates nothing.  Returns 0, or
 * without an error message -EOPNOTSUPP, libcrypto does not have the algorithm,
 * or -EIO, it failed.
 */
int pier__digest_chain(struct pier__digest *digest,
		       enum pier_sha_algorithm algorithm,
		       const struct pier_buf *src,
		       uint8_t ret[PIER_SHA_DIGEST_MAX]);

#endif
