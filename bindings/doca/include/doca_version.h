/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_VERSION_H
#define DOCA_VERSION_H

#include <string.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the interface, not of pier. */
#define DOCA_VERSION_MAJOR 3
#define DOCA_VERSION_MINOR 3
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "3.3.0"

/* Versions as numbers that can be compared. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | (patch)))
#define DOCA_VERSION_CALC(major, minor, patch) \
	((size_t)((major) << 24 | (minor) << 16 | ((patch)*1000)))
#define DOCA_VERSION_EXACT \
	DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, \
				DOCA_VERSION_PATCH)
#define DOCA_VERSION_OFFICIAL \
	DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, \
			  DOCA_VERSION_PATCH)
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/*
 * Structures that carry the version of the headers they were compiled with:
 * START declares it as their first member, CTOR and DEF are for such a variable
 * and PTR_CTOR and MEMSET_CTOR for what a pointer leads to.
 */
#define DOCA_STRUCT_START size_t doca_struct_version
#define DOCA_STRUCT_CTOR(type) \
	((type){ .doca_struct_version = DOCA_VERSION_OFFICIAL })
#define DOCA_STRUCT_DEF(type, name) type name = DOCA_STRUCT_CTOR(type)
#define DOCA_STRUCT_PTR_CTOR(ptr) \
	((ptr)->doca_struct_version = DOCA_VERSION_OFFICIAL)
#define DOCA_STRUCT_MEMSET_CTOR(ptr) \
	(memset((ptr), 0, sizeof(*(ptr))), DOCA_STRUCT_PTR_CTOR(ptr))
#define DOCA_STRUCT_GET_VERSION(ptr) ((ptr)->doca_struct_version)

/* Of these headers, when the program was compiled. */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/* Of the library that the program runs with. */
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif
