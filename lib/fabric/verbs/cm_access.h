/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_VERBS_CM_ACCESS_H
#define PIER_FABRIC_VERBS_CM_ACCESS_H

#include <stddef.h>

/* The size of a message. */
#define PIER__CM_REASON_MAX 320

/*
 * Can the kernel's connection manager be opened, below @root ("" but in
 * tests)? 0: yes, or its module may be loaded on demand; else the error and a
 * message with the fix.
 */
int pier__verbs_cm_check(const char *root, char *ret, size_t size);

/* The message for @err of opening it. */
void pier__verbs_cm_reason(int err, char *ret, size_t size);

#endif
