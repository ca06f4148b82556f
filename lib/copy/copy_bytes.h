/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_BYTES_H
#define PIER_COPY_COPY_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Numbers in network order at *at, which moves behind them. */

static inline void pier__put32(uint8_t **at, uint32_t value)
{
	value = htobe32(value);
	memcpy(*at, &value, sizeof(value));
	*at += sizeof(value);
}

static inline void pier__put64(uint8_t **at, uint64_t value)
{
	value = htobe64(value);
	memcpy(*at, &value, sizeof(value));
	*at += sizeof(value);
}

static inline uint32_t pier__get32(const uint8_t **at)
{
	uint32_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return be32toh(value);
}

static inline uint64_t pier__get64(const uint8_t **at)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return be64toh(value);
}

#endif
