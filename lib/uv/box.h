/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_BOX_H
#define PIER_UV_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pier/exchange.h>

#include "uv/frame.h"

/* The files to send, read beforehand, and how much of them was sent. */
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
	bool hello, named, done;	/* frames sent; named: of this file */
};

/* Is it a plain file name, without a path? */
bool pier__box_name_ok(const void *name, size_t len);

/* Errors: of reading; -EINVAL, a name is not plain or not unique; -EFBIG. */
int pier__outbox_fill(struct outbox *box, const char *const *paths,
		      size_t count);
void pier__outbox_empty(struct outbox *box);

/* The next frame to send.  Returns false: all were sent. */
bool pier__outbox_next(struct outbox *box, struct frame *ret);

/*
 * Received files: one at a time, into memory, then written to a file of another
 * name.  All get their names when the exchange has succeeded.
 */
struct inbox {
	const char *dir;	/* NULL: no file is accepted */
	bool hello, done;	/* frames received */
	uint64_t announced, stored;
	char *names[PIER_EXCHANGE_FILES_MAX];	/* in order; unique */
	char *tmp[PIER_EXCHANGE_FILES_MAX];	/* paths, before; or NULL */
	bool open;		/* file names[stored] is incomplete */
	uint8_t *data;		/* of it */
	size_t size, len, capacity;
};

/* Process a frame.  Errors: -EPROTO, it is invalid; of writing. */
int pier__inbox_take(struct inbox *box, const struct frame *frame);
/* Replace the files of these names by those received.  Errors: of renaming. */
int pier__inbox_commit(struct inbox *box);

/* Those that have not got their names are removed. */
void pier__inbox_empty(struct inbox *box);

#endif
