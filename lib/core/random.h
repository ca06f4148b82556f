/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_RANDOM_H
#define PIER_CORE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Unpredictable numbers, from the kernel.  Any thread. */
void pier__random(void *ret, size_t len);
uint64_t pier__random64(void);

/* 1 to @max. */
uint32_t pier__random_id(uint32_t max);

#endif
