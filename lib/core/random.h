/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_RANDOM_H
#define PIER_CORE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unpredictable numbers, from the kernel.  Any thread. */
void pier__random(void *ret, size_t len);
uint64_t pier__random64(void);

/* Are the secrets the same?  Takes as long for every one. */
bool pier__random_same(const void *a, const void *b, size_t len);

/* 1 to @max. */
uint32_t pier__random_id(uint32_t max);

#endif
