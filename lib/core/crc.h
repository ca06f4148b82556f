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

#endif
