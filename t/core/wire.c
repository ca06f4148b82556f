/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc.h"
#include "core/fail.h"
#include "core/wire.h"
#include "t/lib/tap.h"

#define SIZE 1024
#define MUTATIONS 20000
#define GIDS 3

/* Offsets in the head. */
#define VERSION_AT 5
#define KIND_AT 7
#define LENGTH_AT 8
#define CRC_AT 12

static void put_crc(uint8_t *data, size_t len)
{
	uint32_t crc = pier__crc32(0, data, CRC_AT);

	crc = pier__crc32(crc, data + PIER__WIRE_HEAD, len - PIER__WIRE_HEAD);
	data[CRC_AT] = (uint8_t)(crc >> 24);
	data[CRC_AT + 1] = (uint8_t)(crc >> 16);
	data[CRC_AT + 2] = (uint8_t)(crc >> 8);
	data[CRC_AT + 3] = (uint8_t)crc;
}

/* An envelope around @body whose head is right.  Returns its length. */
static size_t envelope(uint8_t *data, const void *body, size_t len)
{
	static const uint8_t head[] = { 'p', 'i', 'e', 'r', 0, 1, 0, 1 };

	memcpy(data, head, sizeof(head));
	data[LENGTH_AT] = (uint8_t)(len >> 24);
	data[LENGTH_AT + 1] = (uint8_t)(len >> 16);
	data[LENGTH_AT + 2] = (uint8_t)(len >> 8);
	data[LENGTH_AT + 3] = (uint8_t)len;
	memcpy(data + PIER__WIRE_HEAD, body, len);
	put_crc(data, len + PIER__WIRE_HEAD);
	return len + PIER__WIRE_HEAD;
}

/*
 * Something like a connection's descriptor, with a field of each kind.
 * Returns its length.
 */
static int sample(void *buf, size_t size)
{
	static const uint8_t gid[16] = "0123456789abcde";
	struct pier__wire_out out;
	unsigned int i;

	pier__wire_begin(&out, buf, size, PIER__WIRE_CONN, 7);
	pier__wire_uint(&out, 1, 7);
	pier__wire_uint(&out, 2, 0xfedc);
	pier__wire_uint(&out, 3, UINT64_MAX);
	pier__wire_bytes(&out, 5, "soft_lo", 7);
	pier__wire_array(&out, 8, GIDS);
	for (i = 0; i < GIDS; i++) {
		pier__wire_map(&out, 2);
		pier__wire_uint(&out, 1, i);
		pier__wire_bytes(&out, 2, gid, sizeof(gid));
	}
	pier__wire_bytes(&out, 200, "", 0);
	pier__wire_uint(&out, 70000, 0);
	return pier__wire_end(&out);
}

static void what_is_written_is_read_in_any_order(void)
{
	struct pier__wire_in in, gid;
	const uint8_t *bytes;
	uint64_t value = 0;
	unsigned int count = 0;
	uint8_t buf[SIZE];
	size_t len;

	len = (size_t)sample(buf, sizeof(buf));
	if (!IS(pier__wire_open(buf, len, &in), 0))
		return;
	IS(in.kind, PIER__WIRE_CONN);
	IS(pier__wire_get_uint(&in, 70000, 0, 0, &value), 0);
	IS(value, 0);
	IS(pier__wire_get_uint(&in, 3, 0, UINT64_MAX, &value), 0);
	OK(value == UINT64_MAX);
	IS(pier__wire_get_array(&in, 8, GIDS, &count), 0);
	IS(count, GIDS);
	IS(pier__wire_get_map(&in, 8, 2, &gid), 0);
	IS(pier__wire_get_uint(&gid, 1, 0, 9, &value), 0);
	IS(value, 2);
	if (IS(pier__wire_get_bytes(&gid, 2, 16, 16, &bytes, &len), 0))
		OK(memcmp(bytes, "0123456789abcde", 16) == 0);
	if (IS(pier__wire_get_bytes(&in, 5, 1, 15, &bytes, &len), 0))
		OK(len == 7 && memcmp(bytes, "soft_lo", 7) == 0);
	IS(pier__wire_get_bytes(&in, 200, 0, 15, &bytes, &len), 0);
	IS(len, 0);
	IS(pier__wire_get_uint(&in, 1, 0, 7, &value), 0);
	IS(value, 7);
	IS(pier__wire_get_uint(&in, 2, 0, 0xfedc, &value), 0);
	IS(pier__wire_get_uint(&in, 4, 0, 9, &value), -PIER_EDESC);
	IS(pier__wire_get_uint(&in, 4000000, 0, 9, &value), -PIER_EDESC);
	LIKE(pier_last_error(), "without field 4000000");
}

/* The bytes are a promise to other versions. */
static void the_bytes_are_those_documented(void)
{
	static const uint8_t want[] = {
		'p', 'i', 'e', 'r', 0, 1, 0, 2, 0, 0, 0, 13, 0, 0, 0, 0,
		0x83, 0x01, 0xcd, 0x12, 0x34, 0x02, 0xc4, 0x02, 'h', 'i',
		0x0a, 0x91, 0x80,
	};
	struct pier__wire_out out;
	uint8_t buf[64], copy[sizeof(want)];
	size_t len = sizeof(want);

	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_MMAP, 3);
	pier__wire_uint(&out, 1, 0x1234);
	pier__wire_bytes(&out, 2, "hi", 2);
	pier__wire_array(&out, 10, 1);
	pier__wire_map(&out, 0);
	if (!IS(pier__wire_end(&out), len))
		return;
	memcpy(copy, want, sizeof(want));
	put_crc(copy, len);
	OK(memcmp(buf, copy, len) == 0);
}

static void a_buffer_too_small_is_reported_at_the_end(void)
{
	uint8_t *small;
	uint8_t buf[SIZE];
	int len = sample(buf, sizeof(buf)), size;

	OK(len > 0);
	for (size = 0; size < len; size++) {
		small = malloc((size_t)size + !size);
		if (!OK(small))
			return;
		IS(sample(small, (size_t)size), -ENOBUFS);
		free(small);
	}
	IS(sample(buf, (size_t)len), len);
	sample(buf, 20);
	LIKE(pier_last_error(), "20 bytes");
}

static void fields_must_be_as_announced(void)
{
	struct pier__wire_out out;
	uint8_t buf[SIZE];

	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_CONN, 2);
	pier__wire_uint(&out, 1, 7);
	IS(pier__wire_end(&out), -EINVAL);
	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_CONN, 0);
	pier__wire_uint(&out, 1, 7);
	IS(pier__wire_end(&out), -EINVAL);
	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_CONN, 2);
	pier__wire_uint(&out, 2, 7);
	pier__wire_uint(&out, 2, 7);
	IS(pier__wire_end(&out), -EINVAL);
	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_CONN, 1);
	pier__wire_array(&out, 1, 2);
	pier__wire_map(&out, 0);
	IS(pier__wire_end(&out), -EINVAL);
}

static void another_kind_is_refused_by_name(void)
{
	struct pier__wire_in in;
	uint8_t buf[SIZE];
	size_t len = (size_t)sample(buf, sizeof(buf));

	IS(pier__wire_expect(buf, len, PIER__WIRE_CONN, &in), 0);
	IS(pier__wire_expect(buf, len, PIER__WIRE_MMAP, &in), -PIER_EKIND);
	IS_STR(pier_last_error(), "a connection descriptor where a memory "
	       "descriptor is required");
	buf[KIND_AT] = 9;
	put_crc(buf, len);
	IS(pier__wire_open(buf, len, &in), -PIER_EKIND);
	LIKE(pier_last_error(), "kind 9");
}

static void another_version_is_refused_by_number(void)
{
	struct pier__wire_in in;
	uint8_t buf[SIZE];
	size_t len = (size_t)sample(buf, sizeof(buf));

	buf[VERSION_AT] = 2;
	IS(pier__wire_open(buf, len, &in), -PIER_EDESC);
	put_crc(buf, len);
	IS(pier__wire_open(buf, len, &in), -PIER_EVERSION);
	LIKE(pier_last_error(), "version 2");
}

/* Each in memory of its own size, for the address sanitizer to watch. */
static void every_other_length_is_refused(void)
{
	struct pier__wire_in in;
	uint8_t buf[SIZE] = { 0 };
	size_t len = (size_t)sample(buf, sizeof(buf)), n;
	uint8_t *copy;

	for (n = 0; n < len + 8; n++) {
		copy = malloc(n + !n);
		if (!OK(copy))
			return;
		memcpy(copy, buf, n);
		IS(pier__wire_open(copy, n, &in),
		   n == len ? 0 : -PIER_EDESC);
		free(copy);
	}
}

static void a_missing_field_is_named(void)
{
	struct pier__wire_in in;
	const uint8_t *bytes;
	uint8_t buf[SIZE];
	uint64_t value = 77;
	unsigned int count;
	size_t len = (size_t)sample(buf, sizeof(buf)), n;

	IS(pier__wire_open(buf, len, &in), 0);
	IS(pier__wire_get_uint(&in, 4, 0, 9, &value), -PIER_EDESC);
	IS_STR(pier_last_error(), "connection descriptor without field 4");
	IS(value, 77);
	IS(pier__wire_get_bytes(&in, 4, 0, 9, &bytes, &n), -PIER_EDESC);
	IS(pier__wire_get_array(&in, 4, 9, &count), -PIER_EDESC);
	IS(pier__wire_get_map(&in, 4, 0, &in), -PIER_EDESC);
	IS(pier__wire_get_map(&in, 8, GIDS, &in), -PIER_EDESC);
	LIKE(pier_last_error(), "no entry 3 of the 3 in field 8");
}

static void values_out_of_range_are_refused(void)
{
	struct pier__wire_in in;
	const uint8_t *bytes;
	uint8_t buf[SIZE];
	uint64_t value;
	unsigned int count;
	size_t len = (size_t)sample(buf, sizeof(buf)), n;

	IS(pier__wire_open(buf, len, &in), 0);
	IS(pier__wire_get_uint(&in, 1, 8, 9, &value), -PIER_EDESC);
	IS_STR(pier_last_error(), "connection descriptor: field 1 is 7, "
	       "allowed 8 to 9");
	IS(pier__wire_get_uint(&in, 1, 0, 6, &value), -PIER_EDESC);
	IS(pier__wire_get_uint(&in, 1, 7, 7, &value), 0);
	IS(pier__wire_get_bytes(&in, 5, 8, 9, &bytes, &n), -PIER_EDESC);
	IS(pier__wire_get_bytes(&in, 5, 0, 6, &bytes, &n), -PIER_EDESC);
	IS(pier__wire_get_bytes(&in, 5, 7, 7, &bytes, &n), 0);
	IS(pier__wire_get_array(&in, 8, GIDS - 1, &count), -PIER_EDESC);
	LIKE(pier_last_error(), "field 8 holds 3 entries, allowed 2");
}

static void a_field_of_another_type_is_refused(void)
{
	struct pier__wire_in in, map;
	const uint8_t *bytes;
	uint8_t buf[SIZE];
	uint64_t value;
	unsigned int count;
	size_t len = (size_t)sample(buf, sizeof(buf)), n;

	IS(pier__wire_open(buf, len, &in), 0);
	IS(pier__wire_get_uint(&in, 5, 0, 9, &value), -PIER_EDESC);
	IS_STR(pier_last_error(), "connection descriptor: field 5 is bytes, "
	       "not a number");
	IS(pier__wire_get_bytes(&in, 1, 0, 9, &bytes, &n), -PIER_EDESC);
	IS(pier__wire_get_array(&in, 1, 9, &count), -PIER_EDESC);
	IS(pier__wire_get_map(&in, 5, 0, &map), -PIER_EDESC);
}

/* Bodies that only others write; their length is that of the text. */
#define BODY(text) { (text), sizeof(text) - 1 }

struct body {
	const char *bytes;
	size_t len;
};

static int open_body(const struct body *body, uint8_t *buf,
		     struct pier__wire_in *ret)
{
	size_t len = envelope(buf, body->bytes, body->len);

	return pier__wire_open(buf, len, ret);
}

