/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* The findings of pier doctor. */

#define INDENT 26	/* of their texts */

static const struct {
	const char *name;
	const char *plural;
	enum tool_style style;
} grades[DOCTOR_GRADES] = {
	[DOCTOR_OK] = { "ok", "ok", TOOL_GOOD },
	[DOCTOR_WARNING] = { "warning", "warnings", TOOL_TITLE },
	[DOCTOR_ERROR] = { "error", "errors", TOOL_BAD },
};

/* Out of memory is an empty text. */
static json_t *formatted(const char *fmt, va_list ap)
{
	json_t *value;
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return json_string("");
	value = tool_json_text(text);
	free(text);
	return value;
}

json_t *doctor_add(struct doctor *d, const char *check, enum doctor_grade grade,
		   const char *fmt, ...)
{
	json_t *finding = json_object();
	va_list ap;

	tool_json_set(finding, "check", json_string(check));
	tool_json_set(finding, "grade", json_string(grades[grade].name));
	va_start(ap, fmt);
	tool_json_set(finding, "text", formatted(fmt, ap));
	va_end(ap);
	tool_json_set(finding, "remedy", json_string(""));
	tool_json_append(d->findings, finding);
	d->counts[grade]++;
	return finding;
}

void doctor_remedy(json_t *finding, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tool_json_set(finding, "remedy", formatted(fmt, ap));
	va_end(ap);
}

static const char *text_of(json_t *finding, const char *key)
{
	return json_string_value(json_object_get(finding, key));
}

static enum tool_style style_of(const char *grade)
{
	for (int i = 0; i < DOCTOR_GRADES; i++)
		if (!strcmp(grade, grades[i].name))
			return grades[i].style;
	return TOOL_PLAIN;
}

/* Words in lines from INDENT, where the cursor is. */
static void print_words(const char *text)
{
	char *copy = strdup(text), *word, *place = NULL;
	int column = INDENT;

	if (!copy)
		return;
	tool_make_printable(copy);
	for (word = strtok_r(copy, " ", &place); word;
	     word = strtok_r(NULL, " ", &place))
		column = tool_word(stdout, word, " ", column, INDENT);
	putchar('\n');
	free(copy);
}

static void print_finding(json_t *finding)
{
	const char *grade = text_of(finding, "grade");
	const char *remedy = text_of(finding, "remedy");

	printf("%s%-8s%s %-16s ", tool_style(style_of(grade)), grade,
	       tool_style(TOOL_PLAIN), text_of(finding, "check"));
	print_words(text_of(finding, "text"));
	if (!*remedy)
		return;
	printf("%*s", INDENT, "remedy: ");
	print_words(remedy);
}

static void print_counts(const struct doctor *d)
{
	for (int i = 0; i < DOCTOR_GRADES; i++)
		printf("%s%u %s", i ? ", " : "", d->counts[i],
		       d->counts[i] == 1 ? grades[i].name : grades[i].plural);
	putchar('\n');
}

void doctor_print_text(const struct doctor *d)
{
	json_t *finding;
	size_t i;

	json_array_foreach(d->findings, i, finding)
		print_finding(finding);
	print_counts(d);
}

void doctor_print_json(struct doctor *d)
{
	json_t *root = json_object();

	tool_json_set(root, "version", json_string(pier_version()));
	for (int i = 0; i < DOCTOR_GRADES; i++)
		tool_json_set(root, grades[i].plural,
			      json_integer(d->counts[i]));
	tool_json_set(root, "findings", d->findings);
	tool_json_print(root);
	d->findings = NULL;
}
