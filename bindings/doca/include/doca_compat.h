/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_COMPAT_H
#define DOCA_COMPAT_H

#include <stddef.h>

#include <doca_build_config.h>

/*
 * Marks of functions.  Here none of them makes the compiler warn: whatever is
 * declared can be called.
 */
#define DOCA_STABLE __attribute__((visibility("default")))
#define DOCA_EXPERIMENTAL __attribute__((visibility("default")))
#define DOCA_DEPRECATED __attribute__((visibility("default")))
#define DOCA_USED __attribute__((used))

#endif
