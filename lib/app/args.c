/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>
#include <pier/log.h>
#include <pier/version.h>

#include "app/args_impl.h"
#include "core/copy.h"
#include "core/fail.h"

/* The values of the options that every program has. */
struct basics {
	int help, version;
	const char *level, *json;
};

/* What a text must be, apart from its length. */
enum word { ANY, LEVEL, ADDR_TYPE };

/* Where a row's value goes: at @offset in the basics or in struct pier_args. */
struct row {
	unsigned int groups;	/* enum pier_args_group, or-ed; 0: the basics */
	size_t offset;
	int scale;		/* 0: none */
	bool line_only;
	enum word word;
	struct pier_option option;
};

static const char *const addr_types[] = {
	"IPv4", "IPv6", "GID", "ip4", "ip6", NULL
};

#define PATH_LENGTH .min = 1, .max = 4095
#define IN_ARGS(groups, member) groups, offsetof(struct pier_args, member)
#define IN_BASICS(member) 0, offsetof(struct basics, member)

/* In the order of the help.  An alias is below the option it stands for. */
static const struct row rows[] = {
	{ IN_ARGS(PIER_ARGS_DEVICE | PIER_ARGS_NAME, device), 0, false, ANY,
	  { "d", "device", "NAME", "RDMA device, network interface or PCI "
	    "address", PIER_OPTION_STRING, .min = 1, .max = 255 } },
	{ IN_ARGS(PIER_ARGS_DEVICE, gid_index), 0, false, ANY,
	  { "g", "gid-index", "N", "index of the GID to use, 0 to 255",
	    PIER_OPTION_INT, .min = 0, .max = 255 } },
	{ IN_ARGS(PIER_ARGS_FILES, local_descriptor), 0, false, ANY,
	  { "ld", "local-descriptor-path", "FILE",
	    "where to write this side's connection", PIER_OPTION_STRING,
	    PATH_LENGTH } },
	{ IN_ARGS(PIER_ARGS_FILES, remote_descriptor), 0, false, ANY,
	  { "re", "remote-descriptor-path", "FILE",
	    "where the peer's connection is found", PIER_OPTION_STRING,
	    PATH_LENGTH } },
	{ IN_ARGS(PIER_ARGS_FILES, memory_descriptor), 0, false, ANY,
	  { "m", "remote-resource-descriptor-path", "FILE",
	    "the responder's memory", PIER_OPTION_STRING, PATH_LENGTH } },
	{ IN_ARGS(PIER_ARGS_FILES, memory_descriptor), 0, false, ANY,
	  { NULL, "mmap-descriptor-path", "FILE", NULL, PIER_OPTION_STRING,
	    PATH_LENGTH } },
	{ IN_ARGS(PIER_ARGS_CM, use_cm), 0, false, ANY,
	  { "cm", "use-rdma-cm", NULL, "meet by RDMA CM, without files",
	    PIER_OPTION_FLAG, .value = NULL } },
	{ IN_ARGS(PIER_ARGS_CM | PIER_ARGS_SERVER, server_addr), 0, false, ANY,
	  { "sa", "server-addr", "ADDR", "the server's address; the server "
	    "has none", PIER_OPTION_STRING, .min = 1, .max = 300 } },
	{ IN_ARGS(PIER_ARGS_CM, server_addr_type), 0, false, ADDR_TYPE,
	  { "sat", "server-addr-type", "TYPE", "IPv4, IPv6 or GID; default: "
	    "what it looks like", PIER_OPTION_STRING, .value = NULL } },
	{ IN_ARGS(PIER_ARGS_CM | PIER_ARGS_SERVER | PIER_ARGS_PORT,
		  listen_port), 0, false, ANY,
	  { "lp", "listen-port", "PORT", "the server's port, 1 to 65535",
	    PIER_OPTION_INT, .min = 1, .max = 65535 } },
	{ IN_ARGS(PIER_ARGS_TIMEOUT, timeout_ms), 1000, false, ANY,
	  { NULL, "timeout", "SECONDS", "how long to wait for the peer",
	    PIER_OPTION_INT, .min = 1, .max = 86400 } },
	{ IN_BASICS(json), 0, true, ANY,
	  { "j", "json", "FILE", "take options from a JSON object",
	    PIER_OPTION_STRING, PATH_LENGTH } },
	{ IN_BASICS(level), 0, false, LEVEL,
	  { "l", "log-level", "LEVEL", "critical, error, warning, info, debug "
	    "or trace", PIER_OPTION_STRING, .value = NULL } },
	{ IN_BASICS(version), 0, true, ANY,
	  { "v", "version", NULL, "print the version", PIER_OPTION_FLAG,
	    .value = NULL } },
	{ IN_BASICS(help), 0, true, ANY,
	  { "h", "help", NULL, "print this help", PIER_OPTION_FLAG,
	    .value = NULL } },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* Strings that live as long as the process, newest first. */
struct string {
	struct string *next;
	max_align_t bytes[];
};

static struct string *strings;

void *pier__args_keep(size_t len)
{
	struct string *new = calloc(1, sizeof(*new) + len);

	if (!new)
		return NULL;
	new->next = strings;
	strings = new;
	return new->bytes;
}

__attribute__((destructor)) static void free_strings(void)
{
	struct string *next;

	for (; strings; strings = next) {
		next = strings->next;
		free(strings);
	}
}

static bool nameless(const struct pier_option *option)
{
	return !option->short_name && !option->long_name;
}

/* The option with the place of @slot, the newest, which is its alias. */
static struct pier__slot *main_of(const struct pier__parser *parser,
				  struct pier__slot *slot)
{
	struct pier__slot *other;

	for (other = parser->slots; other < slot; other++)
		if (!slot->option.help && other->main == other &&
		    other->option.value == slot->option.value &&
		    other->option.type == slot->option.type)
			return other;
	return slot;
}

static struct pier__slot *add_slot(struct pier__parser *parser,
				   const struct pier_option *option)
{
	struct pier__slot *slot = &parser->slots[parser->count];

	slot->option = *option;
	slot->scale = 1;
	return slot;
}

/* An option of the program takes precedence over a common one of its name. */
static void yield_names(const struct pier__parser *parser,
			struct pier_option *option)
{
	const char *name = option->long_name;

	if (name && pier__args_find(parser, name, strlen(name), true))
		option->long_name = NULL;
	name = option->short_name;
	if (name && pier__args_find(parser, name, strlen(name), false))
		option->short_name = NULL;
	if (nameless(option))
		option->help = NULL;
}

static void slot_added(struct pier__parser *parser)
{
	struct pier__slot *slot = &parser->slots[parser->count];

	slot->main = main_of(parser, slot);
	parser->count++;
}

/* One slot for each option that this program has. */
static int make_slots(struct pier__parser *parser, struct pier_args *args,
		      struct basics *basics)
{
	const struct pier_option *option;
	struct pier__slot *slot;
	size_t own = 0;

	for (option = args->options; option && !nameless(option); option++)
		own++;
	parser->slots = calloc(own + ROW_COUNT, sizeof(*parser->slots));
	if (!parser->slots)
		return pier__fail(-PIER_EUSAGE, "no memory for %zu options",
				  own + ROW_COUNT);
	for (size_t i = 0; i < own; i++) {
		add_slot(parser, &args->options[i]);
		slot_added(parser);
	}
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].groups && !(args->groups & rows[i].groups))
			continue;
		slot = add_slot(parser, &rows[i].option);
		slot->option.value = rows[i].groups ?
			(char *)args + rows[i].offset :
			(char *)basics + rows[i].offset;
		yield_names(parser, &slot->option);
		slot->common = true;
		slot->line_only = rows[i].line_only;
		slot->level = rows[i].word == LEVEL;
		slot->words = rows[i].word == ADDR_TYPE ? addr_types : NULL;
		if (rows[i].scale)
			slot->scale = rows[i].scale;
		slot_added(parser);
	}
	return 0;
}

