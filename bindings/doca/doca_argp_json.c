/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "doca_argp_impl.h"
#include "doca_fail.h"

#define FILE_MAX (1 << 20)

/* Comments from // to the end of a line become blanks. */
static void blank_comments(char *text)
{
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '\\' && quoted && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && text[0] == '/' && text[1] == '/')
			for (; *text && *text != '\n'; text++)
				*text = ' ';
		if (!*text)
			break;
	}
}

static doca_error_t read_text(const char *path, char *text)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return pier__doca_argp_fail(DOCA_ERROR_IO_FAILED,
					    "%s: cannot be read", path);
	len = fread(text, 1, FILE_MAX, file);
	fclose(file);
	if (len == FILE_MAX)
		return pier__doca_argp_fail(DOCA_ERROR_IO_FAILED, "%s: %d "
					    "bytes and more, less is allowed",
					    path, FILE_MAX);
	text[len] = '\0';
	blank_comments(text);
	return DOCA_SUCCESS;
}

static doca_error_t load(const char *path, json_t **ret)
{
	char *text = malloc(FILE_MAX);
	json_error_t fault;
	doca_error_t error;

	if (!text)
		return DOCA_ERROR_NO_MEMORY;
	error = read_text(path, text);
	if (!error) {
		*ret = json_loads(text, JSON_REJECT_DUPLICATES, &fault);
		if (!*ret)
			error = pier__doca_argp_fail(DOCA_ERROR_IO_FAILED,
						     "%s:%d: %s", path,
						     fault.line, fault.text);
	}
	free(text);
	return error;
}

static doca_error_t wrong(const struct doca_argp_param *param)
{
	return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
				    "%s: the file has a value of another type",
				    param->long_name);
}

static doca_error_t pass_one(struct doca_argp_param *param, const json_t *value)
{
	char number[32];

	switch (param->type) {
	case DOCA_ARGP_TYPE_BOOLEAN:
		if (!json_is_boolean(value))
			return wrong(param);
		return json_is_true(value) ?
			       pier__doca_argp_value(param, NULL) :
			       DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_INT:
		if (!json_is_integer(value))
			return wrong(param);
		snprintf(number, sizeof(number), "%lld",
			 (long long)json_integer_value(value));
		return pier__doca_argp_value(param, number);
	default:
		if (!json_is_string(value))
			return wrong(param);
		return pier__doca_argp_value(param, json_string_value(value));
	}
}

static doca_error_t pass(struct doca_argp_param *param, json_t *value)
{
	doca_error_t error = DOCA_SUCCESS;

	if (param->seen)	/* the command line has it */
		return DOCA_SUCCESS;
	if (!param->multiplicity || !json_is_array(value))
		return pass_one(param, value);
	for (size_t i = 0; i < json_array_size(value) && !error; i++)
		error = pass_one(param, json_array_get(value, i));
	return error;
}

static doca_error_t pass_group(json_t *root, const char *group, bool general)
{
	json_t *object = json_object_get(root, group), *value;
	doca_error_t error;
	const char *key;

	if (object && !json_is_object(object))
		return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					    "%s: not an object", group);
	json_object_foreach(object, key, value) {
		struct doca_argp_param *param =
			pier__doca_argp_long(key, strlen(key));

		if (!param || param->general != general || param->cli_only)
			return pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
						    "%s: no such key in %s",
						    key, group);
		error = pass(param, value);
		if (error)
			return error;
	}
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_argp_json(const char *path)
{
	json_t *root = NULL;
	doca_error_t error = load(path, &root);

	if (error)
		return error;
	if (!json_is_object(root))
		error = pier__doca_argp_fail(DOCA_ERROR_INVALID_VALUE,
					     "%s: not an object", path);
	if (!error)
		error = pass_group(root, "doca_general_flags", true);
	if (!error)
		error = pass_group(root, "doca_program_flags", false);
	json_decref(root);
	return error;
}
