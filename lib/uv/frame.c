/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "core/wire.h"
#include "uv/frame.h"

enum {
	FIELD_TYPE = 1,
	FIELD_NUMBER = 2,
	FIELD_BYTES = 3,
};

int pier__frame_encode(const struct frame *frame, void *buf)
{
	struct pier__wire_out out;

	pier__wire_begin(&out, buf, FRAME_MAX, PIER__WIRE_FRAME, 3);
	pier__wire_uint(&out, FIELD_TYPE, frame->type);
	pier__wire_uint(&out, FIELD_NUMBER, frame->number);
	pier__wire_bytes(&out, FIELD_BYTES, frame->bytes, frame->len);
	return pier__wire_end(&out);
}

static int read_fields(const struct pier__wire_in *in, struct frame *ret)
{
	uint64_t type;
	int err = pier__wire_get_uint(in, FIELD_TYPE, FRAME_HELLO, FRAME_FAILED,
				      &type);

	if (!err)
		err = pier__wire_get_uint(in, FIELD_NUMBER, 0, UINT64_MAX,
					  &ret->number);
	if (!err)
		err = pier__wire_get_bytes(in, FIELD_BYTES, 0, FRAME_DATA_MAX,
					   &ret->bytes, &ret->len);
	if (!err)
		ret->type = (enum frame_type)type;
	return err;
}

int pier__frame_decode(const void *data, size_t len, struct frame *ret)
{
	struct pier__wire_in in;
	size_t size;
	int err;

	if (len < PIER__WIRE_HEAD)
		return 0;
	err = pier__wire_size(data, len, FRAME_MAX, &size);
	if (!err && len < size)
		return 0;
	if (!err)
		err = pier__wire_expect(data, size, PIER__WIRE_FRAME, &in);
	if (!err)
		err = read_fields(&in, ret);
	if (err)
		return pier__fail(-EPROTO, "exchange: the peer does not use "
				  "the protocol of pier exchange: %s",
				  pier_last_error());
	return (int)size;
}

void pier__frame_text(const struct frame *frame, char ret[FRAME_TEXT_MAX + 1])
{
	size_t len = frame->len < FRAME_TEXT_MAX ? frame->len : FRAME_TEXT_MAX;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = frame->bytes[i];

		ret[i] = c < 0x20 || c > 0x7e ? '?' : (char)c;
	}
	ret[len] = '\0';
}