struct pier__slot *pier__args_find(const struct pier__parser *parser,
				   const char *name, size_t len, bool long_name)
{
	const struct pier_option *option;
	const char *own;

	for (unsigned int i = 0; i < parser->count; i++) {
		option = &parser->slots[i].option;
		own = long_name ? option->long_name : option->short_name;
		if (own && strlen(own) == len && memcmp(own, name, len) == 0)
			return &parser->slots[i];
	}
	return NULL;
}

/* The option that @word begins with; *@value is behind "=", or NULL. */
static struct pier__slot *find_word(const struct pier__parser *parser,
				    const char *word, const char **value)
{
	bool long_name = word[1] == '-';
	const char *name = word + 1 + long_name;
	size_t len = strcspn(name, "=");

	*value = name[len] ? name + len + 1 : NULL;
	return pier__args_find(parser, name, len, long_name);
}

/* A word that looks like an option; "-" alone is an operand by custom. */
static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Options of one letter can share a word, and their values be in it. */
static bool has_letters(const struct pier__parser *parser)
{
	return parser->args->groups & PIER_ARGS_ATTACHED;
}

/* Is @word "-rp", of flags that exist? */
static bool flags_exist(const struct pier__parser *parser, const char *word)
{
	const struct pier__slot *slot;
	const char *letter = word + 1;

	for (; *letter; letter++) {
		slot = pier__args_find(parser, letter, 1, false);
		if (!slot || slot->option.type != PIER_OPTION_FLAG)
			return false;
	}
	return has_letters(parser);
}

