/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <xxhash.h>
#ifdef PIER_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>	/* it renames what is called here */
#endif

#include "copy/copy_hash.h"
#include "core/fail.h"

static XXH3_state_t *state(struct pier__copy_hash *hash)
{
	return (XXH3_state_t *)hash;
}

int pier__copy_hash_create(struct pier__copy_hash **ret)
{
	XXH3_state_t *created = XXH3_createState();

	if (!created)
		return pier__fail(-ENOMEM, "copy: no memory for a digest");
	*ret = (struct pier__copy_hash *)created;
	return 0;
}

void pier__copy_hash_destroy(struct pier__copy_hash *hash)
{
	XXH3_freeState(state(hash));
}

void pier__copy_hash_begin(struct pier__copy_hash *hash)
{
	XXH3_128bits_reset(state(hash));
}

void pier__copy_hash_data(struct pier__copy_hash *hash, const void *data,
			  size_t len)
{
	XXH3_128bits_update(state(hash), data, len);
}

void pier__copy_hash_hole(struct pier__copy_hash *hash, uint64_t len)
{
	len = htobe64(len);
	XXH3_128bits_update(state(hash), &len, sizeof(len));
}

static void store(XXH128_hash_t value, struct pier__copy_digest *ret)
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, value);
	_Static_assert(sizeof(canonical) == sizeof(*ret), "16 bytes");
	memcpy(ret, &canonical, sizeof(*ret));
}

void pier__copy_hash_end(struct pier__copy_hash *hash,
			 struct pier__copy_digest *ret)
{
	store(XXH3_128bits_digest(state(hash)), ret);
}

void pier__copy_hash_of(const void *data, size_t len,
			struct pier__copy_digest *ret)
{
	store(XXH3_128bits(data, len), ret);
}
