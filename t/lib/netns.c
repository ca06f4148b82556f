/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "t/lib/netns.h"
#include "t/lib/tap.h"

bool netns_enter(void)
{
	return !unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

bool netns_ip(const char *fmt, ...)
{
	char args[256], cmd[288];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(cmd, sizeof(cmd), "ip %s 2>/dev/null", args);
	if (!system(cmd))
		return true;
	tap_note("failed: %s", cmd);
	tap_skip("ip(8) cannot do it here");
	return false;
}
