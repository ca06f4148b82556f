/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doca_argp_impl.h"
#include "doca_fail.h"

static struct doca_argp *const argp = &pier__doca_argp;

static const char *name_of(const struct doca_argp_param *param)
{
	return param->long_name ? param->long_name : param->short_name;
}

/* Decimal, also behind zeros; or hexadecimal, behind 0x. */
static doca_error_t parse_int(const struct doca_argp_param *param,
			      const char *text, int *ret)
{
	int base = strncasecmp(text, "0x", 2) ? 10 : 16;
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, base);
	if (errno || end == text || *end || value < INT_MIN || value > INT_MAX)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: \"%s\" is not a number, %d to "
					    "%d", name_of(param), text,
					    INT_MIN, INT_MAX);
	*ret = (int)value;
	return DOCA_SUCCESS;
}

static doca_error_t pass_int(struct doca_argp_param *param, const char *text)
{
	int value;
	doca_error_t error = parse_int(param, text, &value);

	return error ? error : param->callback(&value, argp->config);
}

static doca_error_t pass_string(struct doca_argp_param *param,
				const char *text)
{
	char *copy = strdup(text);
	doca_error_t error;

	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	error = param->callback(copy, argp->config);
	free(copy);
	return error;
}

doca_error_t pier__doca_argp_value(struct doca_argp_param *param,
				   const char *text)
{
	bool flag = true;

	if (param->seen++ && !param->multiplicity)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: given twice", name_of(param));
	if (param->type == DOCA_ARGP_TYPE_BOOLEAN)
		return param->callback(&flag, argp->config);
	if (param->type == DOCA_ARGP_TYPE_INT)
		return pass_int(param, text);
	return pass_string(param, text);
}

/* The parameter of @word, "-x", "--name" or "--name=value". */
static struct doca_argp_param *find(const char *word, const char **value)
{
	const char *equals;

	*value = NULL;
	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] != '-')
		return pier__doca_argp_short(word + 1);
	word += 2;
	equals = strchr(word, '=');
	if (!equals)
		return pier__doca_argp_long(word, strlen(word));
	*value = equals + 1;
	return pier__doca_argp_long(word, (size_t)(equals - word));
}

/* One parameter at argv[*at], which moves on. */
static doca_error_t parse_one(int argc, char **argv, int *at)
{
	const char *word = argv[(*at)++], *value;
	struct doca_argp_param *param = find(word, &value);
	bool flag;

	if (!param)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: no such flag", word);
	flag = param->type == DOCA_ARGP_TYPE_BOOLEAN;
	if (flag && value)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: has no value", word);
	if (!flag && !value && *at == argc)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: lacks its value", word);
	if (!flag && !value)
		value = argv[(*at)++];
	return pier__doca_argp_value(param, value);
}

/* The command line goes before the file. */
static doca_error_t parse(int argc, char **argv, int at)
{
	doca_error_t error = DOCA_SUCCESS;

	while (at < argc && !error)
		error = parse_one(argc, argv, &at);
	if (!error && argp->file)
		error = pier__doca_argp_json(argp->file);
	return error;
}

/* One that goes with no other, if it was given; so many others were. */
static const struct doca_argp_param *find_alone(unsigned int *others)
{
	const struct doca_argp_param *alone = NULL;

	*others = 0;
	for (struct doca_argp_param *p = argp->params; p; p = p->next) {
		if (p->singular && p->seen && !alone)
			alone = p;
		else if (!p->general)
			*others += p->seen;
	}
	return alone;
}

static doca_error_t check_seen(void)
{
	unsigned int others;
	const struct doca_argp_param *alone = find_alone(&others);

	if (alone && others)
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: no other flag goes with it",
					    name_of(alone));
	for (struct doca_argp_param *p = argp->params; p && !alone;
	     p = p->next) {
		if (p->mandatory && !p->seen)
			return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
						    "%s: is mandatory",
						    name_of(p));
	}
	return DOCA_SUCCESS;
}

/*
 * A program for DPDK has DPDK's flags first, as far as "--".  *@first is the
 * word before the first one for this parser.
 */
static doca_error_t pass_dpdk(int argc, char **argv, int *first)
{
	int count = 1;

	*first = 0;
	if (!argp->dpdk)
		return DOCA_SUCCESS;
	for (int i = 1; i < argc && !*first; i++) {
		if (!strcmp(argv[i], "--"))
			*first = count = i;
	}
	return argp->dpdk(count, argv);
}

static doca_error_t take_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (argp->name)
		return DOCA_SUCCESS;
	argp->name = strdup(slash ? slash + 1 : path);
	return argp->name ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	doca_error_t error = pier__doca_argp_check();
	int first;

	if (error)
		return error;
	if (argc < 1 || !argv || !argv[0])
		return DOCA_ERROR_INVALID_VALUE;
	error = take_name(argv[0]);
	if (!error)
		error = pass_dpdk(argc, argv, &first);
	if (!error)
		error = parse(argc, argv, first + 1);
	if (!error)
		error = check_seen();
	if (error) {
		doca_argp_usage();
		return error;
	}
	return argp->validation ? argp->validation(argp->config) :
				  DOCA_SUCCESS;
}
