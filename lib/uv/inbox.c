/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/exchange.h>

#include "core/fail.h"
#include "core/file.h"
#include "uv/box.h"

#define CAPACITY_MIN 4096u

bool pier__box_name_ok(const void *name, size_t len)
{
	const uint8_t *c = name;

	if (!len || len > PIER_EXCHANGE_NAME_MAX || c[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (c[i] == '/' || c[i] < 0x20 || c[i] == 0x7f)
			return false;
		if (i && c[i - 1] == 0xc2 && c[i] >= 0x80 && c[i] <= 0x9f)
			return false;	/* a control character of C1 */
	}
	return true;
}

static int take_hello(struct inbox *box, const struct frame *frame)
{
	box->hello = true;	/* even if it is rejected, it is a peer */
	if (frame->number > PIER_EXCHANGE_FILES_MAX)
		return pier__fail(-EPROTO, "exchange: the peer announces %llu "
				  "files, at most %d",
				  (unsigned long long)frame->number,
				  PIER_EXCHANGE_FILES_MAX);
	if (frame->number && !box->dir)
		return pier__fail(-EPROTO, "exchange: the peer sends %llu "
				  "files, but no directory to receive "
				  "into is given",
				  (unsigned long long)frame->number);
	box->announced = frame->number;
	return 0;
}

static void forget_file(struct inbox *box)
{
	free(box->data);
	box->data = NULL;
	box->open = false;
	box->size = box->len = box->capacity = 0;
}

/* The path of file @i; or NULL. */
static char *path_of(const struct inbox *box, uint64_t i)
{
	char *path;

	if (asprintf(&path, "%s/%s", box->dir, box->names[i]) < 0) {
		pier__fail(-ENOMEM, "exchange: no memory");
		return NULL;
	}
	return path;
}

/* It is complete: write it. */
static int store(struct inbox *box)
{
	char *path;
	int err;

	if (box->len < box->size)
		return 0;
	path = path_of(box, box->stored);
	if (!path)
		return -ENOMEM;
	err = pier__file_stage(path, box->data, box->len, 0600,
			       &box->tmp[box->stored]);
	free(path);
	if (!err)
		box->stored++;
	forget_file(box);
	return err;
}

static int commit_file(struct inbox *box, uint64_t i)
{
	char *path = path_of(box, i);
	int err;

	if (!path)
		return -ENOMEM;
	err = pier__file_commit(path, box->tmp[i]);
	free(path);
	if (err)
		return err;
	free(box->tmp[i]);
	box->tmp[i] = NULL;
	return 0;
}

int pier__inbox_commit(struct inbox *box)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < box->stored; i++)
		err = commit_file(box, i);
	return err;
}

/* Is the name plain, and not that of an earlier file? */
static int check_name(const struct inbox *box, const struct frame *frame)
{
	char text[FRAME_TEXT_MAX + 1];

	pier__frame_text(frame, text);
	if (!pier__box_name_ok(frame->bytes, frame->len))
		return pier__fail(-EPROTO, "exchange: the peer names a file "
				  "\"%s\": not a plain file name of at most "
				  "%d bytes", text, PIER_EXCHANGE_NAME_MAX);
	for (uint64_t i = 0; i < box->stored; i++) {
		if (strlen(box->names[i]) == frame->len &&
		    !memcmp(box->names[i], frame->bytes, frame->len))
			return pier__fail(-EPROTO, "exchange: the peer sends "
					  "two files of the name \"%s\"", text);
	}
	return 0;
}

static int take_file(struct inbox *box, const struct frame *frame)
{
	char *name;
	int err;

	if (box->open || box->stored == box->announced)
		return pier__fail(-EPROTO, "exchange: a file begins before the "
				  "previous one ends, or exceeds the %llu "
				  "announced files",
				  (unsigned long long)box->announced);
	err = check_name(box, frame);
	if (err)
		return err;
	if (frame->number > PIER_EXCHANGE_FILE_MAX)
		return pier__fail(-EPROTO, "exchange: the peer sends a file of "
				  "%llu bytes, at most %d",
				  (unsigned long long)frame->number,
				  PIER_EXCHANGE_FILE_MAX);
	name = strndup((const char *)frame->bytes, frame->len);
	if (!name)
		return pier__fail(-ENOMEM, "exchange: no memory");
	box->names[box->stored] = name;
	box->open = true;
	box->size = (size_t)frame->number;
	return store(box);	/* an empty one is complete already */
}

/* Memory grows with received data, not with the announced size. */
static int reserve(struct inbox *box, size_t need)
{
	size_t capacity = box->capacity ? box->capacity : CAPACITY_MIN;
	uint8_t *data;

	while (capacity < need)
		capacity *= 2;
	if (capacity == box->capacity)
		return 0;
	data = realloc(box->data, capacity);
	if (!data)
		return pier__fail(-ENOMEM, "exchange: no memory");
	box->data = data;
	box->capacity = capacity;
	return 0;
}

static int take_data(struct inbox *box, const struct frame *frame)
{
	int err;

	if (!box->open || !frame->len || frame->len > box->size - box->len)
		return pier__fail(-EPROTO, "exchange: %zu bytes of data where "
				  "%zu remain", frame->len,
				  box->open ? box->size - box->len : 0);
	err = reserve(box, box->len + frame->len);
	if (err)
		return err;
	memcpy(box->data + box->len, frame->bytes, frame->len);
	box->len += frame->len;
	return store(box);
}

static int take_done(struct inbox *box)
{
	if (box->open || box->stored != box->announced)
		return pier__fail(-EPROTO, "exchange: the peer is done after "
				  "%llu of %llu files",
				  (unsigned long long)box->stored,
				  (unsigned long long)box->announced);
	box->done = true;
	return 0;
}

int pier__inbox_take(struct inbox *box, const struct frame *frame)
{
	if (box->done || box->hello == (frame->type == FRAME_HELLO))
		return pier__fail(-EPROTO, "exchange: frame %d of the peer is "
				  "out of order", (int)frame->type);
	switch (frame->type) {
	case FRAME_HELLO:
		return take_hello(box, frame);
	case FRAME_FILE:
		return take_file(box, frame);
	case FRAME_DATA:
		return take_data(box, frame);
	default:
		return take_done(box);
	}
}

void pier__inbox_empty(struct inbox *box)
{
	forget_file(box);
	for (size_t i = 0; i < PIER_EXCHANGE_FILES_MAX; i++) {
		if (box->tmp[i])
			unlink(box->tmp[i]);
		free(box->tmp[i]);
		free(box->names[i]);
	}
}
