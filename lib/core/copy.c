/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/rdma.h>

#include "core/copy.h"
#include "core/fail.h"

int pier__config_copy(void *dst, size_t size, const void *src, size_t src_size)
{
	const unsigned char *bytes = src;

	if (src_size < sizeof(size_t))
		return pier__fail(-EINVAL, "configuration of size %zu: set "
				  "its first member to its sizeof", src_size);
	for (size_t i = size; i < src_size; i++)
		if (bytes[i])
			return pier__fail(-EINVAL, "configuration of %zu "
					  "bytes: byte %zu is set, but this "
					  "pier has %zu", src_size, i, size);

	memset(dst, 0, size);
	memcpy(dst, src, src_size < size ? src_size : size);
	memcpy(dst, &size, sizeof(size));	/* ours is whole */
	return 0;
}

int pier__config_u32(uint32_t *field, const char *name, uint32_t def,
		     uint32_t min, uint32_t max)
{
	uint32_t value = *field;

	if (!value)
		value = def;
	else if (value == PIER_ZERO && min)
		return pier__fail(-EINVAL, "%s PIER_ZERO: %u to %u, 0 for %u",
				  name, min, max, def);
	else if (value == PIER_ZERO)
		value = 0;
	if (value < min || value > max)
		return pier__fail(-EINVAL, "%s %u: %u to %u, 0 for %u", name,
				  value, min, max, def);
	*field = value;
	return 0;
}
