/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "run_elf.h"

#define HEADERS_MAX 128		/* of a program that is no nonsense */

/* Is one of the program headers that of an interpreter? */
static int judge(int fd, const ElfW(Ehdr) *head)
{
	ElfW(Phdr) phdr;
	int i;

	for (i = 0; i < head->e_phnum && i < HEADERS_MAX; i++) {
		off_t at = (off_t)(head->e_phoff + (size_t)i * sizeof(phdr));

		if (pread(fd, &phdr, sizeof(phdr), at) != sizeof(phdr))
			break;
		if (phdr.p_type == PT_INTERP)
			return RUN_ELF_DYNAMIC;
	}
	return RUN_ELF_STATIC;
}

/* The machine of this program. */
static int read_own(ElfW(Ehdr) *ret)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int ok = fd >= 0 && pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret);

	if (fd >= 0)
		close(fd);
	return ok;
}

int tool_run_elf(const char *path)
{
	ElfW(Ehdr) head, own;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = RUN_ELF_DYNAMIC;

	/* One that may be executed and not read is left to execve(2). */
	if (fd < 0)
		return errno == EACCES ? RUN_ELF_DYNAMIC : -1;
	memset(&head, 0, sizeof(head));
	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		goto out_close;		/* a script */
	if (read_own(&own) &&
	    (own.e_ident[EI_CLASS] != head.e_ident[EI_CLASS] ||
	     own.e_machine != head.e_machine))
		ret = RUN_ELF_FOREIGN;
	else
		ret = judge(fd, &head);
out_close:
	close(fd);
	return ret;
}
