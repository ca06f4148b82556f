/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_HASH_H
#define PIER_COPY_COPY_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The digest of a file: XXH3 of 128 bits, of its data; a hole is the 8 bytes
 * of its length.  It detects damage, not forgery.  Any thread; one at a time.
 */
struct pier__copy_hash;

struct pier__copy_digest {
	uint8_t byte[16];
};

/* Errors: -ENOMEM. */
int pier__copy_hash_create(struct pier__copy_hash **ret);
void pier__copy_hash_destroy(struct pier__copy_hash *hash);
void pier__copy_hash_begin(struct pier__copy_hash *hash);
void pier__copy_hash_data(struct pier__copy_hash *hash, const void *data,
			  size_t len);
void pier__copy_hash_hole(struct pier__copy_hash *hash, uint64_t len);
void pier__copy_hash_end(struct pier__copy_hash *hash,
			 struct pier__copy_digest *ret);

/* The digest of @len bytes at @data. */
void pier__copy_hash_of(const void *data, size_t len,
			struct pier__copy_digest *ret);

#endif
