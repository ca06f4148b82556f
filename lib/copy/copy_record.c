/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "copy/copy_bytes.h"
#include "copy/copy_msg.h"
#include "copy/copy_record.h"
#include "core/fail.h"

#define ENTRY_HEAD 40		/* an entry without its path */
#define ERROR_HEAD 8		/* an error without path and text */
#define NS 1000000000u
#define MODE_MAX 01777u	/* a peer does not set user or group IDs */

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* Write the head of a record of @len bytes, and the zeros behind it. */
static void end_record(struct pier__copy_span *span,
		       enum pier__copy_record_kind kind, size_t len)
{
	uint8_t *at = span->at;

	pier__put32(&at, kind);
	pier__put32(&at, (uint32_t)len);
	memset(at + len, 0, padded(len) - len);
	span->at = at + padded(len);
}

size_t pier__record_capacity(const struct pier__copy_span *span)
{
	size_t left = (size_t)(span->end - span->at);

	return left > PIER__RECORD_HEAD ?
		       (left - PIER__RECORD_HEAD) & ~(size_t)7 : 0;
}

void pier__record_entry(struct pier__copy_span *span,
			enum pier__copy_record_kind kind,
			const struct pier__copy_entry *entry)
{
	uint8_t *at = span->at + PIER__RECORD_HEAD;
	size_t len = strlen(entry->path);

	pier__put64(&at, entry->number);
	pier__put64(&at, entry->size);
	pier__put64(&at, (uint64_t)entry->mtime);
	pier__put32(&at, entry->mtime_ns);
	pier__put32(&at, entry->mode);
	pier__put32(&at, entry->name_len);
	pier__put32(&at, 0);
	memcpy(at, entry->path, len);
	end_record(span, kind, ENTRY_HEAD + len);
}

void pier__record_number(struct pier__copy_span *span,
			 enum pier__copy_record_kind kind, uint64_t number)
{
	uint8_t *at = span->at + PIER__RECORD_HEAD;

	pier__put64(&at, number);
	end_record(span, kind, sizeof(number));
}

void pier__record_end(struct pier__copy_span *span,
		      const struct pier__copy_digest *digest)
{
	memcpy(span->at + PIER__RECORD_HEAD, digest, sizeof(*digest));
	end_record(span, PIER__RECORD_END, sizeof(*digest));
}

void pier__record_error(struct pier__copy_span *span,
			enum pier__copy_record_kind kind,
			const struct pier__copy_error *error)
{
	uint8_t *at = span->at + PIER__RECORD_HEAD;
	size_t path_len = strlen(error->path), text_len = strlen(error->text);

	pier__put32(&at, (uint32_t)error->error);
	pier__put32(&at, (uint32_t)path_len);
	memcpy(at, error->path, path_len);
	memcpy(at + path_len, error->text, text_len);
	end_record(span, kind, ERROR_HEAD + path_len + text_len);
}

void pier__record_finish(struct pier__copy_span *span)
{
	end_record(span, PIER__RECORD_FINISH, 0);
}

uint8_t *pier__record_data_at(const struct pier__copy_span *span)
{
	return span->at + PIER__RECORD_HEAD;
}

void pier__record_data(struct pier__copy_span *span, size_t len)
{
	end_record(span, PIER__RECORD_DATA, len);
}

static int malformed(const char *what)
{
	return pier__fail(-EPROTO, "copy: the peer has sent a malformed %s",
			  what);
}

int pier__record_next(struct pier__copy_span *span,
		      enum pier__copy_record_kind *ret,
		      const uint8_t **ret_body, size_t *ret_len)
{
	size_t left = (size_t)(span->end - span->at);
	const uint8_t *at = span->at;
	uint32_t kind, len;

	if (left < PIER__RECORD_HEAD)
		return malformed("record");
	kind = pier__get32(&at);
	len = pier__get32(&at);
	left -= PIER__RECORD_HEAD;
	if (!kind || kind > PIER__RECORD_FINISH || len > left ||
	    padded(len) > left)
		return malformed("record");
	span->at += PIER__RECORD_HEAD + padded(len);
	*ret = kind;
	*ret_body = at;
	*ret_len = len;
	return 0;
}

/* A path below some directory: no part of it is empty, "." or "..". */
static bool is_path(const char *path, size_t len)
{
	size_t part;

	if (strlen(path) != len)	/* it has a NUL */
		return false;
	while (*path) {
		part = strcspn(path, "/");
		if (!part || (part == 1 && path[0] == '.') ||
		    (part == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += part;
		if (*path && !*++path)
			return false;	/* "/" is the last byte */
	}
	return true;
}

int pier__record_get_entry(const uint8_t *body, size_t len,
			   struct pier__copy_entry *ret)
{
	const uint8_t *at = body;
	size_t path_len = len - ENTRY_HEAD;

	if (len < ENTRY_HEAD || path_len > PIER__RECORD_PATH)
		return malformed("entry");
	ret->number = pier__get64(&at);
	ret->size = pier__get64(&at);
	ret->mtime = (int64_t)pier__get64(&at);
	ret->mtime_ns = pier__get32(&at);
	ret->mode = pier__get32(&at);
	ret->name_len = pier__get32(&at);
	pier__get32(&at);
	memcpy(ret->path, at, path_len);
	ret->path[path_len] = '\0';
	if (ret->size > INT64_MAX || ret->mtime_ns >= NS ||
	    ret->mode > MODE_MAX || ret->name_len > path_len ||
	    (ret->name_len && memchr(ret->path, '/', ret->name_len)) ||
	    (ret->name_len && ret->path[ret->name_len] &&
	     ret->path[ret->name_len] != '/') ||
	    !is_path(ret->path, path_len))
		return malformed("entry");
	return 0;
}

int pier__record_get_number(const uint8_t *body, size_t len, uint64_t *ret)
{
	if (len != sizeof(*ret))
		return malformed("number");
	*ret = pier__get64(&body);
	return 0;
}

int pier__record_get_end(const uint8_t *body, size_t len,
			 struct pier__copy_digest *ret)
{
	if (len != sizeof(*ret))
		return malformed("digest");
	memcpy(ret, body, sizeof(*ret));
	return 0;
}

int pier__record_get_error(const uint8_t *body, size_t len,
			   struct pier__copy_error *ret)
{
	const uint8_t *at = body;
	size_t path_len, text_len;

	if (len < ERROR_HEAD)
		return malformed("error");
	ret->error = pier__copy_msg_error(pier__get32(&at));
	path_len = pier__get32(&at);
	if (path_len > PIER__RECORD_PATH || path_len > len - ERROR_HEAD)
		return malformed("error");
	text_len = len - ERROR_HEAD - path_len;
	if (text_len > PIER__RECORD_TEXT)
		return malformed("error");
	memcpy(ret->path, at, path_len);
	ret->path[path_len] = '\0';
	memcpy(ret->text, at + path_len, text_len);
	ret->text[text_len] = '\0';
	return 0;
}
