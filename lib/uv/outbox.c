/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/exchange.h>

#include "core/fail.h"
#include "core/file.h"
#include "uv/box.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int check_name(const struct outbox *box, size_t i, const char *path)
{
	const char *name = base_name(path);

	if (!pier__box_name_ok(name, strlen(name)))
		return pier__fail(-EINVAL, "exchange: \"%s\" has no name that "
				  "a peer accepts: at most %d bytes, no dot in "
				  "front, no control characters", path,
				  PIER_EXCHANGE_NAME_MAX);
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(box->files[j].name, name))
			return pier__fail(-EINVAL, "exchange: two files of the "
					  "name \"%s\"", name);
	}
	return 0;
}

static int read_file(struct outfile *file, const char *path)
{
	uint8_t *data = malloc(PIER_EXCHANGE_FILE_MAX);
	uint8_t *fit;
	int len;

	if (!data)
		return pier__fail(-ENOMEM, "exchange: no memory");
	len = pier__file_read(path, data, PIER_EXCHANGE_FILE_MAX);
	if (len < 0) {
		free(data);
		return len;
	}
	fit = realloc(data, len ? (size_t)len : 1);
	file->name = base_name(path);
	file->data = fit ? fit : data;
	file->size = (size_t)len;
	return 0;
}

int pier__outbox_fill(struct outbox *box, const char *const *paths,
		      size_t count)
{
	int err = 0;

	if (count && !paths)
		return pier__fail(-EINVAL, "exchange: %zu files, but no paths",
				  count);
	if (count > PIER_EXCHANGE_FILES_MAX)
		return pier__fail(-EINVAL, "exchange: %zu files, at most %d",
				  count, PIER_EXCHANGE_FILES_MAX);
	box->files = calloc(count + 1, sizeof(*box->files));
	if (!box->files)
		return pier__fail(-ENOMEM, "exchange: no memory");
	for (size_t i = 0; !err && i < count; i++) {
		err = check_name(box, i, paths[i]);
		if (!err)
			err = read_file(&box->files[i], paths[i]);
		if (!err)
			box->count++;
	}
	return err;
}

void pier__outbox_empty(struct outbox *box)
{
	for (size_t i = 0; i < box->count; i++)
		free(box->files[i].data);
	free(box->files);
	*box = (struct outbox){ 0 };
}

/* The next frame of the current file. */
static void next_of_file(struct outbox *box, struct frame *ret)
{
	const struct outfile *file = &box->files[box->at];
	size_t left = file->size - box->sent;

	if (!box->named) {
		box->named = true;
		ret->type = FRAME_FILE;
		ret->number = file->size;
		ret->bytes = (const uint8_t *)file->name;
		ret->len = strlen(file->name);
	} else {
		ret->type = FRAME_DATA;
		ret->bytes = file->data + box->sent;
		ret->len = left < FRAME_DATA_MAX ? left : FRAME_DATA_MAX;
		box->sent += ret->len;
	}
	if (box->sent == file->size) {
		box->at++;
		box->sent = 0;
		box->named = false;
	}
}

bool pier__outbox_next(struct outbox *box, struct frame *ret)
{
	*ret = (struct frame){ 0 };
	if (!box->hello) {
		box->hello = true;
		ret->type = FRAME_HELLO;
		ret->number = box->count;
	} else if (box->at < box->count) {
		next_of_file(box, ret);
	} else if (!box->done) {
		box->done = true;
		ret->type = FRAME_DONE;
	} else {
		return false;
	}
	return true;
}
