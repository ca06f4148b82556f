/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_BITS_H
#define PIER_CORE_BITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The names of the bits of @bits, "A | B", of bits beyond the @count of @names
 * the number; nothing if there is none.  Returns @ret, which has @size bytes.
 */
const char *pier__bits_text(uint32_t bits, const char *const names[],
			    unsigned int count, char *ret, size_t size);

#endif
