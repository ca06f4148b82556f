/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_APP_ARGS_IMPL_H
#define PIER_APP_ARGS_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <pier/args.h>

/*
 * Between the files of pier_args_parse(): args.c reads the command line,
 * args_json.c the file, args_value.c turns words into values, args_help.c
 * prints.  One thread.
 */
enum pier__args_from {
	PIER__ARGS_NOWHERE,	/* not given */
	PIER__ARGS_FILE,
	PIER__ARGS_LINE,	/* wins */
};

/* An option and its value, which is stored in its place at the end. */
struct pier__slot {
	struct pier_option option;
	struct pier__slot *main;	/* itself; of an alias its option */
	enum pier__args_from from;
	bool common;		/* every program's, or of a group */
	bool line_only;		/* no key in a file */
	bool level;		/* a log level's name or number */
	const char *const *words;	/* those allowed, any case; NULL: any */
	int scale;		/* the place is in another unit */
	union {
		int64_t number;
		uint64_t size;
		const char *text;
	} is;
};

struct pier__parser {
	const char *program;
	const struct pier_args *args;
	struct pier__slot *slots;	/* owned; the program's own first */
	unsigned int count;
};

/* The slot named by its long or short name, or NULL. */
struct pier__slot *pier__args_find(const struct pier__parser *parser,
				   const char *name, size_t len,
				   bool long_name);

/*
 * Set @slot from @text; of a string the address is stored.  @label is the
 * option as the user typed it, for the error message.  What the
 * command line gave stays.  A flag's @text is ignored.  Errors: -PIER_EUSAGE.
 */
int pier__args_set(struct pier__slot *slot, enum pier__args_from from,
		   const char *label, const char *text);

/* Store all given values in their places. */
void pier__args_commit(const struct pier__parser *parser);

/* Take values from the JSON object in @path.  Errors: -PIER_EUSAGE. */
int pier__args_json(struct pier__parser *parser, const char *path);

/* Memory that lives as long as the process, all zero; NULL: none left. */
void *pier__args_keep(size_t len);

void pier__args_help(const struct pier__parser *parser, FILE *to);
void pier__args_usage(const struct pier__parser *parser, FILE *to);

#endif
