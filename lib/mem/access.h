/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_MEM_ACCESS_H
#define PIER_MEM_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/mmap.h>

/* All bits of enum pier_access, and a number, fit. */
#define PIER__ACCESS_TEXT 192

/*
 * The names of the bits of @access, "PIER_LOCAL_READ | PIER_REMOTE_READ"; of
 * bits without a name the number; "no access" if there is none.  @ret is used.
 */
const char *pier__access_text(uint32_t access, char ret[PIER__ACCESS_TEXT]);

/* May its owner write memory with @access? */
static inline bool pier__access_writes(uint32_t access)
{
	return access & (PIER_LOCAL_WRITE | PIER_REMOTE_WRITE |
			 PIER_REMOTE_ATOMIC | PIER_PEER_WRITE);
}

/* May other processes? */
static inline bool pier__access_is_written(uint32_t access)
{
	return access & (PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC |
			 PIER_PEER_WRITE);
}

#endif
