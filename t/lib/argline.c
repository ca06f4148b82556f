/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/argline.h"

#define WORDS_MAX 16

char printed[8192];
char complained[8192];
struct argline_own own;

const struct pier_option options[] = {
	{ "f", "flag", NULL, "a flag", PIER_OPTION_FLAG, .value = &own.flag },
	{ "n", "number", "COUNT", "a number", PIER_OPTION_INT,
	  .min = -10, .max = 10, .value = &own.number },
	{ "s", "size", NULL, "a size", PIER_OPTION_SIZE,
	  .min = 16, .max = 1 << 30, .value = &own.size },
	{ "t", NULL, NULL, "any text", PIER_OPTION_STRING,
	  .value = &own.text },
	{ NULL, "a-name-too-long-for-the-column", NULL, "a short text",
	  PIER_OPTION_STRING, .min = 2, .max = 4, .value = &own.name },
	{ NULL, NULL, NULL, NULL, PIER_OPTION_FLAG, .value = NULL },
};

const struct pier_option required[] = {
	{ "n", "number", "COUNT", "a number", PIER_OPTION_INT, .required = 1,
	  .value = &own.number },
	{ NULL, "count", NULL, NULL, PIER_OPTION_INT, .value = &own.number },
	{ NULL, NULL, NULL, NULL, PIER_OPTION_FLAG, .value = NULL },
};

/* Take what came into the temporary file @fd. */
static void take(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Have @stream's descriptor be a new temporary file.  Returns the old one. */
static int divert(FILE *stream, int *ret)
{
	char path[] = "/tmp/pier-args.XXXXXX";
	int old = dup(fileno(stream));

	fflush(stream);
	*ret = mkstemp(path);
	unlink(path);
	dup2(*ret, fileno(stream));
	return old;
}

static void restore(FILE *stream, int old)
{
	fflush(stream);
	dup2(old, fileno(stream));
	close(old);
}

int parse(struct pier_args *args, const char *line)
{
	static char copies[8][512];	/* args point into them */
	static unsigned int copy;
	char *words[WORDS_MAX + 1], *at, *word;
	int argc = 0, out, err_out, old_out, old_err, err;

	at = copies[copy++ % 8];
	snprintf(at, sizeof(copies[0]), "%s", line);
	while ((word = strsep(&at, " ")) && argc < WORDS_MAX)
		words[argc++] = word;
	words[argc] = NULL;
	memset(&own, 0, sizeof(own));
	old_out = divert(stdout, &out);
	old_err = divert(stderr, &err_out);
	err = pier_args_parse(args, argc, words);
	restore(stderr, old_err);
	restore(stdout, old_out);
	take(out, printed, sizeof(printed));
	take(err_out, complained, sizeof(complained));
	return err;
}

int parse_own(const char *line)
{
	struct pier_args args = { .size = sizeof(args), .options = options };

	return parse(&args, line);
}

void ignore(enum pier_log_level level, const char *area, const char *message,
	    void *arg)
{
	(void)level;
	(void)area;
	(void)message;
	(void)arg;
}
