/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t/lib/forbid.h"

static bool install(struct sock_filter *code, unsigned short count)
{
	struct sock_fprog program = { count, code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_TSYNC, &program);
}

bool forbid(long call, int error)
{
	return forbid_if(call, 0, 0, error);
}

bool forbid_if(long call, unsigned int arg, unsigned int bits, int error)
{
	uint32_t low = __BYTE_ORDER == __BIG_ENDIAN ? 4 : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args) + 8 * arg + low),
		BPF_JUMP(BPF_JMP | (bits ? BPF_JSET : BPF_JGE) | BPF_K, bits,
			 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(*code));
}
