/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "copy.h"
#include "tool.h"

#define ERRORS_MAX 1000		/* with --json, that are listed */
#define TEXT_COLUMNS 32		/* of a name, beside what else is on the line */

double copy_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Does a character begin with this byte of UTF-8? */
static bool is_first(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static int columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += is_first(*text);
	return n;
}

/* At most TEXT_COLUMNS of @name, so that the line is not wrapped. */
static void print_text(const char *name)
{
	bool whole = columns(name) <= TEXT_COLUMNS;
	int left = whole ? TEXT_COLUMNS : TEXT_COLUMNS - 3;
	char shown[NAME_MAX + 1], *text = shown;

	snprintf(shown, sizeof(shown), "%s", name);
	tool_make_printable(shown);
	for (; *text && (left || !is_first(*text)); text++) {
		left -= is_first(*text);
		fputc(*text, stderr);
	}
	if (!whole)
		fputs("...", stderr);
}

/* Remove the line of progress. */
static void erase(struct copy_tool *t)
{
	if (t->shown)
		fputs("\r\033[K", stderr);
	t->shown = 0;
}

void copy_failed(const char *path, int error, const char *text, void *arg)
{
	struct copy_tool *t = arg;
	json_t *entry;

	erase(t);
	tool_message("pier copy: %s%s%s", path, *path ? ": " : "a client: ",
		     text);
	if (!t->json)
		return;
	if (!t->errors)
		t->errors = json_array();
	if (json_array_size(t->errors) == ERRORS_MAX) {
		t->unlisted++;
		return;
	}
	entry = json_object();
	tool_json_set_name(entry, "path", path);
	tool_json_set(entry, "error", json_string(pier_error_name(error)));
	tool_json_set(entry, "text", tool_json_text(text));
	tool_json_append(t->errors, entry);
}

void copy_progress(const char *path, uint64_t size, uint64_t bytes, void *arg)
{
	struct copy_tool *t = arg;
	double now = copy_now(), rate = 0;
	const char *name = strrchr(path, '/');

	if (t->shown_at > 0 && now > t->shown_at)
		rate = (double)(bytes - t->shown_bytes) / (now - t->shown_at);
	t->shown_at = now;
	t->shown_bytes = bytes;
	erase(t);
	fprintf(stderr, "%8.1f MB  %7.1f MB/s  ", (double)bytes / 1e6,
		rate / 1e6);
	print_text(name ? name + 1 : path);
	fprintf(stderr, " (%.1f MB)", (double)size / 1e6);
	t->shown = 1;
	fflush(stderr);
}

const char *copy_error_text(void)
{
	static const char area[] = "copy: ";
	const char *text = pier_last_error();

	return strncmp(text, area, strlen(area)) ? text : text + strlen(area);
}

/* What a copy, or all of a server, have done; the caller prints it. */
static json_t *result_of(struct copy_tool *t, int err)
{
	struct pier_copy_result result;
	json_t *root = json_object();
	double seconds = copy_now() - t->begun;

	pier_copy_get_result(t->copy, &result);
	tool_json_set(root, "files", json_integer((json_int_t)result.files));
	tool_json_set(root, "failed", json_integer((json_int_t)result.failed));
	tool_json_set(root, "bytes", json_integer((json_int_t)result.bytes));
	if (t->listening)
		tool_json_set(root, "broken",
			      json_integer((json_int_t)result.broken));
	tool_json_set(root, "seconds", json_real(seconds));
	tool_json_set(root, "error", err ? tool_json_text(pier_last_error()) :
					   json_null());
	return root;
}

void copy_print_json(struct copy_tool *t, int err)
{
	json_t *root = result_of(t, err);

	tool_json_set(root, "errors", t->errors ? t->errors : json_array());
	tool_json_set(root, "unlisted", json_integer(t->unlisted));
	t->errors = NULL;
	tool_json_print(root);
}

void copy_print_waiting(struct copy_tool *t)
{
	if (t->quiet || t->json)
		return;
	fprintf(stderr, "pier copy: waiting %d s for ",
		(t->args.timeout_ms + 999) / 1000);
	print_text(t->host);
	fputs("; Ctrl-C ends it", stderr);
	t->shown = isatty(STDERR_FILENO);	/* until something else is */
	if (!t->shown)
		fputc('\n', stderr);
	fflush(stderr);
}

void copy_report(struct copy_tool *t, int err)
{
	struct pier_copy_result result;

	pier_copy_get_result(t->copy, &result);
	erase(t);
	if (t->json)
		copy_print_json(t, err);
	if (err && !result.failed)	/* no file's error, which was shown */
		tool_message("pier copy: %s", copy_error_text());
}
