/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_NETNS_H
#define PIER_T_LIB_NETNS_H

#include <stdbool.h>

/*
 * A network namespace of the test's own, as root, else as the root of a user
 * namespace.  Returns false: the test runs in that of everybody, and must
 * change nothing.  Before any thread is started.
 */
bool netns_enter(void);

/* Run ip(8).  Returns whether it worked; the test is skipped if not. */
bool netns_ip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
