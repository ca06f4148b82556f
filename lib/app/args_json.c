/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "app/args_impl.h"
#include "core/fail.h"
#include "core/file.h"

#define JSON_SIZE_MAX (1024 * 1024)

/* A key's place, as in: opts.json: "gid-index" */
struct key {
	struct pier__slot *slot;
	char label[320];	/* long paths and keys are cut */
};

static int wrong_type(const struct key *key, const char *wanted)
{
	return pier__fail(-PIER_EUSAGE, "%s: wrong type, %s is required",
			  key->label, wanted);
}

static int set_flag(const struct key *key, const json_t *value)
{
	if (!json_is_boolean(value))
		return wrong_type(key, "true or false");
	if (json_is_false(value))
		return 0;
	return pier__args_set(key->slot, PIER__ARGS_FILE, key->label, NULL);
}

static int set_number(const struct key *key, const json_t *value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(value));
	return pier__args_set(key->slot, PIER__ARGS_FILE, key->label, text);
}

static int set_string(const struct key *key, const char *text)
{
	char *copy = pier__args_keep(strlen(text) + 1);

	if (!copy)
		return pier__fail(-PIER_EUSAGE, "%s: no memory", key->label);
	strcpy(copy, text);
	return pier__args_set(key->slot, PIER__ARGS_FILE, key->label, copy);
}

static int set_level(const struct key *key, const json_t *value)
{
	char text[24];

	if (json_is_string(value))
		return set_string(key, json_string_value(value));
	if (!json_is_integer(value))
		return wrong_type(key, "a name or a number");
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(value));
	return set_string(key, text);
}

static int set_value(const struct key *key, const json_t *value)
{
	if (key->slot->level)
		return set_level(key, value);
	switch (key->slot->option.type) {
	case PIER_OPTION_FLAG:
		return set_flag(key, value);
	case PIER_OPTION_INT:
		if (!json_is_integer(value))
			return wrong_type(key, "a whole number");
		return set_number(key, value);
	case PIER_OPTION_SIZE:
		if (json_is_string(value))
			return pier__args_set(key->slot, PIER__ARGS_FILE,
					      key->label,
					      json_string_value(value));
		if (!json_is_integer(value))
			return wrong_type(key, "a whole number or a size in "
					  "quotes");
		return set_number(key, value);
	case PIER_OPTION_NUMBER:
		if (json_is_string(value))	/* JSON has none so large */
			return set_string(key, json_string_value(value));
		if (!json_is_integer(value))
			return wrong_type(key, "a whole number, also in "
					  "quotes");
		return set_number(key, value);
	case PIER_OPTION_STRING:
		break;
	}
	if (!json_is_string(value))
		return wrong_type(key, "text in quotes");
	return set_string(key, json_string_value(value));
}

static int set_option(struct pier__parser *parser, const char *path,
		      const char *name, const json_t *value)
{
	struct key key;

	snprintf(key.label, sizeof(key.label), "%.200s: \"%.80s\"", path,
		 name);
	key.slot = pier__args_find(parser, name, strlen(name), true);
	if (!key.slot || key.slot->line_only)
		return pier__fail(-PIER_EUSAGE, "%s: unknown key, the long "
				  "names of options are allowed", key.label);
	return set_value(&key, value);
}

/* Files of programs for DOCA have options in two groups. */
static bool is_group(const char *name, const json_t *value)
{
	return json_is_object(value) && (!strcmp(name, "doca_general_flags") ||
					 !strcmp(name, "doca_program_flags"));
}

/* Pier has one log level: that of DOCA's library is not used. */
static bool is_unused(const char *name, const json_t *value)
{
	return json_is_integer(value) && !strcmp(name, "sdk-log-level");
}

static int set_group(struct pier__parser *parser, const char *path,
		     json_t *group)
{
	const char *name;
	json_t *value;
	int err = 0;

	json_object_foreach(group, name, value) {
		if (!is_unused(name, value))
			err = set_option(parser, path, name, value);
		if (err)
			break;
	}
	return err;
}

static int set_all(struct pier__parser *parser, const char *path, json_t *root)
{
	const char *name;
	json_t *value;
	int err = 0;

	json_object_foreach(root, name, value) {
		err = is_group(name, value) ?
			      set_group(parser, path, value) :
			      set_option(parser, path, name, value);
		if (err)
			break;
	}
	return err;
}

/* The same files have comments: from // to the end of a line, as blanks. */
static void blank_comments(char *text, size_t len)
{
	bool quoted = false, comment = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			comment = false;
		else if (!quoted && i + 1 < len && text[i] == '/' &&
			 text[i + 1] == '/')
			comment = true;
		if (comment)
			text[i] = ' ';
		else if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
	}
}

/* The caller owns *ret and ends it with json_decref(). */
static int load(const char *path, json_t **ret)
{
	json_error_t error;
	json_t *root;
	int len;
	char *buf = malloc(JSON_SIZE_MAX);

	if (!buf)
		return pier__fail(-PIER_EUSAGE, "no memory to read %s", path);
	len = pier__file_read(path, buf, JSON_SIZE_MAX);
	if (len < 0) {
		free(buf);
		return -PIER_EUSAGE;
	}
	blank_comments(buf, (size_t)len);
	root = json_loadb(buf, (size_t)len, JSON_REJECT_DUPLICATES, &error);
	free(buf);
	if (!root)
		return pier__fail(-PIER_EUSAGE, "%s: line %d: %s", path,
				  error.line, error.text);
	*ret = root;
	return 0;
}

int pier__args_json(struct pier__parser *parser, const char *path)
{
	json_t *root;
	int err = load(path, &root);

	if (err)
		return err;
	if (json_is_object(root))
		err = set_all(parser, path, root);
	else
		err = pier__fail(-PIER_EUSAGE, "%s: not a JSON object", path);
	json_decref(root);
	return err;
}
