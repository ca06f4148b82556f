/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_HASH_H
#define PIER_CORE_HASH_H

#include <stdint.h>

/*
 * A hash table with chains: a head, and a link in each entry.  An entry is
 * found by its hash code, 32 bits of the caller's: the key itself if peers do
 * not choose it, else pier__hash_code().  The caller compares the whole key if
 * the code is not the key.  Several entries may have one code.
 */
struct pier__hash_link {
	struct pier__hash_link *next;	/* NULL: the last of its chain */
	uint32_t code;
};

struct pier__hash {
	struct pier__hash_link **chains;	/* mask + 1 of them */
	uint32_t mask, count;
	uint64_t seed;
};

/* No memory is allocated before reserve. */
void pier__hash_init(struct pier__hash *hash);

/* The entries stay the caller's. */
void pier__hash_fini(struct pier__hash *hash);

/* Have as many chains as @count entries need.  Errors: -ENOMEM. */
int pier__hash_reserve(struct pier__hash *hash, uint32_t count);

/* Add @link; what was reserved bounds the time of find, not the count. */
void pier__hash_add(struct pier__hash *hash, struct pier__hash_link *link,
		    uint32_t code);

/* Remove @link, which is in the table. */
void pier__hash_del(struct pier__hash *hash, struct pier__hash_link *link);

/* A code of @a and @b by a secret seed: for keys that a peer may choose. */
uint32_t pier__hash_code(const struct pier__hash *hash, uint64_t a, uint64_t b);

/* From @link on, the first of its chain with @code; NULL: none. */
static inline struct pier__hash_link *
pier__hash_match(struct pier__hash_link *link, uint32_t code)
{
	while (link && link->code != code)
		link = link->next;
	return link;
}

/* An entry with @code; pier__hash_match(link->next, code) is the next. */
static inline struct pier__hash_link *
pier__hash_find(const struct pier__hash *hash, uint32_t code)
{
	return pier__hash_match(hash->chains[code & hash->mask], code);
}

#endif
