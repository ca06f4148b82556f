/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "core/bits.h"

/* Append @text to the @at bytes of @ret.  Returns the length. */
static size_t add(char *ret, size_t size, size_t at, const char *text)
{
	int n = 0;

	if (at < size)
		n = snprintf(ret + at, size - at, "%s%s", at ? " | " : "",
			     text);
	return at + (n > 0 ? (size_t)n : 0);
}

const char *pier__bits_text(uint32_t bits, const char *const names[],
			    unsigned int count, char *ret, size_t size)
{
	char rest[16];
	size_t at = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; i < count; i++) {
		if (bits & UINT32_C(1) << i)
			at = add(ret, size, at, names[i]);
	}
	bits = bits >> count << count;
	snprintf(rest, sizeof(rest), "0x%x", bits);
	if (bits)
		add(ret, size, at, rest);
	return ret;
}