/* Is @word an option that exists?  A value of such a name follows "=". */
static bool option_exists(const struct pier__parser *parser, const char *word)
{
	const char *value;

	return is_option(word) && (find_word(parser, word, &value) ||
				   flags_exist(parser, word));
}

static int unknown(const char *word)
{
	return pier__fail(-PIER_EUSAGE, "unknown option %s: -h prints the "
			  "options", word);
}

/* Set @slot from @value, else from @next.  Returns how many words, 1 or 2. */
static int take_value(struct pier__parser *parser, struct pier__slot *slot,
		      const char *label, const char *value, const char *next)
{
	int words = 1, err;

	if (slot->option.type == PIER_OPTION_FLAG) {
		if (value)
			return pier__fail(-PIER_EUSAGE, "%s takes no value",
					  label);
	} else if (!value) {
		if (!next || option_exists(parser, next))
			return pier__fail(-PIER_EUSAGE, "%s lacks its value",
					  label);
		value = next;
		words = 2;
	}
	err = pier__args_set(slot, PIER__ARGS_LINE, label, value);
	return err ? err : words;
}

/*
 * Take the options of one letter in @word: flags, and at last one that may have
 * a value, "-rp", "-rn5".  Returns how many words.
 */
static int take_letters(struct pier__parser *parser, const char *word,
			const char *next)
{
	const char *letter = word + 1;
	struct pier__slot *slot;
	char label[3] = "-";
	int words;

	do {
		slot = pier__args_find(parser, letter, 1, false);
		if (!slot && letter == word + 1)
			return unknown(word);
		if (!slot)
			return pier__fail(-PIER_EUSAGE, "unknown option -%c in "
					  "%s: -h prints the options", *letter,
					  word);
		label[1] = *letter++;
		if (slot->option.type != PIER_OPTION_FLAG)
			return take_value(parser, slot, label,
					  *letter ? letter : NULL, next);
		words = take_value(parser, slot, label, NULL, NULL);
	} while (words > 0 && *letter);
	return words;
}

/* Take @word and, from @next, its value.  Returns how many words, 1 or 2. */
static int take_option(struct pier__parser *parser, const char *word,
		       const char *next)
{
	const char *value;
	char label[80];
	size_t len = strcspn(word, "=");
	struct pier__slot *slot = find_word(parser, word, &value);

	if (slot) {
		snprintf(label, sizeof(label), "%.*s", (int)len, word);
		return take_value(parser, slot, label, value, next);
	}
	/* a long name behind one "-" is a mistake */
	if (!has_letters(parser) || word[1] == '-' ||
	    pier__args_find(parser, word + 1, len - 1, true))
		return unknown(word);
	return take_letters(parser, word, next);
}

/* The slot whose place is @value, one of the basics, which all have one. */
static const struct pier__slot *slot_of(const struct pier__parser *parser,
					const void *value)
{
	unsigned int i = 0;

	while (parser->slots[i].option.value != value)
		i++;
	return &parser->slots[i];
}

