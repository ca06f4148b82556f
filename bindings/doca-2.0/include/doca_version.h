/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_VERSION_2_0_H
#define DOCA_VERSION_2_0_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the interface, not of pier. */
#define DOCA_VERSION_MAJOR 2
#define DOCA_VERSION_MINOR 0
#define DOCA_VERSION_PATCH 2
#define DOCA_VERSION_STRING "2.0.2"

/* That of the library that runs. */
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif
