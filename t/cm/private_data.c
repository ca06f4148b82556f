/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "cm/rdmacm/private_data.h"
#include "t/lib/tap.h"

/* What pier puts into the private data of CM messages. */

#define REQ 56
#define REP 196
#define REJ 148

static uint8_t data[PIER__CM_FRAME_DATA_MAX];

static struct pier__cm_frame sample(size_t len)
{
	struct pier__cm_frame frame = {
		.dev_id = { 1, 2, 3, 4, 5, 6, 7, 8 },
		.ctl_addr = 0x7fff12345678,
		.ctl_rkey = 0xdeadbeef,
		.nonce = 0x80000001,
		.access = PIER_REMOTE_READ | PIER_REMOTE_ATOMIC,
		.message = UINT64_C(1) << 31,
		.len = len,
		.blob_addr = 0x123456789abc,
		.blob_rkey = 0xcafe,
		.data = data,
	};

	return frame;
}

static void same(const struct pier__cm_frame *a, const struct pier__cm_frame *b)
{
	OK(!memcmp(a->dev_id, b->dev_id, 8));
	OK(a->ctl_addr == b->ctl_addr && a->ctl_rkey == b->ctl_rkey);
	IS(a->nonce, b->nonce);
	IS(a->access, b->access);
	OK(a->message == b->message);
	IS(a->len, b->len);
	OK(!memcmp(a->data, b->data, a->data_len));
}

/* There and back in a message's field of @size bytes. */
static void round_trip(size_t size, size_t len)
{
	struct pier__cm_frame frame = sample(len), got;
	uint8_t field[REP];
	int n;

	memset(field, 0, sizeof(field));
	n = pier__cm_frame_encode(&frame, field, size);
	if (!OK(n >= PIER__CM_FRAME_HEAD && n <= (int)size) ||
	    !IS(pier__cm_frame_decode(field, size, &got), 0))
		return;
	same(&got, &frame);
	IS(got.blob, len > size - PIER__CM_FRAME_HEAD);
	if (!got.blob) {
		IS(got.data_len, len);
		return;
	}
	IS(got.data_len, size - PIER__CM_FRAME_HEAD - PIER__CM_FRAME_BLOB);
	OK(got.blob_addr == frame.blob_addr);
	IS(got.blob_rkey, frame.blob_rkey);
}

static void a_frame_is_read_as_it_was_written(void)
{
	size_t len;

	for (len = 0; len <= PIER__CM_FRAME_DATA_MAX;
	     len += len < 200 ? 1 : 487) {
		round_trip(REQ, len);
		round_trip(REP, len);
	}
	round_trip(REQ, PIER__CM_FRAME_DATA_MAX);
}

static void a_message_limit_is_rounded_down_to_a_power_of_two(void)
{
	struct pier__cm_frame frame = sample(0), got;
	uint8_t field[REQ] = { 0 };

	frame.message = (8u << 20) + 5;
	OK(pier__cm_frame_encode(&frame, field, REQ) > 0);
	IS(pier__cm_frame_decode(field, REQ, &got), 0);
	IS(got.message, 8u << 20);
	frame.message = UINT64_MAX;
	OK(pier__cm_frame_encode(&frame, field, REQ) > 0);
	IS(pier__cm_frame_decode(field, REQ, &got), 0);
	OK(got.message == UINT64_C(1) << 31);
}

static void an_address_that_does_not_fit_is_refused(void)
{
	struct pier__cm_frame frame = sample(0);
	uint8_t field[REQ];

	frame.ctl_addr = UINT64_C(1) << 48;
	IS(pier__cm_frame_encode(&frame, field, REQ), -EOVERFLOW);
}

static void other_data_is_no_frame(void)
{
	uint8_t field[REQ] = { 0 };
	struct pier__cm_frame got;
	struct pier__cm_reject refused;

	IS(pier__cm_frame_decode(field, REQ, &got), -ENOENT);
	IS(pier__cm_frame_decode(field, 0, &got), -ENOENT);
	memcpy(field, "pies\1", 5);
	IS(pier__cm_frame_decode(field, REQ, &got), -ENOENT);
	IS(pier__cm_reject_decode(field, REQ, &refused), -ENOENT);
}

static void a_malformed_frame_is_refused(void)
{
	struct pier__cm_frame frame = sample(20), got;
	uint8_t field[REQ] = { 0 }, bad[REQ];

	OK(pier__cm_frame_encode(&frame, field, REQ) > 0);
	memcpy(bad, field, REQ);
	bad[4] = 2;
	IS(pier__cm_frame_decode(bad, REQ, &got), -PIER_EVERSION);
	memcpy(bad, field, REQ);
	bad[7] = 27;		/* more than there is room for */
	IS(pier__cm_frame_decode(bad, REQ, &got), -PIER_EDESC);
	bad[6] = 0x90;		/* a blob of more than 4096 */
	IS(pier__cm_frame_decode(bad, REQ, &got), -PIER_EDESC);
	memcpy(bad, field, REQ);
	memset(bad + 26, 0, 4);
	IS(pier__cm_frame_decode(bad, REQ, &got), -PIER_EDESC);
	IS(pier__cm_frame_decode(field, PIER__CM_FRAME_HEAD - 1, &got),
	   -PIER_EDESC);
	memcpy(bad, field, REQ);
	bad[6] |= 0x80;
	IS(pier__cm_frame_decode(bad, PIER__CM_FRAME_HEAD + 9, &got),
	   -PIER_EDESC);
}

/* Whatever comes, what is read lies within the field. */
static void random_bytes_do_no_harm(void)
{
	struct pier__cm_frame got;
	struct pier__cm_reject refused;
	int i, j;

	srand(1);
	for (i = 0; i < 200000; i++) {
		size_t size = (size_t)rand() % (REP + 1);
		uint8_t *field = malloc(size + 1);

		for (j = 0; j < (int)size; j++)
			field[j] = (uint8_t)rand();
		if (size > 5) {
			memcpy(field, "pier", 4);
			field[4] = rand() % 8 ? 1 : 2;
		}
		if (!pier__cm_frame_decode(field, size, &got) &&
		    (got.data < field ||
		     got.data + got.data_len > field + size ||
		     got.data_len > got.len || got.len > 4096))
			OK(!"beyond the field");
		if (!pier__cm_reject_decode(field, size, &refused) &&
		    refused.data + refused.len > field + size)
			OK(!"beyond the field");
		free(field);
	}
	OK(i);
}

static void a_refusal_is_read_as_it_was_written(void)
{
	struct pier__cm_reject refused = {
		.reason = PIER__REJECT_FULL, .data = data, .len = 140,
	}, got;
	uint8_t field[REJ] = { 0 };

	IS(pier__cm_reject_encode(&refused, field, REJ), REJ);
	IS(pier__cm_reject_decode(field, REJ, &got), 0);
	IS(got.reason, PIER__REJECT_FULL);
	IS(got.len, 140);
	OK(!memcmp(got.data, data, 140));
	refused.len = 141;
	IS(pier__cm_reject_encode(&refused, field, REJ), -EMSGSIZE);
	field[7] = 141;
	IS(pier__cm_reject_decode(field, REJ, &got), -PIER_EDESC);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	TEST(a_frame_is_read_as_it_was_written);
	TEST(a_message_limit_is_rounded_down_to_a_power_of_two);
	TEST(an_address_that_does_not_fit_is_refused);
	TEST(other_data_is_no_frame);
	TEST(a_malformed_frame_is_refused);
	TEST(random_bytes_do_no_harm);
	TEST(a_refusal_is_read_as_it_was_written);
	return tap_done();
}
