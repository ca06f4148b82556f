/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

#include <stddef.h>
#include <string.h>

#include <doca_build_config.h>

/*
 * Marks of functions.  Here none of them makes the compiler warn: whatever is
 * declared can be called.
 */
#define DOCA_STABLE __attribute__((visibility("default")))
#define DOCA_EXPERIMENTAL __attribute__((visibility("default")))
#define DOCA_DEPRECATED __attribute__((visibility("default")))
#define DOCA_USED __attribute__((used))

/*
 * Structures that carry the version of the headers they were compiled with:
 * START declares it as their first member, CTOR and DEF are for such a variable
 * and PTR_CTOR and MEMSET_CTOR for what a pointer leads to.
 */
#define DOCA_STRUCT_START size_t doca_struct_version
#ifdef __cplusplus
#define DOCA_STRUCT_CTOR(type) \
	[] { \
		type made = {}; \
		made.doca_struct_version = DOCA_VERSION_OFFICIAL; \
		return made; \
	}()
#define DOCA_STRUCT_DEF(type, name) type name = DOCA_STRUCT_CTOR(type)
#else
#define DOCA_STRUCT_CTOR(type) \
	((type){ .doca_struct_version = DOCA_VERSION_OFFICIAL })
#define DOCA_STRUCT_DEF(type, name) \
	type name = { .doca_struct_version = DOCA_VERSION_OFFICIAL }
#endif
#define DOCA_STRUCT_PTR_CTOR(ptr) \
	((ptr)->doca_struct_version = DOCA_VERSION_OFFICIAL)
#define DOCA_STRUCT_MEMSET_CTOR(ptr) \
	(memset((ptr), 0, sizeof(*(ptr))), DOCA_STRUCT_PTR_CTOR(ptr))
#define DOCA_STRUCT_GET_VERSION(ptr) ((ptr)->doca_struct_version)

/* DOCA_VERSION_OFFICIAL, for the above. */
#include <doca_version.h>

#endif
