/* SPDX-License-Identifier: BSD-2-Clause */
#include <isa-l/crc.h>

#include "core/crc.h"

uint32_t pier__crc32(uint32_t crc, const void *data, size_t len)
{
	return crc32_gzip_refl(crc, data, len);
}
