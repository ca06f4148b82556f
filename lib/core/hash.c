/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash tables with intrusive entries, in chains. */
#include <errno.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/hash.h"
#include "core/random.h"

#define CHAINS_MIN 16

/* The one chain of a table without memory; nothing is added to it. */
static struct pier__hash_link *no_chain;

void pier__hash_init(struct pier__hash *hash)
{
	hash->chains = &no_chain;
	hash->mask = 0;
	hash->count = 0;
	hash->seed = pier__random64();
}

void pier__hash_fini(struct pier__hash *hash)
{
	if (hash->chains != &no_chain)
		free(hash->chains);
}

static void put(struct pier__hash *hash, struct pier__hash_link *link)
{
	struct pier__hash_link **chain = &hash->chains[link->code & hash->mask];

	link->next = *chain;
	*chain = link;
}

int pier__hash_reserve(struct pier__hash *hash, uint32_t count)
{
	struct pier__hash old = *hash;
	struct pier__hash_link **chains, *link, *next;
	uint32_t size = CHAINS_MIN;

	if (old.chains != &no_chain && count <= old.mask + 1)
		return 0;
	while (size < count)
		size *= 2;
	chains = calloc(size, sizeof(struct pier__hash_link *));
	if (!chains)
		return pier__fail(-ENOMEM, "no memory for a table of %u", size);

	hash->chains = chains;
	hash->mask = size - 1;
	for (uint32_t i = 0; i <= old.mask; i++) {
		for (link = old.chains[i]; link; link = next) {
			next = link->next;
			put(hash, link);
		}
	}
	pier__hash_fini(&old);
	return 0;
}

void pier__hash_add(struct pier__hash *hash, struct pier__hash_link *link,
		    uint32_t code)
{
	link->code = code;
	put(hash, link);
	hash->count++;
}

void pier__hash_del(struct pier__hash *hash, struct pier__hash_link *link)
{
	struct pier__hash_link **at = &hash->chains[link->code & hash->mask];

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	hash->count--;
}

uint32_t pier__hash_code(const struct pier__hash *hash, uint64_t a, uint64_t b)
{
	uint64_t h = a ^ hash->seed;

	h ^= h >> 32;
	h *= 0x9fb21c651e98df25;
	h ^= (h >> 28) ^ b;
	h *= 0xd6e8feb86659fd93;
	h ^= hash->seed >> 7;
	h *= 0x9fb21c651e98df25;
	return (uint32_t)(h ^ h >> 32);
}
