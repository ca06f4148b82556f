/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_RUN_ELF_H
#define PIER_TOOLS_RUN_ELF_H

/* What a file is to the dynamic linker. */
enum run_elf {
	RUN_ELF_DYNAMIC,	/* or no ELF file, but a script */
	RUN_ELF_STATIC,
	RUN_ELF_FOREIGN,	/* of another class or machine than this one */
};

/* Below 0 with errno: it cannot be read. */
int tool_run_elf(const char *path);

#endif
