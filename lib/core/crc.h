/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_CRC_H
#define PIER_CORE_CRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32 of Ethernet and zlib over @len bytes, continued from @crc (0 to
 * begin).  Any thread.
 */
uint32_t pier__crc32(uint32_t crc, const void *data, size_t len);

/*
 * Copy @len bytes from @src to @dst.  Returns the CRC, continued from @crc, of
 * the @before bytes that stand before @dst already, and of those copied: of
 * what @dst then holds, even if @src changes meanwhile.
 */
uint32_t pier__crc32_copy(uint32_t crc, void *dst, size_t before,
			  const void *src, size_t len);

#endif
