/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/mmap.h>

#include "cm/rdmacm/private_data.h"
#include "core/fail.h"

#define BLOB_FLAG 0x8000
#define ACCESS_SHIFT 2	/* PIER_REMOTE_READ is 4 */
#define ADDR_BITS 48

static const uint8_t magic[4] = { 'p', 'i', 'e', 'r' };

static void put(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes--) {
		at[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* The largest power of two that is not above @value, as its exponent. */
static uint8_t log2_of(uint64_t value)
{
	uint8_t n = 0;

	while (value >>= 1)
		n++;
	return n < 31 ? n : 31;
}

uint64_t pier__cm_message_limit(uint64_t message)
{
	return UINT64_C(1) << log2_of(message);
}

bool pier__cm_frame_fits(size_t size, size_t len)
{
	return len <= size - PIER__CM_FRAME_HEAD;
}

int pier__cm_frame_encode(const struct pier__cm_frame *frame, void *buf,
			  size_t size)
{
	bool blob = !pier__cm_frame_fits(size, frame->len);
	size_t head = PIER__CM_FRAME_HEAD + (blob ? PIER__CM_FRAME_BLOB : 0);
	size_t len = blob ? size - head : frame->len;
	uint8_t *at = buf;

	if (frame->ctl_addr >> ADDR_BITS ||
	    (blob && frame->blob_addr >> ADDR_BITS))
		return pier__fail(-EOVERFLOW, "an address of more than %d bits "
				  "does not fit into a CM message", ADDR_BITS);
	memcpy(at, magic, sizeof(magic));
	at[4] = PIER__CM_FRAME_VERSION;
	at[5] = (uint8_t)(log2_of(frame->message) << 3 |
			  frame->access >> ACCESS_SHIFT);
	put(at + 6, frame->len | (blob ? BLOB_FLAG : 0), 2);
	memcpy(at + 8, frame->dev_id, 8);
	put(at + 16, frame->ctl_addr, 6);
	put(at + 22, frame->ctl_rkey, 4);
	put(at + 26, frame->nonce, 4);
	if (blob) {
		put(at + 30, frame->blob_addr, 6);
		put(at + 36, frame->blob_rkey, 4);
	}
	if (len)
		memcpy(at + head, frame->data, len);
	return (int)(head + len);
}

/* Is it pier's, of a supported version? */
static int check_head(const uint8_t *at, size_t size, size_t need)
{
	if (size < sizeof(magic) + 1 || memcmp(at, magic, sizeof(magic)))
		return -ENOENT;
	if (at[4] != PIER__CM_FRAME_VERSION)
		return pier__fail(-PIER_EVERSION, "the peer's pier has version "
				  "%u of the handshake, this one %d",
				  at[4], PIER__CM_FRAME_VERSION);
	if (size < need)
		return pier__fail(-PIER_EDESC, "a handshake of %zu bytes: "
				  "at least %zu", size, need);
	return 0;
}

/* Where the user's data is, once the numbers have been read. */
static int decode_data(const uint8_t *at, size_t size,
		       struct pier__cm_frame *frame)
{
	size_t head = PIER__CM_FRAME_HEAD;

	if (frame->len > PIER__CM_FRAME_DATA_MAX)
		return pier__fail(-PIER_EDESC, "a handshake with %zu bytes of "
				  "data: at most %d", frame->len,
				  PIER__CM_FRAME_DATA_MAX);
	frame->data_len = frame->len;
	if (frame->blob) {
		head += PIER__CM_FRAME_BLOB;
		if (size < head)
			return pier__fail(-PIER_EDESC, "a handshake of %zu "
					  "bytes with a blob", size);
		frame->blob_addr = get(at + 30, 6);
		frame->blob_rkey = (uint32_t)get(at + 36, 4);
		if (frame->data_len > size - head)
			frame->data_len = size - head;
	}
	if (frame->data_len > size - head)
		return pier__fail(-PIER_EDESC, "a handshake with %zu bytes of "
				  "data in %zu", frame->len, size - head);
	frame->data = at + head;
	return 0;
}

int pier__cm_frame_decode(const void *field, size_t size,
			  struct pier__cm_frame *ret)
{
	struct pier__cm_frame frame = { 0 };
	const uint8_t *at = field;
	int err = check_head(at, size, PIER__CM_FRAME_HEAD);

	if (err)
		return err;
	frame.access = (uint32_t)(at[5] & 7) << ACCESS_SHIFT;
	frame.message = UINT64_C(1) << (at[5] >> 3);
	frame.len = (size_t)get(at + 6, 2);
	frame.blob = frame.len & BLOB_FLAG;
	frame.len &= ~(size_t)BLOB_FLAG;
	memcpy(frame.dev_id, at + 8, 8);
	frame.ctl_addr = get(at + 16, 6);
	frame.ctl_rkey = (uint32_t)get(at + 22, 4);
	frame.nonce = (uint32_t)get(at + 26, 4);
	if (!frame.nonce)
		return pier__fail(-PIER_EDESC, "a handshake with nonce 0");
	err = decode_data(at, size, &frame);
	if (!err)
		*ret = frame;
	return err;
}

int pier__cm_reject_encode(const struct pier__cm_reject *reject, void *buf,
			   size_t size)
{
	uint8_t *at = buf;

	if (reject->len > size - PIER__CM_FRAME_REJ)
		return pier__fail(-EMSGSIZE, "a reject with %zu bytes of data: "
				  "at most %zu", reject->len,
				  size - PIER__CM_FRAME_REJ);
	memcpy(at, magic, sizeof(magic));
	at[4] = PIER__CM_FRAME_VERSION;
	at[5] = (uint8_t)reject->reason;
	put(at + 6, reject->len, 2);
	if (reject->len)
		memcpy(at + PIER__CM_FRAME_REJ, reject->data, reject->len);
	return (int)(PIER__CM_FRAME_REJ + reject->len);
}

int pier__cm_reject_decode(const void *field, size_t size,
			   struct pier__cm_reject *ret)
{
	const uint8_t *at = field;
	int err = check_head(at, size, PIER__CM_FRAME_REJ);
	size_t len;

	if (err)
		return err;
	len = (size_t)get(at + 6, 2);
	if (len > size - PIER__CM_FRAME_REJ)
		return pier__fail(-PIER_EDESC, "a reject with %zu bytes of "
				  "data in %zu", len,
				  size - PIER__CM_FRAME_REJ);
	ret->reason = (enum pier__reject_reason)at[5];
	ret->data = at + PIER__CM_FRAME_REJ;
	ret->len = len;
	return 0;
}
