/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define WIDTH 80	/* columns of all output */

const char *tool_size(uint64_t bytes, char ret[TOOL_SIZE_TEXT])
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes / 1024;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(ret, TOOL_SIZE_TEXT, "%" PRIu64 " bytes", bytes);
		return ret;
	}
	for (; value >= 1024; unit++)
		value /= 1024;
	/* one decimal, unless it is a whole number */
	snprintf(ret, TOOL_SIZE_TEXT, "%.*f %ciB",
		 value > (double)(uint64_t)value, value, units[unit]);
	return ret;
}

const char *tool_bytes(uint64_t bytes, char ret[TOOL_SIZE_TEXT])
{
	char words[TOOL_SIZE_TEXT];

	if (bytes < 1024)
		return tool_size(bytes, ret);
	snprintf(ret, TOOL_SIZE_TEXT, "%" PRIu64 " bytes (%s)", bytes,
		 tool_size(bytes, words));
	return ret;
}

static int use_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") &&
	       isatty(STDOUT_FILENO);
}

const char *tool_style(enum tool_style style)
{
	static const char *const codes[] = {
		[TOOL_PLAIN] = "\033[0m",
		[TOOL_TITLE] = "\033[1m",
		[TOOL_GOOD] = "\033[32m",
		[TOOL_BAD] = "\033[31m",
	};
	static int coloured = -1;

	if (coloured < 0)
		coloured = use_colours();
	return coloured ? codes[style] : "";
}

int tool_word(FILE *to, const char *word, const char *separator, int column,
	      int indent)
{
	int len = (int)strlen(word);

	if (column <= indent)		/* the first of a line */
		return column + fprintf(to, "%s", word);
	/* what follows the word takes one more column */
	if (column + (int)strlen(separator) + len + 1 <= WIDTH)
		return column + fprintf(to, "%s%s", separator, word);
	fprintf(to, "%.*s\n%*s", (int)strcspn(separator, " "), separator,
		indent, "");
	return indent + fprintf(to, "%s", word);
}