/* Field 7 of each is 5; below it is something that we never wrote. */
static void unknown_fields_of_any_type_are_skipped(void)
{
	static const struct body good[] = {
		BODY("\x81\x07\x05"),
		BODY("\x82\x06\xc0\x07\x05"),
		BODY("\x82\x06\xc2\x07\x05"),
		BODY("\x82\x06\xc3\x07\x05"),
		BODY("\x82\x06\xff\x07\x05"),
		BODY("\x82\x06\xa3""abc\x07\x05"),
		BODY("\x82\x06\xd9\x03""abc\x07\x05"),
		BODY("\x82\x06\xda\x00\x03""abc\x07\x05"),
		BODY("\x82\x06\xdb\x00\x00\x00\x03""abc\x07\x05"),
		BODY("\x82\x06\xc5\x00\x03""abc\x07\x05"),
		BODY("\x82\x06\xc6\x00\x00\x00\x03""abc\x07\x05"),
		BODY("\x82\x06\xc7\x03\x01""abc\x07\x05"),
		BODY("\x82\x06\xc8\x00\x03\x01""abc\x07\x05"),
		BODY("\x82\x06\xc9\x00\x00\x00\x03\x01""abc\x07\x05"),
		BODY("\x82\x06\xca""abcd\x07\x05"),
		BODY("\x82\x06\xcb""abcdefgh\x07\x05"),
		BODY("\x82\x06\xd0\xff\x07\x05"),
		BODY("\x82\x06\xd1\xff\xff\x07\x05"),
		BODY("\x82\x06\xd2""abcd\x07\x05"),
		BODY("\x82\x06\xd3""abcdefgh\x07\x05"),
		BODY("\x82\x06\xd4\x01""a\x07\x05"),
		BODY("\x82\x06\xd5\x01""ab\x07\x05"),
		BODY("\x82\x06\xd6\x01""abcd\x07\x05"),
		BODY("\x82\x06\xd7\x01""abcdefgh\x07\x05"),
		BODY("\x82\x06\xd8\x01""abcdefghabcdefgh\x07\x05"),
		BODY("\x82\x06\x92\x01\x02\x07\x05"),
		BODY("\x82\x06\xdc\x00\x02\x01\x02\x07\x05"),
		BODY("\x82\x06\xdd\x00\x00\x00\x02\x01\x02\x07\x05"),
		BODY("\x82\x06\x81\xa1x\x91\x91\x80\x07\x05"),
		BODY("\xde\x00\x02\x06\xde\x00\x01\xc0\xc0\x07\x05"),
		BODY("\xdf\x00\x00\x00\x02\x06\xdf\x00\x00\x00\x00\x07\x05"),
		BODY("\x81\xcc\x07\xcc\x05"),
		BODY("\x81\xcd\x00\x07\xcd\x00\x05"),
		BODY("\x81\xce\x00\x00\x00\x07\xce\x00\x00\x00\x05"),
		BODY("\x81\xcf\x00\x00\x00\x00\x00\x00\x00\x07"
		     "\xcf\x00\x00\x00\x00\x00\x00\x00\x05"),
	};
	struct pier__wire_in in;
	uint8_t buf[SIZE];
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		value = 0;
		if (!IS(open_body(&good[i], buf, &in), 0) ||
		    !IS(pier__wire_get_uint(&in, 7, 0, 9, &value), 0) ||
		    !IS(value, 5))
			tap_note("body %zu", i);
	}
}

static void malformed_bodies_are_refused(void)
{
	static const struct body bad[] = {
		BODY(""),
		BODY("\x07"),				/* no map */
		BODY("\x92\x07\x05"),			/* an array */
		BODY("\x81\x07"),			/* no value */
		BODY("\x81\x07\x05\x00"),		/* more behind it */
		BODY("\x82\x07\x05"),			/* a pair lacks */
		BODY("\x82\x07\x05\x06\x05"),		/* descending */
		BODY("\x82\x07\x05\x07\x05"),		/* twice */
		BODY("\x81\xa1\x07\x05"),		/* key is text */
		BODY("\x81\xff\x05"),			/* key is negative */
		BODY("\x81\xcf\x00\x00\x00\x01\x00\x00\x00\x00\x05"),
		BODY("\x81\x07\xc1"),			/* never used */
		BODY("\x81\x07\xc4\x02""a"),		/* cut short: */
		BODY("\x81\x07\xc6\xff\xff\xff\xff""a"),
		BODY("\x81\x07\xdb\xff\xff\xff\xff""a"),
		BODY("\x81\x07\xc9\xff\xff\xff\xff\x01""a"),
		BODY("\x81\x07\xd8\x01""abcdefghabcdefg"),
		BODY("\x81\x07\xcd\x01"),
		BODY("\x81\x07\xda\x01"),
		BODY("\x81\x07\xdd\x00\x00"),
		BODY("\x81\x07\x93\x01\x02"),
		BODY("\x81\x07\x81\x01"),
		BODY("\x81\x07\xdd\xff\xff\xff\xff\x01"),
		BODY("\x81\x07\xdf\xff\xff\xff\xff\x01"),
		BODY("\xdf\xff\xff\xff\xff\x01\x01"),
	};
	struct pier__wire_in in;
	uint8_t buf[SIZE];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!IS(open_body(&bad[i], buf, &in), -PIER_EDESC))
			tap_note("body %zu", i);
}

