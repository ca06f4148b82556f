/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_version.h>

const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}
