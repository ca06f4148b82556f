/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/foreign/pattern.h"

void pattern_fill(uint8_t *data, size_t len, enum pattern first)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(first + i * 7);
}

bool pattern_is(const uint8_t *data, size_t size, size_t len,
		enum pattern first)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] != (i < len ? (uint8_t)(first + i * 7) : 0))
			return false;
	}
	return size >= len;
}
