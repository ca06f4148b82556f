/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include <pier/error.h>

#include "core/item.h"

const char *pier__item_name(enum pier__item_type type)
{
	static const char *const names[] = {
		[PIER__ITEM_UINT] = "a number",
		[PIER__ITEM_BYTES] = "bytes",
		[PIER__ITEM_ARRAY] = "an array",
		[PIER__ITEM_MAP] = "a map",
		[PIER__ITEM_OTHER] = "of an unknown type",
	};

	return names[type];
}

/* A big-endian number of @len bytes, at most 8. */
static int read_number(struct pier__cursor *cur, size_t len, uint64_t *ret)
{
	uint64_t value = 0;

	if (len > (size_t)(cur->end - cur->at))
		return -PIER_EDESC;
	for (size_t i = 0; i < len; i++)
		value = value << 8 | cur->at[i];
	cur->at += len;
	*ret = value;
	return 0;
}

static int read_bytes(struct pier__cursor *cur, struct pier__item *item)
{
	if (item->value > (uint64_t)(cur->end - cur->at))
		return -PIER_EDESC;
	item->data = cur->at;
	cur->at += item->value;
	return 0;
}

/*
 * What follows the type bytes 0xc0 to 0xdf: a value or a count of @width
 * bytes; or, if it is a length, as many bytes and @extra.
 */
struct form {
	enum pier__item_type type;
	uint8_t width;		/* 0: no number, @fixed bytes follow */
	uint8_t fixed;
	uint8_t extra;		/* an extension's type byte */
};

static const struct form forms[32] = {
	[0x00] = { PIER__ITEM_OTHER, 0, 0, 0 },	/* nil */
	[0x02] = { PIER__ITEM_OTHER, 0, 0, 0 },	/* false */
	[0x03] = { PIER__ITEM_OTHER, 0, 0, 0 },	/* true */
	[0x04] = { PIER__ITEM_BYTES, 1, 0, 0 },
	[0x05] = { PIER__ITEM_BYTES, 2, 0, 0 },
	[0x06] = { PIER__ITEM_BYTES, 4, 0, 0 },
	[0x07] = { PIER__ITEM_OTHER, 1, 0, 1 },	/* extensions */
	[0x08] = { PIER__ITEM_OTHER, 2, 0, 1 },
	[0x09] = { PIER__ITEM_OTHER, 4, 0, 1 },
	[0x0a] = { PIER__ITEM_OTHER, 0, 4, 0 },	/* floating point */
	[0x0b] = { PIER__ITEM_OTHER, 0, 8, 0 },
	[0x0c] = { PIER__ITEM_UINT, 1, 0, 0 },
	[0x0d] = { PIER__ITEM_UINT, 2, 0, 0 },
	[0x0e] = { PIER__ITEM_UINT, 4, 0, 0 },
	[0x0f] = { PIER__ITEM_UINT, 8, 0, 0 },
	[0x10] = { PIER__ITEM_OTHER, 0, 1, 0 },	/* signed integers */
	[0x11] = { PIER__ITEM_OTHER, 0, 2, 0 },
	[0x12] = { PIER__ITEM_OTHER, 0, 4, 0 },
	[0x13] = { PIER__ITEM_OTHER, 0, 8, 0 },
	[0x14] = { PIER__ITEM_OTHER, 0, 1, 1 },	/* and of fixed size */
	[0x15] = { PIER__ITEM_OTHER, 0, 2, 1 },
	[0x16] = { PIER__ITEM_OTHER, 0, 4, 1 },
	[0x17] = { PIER__ITEM_OTHER, 0, 8, 1 },
	[0x18] = { PIER__ITEM_OTHER, 0, 16, 1 },
	[0x19] = { PIER__ITEM_BYTES, 1, 0, 0 },	/* text: bytes to us */
	[0x1a] = { PIER__ITEM_BYTES, 2, 0, 0 },
	[0x1b] = { PIER__ITEM_BYTES, 4, 0, 0 },
	[0x1c] = { PIER__ITEM_ARRAY, 2, 0, 0 },
	[0x1d] = { PIER__ITEM_ARRAY, 4, 0, 0 },
	[0x1e] = { PIER__ITEM_MAP, 2, 0, 0 },
	[0x1f] = { PIER__ITEM_MAP, 4, 0, 0 },
};

static int read_form(struct pier__cursor *cur, unsigned int type,
		     struct pier__item *item)
{
	const struct form *form = &forms[type - 0xc0];
	int err;

	if (type == 0xc1)	/* never used */
		return -PIER_EDESC;
	item->type = form->type;
	item->value = form->fixed;
	if (form->width) {
		err = read_number(cur, form->width, &item->value);
		if (err)
			return err;
	}
	if (form->type != PIER__ITEM_BYTES && form->type != PIER__ITEM_OTHER)
		return 0;
	item->value += form->extra;
	return read_bytes(cur, item);
}

int pier__item_read(struct pier__cursor *cur, struct pier__item *item)
{
	unsigned int type;

	if (cur->at == cur->end)
		return -PIER_EDESC;
	type = *cur->at++;
	item->data = NULL;
	if (type >= 0xc0 && type < 0xe0)
		return read_form(cur, type, item);
	if (type < 0x80) {
		item->type = PIER__ITEM_UINT;
		item->value = type;
	} else if (type < 0x90) {
		item->type = PIER__ITEM_MAP;
		item->value = type & 0x0f;
	} else if (type < 0xa0) {
		item->type = PIER__ITEM_ARRAY;
		item->value = type & 0x0f;
	} else if (type < 0xc0) {
		item->type = PIER__ITEM_BYTES;
		item->value = type & 0x1f;
		return read_bytes(cur, item);
	} else {
		item->type = PIER__ITEM_OTHER;	/* a negative number */
		item->value = 0;
	}
	return 0;
}

/*
 * Every item takes a byte or more, so a count above the bytes is invalid, and
 * time is bounded by the bytes.
 */
int pier__item_skip(struct pier__cursor *cur)
{
	uint64_t left = 1;
	struct pier__item item;

	while (left) {
		if (left > (uint64_t)(cur->end - cur->at) ||
		    pier__item_read(cur, &item))
			return -PIER_EDESC;
		left--;
		if (item.type == PIER__ITEM_ARRAY)
			left += item.value;
		if (item.type == PIER__ITEM_MAP)
			left += 2 * item.value;
	}
	return 0;
}
