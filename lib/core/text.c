/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <pier/text.h>

#define CHARACTER_MAX 4	/* bytes of UTF-8 */
#define ESCAPE_LEN 4	/* of \xNN */

static size_t len_by_first(unsigned char first)
{
	return first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 :
	       first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
}

/* Those of C1, up to 0x9f, are control characters as well. */
static int is_text(uint32_t character, size_t len)
{
	static const uint32_t least[] = { 0, ' ', 0xa0, 0x800, 0x10000 };

	return character >= least[len] && character <= 0x10ffff &&
	       character != 0x7f && character >> 11 != 0xd800 >> 11;
}

/* The bytes of the character @c that may be printed; 0: it is none. */
static size_t text_len(const unsigned char *c, size_t remaining)
{
	size_t len = len_by_first(*c);
	uint32_t character;

	if (!len || len > remaining)
		return 0;
	character = len == 1 ? *c : *c & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (c[i] & 0x3f);
	}
	return is_text(character, len) ? len : 0;
}

const char *pier_text_escape(const void *bytes, size_t len, char *ret,
			     size_t size)
{
	const unsigned char *at = bytes;
	size_t used = 0, cut = 0, in, out;

	if (!size)
		return "";
	for (; len; at += in, len -= in, used += out) {
		unsigned char c[CHARACTER_MAX];	/* the peer may write there */
		char escape[ESCAPE_LEN + 1];
		const void *piece = c;

		memcpy(c, at, len < sizeof(c) ? len : sizeof(c));
		in = out = text_len(c, len);
		if (!in) {
			snprintf(escape, sizeof(escape), "\\x%02x", *c);
			piece = escape;
			in = 1;
			out = ESCAPE_LEN;
		}
		if (used + sizeof("...") <= size)
			cut = used;
		if (used + out >= size)
			break;
		memcpy(ret + used, piece, out);
	}
	ret[used] = '\0';
	if (len)
		snprintf(ret + cut, size - cut, "...");
	return ret;
}
