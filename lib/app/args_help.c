/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "app/args_impl.h"

#define HELP_COLUMN 28	/* of the text; a longer name puts it a line below */
#define WIDTH 80

static const char *value_name(const struct pier_option *option)
{
	static const char *const names[] = {
		[PIER_OPTION_FLAG] = "",
		[PIER_OPTION_INT] = "N",
		[PIER_OPTION_SIZE] = "SIZE",
		[PIER_OPTION_STRING] = "TEXT",
		[PIER_OPTION_NUMBER] = "N",
	};

	if (option->type != PIER_OPTION_FLAG && option->value_name)
		return option->value_name;
	return names[option->type];
}

/* What @slot is if it is not given, which differs between programs. */
static void print_default(const struct pier__slot *slot, FILE *to)
{
	int value = slot->scale > 1 ? *(const int *)slot->option.value : 0;

	if (value)
		fprintf(to, "; default %d", value / slot->scale);
}

static void print_option(const struct pier__slot *slot, FILE *to)
{
	const struct pier_option *option = &slot->option;
	const char *value = value_name(option);
	int column = fprintf(to, "  ");

	if (option->short_name)
		column += fprintf(to, "-%s", option->short_name);
	if (option->short_name && option->long_name)
		column += fprintf(to, ", ");
	if (option->long_name)
		column += fprintf(to, "--%s", option->long_name);
	if (*value)
		column += fprintf(to, " %s", value);
	if (column + 2 > HELP_COLUMN) {
		fprintf(to, "\n");
		column = 0;
	}
	fprintf(to, "%*s%s%s", HELP_COLUMN - column, "", option->help,
		option->required ? " (required)" : "");
	print_default(slot, to);
	fputc('\n', to);
}

static void print_options(const struct pier__parser *parser, bool common,
			  const char *title, FILE *to)
{
	const struct pier__slot *slot;
	bool titled = false;

	for (unsigned int i = 0; i < parser->count; i++) {
		slot = &parser->slots[i];
		if (slot->common != common || !slot->option.help)
			continue;
		if (!titled)
			fprintf(to, "\n%s:\n", title);
		titled = true;
		print_option(slot, to);
	}
}

/* The words of @text behind @column, in lines that begin at @indent. */
static void print_words(const char *text, int column, int indent, FILE *to)
{
	while (*(text += strspn(text, " "))) {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH)
			column = fprintf(to, "\n%*s", indent - 1, "") - 1;
		column += fprintf(to, " %.*s", len, text);
		text += len;
	}
}

void pier__args_usage(const struct pier__parser *parser, FILE *to)
{
	const char *operands = parser->args->operands;
	int indent = fprintf(to, "Usage: %s", parser->program) + 1;

	fprintf(to, " [options]");
	if (operands)
		print_words(operands, indent + 9, indent, to);
	fputc('\n', to);
}

void pier__args_help(const struct pier__parser *parser, FILE *to)
{
	pier__args_usage(parser, to);
	if (parser->args->about)
		fprintf(to, "\n%s\n", parser->args->about);
	print_options(parser, false, "Options", to);
	print_options(parser, true, "Common options", to);
}