/* Print help or the version if they were asked for. */
static int reply(const struct pier__parser *parser, const struct basics *basics)
{
	if (slot_of(parser, &basics->help)->from) {
		pier__args_help(parser, stdout);
		return -PIER_EHELP;
	}
	if (slot_of(parser, &basics->version)->from) {
		printf("%s (pier) %s\n", parser->program, pier_version());
		return -PIER_EHELP;
	}
	return 0;
}

/* Read the words; the operands go to @args. */
static int take_line(struct pier__parser *parser, struct pier_args *args,
		     const struct basics *basics, int argc, char *argv[])
{
	bool options = true;
	int i = 1, words;

	args->argc = 0;
	args->argv = pier__args_keep(((size_t)argc + 1) * sizeof(char *));
	if (!args->argv)
		return pier__fail(-PIER_EUSAGE, "no memory for %d words", argc);
	while (i < argc) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			i++;
		} else if (options && is_option(argv[i])) {
			words = take_option(parser, argv[i],
					    i + 1 < argc ? argv[i + 1] : NULL);
			if (words < 0)
				return words;
			i += words;
			if (reply(parser, basics))
				return -PIER_EHELP;
		} else if (args->operands) {
			args->argv[args->argc++] = argv[i++];
		} else {
			return pier__fail(-PIER_EUSAGE, "\"%s\": no operands "
					  "are allowed", argv[i]);
		}
	}
	return 0;
}

/* Read the options file, if one was given. */
static int take_file(struct pier__parser *parser, const struct basics *basics)
{
	for (unsigned int i = 0; i < parser->count; i++)
		if (parser->slots[i].option.value == &basics->json &&
		    parser->slots[i].from)
			return pier__args_json(parser,
					       parser->slots[i].is.text);
	return 0;
}

static int check_required(const struct pier__parser *parser)
{
	const struct pier__slot *slot;

	for (unsigned int i = 0; i < parser->count; i++) {
		slot = &parser->slots[i];
		if (!slot->option.required ||
		    slot->main->from != PIER__ARGS_NOWHERE)
			continue;
		if (slot->option.long_name)
			return pier__fail(-PIER_EUSAGE, "--%s is required",
					  slot->option.long_name);
		return pier__fail(-PIER_EUSAGE, "-%s is required",
				  slot->option.short_name);
	}
	return 0;
}

static int apply_level(const char *text)
{
	enum pier_log_level level;
	int err = pier_log_parse_level(text, &level);

	if (err)
		return err;
	pier__log_to_stderr();
	return pier_log_set_level(level);
}

static const char *program_name(int argc, char *argv[])
{
	const char *slash;

	if (argc < 1 || !argv[0] || !*argv[0])
		return "pier";
	slash = strrchr(argv[0], '/');
	return slash ? slash + 1 : argv[0];
}

/* Line, file, what is missing; then, as nothing can fail, all the places. */
static int parse(struct pier__parser *parser, struct pier_args *args,
		 struct basics *basics, int argc, char *argv[])
{
	int err = make_slots(parser, args, basics);

	if (err)
		return err;
	err = take_line(parser, args, basics, argc, argv);
	if (err)
		return err;
	err = take_file(parser, basics);
	if (!err)
		err = check_required(parser);
	if (err)
		return err;

	pier__args_commit(parser);
	return basics->level ? apply_level(basics->level) : 0;
}

int pier_args_parse(struct pier_args *args, int argc, char *argv[])
{
	struct pier_args new = { 0 };
	struct pier__parser parser = {
		.program = program_name(argc, argv),
		.args = &new,
	};
	struct basics basics = { 0 };
	size_t size = args->size;
	int err;

	if (pier__config_copy(&new, sizeof(new), args, size))
		err = -PIER_EUSAGE;
	else
		err = parse(&parser, &new, &basics, argc, argv);
	free(parser.slots);
	if (!err) {
		new.size = size;
		memcpy(args, &new, size < sizeof(new) ? size : sizeof(new));
	} else if (err != -PIER_EHELP) {
		fprintf(stderr, "%s: %s\n", parser.program, pier_last_error());
		pier__args_usage(&parser, stderr);
	}
	return err;
}

/* A help or version that is not written has failed. */
int pier_args_exit(int err)
{
	if (err != -PIER_EHELP)
		return err ? 2 : 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "%s: cannot write to standard output\n",
		program_invocation_short_name);
	return 1;
}
