/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <pier/rdma.h>

#include "core/clock.h"
#include "core/copy.h"
#include "core/crc.h"
#include "core/fail.h"
#include "core/random.h"
#include "t/lib/tap.h"

struct config {
	size_t size;
	uint32_t a, b;
};

/* As an older and a newer header have it. */
struct old_config {
	size_t size;
};

struct new_config {
	size_t size;
	uint32_t a, b, c, d;
};

static void a_configuration_is_copied(void)
{
	struct config dst, src = { sizeof(src), 1, 2 };

	memset(&dst, 0xff, sizeof(dst));
	IS(pier__config_copy(&dst, sizeof(dst), &src, src.size), 0);
	IS(dst.size, sizeof(dst));
	IS(dst.a, 1);
	IS(dst.b, 2);
}

static void a_shorter_one_leaves_the_rest_zero(void)
{
	struct old_config src = { sizeof(src) };
	struct config dst;

	memset(&dst, 0xff, sizeof(dst));
	IS(pier__config_copy(&dst, sizeof(dst), &src, src.size), 0);
	IS(dst.size, sizeof(dst));
	IS(dst.a, 0);
	IS(dst.b, 0);
}

static void a_longer_one_must_be_zero_behind_ours(void)
{
	struct new_config src = { .size = sizeof(src), .a = 1, .b = 2 };
	struct config dst = { 0, 7, 7 };

	src.d = 1;
	IS(pier__config_copy(&dst, sizeof(dst), &src, src.size), -EINVAL);
	IS(dst.a, 7);
	src.d = 0;
	IS(pier__config_copy(&dst, sizeof(dst), &src, src.size), 0);
	IS(dst.size, sizeof(dst));
	IS(dst.b, 2);
}

static void one_without_a_size_is_refused(void)
{
	struct config dst, src = { 0 };

	IS(pier__config_copy(&dst, sizeof(dst), &src, 0), -EINVAL);
	IS(pier__config_copy(&dst, sizeof(dst), &src, 7), -EINVAL);
	LIKE(pier_last_error(), "size 7");
}

static void zero_means_the_default(void)
{
	uint32_t field = 0;

	IS(pier__config_u32(&field, "ack_timeout", 14, 1, 31), 0);
	IS(field, 14);
}

static void pier_zero_means_zero(void)
{
	uint32_t field = PIER_ZERO;

	IS(pier__config_u32(&field, "rnr_retry", 7, 0, 7), 0);
	IS(field, 0);
}

static void a_field_out_of_range_is_named(void)
{
	uint32_t field = 32;

	IS(pier__config_u32(&field, "ack_timeout", 14, 1, 31), -EINVAL);
	IS(field, 32);
	IS_STR(pier_last_error(), "ack_timeout 32: 1 to 31, 0 for 14");
	field = PIER_ZERO;
	IS(pier__config_u32(&field, "ack_timeout", 14, 1, 31), -EINVAL);
	IS(field, PIER_ZERO);
	IS_STR(pier_last_error(), "ack_timeout PIER_ZERO: 1 to 31, 0 for 14");
	field = 31;
	IS(pier__config_u32(&field, "ack_timeout", 14, 1, 31), 0);
	IS(field, 31);
}

static void a_deadline_never_wraps(void)
{
	IS(pier__deadline(1000, 2), 1000 + 2 * PIER__MS);
	OK(pier__deadline(1000, -1) == PIER__NEVER);
	OK(pier__deadline(PIER__NEVER - 5, 1) == PIER__NEVER);
	IS(pier__deadline(1000, 0), 1000);
}

static void what_is_left_is_rounded_up(void)
{
	IS(pier__ms_left(0, PIER__NEVER), -1);
	IS(pier__ms_left(10, 10), 0);
	IS(pier__ms_left(11, 10), 0);
	IS(pier__ms_left(10, 11), 1);
	IS(pier__ms_left(0, PIER__MS), 1);
	IS(pier__ms_left(0, PIER__MS + 1), 2);
	IS(pier__ms_left(0, PIER__NEVER - 1), INT32_MAX);
}

