/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_FOREIGN_PATTERN_H
#define PIER_T_FOREIGN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Private data that both ends know, by its first byte. */
enum pattern {
	PATTERN_REQ = 1,
	PATTERN_REP = 50,
	PATTERN_REJ = 99,
};

/* The most that a message holds. */
#define PATTERN_REQ_LEN 56
#define PATTERN_REP_LEN 196
#define PATTERN_REJ_LEN 148
#define PATTERN_OUR_REJ_LEN 140	/* pier's own */

void pattern_fill(uint8_t *data, size_t len, enum pattern first);

/* Does @data, a field of @size bytes, have @len of @first, then zeros? */
bool pattern_is(const uint8_t *data, size_t size, size_t len,
		enum pattern first);

#endif
