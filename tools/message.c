/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define WIDTH 80
#define INDENT 2	/* of the lines after the first */

/* Programs get one line, whatever its length. */

/* How many bytes of a control character @text begins with. */
static int control_len(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
		return 2;	/* of C1, which terminals obey, too */
	return *c < ' ' || *c == 127;
}

void tool_make_printable(char *text)
{
	while (*text) {
		int len = control_len(text);

		if (!len)
			text++;
		while (len-- > 0)
			*text++ = '?';
	}
}

/* The columns of @len bytes, of which those of UTF-8 may be several for one. */
static int columns(const char *text, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* A word that is longer than a line is not divided. */
static void print_lines(const char *text)
{
	int column = 0, width;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, " ");
		width = columns(text, len);
		if (column > INDENT && column + 1 + width > WIDTH)
			column = fprintf(stderr, "\n%*s", INDENT, "") - 1;
		else if (column)
			column += fprintf(stderr, " ");
		fwrite(text, 1, len, stderr);
		column += width;
		if (!text[len])
			break;
	}
}

void tool_message(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		perror("pier: a message");
		return;
	}
	tool_make_printable(text);
	if (isatty(STDERR_FILENO))
		print_lines(text);
	else
		fputs(text, stderr);
	fputc('\n', stderr);
	free(text);
}
