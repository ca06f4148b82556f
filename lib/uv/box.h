/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_BOX_H
#define PIER_UV_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/exchange.h>

#include "uv/frame.h"

/* The files to send, read beforehand, and how far they are sent. */
struct outfile {
	const char *name;	/* base name; inside the caller's path */
	uint8_t *data;
	size_t size;
};

struct outbox {
	struct outfile *files;
	size_t count;
	size_t at;		/* file */
	size_t sent;		/* bytes of it */
	bool hello, named, done;	/* said; named: this file */
};

/* A plain name of one file: nothing that a path could be made of. */
bool pier__box_name_ok(const void *name, size_t len);

/* Errors: reading; -EINVAL, a name twice, or one not plain; -EFBIG. */
int pier__outbox_fill(struct outbox *box, const char *const *paths,
		      size_t count);
void pier__outbox_empty(struct outbox *box);

/* The next frame to say.  Returns false: all was said. */
bool pier__outbox_next(struct outbox *box, struct frame *ret);

/* Files that come in: one at a time, into memory, then whole into place. */
struct inbox {
	const char *dir;	/* NULL: no file is wanted */
	bool hello, done;	/* heard */
	uint64_t announced, stored;
	char *names[PIER_EXCHANGE_FILES_MAX];	/* as they came; no two alike */
	bool open;		/* the file names[stored] comes in */
	uint8_t *data;		/* of it */
	size_t size, len, capacity;
};

/* Take in a frame.  Errors: -EPROTO, with what is wrong; of writing. */
int pier__inbox_take(struct inbox *box, const struct frame *frame);
void pier__inbox_empty(struct inbox *box);

#endif
