/* SPDX-License-Identifier: BSD-2-Clause */
/* Loading the libibverbs.so.1 of the host. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dropin/cm.h"
#include "dropin/real/real.h"

/* In ibv_private.c: what stands for a call that it does not have. */
int pier__dropin_fails(void);
int pier__dropin_negative(void);
void *pier__dropin_none(void);
void pier__dropin_ignores(void);

const struct dropin_real *pier__dropin_real_loaded;

void pier__dropin_real_refuse(const char *of, const char *path,
			      const char *reason)
{
	pier__log(PIER_LOG_CRITICAL, of, "no devices but soft ones: %s %s",
		  path, reason);
}

static struct ibv_device **first_list;	/* kept: the names are in it */
static size_t next_number;
static void (*_Atomic qp_ends)(struct ibv_qp *qp);	/* or NULL */

#ifdef LM_ID_NEWLM

static struct dropin_real real;
static int (*host_destroy_qp)(struct ibv_qp *qp);

static int destroy_qp(struct ibv_qp *qp)
{
	void (*ends)(struct ibv_qp *qp) = qp_ends;

	if (ends)
		ends(qp);
	return host_destroy_qp(qp);
}

/* @other stands for what @library does not have. */
static void find(void *library, const char *name, void (*other)(void),
		 void *ret)
{
	void *call = dlsym(library, name);

	memcpy(ret, call ? (void *)&call : (void *)&other, sizeof(call));
}

#define FAILS ((void (*)(void))pier__dropin_fails)
#define NEGATIVE ((void (*)(void))pier__dropin_negative)
#define NONE ((void (*)(void))pier__dropin_none)
#define FIND(kind, type, name, parameters, arguments, device) \
	find(library, #name, kind, &real.name);
#define FIND_VOID(name, parameters, arguments, device) \
	find(library, #name, pier__dropin_ignores, &real.name);

static void find_calls(void *library)
{
	DROPIN_CALLS(FIND)
	DROPIN_OTHER_CALLS(FIND)
	DROPIN_VOID_CALLS(FIND_VOID)
	DROPIN_OTHER_VOID_CALLS(FIND_VOID)
	find(library, "__errno_location", NULL, &real.error);
	host_destroy_qp = real.ibv_destroy_qp;
	real.ibv_destroy_qp = destroy_qp;
	pier__dropin_real_around(&real);
}

static void look_at_devices(void)
{
	size_t i, number;

	first_list = real.ibv_get_device_list(NULL);
	for (i = 0; first_list && first_list[i]; i++) {
		if (sscanf(first_list[i]->dev_name, "uverbs%zu", &number) != 1)
			continue;
		if (number >= next_number)
			next_number = number + 1;
	}
}

static Lmid_t space;

static void *open_in(Lmid_t where, const char *path)
{
	void *library = dlmopen(where, path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		pier__log(PIER_LOG_CRITICAL, "verbs", "no devices but soft "
			  "ones: %s", dlerror());
	return library;
}

void *pier__dropin_real_load(const char *path)
{
	return pier__dropin_real() ? open_in(space, path) : NULL;
}

/* It would load itself again, and again. */
static bool is_of_pier(void *library, const char *path)
{
	if (!dlsym(library, "pier__dropin_cm_calls"))
		return false;
	pier__dropin_real_refuse("verbs", path, "is pier's own, not the "
				 "host's");
	return true;
}

static void load(void)
{
	const char *path = secure_getenv(DROPIN_REAL_ENV);
	void *library;

	if (!path || !*path)
		return;
	library = open_in(LM_ID_NEWLM, path);
	if (!library || is_of_pier(library, path) ||
	    dlinfo(library, RTLD_DI_LMID, &space))
		return;
	find_calls(library);
	look_at_devices();
	pier__dropin_real_loaded = &real;
}

#else

void *pier__dropin_real_load(const char *path)
{
	(void)path;
	return NULL;
}

/* Without namespaces: one C library has all names. */
static void load(void)
{
	if (secure_getenv(DROPIN_REAL_ENV))
		pier__log(PIER_LOG_CRITICAL, "verbs", "no devices but soft "
			  "ones: the C library has no dlmopen()");
}

#endif

void pier__dropin_real_watch_qps(void (*ends)(struct ibv_qp *qp))
{
	qp_ends = ends;
}

bool pier__dropin_real_find(void *library, const char *name, void *ret)
{
	void *call = dlsym(library, name);

	memcpy(ret, &call, sizeof(call));
	return call;
}

const struct dropin_real *pier__dropin_real(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err = errno;

	pthread_once(&once, load);
	errno = err;
	return pier__dropin_real_loaded;
}

bool pier__dropin_real_has(const char *name)
{
	size_t i;

	for (i = 0; first_list && first_list[i]; i++)
		if (!strcmp(first_list[i]->name, name))
			return true;
	return false;
}

size_t pier__dropin_real_next(void)
{
	return next_number;
}
