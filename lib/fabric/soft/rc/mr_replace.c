/* SPDX-License-Identifier: BSD-2-Clause */
/* Other memory in the place of one that another process does not let go. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "core/device_access.h"
#include "core/fail.h"
#include "fabric/soft/rc/mr.h"

/* Its last seal marks the memfd as one that has no memory of ours any more. */
void pier__soft_mr_replace(struct soft_mr *mr)
{
	int memfd = atomic_exchange(&mr->memfd, -1);
	void *at = (void *)(uintptr_t)(mr->addr + mr->shift), *new;

	if (memfd < 0)
		return;
	pier__log(PIER_LOG_WARNING, "soft", "a process of this host is stopped "
		  "while it uses %zu bytes at %p: they get other memory, which "
		  "no process shares", mr->len, at);
	new = mmap(NULL, mr->len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (new == MAP_FAILED)
		return;
	pier__device_access_begin();
	memcpy(new, at, mr->len);
	pier__device_access_end();
	if (mremap(new, mr->len, mr->len, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
	    MAP_FAILED)
		munmap(new, mr->len);
	else
		fcntl(memfd, F_ADD_SEALS, F_SEAL_SEAL);
}
