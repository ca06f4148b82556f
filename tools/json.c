/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

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

void tool_json_print(json_t *root)
{
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

	check(!text);
	puts(text);
	free(text);
	json_decref(root);
}
