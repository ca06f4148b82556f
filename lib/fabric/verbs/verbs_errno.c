/* SPDX-License-Identifier: BSD-2-Clause */
/* The error of a verbs call. */
#include <errno.h>

#include "fabric/verbs/verbs_impl.h"

int pier__verbs_error(int rc)
{
	if (rc > 0)
		return -rc;
	if (rc < -1)
		return rc;
	/* A library that sets no errno must not turn failure into success. */
	return errno > 0 ? -errno : -EIO;
}
