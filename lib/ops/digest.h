/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DIGEST_H
#define PIER_OPS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <pier/sha.h>

/* SHA by libcrypto; one thread at a time. */
struct pier__digest;

/* Errors: -ENOMEM; -EOPNOTSUPP, libcrypto has not all the algorithms. */
int pier__digest_create(struct pier__digest **ret);
void pier__digest_destroy(struct pier__digest *digest);

/*
 * The digest of the data of the chain @src.  Allocates nothing.  Returns 0, or
 * -EIO without an error message: libcrypto failed.
 */
int pier__digest_chain(struct pier__digest *digest,
		       enum pier_sha_algorithm algorithm,
		       const struct pier_buf *src,
		       uint8_t ret[PIER_SHA_DIGEST_MAX]);

#endif
