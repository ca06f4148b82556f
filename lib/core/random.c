/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "core/random.h"

void pier__random(void *ret, size_t len)
{
	uint8_t *at = ret;
	ssize_t n;

	while (len) {
		n = getrandom(at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			abort();	/* a guessable key is worse */
		at += n;
		len -= (size_t)n;
	}
}

bool pier__random_same(const void *a, const void *b, size_t len)
{
	const uint8_t *left = a, *right = b;
	uint8_t differ = 0;

	for (size_t i = 0; i < len; i++)
		differ |= left[i] ^ right[i];
	return !differ;
}

uint64_t pier__random64(void)
{
	uint64_t value;

	pier__random(&value, sizeof(value));
	return value;
}

/* A 64-bit number leaves a bias below 2^-32. */
uint32_t pier__random_id(uint32_t max)
{
	return (uint32_t)(pier__random64() % max) + 1;
}
