/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/crc.h"
#include "core/file.h"
#include "core/wire.h"
#include "t/fuzz/fuzz.h"
#include "uv/box.h"
#include "uv/frame.h"

/*
 * What an exchange reads from its peer.  Input: frames, each two bytes of
 * length and its bytes; the head is made right.  They go through the inbox.
 */
#define DIR "dir"

/* In the place of the library's: the disk is not what is looked at here. */
int pier__file_stage(const char *path, const void *data, size_t len,
		     mode_t mode, char **ret)
{
	MUST(!strncmp(path, DIR "/", 4) && !strchr(path + 4, '/'));
	MUST(path[4] && path[4] != '.' && mode == 0600);
	MUST(!len || data);
	*ret = strdup("/dev/null/none");
	MUST(*ret);
	return 0;
}

int pier__file_commit(const char *path, const char *tmp)
{
	MUST(!strncmp(path, DIR "/", 4) && tmp);
	return 0;
}

static void put32(uint8_t *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* @len bytes of body behind a head: an envelope. */
static void seal(uint8_t *bytes, size_t len)
{
	uint32_t crc;

	memcpy(bytes, "pier\0\1\0\3", 8);
	put32(bytes + 8, (uint32_t)len);
	crc = pier__crc32(0, bytes, 12);
	crc = pier__crc32(crc, bytes + PIER__WIRE_HEAD, len);
	put32(bytes + 12, crc);
}

static void check(const struct inbox *box)
{
	MUST(box->stored <= box->announced);
	MUST(box->announced <= PIER_EXCHANGE_FILES_MAX);
	MUST(box->len <= box->size && box->len <= box->capacity + !box->len);
	MUST(box->size <= PIER_EXCHANGE_FILE_MAX);
	/* Memory is paid for by bytes that came. */
	MUST(box->capacity <= 4096 + 2 * box->len);
}

static bool take(struct inbox *box, const uint8_t *bytes, size_t len)
{
	char text[FRAME_TEXT_MAX + 1];
	struct frame frame;
	int used = pier__frame_decode(bytes, len, &frame), err;

	if (used <= 0)
		return false;
	MUST((size_t)used <= len);
	MUST(frame.len <= FRAME_DATA_MAX);
	MUST(frame.bytes >= bytes && frame.bytes + frame.len <= bytes + len);
	pier__frame_text(&frame, text);
	MUST(strlen(text) <= FRAME_TEXT_MAX);
	err = pier__inbox_take(box, &frame);
	check(box);
	return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct inbox box = { .dir = size % 8 ? DIR : NULL };
	bool good = true;
	uint8_t *bytes;
	size_t len;

	while (good && in.left > 2) {
		len = fuzz_take(&in, 2);
		if (len > in.left)
			len = in.left;
		bytes = malloc(PIER__WIRE_HEAD + len);
		if (!bytes)
			break;
		memcpy(bytes + PIER__WIRE_HEAD, in.data, len);
		in.data += len;
		in.left -= len;
		seal(bytes, len);
		good = take(&box, bytes, PIER__WIRE_HEAD + len);
		free(bytes);
	}
	pier__inbox_empty(&box);
	return 0;
}
