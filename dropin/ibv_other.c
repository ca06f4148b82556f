/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries of rdma-core that a program has loaded by their paths. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "core/fail.h"
#include "dropin/dropin.h"

static const char *const names[] = { "libibverbs.so", "librdmacm.so" };

#define NAMES (sizeof(names) / sizeof(names[0]))

/* How many bytes of @path are its folder. */
static size_t folder(const char *path)
{
	const char *end = strrchr(path, '/');

	return end ? (size_t)(end - path) : 0;
}

/* @own: a path in our folder. */
static int report(struct dl_phdr_info *info, size_t size, void *own)
{
	const char *path = info->dlpi_name;
	size_t len = folder(path), i;

	(void)size;
	if (!len || (len == folder(own) && !strncmp(path, own, len)))
		return 0;
	for (i = 0; i < NAMES; i++)
		if (!strncmp(path + len + 1, names[i], strlen(names[i])))
			pier__log(PIER_LOG_CRITICAL, "verbs", "the program has "
				  "loaded %s by its path, which has no soft "
				  "devices", path);
	return 0;
}

/*
 * Nothing can take the place of a library that is loaded by its path.  If it
 * is still there at the end, the program has used it.
 */
__attribute__((destructor)) static void report_others(void)
{
	Dl_info own;

	if (dladdr((void *)report_others, &own) && own.dli_fname)
		dl_iterate_phdr(report, (void *)own.dli_fname);
}
