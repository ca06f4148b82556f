/* SPDX-License-Identifier: BSD-2-Clause */
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor.h"

/* Versions, and the modules of the kernel. */

/* Of the libraries that are loaded: put the path of libibverbs in @arg. */
static int find_libibverbs(struct dl_phdr_info *lib, size_t size, void *arg)
{
	(void)size;
	if (fnmatch("*/libibverbs.so*", lib->dlpi_name, 0))
		return 0;
	snprintf(arg, PATH_MAX, "%s", lib->dlpi_name);
	return 1;
}

/* The file is called libibverbs.so.1.14.44.0 in rdma-core 44.0. */
static void check_rdma_core(struct doctor *d)
{
	char path[PATH_MAX] = "", real[PATH_MAX];
	unsigned int major, minor;
	const char *name;

	if (!dl_iterate_phdr(find_libibverbs, path) ||
	    !realpath(path, real)) {
		doctor_add(d, "rdma_core", DOCTOR_OK,
			   "the version of rdma-core is not known");
		return;
	}
	name = strrchr(real, '/') + 1;
	if (sscanf(name, "libibverbs.so.%*u.%*u.%u.%u", &major, &minor) == 2)
		doctor_add(d, "rdma_core", DOCTOR_OK,
			   "rdma-core %u.%u: %s", major, minor, real);
	else
		doctor_add(d, "rdma_core", DOCTOR_OK, "rdma-core of "
			   "a version that is not known: %s", real);
}

static void check_kernel(struct doctor *d)
{
	struct utsname name;

	uname(&name);
	doctor_add(d, "kernel_version", DOCTOR_OK, "Linux %s, %s",
		   name.release, name.machine);
}

void doctor_versions(struct doctor *d)
{
	doctor_add(d, "pier_version", DOCTOR_OK, "pier %s", pier_version());
	check_rdma_core(d);
	check_kernel(d);
}
