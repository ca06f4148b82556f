/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

/* What --csv has printed, as what --json would have. */

#define FIELDS_MAX 64
#define ROWS_MAX 4096

/* Columns that become a member of the whole, or a number of each result. */
static const struct column {
	const char *name, *key;
	bool is_text;
} columns[] = {
	{ "measure", "measure", true },
	{ "operation", "operation", true },
	{ "device", "device", true },
	{ "bytes", "size", false },
	{ "median_us", "median", false },
	{ "p99_us", "p99", false },
	{ "gb_per_s", "gb_per_s", false },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Split @line at its commas.  Returns how many fields there are. */
static int split(char *line, char *ret[FIELDS_MAX])
{
	int count = 0;
	char *field;

	line[strcspn(line, "\r\n")] = '\0';
	while (count < FIELDS_MAX && (field = strsep(&line, ",")))
		ret[count++] = field;
	return count;
}

/* Which field each column is; false: the names lack one. */
static bool find_columns(char *line, int ret[COLUMNS])
{
	char *names[FIELDS_MAX];
	int count = split(line, names);

	for (size_t i = 0; i < COLUMNS; i++) {
		ret[i] = -1;
		for (int j = 0; j < count; j++)
			if (!strcmp(names[j], columns[i].name))
				ret[i] = j;
		if (ret[i] < 0)
			return false;
	}
	return true;
}

/* false: it is not of the same measurement as the rows before. */
static bool take_text(json_t *root, const char *key, const char *text)
{
	const char *before = json_string_value(json_object_get(root, key));

	if (before)
		return !strcmp(before, text);
	tool_json_set(root, key, tool_json_text(text));
	return true;
}

static bool take_row(json_t *root, char *line, const int places[COLUMNS])
{
	json_t *result = json_object();
	char *fields[FIELDS_MAX], *end;
	int count = split(line, fields);
	bool good = true;

	for (size_t i = 0; i < COLUMNS && good; i++) {
		const char *text = places[i] < count ? fields[places[i]] : "";
		double value = strtod(text, &end);

		if (columns[i].is_text)
			good = take_text(root, columns[i].key, text);
		else if (*end)
			good = false;
		else if (*text)
			tool_json_set(result, columns[i].key,
				      json_real(value));
	}
	tool_json_append(json_object_get(root, "results"), result);
	return good;
}

bool perf_csv_is(FILE *file)
{
	static const char begin[] = "measure";
	char read[sizeof(begin)] = "";
	bool is = fgets(read, sizeof(read), file) && !strcmp(read, begin);

	rewind(file);
	return is;
}

json_t *perf_csv_load(FILE *file, int *ret_line)
{
	json_t *root = json_object();
	int places[COLUMNS];
	char line[1024];
	bool good;

	tool_json_set(root, "results", json_array());
	*ret_line = 1;
	good = fgets(line, sizeof(line), file) && find_columns(line, places);
	while (good && fgets(line, sizeof(line), file)) {
		++*ret_line;
		good = *ret_line <= ROWS_MAX && take_row(root, line, places);
	}
	if (good)
		return root;
	json_decref(root);
	return NULL;
}
