/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_VERSION_H
#define PIER_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers, and of the library in use.  Any thread. */
#define PIER_VERSION "0.1.0"

/* The same in numbers, for #if: 1.2.3 is 10203. */
#define PIER_VERSION_MAJOR 0
#define PIER_VERSION_MINOR 1
#define PIER_VERSION_PATCH 0
#define PIER_VERSION_NUMBER \
	(10000 * PIER_VERSION_MAJOR + 100 * PIER_VERSION_MINOR + \
	 PIER_VERSION_PATCH)

const char *pier_version(void);

#ifdef __cplusplus
}
#endif

#endif
