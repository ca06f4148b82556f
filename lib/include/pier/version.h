/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_VERSION_H
#define PIER_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers, and of the library in use.  Any thread. */
#define PIER_VERSION "0.1.0"

const char *pier_version(void);

#ifdef __cplusplus
}
#endif

#endif
