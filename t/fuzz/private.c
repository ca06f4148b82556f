/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cm/rdmacm/private_data.h"
#include "t/fuzz/fuzz.h"

/*
 * What pier reads from the private data of a peer's messages.  Input: a byte;
 * the field.  The byte selects whether its head is made right.
 */
#define FIELD_MAX 256

static void check_frame(const uint8_t *field, size_t size)
{
	uint8_t again[FIELD_MAX], whole[PIER__CM_FRAME_DATA_MAX] = { 0 };
	struct pier__cm_frame frame, same;
	int len;

	if (pier__cm_frame_decode(field, size, &frame))
		return;
	MUST(frame.nonce && frame.len <= PIER__CM_FRAME_DATA_MAX);
	MUST(frame.data_len <= frame.len);
	MUST(frame.blob || frame.data_len == frame.len);
	MUST(frame.data >= field &&
	     frame.data + frame.data_len <= field + size);
	MUST(frame.message && !(frame.message & (frame.message - 1)));
	/* What was decoded is encoded to the same bytes. */
	memcpy(whole, frame.data, frame.data_len);
	same = frame;
	same.data = whole;
	len = pier__cm_frame_encode(&same, again, size);
	MUST(len > 0 && (size_t)len <= size);
	MUST(!pier__cm_frame_decode(again, size, &same));
	MUST(same.nonce == frame.nonce && same.len == frame.len);
	MUST(same.ctl_addr == frame.ctl_addr &&
	     same.message == frame.message && same.access == frame.access);
}

static void check_refused(const uint8_t *field, size_t size)
{
	struct pier__cm_reject refused;

	if (pier__cm_reject_decode(field, size, &refused))
		return;
	MUST(refused.data >= field &&
	     refused.data + refused.len <= field + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *field;

	if (!size || size > FIELD_MAX)
		return 0;
	size--;
	field = malloc(size + !size);	/* a byte too far is noticed */
	if (!field)
		return 0;
	memcpy(field, data + 1, size);
	if (data[0] & 1 && size >= 5)
		memcpy(field, "pier\1", 5);
	check_frame(field, size);
	check_refused(field, size);
	free(field);
	return 0;
}
