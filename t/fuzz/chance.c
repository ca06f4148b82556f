/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/random.h"
#include "t/fuzz/fuzz.h"

/* The same numbers in every run: these take the place of the library's. */
static uint64_t seed;

void fuzz_seed(uint64_t from)
{
	seed = from;
}

uint64_t pier__random64(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void pier__random(void *ret, size_t len)
{
	uint8_t *at = ret;

	while (len--)
		*at++ = (uint8_t)pier__random64();
}

uint32_t pier__random_id(uint32_t max)
{
	return (uint32_t)(pier__random64() % max) + 1;
}