static void the_clock_does_not_go_back(void)
{
	uint64_t before = pier__now();

	OK(before > 0);
	OK(pier__now() >= before);
	OK(pier__wall_seconds() > 1700000000);
}

static void the_crc_is_that_of_zlib(void)
{
	IS(pier__crc32(0, "123456789", 9), 0xcbf43926);
	IS(pier__crc32(0, "", 0), 0);
	IS(pier__crc32(0, "a", 1), 0xe8b7be43);
}

/* By the definition, a bit at a time. */
static uint32_t slow_crc(const uint8_t *data, size_t len)
{
	uint32_t crc = ~UINT32_C(0);
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void a_crc_goes_on_where_it_stopped(void)
{
	uint8_t data[1024];
	size_t cut;

	pier__random(data, sizeof(data));
	for (cut = 0; cut <= sizeof(data); cut += 31)
		IS(pier__crc32(pier__crc32(0, data, cut), data + cut,
			       sizeof(data) - cut),
		   slow_crc(data, sizeof(data)));
}

/* Copy @len bytes behind @before at any alignment; what is beside them? */
static bool copy_ok(size_t before, size_t len, size_t from, size_t to)
{
	uint8_t src[4400], dst[4400], want[4400];
	uint32_t crc = pier__crc32(0, "pier", 4);

	pier__random(src, sizeof(src));
	memset(dst, 0x5a, sizeof(dst));
	memcpy(want, dst, sizeof(dst));
	memcpy(want + to + before, src + from, len);
	return IS(pier__crc32_copy(crc, dst + to + before, before, src + from,
				   len),
		  pier__crc32(crc, want + to, before + len)) &&
	       OK(!memcmp(dst, want, sizeof(dst)));
}

static void what_is_copied_has_the_same_crc(void)
{
	static const size_t heads[] = { 0, 4, 12, 13, 28, 40, 64, 68 };
	static const size_t lens[] = {
		0, 1, 16, 255, 256, 257, 512, 1000, 1024, 4095, 4096,
	};
	size_t i, j, at = 0;

	for (i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		for (j = 0; j < sizeof(lens) / sizeof(*lens); j++, at++)
			if (!copy_ok(heads[i], lens[j], at % 67, at % 71 + 64))
				tap_note("%zu behind %zu", lens[j], heads[i]);
}

static void random_numbers_differ_and_fill_the_buffer(void)
{
	uint8_t data[1024] = { 0 };
	unsigned int seen[256] = { 0 }, kinds = 0;
	size_t i;

	OK(pier__random64() != pier__random64());
	pier__random(data, sizeof(data));
	for (i = 0; i < sizeof(data); i++)
		kinds += !seen[data[i]]++;
	OK(kinds > 200);
	OK(seen[0] < 64);
}

static void random_ids_stay_in_range(void)
{
	unsigned int seen[4] = { 0 };
	uint32_t id;
	int i;

	for (i = 0; i < 1000; i++) {
		id = pier__random_id(3);
		if (!OK(id >= 1 && id <= 3))
			return;
		seen[id]++;
	}
	OK(seen[1] && seen[2] && seen[3]);
	IS(pier__random_id(1), 1);
}

int main(void)
{
	TEST(a_configuration_is_copied);
	TEST(a_shorter_one_leaves_the_rest_zero);
	TEST(a_longer_one_must_be_zero_behind_ours);
	TEST(one_without_a_size_is_refused);
	TEST(zero_means_the_default);
	TEST(pier_zero_means_zero);
	TEST(a_field_out_of_range_is_named);
	TEST(a_deadline_never_wraps);
	TEST(what_is_left_is_rounded_up);
	TEST(the_clock_does_not_go_back);
	TEST(the_crc_is_that_of_zlib);
	TEST(a_crc_goes_on_where_it_stopped);
	TEST(what_is_copied_has_the_same_crc);
	TEST(random_numbers_differ_and_fill_the_buffer);
	TEST(random_ids_stay_in_range);
	return tap_done();
}
