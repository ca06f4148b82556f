/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "copy/copy_hash.h"
#include "t/lib/tap.h"

static uint8_t data[1000003];

static void fill(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)((i * i >> 7) ^ (i * 31));
}

static const char *hex(const struct pier__copy_digest *digest)
{
	static char text[2 * sizeof(digest->byte) + 1];

	for (size_t i = 0; i < sizeof(digest->byte); i++)
		snprintf(text + 2 * i, 3, "%02x", digest->byte[i]);
	return text;
}

/* From a libxxhash that uses the vectors of the oldest processor. */
static const struct {
	size_t len;
	const char *digest;
} known[] = {
	{ 0, "99aa06d3014798d86001c324468d497f" },
	{ 17, "1be021a4a0ea4ca989c47e37fb5e32d7" },
	{ 240, "3783988f484f8485f8e5de624e271063" },
	{ 241, "ad1505acd85038bed72b8618986ed8ad" },
	{ 4096, "743f46d2933dcd1d8744b6e0c6f7102e" },
	{ sizeof(data), "8072a1738b75286b8005165e38f2a2c9" },
};

static void a_digest_is_the_same_on_every_processor(void)
{
	struct pier__copy_digest digest;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		pier__copy_hash_of(data, known[i].len, &digest);
		IS_STR(hex(&digest), known[i].digest);
	}
}

static void a_digest_does_not_depend_on_the_pieces(void)
{
	static const size_t pieces[] = { 1, 63, 256, 4097, 65536 };
	struct pier__copy_digest digest;
	struct pier__copy_hash *hash;

	if (!IS(pier__copy_hash_create(&hash), 0))
		return;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		size_t at = 0, len;

		pier__copy_hash_begin(hash);
		for (; at < sizeof(data); at += len) {
			len = sizeof(data) - at;
			len = len < pieces[i] ? len : pieces[i];
			pier__copy_hash_data(hash, data + at, len);
		}
		pier__copy_hash_end(hash, &digest);
		IS_STR(hex(&digest), "8072a1738b75286b8005165e38f2a2c9");
	}
	pier__copy_hash_destroy(hash);
}

static void a_hole_is_not_the_zeros_in_it(void)
{
	static const uint8_t zeros[4096];
	struct pier__copy_digest data_digest, hole_digest;
	struct pier__copy_hash *hash;

	if (!IS(pier__copy_hash_create(&hash), 0))
		return;
	pier__copy_hash_begin(hash);
	pier__copy_hash_hole(hash, sizeof(zeros));
	pier__copy_hash_end(hash, &hole_digest);
	pier__copy_hash_of(zeros, sizeof(zeros), &data_digest);
	OK(memcmp(&hole_digest, &data_digest, sizeof(data_digest)));
	pier__copy_hash_destroy(hash);
}

int main(void)
{
	fill();
	TEST(a_digest_is_the_same_on_every_processor);
	TEST(a_digest_does_not_depend_on_the_pieces);
	TEST(a_hole_is_not_the_zeros_in_it);
	return tap_done();
}
