/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TEXT_H
#define PIER_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Write @len @bytes of a peer as a text that no terminal obeys into @ret, of
 * @size bytes, and return @ret: UTF-8 as it is, control characters and what is
 * not UTF-8 as \xNN, a byte each.  4 * @len + 1 bytes are always enough; a text
 * that is cut off ends in "...".  "" is returned if @size is 0.  Any thread.
 */
const char *pier_text_escape(const void *bytes, size_t len, char *ret,
			     size_t size);

#ifdef __cplusplus
}
#endif

#endif
