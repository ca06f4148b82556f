/* SPDX-License-Identifier: BSD-2-Clause */
/* The error of a verbs call. */
#include <errno.h>

#include "core/fail.h"
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

void pier__verbs_log_end(const char *device, int rc, const char *what)
{
	if (rc)
		pier__log(PIER_LOG_ERROR, "verbs", "%s: %s: %s", device, what,
			  pier_strerror(rc));
}
