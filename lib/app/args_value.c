/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <pier/log.h>

#include "app/args_impl.h"
#include "core/fail.h"

/* Digits in base 10, or 16 after "0x", up to *@end.  False: none, too many. */
static bool parse_digits(const char *text, uint64_t *ret, char **end)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;

	/* strtoull() itself would take spaces, signs and a second "0x" */
	if (!strchr(hex ? "0123456789abcdefABCDEF" : "0123456789", *digits) ||
	    !*digits || (hex && (digits[1] == 'x' || digits[1] == 'X')))
		return false;
	errno = 0;
	*ret = strtoull(digits, end, hex ? 16 : 10);
	return errno == 0;
}

static bool parse_int(const char *text, int64_t *ret)
{
	bool minus = *text == '-';
	uint64_t value;
	char *end;

	if (!parse_digits(text + minus, &value, &end) || *end ||
	    value > (uint64_t)INT_MAX + minus)
		return false;
	*ret = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

/* A number and K, M or G, in powers of 1024. */
static bool parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	const char *unit;
	uint64_t value;
	char *end;

	if (!parse_digits(text, &value, &end))
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end || value > UINT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return true;
}

static bool any_range(const struct pier_option *option)
{
	return !option->min && !option->max;
}

static int set_int(struct pier__slot *slot, const char *label, const char *text)
{
	bool any = any_range(&slot->option);
	int64_t min = any ? INT_MIN : slot->option.min;
	int64_t max = any ? INT_MAX : slot->option.max;
	int64_t value;

	if (!parse_int(text, &value) || value < min || value > max)
		return pier__fail(-PIER_EUSAGE, "%s \"%s\": a number from %"
				  PRId64 " to %" PRId64, label, text, min, max);
	slot->is.number = value;
	return 0;
}

static bool parse_number(const char *text, uint64_t *ret)
{
	char *end;

	return parse_digits(text, ret, &end) && !*end;
}

static int set_unsigned(struct pier__slot *slot, const char *label,
			const char *text)
{
	bool any = any_range(&slot->option);
	bool is_size = slot->option.type == PIER_OPTION_SIZE;
	uint64_t min = any ? 0 : (uint64_t)slot->option.min;
	uint64_t max = any ? UINT64_MAX : (uint64_t)slot->option.max;
	uint64_t value;

	if (!(is_size ? parse_size : parse_number)(text, &value) ||
	    value < min || value > max)
		return pier__fail(-PIER_EUSAGE, "%s \"%s\": a %s from %"
				  PRIu64 " to %" PRIu64 "%s", label, text,
				  is_size ? "size" : "number", min, max,
				  is_size ? ", as 4096, 64K, 1M or 2G" : "");
	slot->is.size = value;
	return 0;
}

/* One of the words that @slot allows? */
static int check_word(const struct pier__slot *slot, const char *label,
		      const char *text)
{
	char list[100] = "";
	size_t len = 0;

	for (const char *const *word = slot->words; *word; word++) {
		if (!strcasecmp(*word, text))
			return 0;
		len += (size_t)snprintf(list + len, sizeof(list) - len,
					"%s%s", len ? ", " : "", *word);
	}
	return pier__fail(-PIER_EUSAGE, "%s \"%s\": one of %s", label, text,
			  list);
}

static int set_string(struct pier__slot *slot, const char *label,
		      const char *text)
{
	size_t len = strlen(text);
	enum pier_log_level level;
	int err;

	if (!any_range(&slot->option) &&
	    (len < (uint64_t)slot->option.min ||
	     len > (uint64_t)slot->option.max))
		return pier__fail(-PIER_EUSAGE, "%s: %zu characters, allowed %"
				  PRId64 " to %" PRId64, label, len,
				  slot->option.min, slot->option.max);
	if (slot->level) {
		err = pier_log_parse_level(text, &level);
		if (err)
			return pier__fail(-PIER_EUSAGE, "%s: %s", label,
					  pier_last_error());
	}
	if (slot->words) {
		err = check_word(slot, label, text);
		if (err)
			return err;
	}
	slot->is.text = text;
	return 0;
}

int pier__args_set(struct pier__slot *slot, enum pier__args_from from,
		   const char *label, const char *text)
{
	struct pier__slot new = *slot->main;
	int err = 0;

	switch (slot->option.type) {
	case PIER_OPTION_FLAG:
		new.is.number = 1;
		break;
	case PIER_OPTION_INT:
		err = set_int(&new, label, text);
		break;
	case PIER_OPTION_SIZE:
	case PIER_OPTION_NUMBER:
		err = set_unsigned(&new, label, text);
		break;
	case PIER_OPTION_STRING:
		err = set_string(&new, label, text);
		break;
	}
	if (err)
		return err;
	new.from = from;
	if (slot->main->from <= from)
		*slot->main = new;
	return 0;
}

void pier__args_commit(const struct pier__parser *parser)
{
	struct pier__slot *slot;

	for (unsigned int i = 0; i < parser->count; i++) {
		slot = &parser->slots[i];
		if (slot->from == PIER__ARGS_NOWHERE)
			continue;
		switch (slot->option.type) {
		case PIER_OPTION_FLAG:
			*(int *)slot->option.value = 1;
			break;
		case PIER_OPTION_INT:
			*(int *)slot->option.value =
				(int)slot->is.number * slot->scale;
			break;
		case PIER_OPTION_SIZE:
		case PIER_OPTION_NUMBER:
			*(uint64_t *)slot->option.value = slot->is.size;
			break;
		case PIER_OPTION_STRING:
			*(const char **)slot->option.value = slot->is.text;
			break;
		}
	}
}
