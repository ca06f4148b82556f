/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/args.h>
#include <pier/desc.h>
#include <pier/error.h>

#include "tool.h"

/*
 * The number that @text begins with, behind @sign, or, beyond what jansson has,
 * its digits.
 */
static json_t *number(const char *sign, const char *text)
{
	char digits[32];
	json_int_t value;

	snprintf(digits, sizeof(digits), "%s%.*s", sign,
		 (int)strspn(text, "0123456789"), text);
	errno = 0;
	value = strtoll(digits, NULL, 10);
	return errno ? tool_json_text(digits) : json_integer(value);
}

/* "1 s ago, valid for 60 s": seconds; a writer's clock may be ahead. */
static void set_created(json_t *root, const char *value)
{
	const char *valid = strstr(value, "valid for ");
	int ahead = !strncmp(value, "in ", 3);

	tool_json_set(root, "age", ahead ? number("-", value + 3) :
					   number("", value));
	if (valid)
		tool_json_set(root, "valid", number("", valid + 10));
}

/* "RoCEv2 127.0.0.1/8" */
static void add_gid(json_t *gids, const char *value)
{
	char type[16] = "", gid[64] = "";
	json_t *one = json_object();
	int prefix = 0;

	sscanf(value, "%15s %63[^/]/%d", type, gid, &prefix);
	tool_json_set(one, "type", tool_json_text(type));
	tool_json_set(one, "gid", tool_json_text(gid));
	tool_json_set(one, "prefix", json_integer(prefix));
	tool_json_append(gids, one);
}

/* "0x12345678 on device ..." */
static void add_key(json_t *keys, const char *value)
{
	const char *device = strstr(value, "on device ");
	json_t *one = json_object();

	tool_json_set(one, "rkey",
		      json_integer((json_int_t)strtoul(value, NULL, 0)));
	tool_json_set(one, "device", tool_json_text(device ? device + 10 : ""));
	tool_json_append(keys, one);
}

static json_t *words(char *value)
{
	json_t *all = json_array();
	char *word;

	while ((word = strsep(&value, " ")))
		if (*word && strcmp(word, "none"))
			tool_json_append(all, tool_json_text(word));
	return all;
}

/* The array under @key, which is empty before its first element. */
static json_t *array_of(json_t *root, const char *key)
{
	if (!json_object_get(root, key))
		tool_json_set(root, key, json_array());
	return json_object_get(root, key);
}

/*
 * A number, but an address, which has more digits than JSON promises, and the
 * id of a device, which may look like one.
 */
static json_t *value_of(const char *key, const char *value)
{
	size_t digits = strspn(value, "0123456789");
	char *end;
	json_int_t hex;

	if (!*value || !strcmp(key, "address") || !strcmp(key, "device"))
		return tool_json_text(value);
	if (!value[digits])
		return number("", value);
	hex = strtoll(value, &end, 0);
	return *end ? tool_json_text(value) : json_integer(hex);
}

static void set_field(json_t *root, char *key, char *value)
{
	for (char *at = key; (at = strchr(at, ' ')); )
		*at = '_';
	if (!strcmp(key, "created"))
		set_created(root, value);
	else if (!strcmp(key, "access"))
		tool_json_set(root, key, words(value));
	else if (!strcmp(key, "gid"))
		add_gid(array_of(root, "gids"), value);
	else if (!strcmp(key, "key"))
		add_key(array_of(root, "keys"), value);
	else
		tool_json_set(root, key, value_of(key, value));
}

/* The text of a descriptor, which the caller frees. */
static int describe(const void *desc, int len, char **ret)
{
	char probe[1], *text;
	int size;

	size = pier_desc_print(desc, (size_t)len, probe, sizeof(probe));
	if (size < 0)
		return size;
	text = malloc((size_t)size + 1);
	if (!text) {
		perror("pier desc");
		exit(1);
	}
	size = pier_desc_print(desc, (size_t)len, text, (size_t)size + 1);
	if (size < 0) {
		free(text);
		return size;
	}
	*ret = text;
	return 0;
}

/* In the order of the text; what may be there twice is an array. */
static json_t *to_json(char *text)
{
	json_t *root = json_object();
	char *line, *value;

	while ((line = strsep(&text, "\n"))) {
		value = strstr(line, ": ");
		if (!value)
			continue;
		*value = '\0';
		set_field(root, line, value + 2);
	}
	return root;
}

/* Sizes are in words, too. */
static void print_text(char *text)
{
	char *line, *value, size[TOOL_SIZE_TEXT];

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		value = strstr(line, ": ");
		if (value && (!strncmp(line, "length:", 7) ||
			      !strncmp(line, "largest message:", 16)))
			printf("%.*s: %s\n", (int)(value - line), line,
			       tool_bytes(strtoull(value + 2, NULL, 10), size));
		else
			puts(line);
	}
}

static int print(const void *desc, int len, int as_json)
{
	char *text;
	int err = describe(desc, len, &text);

	if (err)
		return err;
	if (as_json)
		tool_json_print(to_json(text));
	else
		print_text(text);
	free(text);
	return 0;
}

int tool_desc(int argc, char *argv[])
{
	int as_json = 0;
	const struct pier_option options[] = {
		{ .long_name = "json", .help = "print JSON",
		  .type = PIER_OPTION_FLAG, .value = &as_json },
		{ 0 },
	};
	static unsigned char desc[PIER_DESC_MAX];
	struct pier_args args = {
		.size = sizeof(args),
		.about = "Print the contents of a descriptor file.",
		.operands = "FILE",
		.groups = PIER_ARGS_ATTACHED,
		.options = options,
	};
	int err;

	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);
	if (args.argc != 1) {
		tool_message("pier desc: %d files given, one is required",
			     args.argc);
		return 2;
	}

	err = pier_desc_read(args.argv[0], desc);
	if (err < 0) {
		tool_message("pier desc: %s", pier_last_error());
		return 1;
	}
	err = print(desc, err, as_json);
	if (err)
		tool_message("pier desc: %s: %s", args.argv[0],
			     pier_last_error());
	return err ? 1 : 0;
}
