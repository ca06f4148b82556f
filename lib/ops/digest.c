/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "core/fail.h"
#include "mem/buf_impl.h"
#include "ops/digest.h"

static const struct algorithm {
	const char *name;		/* libcrypto's */
	size_t len;
} algorithms[] = {
	[PIER_SHA_1] = { "SHA1", 20 },
	[PIER_SHA_256] = { "SHA256", 32 },
	[PIER_SHA_512] = { "SHA512", 64 },
};

#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

/*
 * One state for each algorithm, which is then only initialised again; NULL:
 * libcrypto does not have it.
 */
struct pier__digest {
	EVP_MD *md[ALGORITHMS];
	EVP_MD_CTX *state[ALGORITHMS];
};

size_t pier_sha_digest_len(enum pier_sha_algorithm algorithm)
{
	return (unsigned int)algorithm < ALGORITHMS ?
		       algorithms[algorithm].len : 0;
}

int pier__digest_lacks(enum pier_sha_algorithm algorithm)
{
	return pier__fail(-EOPNOTSUPP, "sha: libcrypto has no %s",
			  algorithms[algorithm].name);
}

int pier__digest_has(enum pier_sha_algorithm algorithm)
{
	EVP_MD *md = EVP_MD_fetch(NULL, algorithms[algorithm].name, NULL);
	int err = md ? 0 : pier__digest_lacks(algorithm);

	EVP_MD_free(md);
	return err;
}

int pier__digest_bytes(enum pier_sha_algorithm algorithm, const void *data,
		       size_t len, uint8_t *ret)
{
	EVP_MD *md = EVP_MD_fetch(NULL, algorithms[algorithm].name, NULL);
	int ok;

	if (!md)
		return pier__digest_lacks(algorithm);
	ok = EVP_Digest(data, len, ret, NULL, md, NULL);
	EVP_MD_free(md);
	if (ok == 1)
		return 0;
	return pier__fail(-EIO, "sha: libcrypto failed");
}

static int open_algorithm(struct pier__digest *digest, unsigned int i)
{
	digest->md[i] = EVP_MD_fetch(NULL, algorithms[i].name, NULL);
	if (!digest->md[i])
		return 0;
	digest->state[i] = EVP_MD_CTX_new();
	if (!digest->state[i] ||
	    EVP_DigestInit_ex(digest->state[i], digest->md[i], NULL) != 1)
		return pier__fail(-ENOMEM, "sha: no memory");
	return 0;
}

int pier__digest_create(struct pier__digest **ret)
{
	struct pier__digest *digest = calloc(1, sizeof(*digest));
	int err = 0;

	if (!digest)
		return pier__fail(-ENOMEM, "sha: no memory");
	for (unsigned int i = 0; i < ALGORITHMS && !err; i++)
		err = open_algorithm(digest, i);
	if (err) {
		pier__digest_destroy(digest);
		return err;
	}
	*ret = digest;
	return 0;
}

void pier__digest_destroy(struct pier__digest *digest)
{
	if (!digest)
		return;
	for (unsigned int i = 0; i < ALGORITHMS; i++) {
		EVP_MD_CTX_free(digest->state[i]);
		EVP_MD_free(digest->md[i]);
	}
	free(digest);
}

int pier__digest_chain(struct pier__digest *digest,
		       enum pier_sha_algorithm algorithm,
		       const struct pier_buf *src,
		       uint8_t ret[PIER_SHA_DIGEST_MAX])
{
	EVP_MD_CTX *state = digest->state[algorithm];
	int ok;

	if (!state)
		return -EOPNOTSUPP;
	ok = EVP_DigestInit_ex(state, NULL, NULL);
	for (; src && ok == 1; src = src->next)
		ok = EVP_DigestUpdate(state, (const void *)src->data,
				      src->data_len);
	if (ok == 1)
		ok = EVP_DigestFinal_ex(state, ret, NULL);
	return ok == 1 ? 0 : -EIO;
}