static void entries_that_are_no_maps_are_refused(void)
{
	static const struct body bodies[] = {
		BODY("\x81\x07\x92\x80\x05"),
		BODY("\x81\x07\x92\x80\x90"),
		BODY("\x81\x07\x92\x80\x82\x02\x00\x01\x00"),
		BODY("\x81\x07\x92\x80\x81\xa1\x02\x00"),
	};
	struct pier__wire_in in, map;
	unsigned int count;
	uint8_t buf[SIZE];
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		IS(open_body(&bodies[i], buf, &in), 0);
		IS(pier__wire_get_array(&in, 7, 2, &count), 0);
		IS(pier__wire_get_map(&in, 7, 0, &map), 0);
		IS(pier__wire_get_uint(&map, 0, 0, 9, &value), -PIER_EDESC);
		LIKE(pier_last_error(), "without field 0");
		IS(pier__wire_get_map(&in, 7, 1, &map), -PIER_EDESC);
	}
}

/* A reader that recursed would run out of stack. */
static void depth_is_no_danger(void)
{
	const size_t depth = 4 * 1024 * 1024;
	struct pier__wire_in in;
	uint8_t *body, *buf;
	uint64_t value = 0;
	size_t len;

	body = malloc(depth + 5);
	buf = malloc(depth + 5 + PIER__WIRE_HEAD);
	if (!OK(body && buf))
		goto out;
	memcpy(body, "\x82\x06", 2);
	memset(body + 2, 0x91, depth);
	memcpy(body + 2 + depth, "\xc0\x07\x05", 3);
	len = envelope(buf, body, depth + 5);
	buf[KIND_AT] = PIER__WIRE_FRAME;	/* may be long */
	put_crc(buf, len);
	IS(pier__wire_open(buf, len, &in), 0);
	IS(pier__wire_get_uint(&in, 7, 0, 9, &value), 0);
	IS(value, 5);
	body[2 + depth] = 0x91;		/* now one item is missing */
	len = envelope(buf, body, depth + 3);
	buf[KIND_AT] = PIER__WIRE_FRAME;
	put_crc(buf, len);
	IS(pier__wire_open(buf, len, &in), -PIER_EDESC);
out:
	free(body);
	free(buf);
}

static void a_stream_learns_how_long_an_envelope_is(void)
{
	uint8_t buf[SIZE];
	size_t len = (size_t)sample(buf, sizeof(buf)), size = 0;

	IS(pier__wire_size(buf, PIER__WIRE_HEAD, len, &size), 0);
	IS(size, len);
	IS(pier__wire_size(buf, PIER__WIRE_HEAD, len - 1, &size), -EMSGSIZE);
	IS(pier__wire_size(buf, PIER__WIRE_HEAD - 1, len, &size),
	   -PIER_EDESC);
	memset(buf + LENGTH_AT, 0xff, 4);
	IS(pier__wire_size(buf, PIER__WIRE_HEAD, len, &size), -EMSGSIZE);
	buf[0] = 'q';
	IS(pier__wire_size(buf, PIER__WIRE_HEAD, len, &size), -PIER_EDESC);
}

