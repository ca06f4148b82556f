/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_FUZZ_FUZZ_H
#define PIER_T_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A fuzz target is one source that defines this.  libFuzzer calls it with
 * inputs that it makes up (configure --enable-fuzz, make fuzz); replay.c calls
 * it with those of t/data/fuzz.  It returns 0, and aborts if what must hold
 * does not.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the library takes for random begins anew (chance.c). */
void fuzz_seed(uint64_t from);

/* What must hold, whatever the input is. */
#define MUST(cond) \
	((cond) ? (void)0 : fuzz_broken(#cond, __FILE__, __LINE__))

static inline void fuzz_broken(const char *cond, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, cond);
	abort();
}

/* An input that is read from its beginning; zeros follow its end. */
struct fuzz_in {
	const uint8_t *data;
	size_t left;
};

static inline uint32_t fuzz_take(struct fuzz_in *in, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--) {
		v <<= 8;
		if (in->left) {
			v |= *in->data++;
			in->left--;
		}
	}
	return v;
}

#endif
