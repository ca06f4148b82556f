/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/crc.h"

/*
 * A copy waits for memory, so a CRC computed in the same pass costs little.
 * isa-l has no copy with this polynomial.  This one is for processors with
 * AVX-512 and VPCLMULQDQ; others copy first and compute the CRC afterwards.
 * docs/decisions.md has the measurements.
 */
#ifdef __x86_64__
#include <immintrin.h>

#define STRIDE 256		/* bytes of a round of the loop */
#define VECTOR __attribute__((target("avx512f,pclmul,vpclmulqdq")))

/*
 * To move a remainder over D bits its halves are multiplied by x^(D+32) and
 * x^(D-32), modulo the polynomial and bit-reversed.
 */
#define OVER_2048 0x1322d1430, 0x11542778a
#define OVER_512 0x1c6e41596, 0x154442bd4
#define OVER_128 0x0ccaa009e, 0x1751997d0
#define OVER_64 0, 0x163cd6124
#define POLYNOMIAL 0x1f7011641, 0x1db710641	/* x^64 by it; itself */

static inline __m512i VECTOR move4(__m512i a, __m512i by, __m512i on)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, by, 0x00),
					 _mm512_clmulepi64_epi128(a, by, 0x11),
					 on, 0x96);
}

static inline __m128i VECTOR move(__m128i a, __m128i by, __m128i on)
{
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00),
					   _mm_clmulepi64_si128(a, by, 0x11)),
			     on);
}

/* From 128 bits to the 32 of the CRC. */
static inline uint32_t VECTOR reduce(__m128i a)
{
	const __m128i low = _mm_set_epi32(0, 0, 0, -1);
	const __m128i polynomial = _mm_set_epi64x(POLYNOMIAL);
	__m128i b;

	b = _mm_clmulepi64_si128(a, _mm_set_epi64x(OVER_128), 0x10);
	a = _mm_xor_si128(_mm_srli_si128(a, 8), b);
	b = _mm_clmulepi64_si128(_mm_and_si128(a, low),
				 _mm_set_epi64x(OVER_64), 0x00);
	a = _mm_xor_si128(_mm_srli_si128(a, 4), b);
	b = _mm_clmulepi64_si128(_mm_and_si128(a, low), polynomial, 0x10);
	b = _mm_clmulepi64_si128(_mm_and_si128(b, low), polynomial, 0x00);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(a, b), 1);
}

/* Four remainders, each of every fourth 16 bytes. */
static inline __m128i VECTOR join(__m512i a)
{
	const __m128i by = _mm_set_epi64x(OVER_128);
	__m128i one = _mm512_castsi512_si128(a);

	one = move(one, by, _mm512_extracti32x4_epi32(a, 1));
	one = move(one, by, _mm512_extracti32x4_epi32(a, 2));
	return move(one, by, _mm512_extracti32x4_epi32(a, 3));
}

static inline __m512i VECTOR pass(uint8_t *dst, const uint8_t *src)
{
	__m512i bytes = _mm512_loadu_si512(src);

	_mm512_storeu_si512(dst, bytes);
	return bytes;
}

/* @len is a multiple of STRIDE, and not 0. */
static uint32_t VECTOR copy(uint32_t crc, uint8_t *dst, const uint8_t *src,
			    size_t len)
{
	const __m512i far = _mm512_broadcast_i32x4(_mm_set_epi64x(OVER_2048));
	const __m512i near = _mm512_broadcast_i32x4(_mm_set_epi64x(OVER_512));
	__m512i a = _mm512_xor_si512(pass(dst, src), _mm512_maskz_set1_epi32(
							     1, (int)~crc));
	__m512i b = pass(dst + 64, src + 64);
	__m512i c = pass(dst + 128, src + 128);
	__m512i d = pass(dst + 192, src + 192);

	while (len -= STRIDE) {
		dst += STRIDE;
		src += STRIDE;
		a = move4(a, far, pass(dst, src));
		b = move4(b, far, pass(dst + 64, src + 64));
		c = move4(c, far, pass(dst + 128, src + 128));
		d = move4(d, far, pass(dst + 192, src + 192));
	}
	b = move4(a, near, b);
	c = move4(b, near, c);
	return ~reduce(join(move4(c, near, d)));
}

/* Returns how many of @len bytes copy() takes. */
static size_t vector_len(size_t len)
{
	if (!__builtin_cpu_supports("avx512f") ||
	    !__builtin_cpu_supports("vpclmulqdq"))
		return 0;
	return len / STRIDE * STRIDE;
}
#else
static uint32_t copy(uint32_t crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	memcpy(dst, src, len);
	return pier__crc32(crc, dst, len);
}

static size_t vector_len(size_t len)
{
	(void)len;
	return 0;
}
#endif

uint32_t pier__crc32_copy(uint32_t crc, void *dst, size_t before,
			  const void *src, size_t len)
{
	size_t fast = vector_len(len);
	uint8_t *to = dst;

	if (fast) {
		crc = pier__crc32(crc, to - before, before);
		crc = copy(crc, to, src, fast);
		before = 0;
		if (fast == len)
			return crc;
	}
	if (len > fast)
		memcpy(to + fast, (const uint8_t *)src + fast, len - fast);
	return pier__crc32(crc, to + fast - before, before + len - fast);
}