/* Numbers that are the same in each run; xorshift. */
static uint32_t dice(void)
{
	static uint32_t state = 2463534242;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/*
 * Change 1 to 4 bytes of the @len at @data, some to what means much, and
 * sometimes the length.  Returns the new length.
 */
static size_t mutate(uint8_t *data, size_t len)
{
	static const uint8_t loaded[] = {
		0x00, 0x7f, 0x80, 0x8f, 0x9f, 0xbf, 0xc1, 0xc6, 0xc9, 0xcf,
		0xdb, 0xdd, 0xdf, 0xff,
	};
	unsigned int n = dice() % 4 + 1;

	while (n--)
		data[dice() % len] = dice() % 2 ? (uint8_t)dice() :
			loaded[dice() % sizeof(loaded)];
	return dice() % 8 ? len : dice() % len;
}

/* Read as a user would; the text does not matter. */
static void read_all(const struct pier__wire_in *in)
{
	static const unsigned int fields[] = { 0, 1, 2, 3, 5, 8, 200, 70000 };
	struct pier__wire_in map;
	const uint8_t *bytes;
	unsigned int count, i, n;
	uint8_t sum = 0;
	uint64_t value;
	size_t len;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		pier__wire_get_uint(in, fields[i], 0, UINT64_MAX, &value);
		if (!pier__wire_get_bytes(in, fields[i], 0, SIZE, &bytes,
					  &len))
			while (len)
				sum ^= bytes[--len];
		if (pier__wire_get_array(in, fields[i], 32, &count))
			continue;
		for (n = 0; n < count; n++)
			if (!pier__wire_get_map(in, fields[i], n, &map))
				pier__wire_get_uint(&map, 1, 0, sum, &value);
	}
}

static void no_changed_byte_is_accepted(void)
{
	uint8_t good[SIZE], *bad;
	struct pier__wire_in in;
	size_t len = (size_t)sample(good, sizeof(good)), cut;
	int i, accepted = 0;

	for (i = 0; i < MUTATIONS; i++) {
		bad = malloc(len);
		if (!OK(bad))
			return;
		memcpy(bad, good, len);
		cut = mutate(bad, len);
		if (cut == len && memcmp(bad, good, len) == 0)
			accepted += !!pier__wire_open(bad, cut, &in);
		else
			accepted += !pier__wire_open(bad, cut, &in);
		free(bad);
	}
	IS(accepted, 0);
}

static void every_single_bit_counts(void)
{
	struct pier__wire_in in;
	uint8_t buf[SIZE];
	size_t len = (size_t)sample(buf, sizeof(buf)), bit;

	for (bit = 0; bit < len * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!OK(pier__wire_open(buf, len, &in)))
			tap_note("bit %zu", bit);
		buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	IS(pier__wire_open(buf, len, &in), 0);
}

/* With a right head the body is read; in memory of just its size. */
static void a_hostile_body_does_no_harm(void)
{
	uint8_t good[SIZE], body[SIZE], *bad;
	struct pier__wire_in in;
	size_t len = (size_t)sample(good, sizeof(good)), cut;
	int i, opened = 0;

	for (i = 0; i < MUTATIONS; i++) {
		memcpy(body, good, len);
		cut = mutate(body + PIER__WIRE_HEAD, len - PIER__WIRE_HEAD);
		bad = malloc(cut + PIER__WIRE_HEAD);
		if (!OK(bad))
			return;
		envelope(bad, body + PIER__WIRE_HEAD, cut);
		if (!pier__wire_open(bad, cut + PIER__WIRE_HEAD, &in)) {
			opened++;
			read_all(&in);
		}
		free(bad);
	}
	tap_note("%d of %d were well-formed", opened, MUTATIONS);
	OK(opened > 0 && opened < MUTATIONS);
}

int main(void)
{
	TEST(what_is_written_is_read_in_any_order);
	TEST(the_bytes_are_those_documented);
	TEST(a_buffer_too_small_is_reported_at_the_end);
	TEST(fields_must_be_as_announced);
	TEST(another_kind_is_refused_by_name);
	TEST(another_version_is_refused_by_number);
	TEST(every_other_length_is_refused);
	TEST(a_missing_field_is_named);
	TEST(values_out_of_range_are_refused);
	TEST(a_field_of_another_type_is_refused);
	TEST(unknown_fields_of_any_type_are_skipped);
	TEST(malformed_bodies_are_refused);
	TEST(entries_that_are_no_maps_are_refused);
	TEST(depth_is_no_danger);
	TEST(a_stream_learns_how_long_an_envelope_is);
	TEST(every_single_bit_counts);
	TEST(no_changed_byte_is_accepted);
	TEST(a_hostile_body_does_no_harm);
	return tap_done();
}
