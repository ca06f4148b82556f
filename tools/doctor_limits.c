/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

/* Limits of this process, which others that are started like it have, too. */

#define PINNED_MIN (UINT64_C(64) << 20)	/* for queues and some buffers */
#define FIRST_USER_NAMESPACE 0xeffffffdu	/* its inode, in every kernel */
#define SOCKET_BUFFER (8 << 20)	/* what soft devices request */

/* The right counts in the first user namespace: root of another has none. */
static bool may_pin_all(void)
{
	uint64_t rights = doctor_status("CapEff", 16);
	struct stat ns;

	return rights >> CAP_IPC_LOCK & 1 &&
	       (stat("/proc/self/ns/user", &ns) ||
		ns.st_ino == FIRST_USER_NAMESPACE);
}

/* Only devices of the kernel pin memory. */
static void check_locked_memory(struct doctor *d)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	char size[TOOL_SIZE_TEXT];
	json_t *finding;
	bool low;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY || may_pin_all()) {
		doctor_add(d, "locked_memory", DOCTOR_OK, "no limit of locked "
			   "memory%s", limit.rlim_cur == RLIM_INFINITY ? "" :
			   " for this process, which has CAP_IPC_LOCK");
		return;
	}
	low = limit.rlim_cur < PINNED_MIN;
	tool_size(limit.rlim_cur, size);
	finding = doctor_add(d, "locked_memory", low && doctor_has_rdma(d) ?
			     DOCTOR_WARNING : DOCTOR_OK, "the limit of locked "
			     "memory is %s%s", size, !doctor_has_rdma(d) ?
			     "; soft devices lock none" : low ?
			     ", which holds few queues and buffers" : "");
	tool_json_set(finding, "bytes",
		      json_integer((json_int_t)limit.rlim_cur));
	if (low && doctor_has_rdma(d))
		doctor_remedy(finding, "ulimit -l unlimited (shell), "
			      "LimitMEMLOCK=infinity (systemd), --ulimit "
			      "memlock=-1 (container)");
}

/* What the kernel grants; its own overhead is as much again. */
static int granted(int force, int plain, int get)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int size = SOCKET_BUFFER;
	socklen_t len = sizeof(size);

	if (fd < 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, plain, &size, sizeof(size));
	if (getsockopt(fd, SOL_SOCKET, get, &size, &len))
		size = 0;
	close(fd);
	return size / 2;
}

static void check_buffer(struct doctor *d, const char *check, const char *what,
			 int bytes)
{
	char has[TOOL_SIZE_TEXT], asked[TOOL_SIZE_TEXT];
	bool full = bytes >= SOCKET_BUFFER;
	json_t *finding;

	tool_size((uint64_t)bytes, has);
	tool_size(SOCKET_BUFFER, asked);
	finding = doctor_add(d, check, full ? DOCTOR_OK : DOCTOR_WARNING,
			     "soft devices get %s of the %s that they request "
			     "to %s with%s", has, asked, what, full ? "" :
			     ": they lose packets under load");
	tool_json_set(finding, "bytes", json_integer(bytes));
	tool_json_set(finding, "requested", json_integer(SOCKET_BUFFER));
	if (!full)
		doctor_remedy(finding, "sysctl -w net.core.%cmem_max=%d",
			      *check == 'r' ? 'r' : 'w', SOCKET_BUFFER);
}

void doctor_limits(struct doctor *d)
{
	check_locked_memory(d);
	check_buffer(d, "receive_buffer", "receive",
		     granted(SO_RCVBUFFORCE, SO_RCVBUF, SO_RCVBUF));
	check_buffer(d, "send_buffer", "send",
		     granted(SO_SNDBUFFORCE, SO_SNDBUF, SO_SNDBUF));
}
