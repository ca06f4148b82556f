/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_COPY_H
#define PIER_CORE_COPY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copy a caller's configuration of @src_size bytes (its first member) into
 * ours of @size: a shorter one leaves the rest zero; a longer one is from a
 * newer header and must be zero behind @size.
 * Errors: -EINVAL, no size at all, or an unknown field is set.
 */
int pier__config_copy(void *dst, size_t size, const void *src, size_t src_size);

/*
 * Settle *@field, a uint32_t where 0 means @def and PIER_ZERO means 0, within
 * @min to @max.  Errors: -EINVAL, with the field's @name, value and range.
 */
int pier__config_u32(uint32_t *field, const char *name, uint32_t def,
		     uint32_t min, uint32_t max);

#endif
