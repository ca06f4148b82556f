/* SPDX-License-Identifier: BSD-2-Clause */
#include <isa-l/crc.h>

#include "core/crc.h"

/*
 * isa-l's AVX-512 code leaves the upper halves of the vector registers dirty.
 * Until they are cleared each SSE instruction, as in the copy of a struct, has
 * a false dependency on them.
 */
#ifdef __x86_64__
static void __attribute__((target("avx"))) clear_upper(void)
{
	__builtin_ia32_vzeroupper();
}

uint32_t pier__crc32(uint32_t crc, const void *data, size_t len)
{
	crc = crc32_gzip_refl(crc, data, len);
	if (__builtin_cpu_supports("avx"))
		clear_upper();
	return crc;
}
#else
uint32_t pier__crc32(uint32_t crc, const void *data, size_t len)
{
	return crc32_gzip_refl(crc, data, len);
}
#endif
