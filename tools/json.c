/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void check(int bad)
{
	if (!bad)
		return;
	fputs("pier: out of memory for JSON\n", stderr);
	exit(1);
}

void tool_json_set(json_t *object, const char *key, json_t *value)
{
	check(json_object_set_new(object, key, value));
}

void tool_json_append(json_t *array, json_t *value)
{
	check(json_array_append_new(array, value));
}

/* The length of the UTF-8 character at @text, 0: there is none. */
static size_t character(const char *text)
{
	size_t max = strnlen(text, 4);

	for (size_t len = 1; len <= max; len++) {
		json_t *valid = json_stringn(text, len);

		json_decref(valid);
		if (valid)
			return len;
	}
	return 0;
}

json_t *tool_json_text(const char *text)
{
	static const char other[] = "\xef\xbf\xbd";	/* U+FFFD */
	json_t *value = json_string(text);
	size_t at = 0, len;
	char *safe;

	if (value)
		return value;
	safe = malloc(3 * strlen(text) + 1);
	check(!safe);
	while (*text) {
		len = character(text);
		memcpy(safe + at, len ? text : other, len ? len : 3);
		at += len ? len : 3;
		text += len ? len : 1;
	}
	safe[at] = '\0';
	value = json_string(safe);
	free(safe);
	return value;
}

void tool_json_set_name(json_t *object, const char *key, const char *name)
{
	size_t len = strlen(name);
	json_t *valid = json_string(name);
	char hex_key[32], *hex;

	tool_json_set(object, key, tool_json_text(name));
	json_decref(valid);
	if (valid)
		return;
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	hex = malloc(2 * len + 1);
	check(!hex);
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)name[i]);
	tool_json_set(object, hex_key, json_string(hex));
	free(hex);
}

static void print(json_t *root, size_t flags)
{
	char *text = json_dumps(root, flags | JSON_REAL_PRECISION(12));

	check(!text);
	puts(text);
	fflush(stdout);		/* a server may end by a signal */
	free(text);
	json_decref(root);
}

void tool_json_print(json_t *root)
{
	print(root, JSON_INDENT(2));
}

void tool_json_print_line(json_t *root)
{
	print(root, 0);
}
