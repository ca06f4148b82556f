/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "run_real.h"
#include "run_report.h"

/* Devices beside the soft ones. */

#define REAL_ENV "PIER_REAL_VERBS"	/* as dropin/real/real.h has it */
#define REAL_CM_ENV "PIER_REAL_CM"	/* and cma/cma_real.h */
#define OF_PIER "pier__dropin_cm_calls"	/* only pier's libibverbs has it, */
#define IS_SOFT "pier__dropin_is_soft"	/* and this, of a device */

static char **names;

/* Of libibverbs, whose header is not needed. */
static struct {
	void **(*list)(int *count);
	void (*free)(void **list);
	const char *(*name)(void *device);
	_Bool (*is_soft)(const void *device);	/* NULL: none is */
} verbs;

/* Returns false: it is not there. */
static int find(void *library, const char *name, void *ret)
{
	void *call = dlsym(library, name);

	memcpy(ret, &call, sizeof(call));
	return call != NULL;
}

static int find_all(void *library)
{
	return find(library, "ibv_get_device_list", &verbs.list) &&
	       find(library, "ibv_free_device_list", &verbs.free) &&
	       find(library, "ibv_get_device_name", &verbs.name);
}

/* Returns how many there are, 0 if that is not known. */
static int take_names(void)
{
	int count = 0, real = 0, i;
	void **list = verbs.list(&count);

	names = list ? calloc((size_t)count + 1, sizeof(*names)) : NULL;
	for (i = 0; names && i < count; i++)
		if (!verbs.is_soft || !verbs.is_soft(list[i]))
			names[real++] = strdup(verbs.name(list[i]));
	if (list)
		verbs.free(list);
	return real;
}

/* The file of @library that has @name, as a whole path; NULL: not known. */
static char *file_of(void *library, const char *name)
{
	void *at = dlsym(library, name);
	Dl_info info;

	return at && dladdr(at, &info) && info.dli_fname ?
		realpath(info.dli_fname, NULL) : NULL;
}

/* Of this pier or another: outside of this folder, in a pier run. */
static int is_of_pier(void *library)
{
	return dlsym(library, OF_PIER) != NULL;
}

static int forget(void)
{
	return unsetenv(REAL_ENV) || unsetenv(REAL_CM_ENV);
}

/* The file of librdmacm, which may be missing. */
static int set_cm(void)
{
	void *library = dlopen(RUN_CM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	char *path = library ? file_of(library, "rdma_create_id") : NULL;
	int err = path ? setenv(REAL_CM_ENV, path, 1) : unsetenv(REAL_CM_ENV);

	free(path);
	return err;
}

/* What the one of @path has. */
static int take(const char *path)
{
	return take_names() ? setenv(REAL_ENV, path, 1) || set_cm() : forget();
}

/* Within another pier run: that has set the environment. */
static void take_within(void *library)
{
	if (getenv(REAL_ENV) && find(library, IS_SOFT, &verbs.is_soft))
		take_names();
}

int tool_run_real(int only_soft)
{
	void *library = only_soft ? NULL :
				    dlopen(RUN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	char *path;
	int err = 0;

	if (!library || !find_all(library))
		return forget();
	if (is_of_pier(library)) {
		take_within(library);
		return 0;
	}
	path = file_of(library, "ibv_get_device_list");
	if (path)
		err = take(path);
	free(path);
	return err;
}

const char *const *tool_run_real_names(void)
{
	static const char *const none[] = { NULL };

	return names ? (const char *const *)names : none;
}
