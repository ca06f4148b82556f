/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions, and the limit of locked memory. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/bits.h"
#include "core/fail.h"
#include "fabric/verbs/verbs_impl.h"

#define FIRST_USER_NAMESPACE 0xeffffffdu	/* its inode, in every kernel */

/* The number of the line @name of this thread's status; 0: there is none. */
static uint64_t status_number(const char *name, int base)
{
	FILE *file = fopen("/proc/thread-self/status", "re");
	size_t len = strlen(name);
	uint64_t number = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, len) && line[len] == ':')
			number = strtoull(line + len + 1, NULL, base);
	}
	fclose(file);
	return number;
}

/* The right counts in the first user namespace: root of another has none. */
static bool is_exempt(void)
{
	uint64_t rights = status_number("CapEff", 16);
	struct stat ns;

	return rights >> CAP_IPC_LOCK & 1 &&
	       (stat("/proc/self/ns/user", &ns) ||
		ns.st_ino == FIRST_USER_NAMESPACE);
}

/*
 * ENOMEM is as good as always the limit of locked memory, which the kernel
 * counts in pages.  Memory of RDMA counts as pinned, other as locked: the
 * limit holds for each by itself.
 */
static bool is_over_limit(const struct rlimit *limit, size_t len,
			  uint64_t pinned_kib)
{
	return limit->rlim_cur != RLIM_INFINITY &&
	       pinned_kib * 1024 + len + 4095 > limit->rlim_cur &&
	       !is_exempt();
}

int pier__verbs_no_memory(const char *device, size_t len, const char *what)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	uint64_t pinned = status_number("VmPin", 10);

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (!is_over_limit(&limit, len, pinned))
		return pier__fail(-ENOMEM, "%s: %s: no memory; %" PRIu64 " KiB "
				  "are pinned already", device, what, pinned);
	return pier__fail(-ENOMEM, "%s: %s: the limit of locked memory is %"
			  PRIu64 " KiB, of which %" PRIu64 " are pinned; raise "
			  "it: ulimit -l unlimited (shell), "
			  "LimitMEMLOCK=infinity (systemd), --ulimit "
			  "memlock=-1 (container)", device, what,
			  (uint64_t)limit.rlim_cur / 1024, pinned);
}

/* What a device keeps of @ibv, the result of a registration. */
static int keep(struct pier__fdev *fdev, struct ibv_mr *ibv,
		struct verbs_mr *mr, struct pier__mr **ret)
{
	int err;

	if (!ibv) {
		err = pier__verbs_error(-1);
		free(mr);
		return err;
	}
	mr->ibv = ibv;
	mr->mr.fdev = fdev;
	mr->mr.lkey = ibv->lkey;
	mr->mr.rkey = ibv->rkey;
	*ret = &mr->mr;
	return 0;
}

#define ACCESS_TEXT 128

static const char *access_text(int access, char ret[ACCESS_TEXT])
{
	static const char *const names[] = {
		"IBV_ACCESS_LOCAL_WRITE",
		"IBV_ACCESS_REMOTE_WRITE",
		"IBV_ACCESS_REMOTE_READ",
		"IBV_ACCESS_REMOTE_ATOMIC",
	};

	if (!access)
		return "no access but local reads";
	return pier__bits_text((uint32_t)access, names, 4, ret, ACCESS_TEXT);
}

int pier__verbs_reg(struct pier__fdev *fdev, void *addr, size_t len,
		    int access, struct pier__mr **ret)
{
	struct verbs_dev *dev = verbs_dev(fdev);
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	char what[64], rights[ACCESS_TEXT];
	int err;

	if (!mr)
		return pier__fail(-ENOMEM, "%s: no memory", fdev->port.name);
	errno = 0;
	err = keep(fdev, ibv_reg_mr(dev->pd, addr, len, access), mr, ret);
	if (!err)
		return 0;
	snprintf(what, sizeof(what), "%zu bytes cannot be registered", len);
	if (err == -ENOMEM)
		return pier__verbs_no_memory(fdev->port.name, len, what);
	return pier__fail(err, "%s: %zu bytes at %p cannot be registered with "
			  "%s: %s", fdev->port.name, len, addr,
			  access_text(access, rights), pier_strerror(err));
}

int pier__verbs_reg_dmabuf(struct pier__fdev *fdev, int fd, uint64_t offset,
			   size_t len, uint64_t iova, int access,
			   struct pier__mr **ret)
{
	struct verbs_dev *dev = verbs_dev(fdev);
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	char rights[ACCESS_TEXT];
	int err;

	if (!mr)
		return pier__fail(-ENOMEM, "%s: no memory", fdev->port.name);
	errno = 0;
	err = keep(fdev, ibv_reg_dmabuf_mr(dev->pd, offset, len, iova, fd,
					   access), mr, ret);
	if (!err)
		return 0;
	if (err == -EPROTONOSUPPORT)	/* of a kernel without the call */
		err = -EOPNOTSUPP;
	return pier__fail(err, "%s: %zu bytes from %" PRIu64 " of the dma-buf "
			  "%d cannot be registered with %s: %s",
			  fdev->port.name, len, offset, fd,
			  access_text(access, rights),
			  err == -EOPNOTSUPP ? "its driver registers no "
			  "dma-bufs" : pier_strerror(err));
}

void pier__verbs_dereg(struct pier__mr *mr)
{
	struct verbs_mr *self = (struct verbs_mr *)mr;

	if (!mr)
		return;
	pier__verbs_log_end(mr->fdev->port.name, ibv_dereg_mr(self->ibv),
			    "a region stays registered");
	free(self);
}
