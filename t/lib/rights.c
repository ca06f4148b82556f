/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t/lib/rights.h"

bool rights_ipc_lock(bool with)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data))
		return false;
	if (with)
		data[0].effective |= 1u << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1u << CAP_IPC_LOCK);
	return !syscall(SYS_capset, &head, data);
}
