/* SPDX-License-Identifier: BSD-2-Clause */
/* The errno of calls that programs make by a pointer in a real context. */
#include <pthread.h>
#include <stdlib.h>

#include "core/list.h"
#include "dropin/cm.h"
#include "dropin/real/real.h"

#define FIELD(type, name, member, parameters, arguments, of) \
	type (*name) parameters;

/* What a context has had, whose pointers are those below. */
struct host_calls {
	struct pier__list link;		/* of all */
	const struct ibv_context *context;
	DROPIN_POINTERS(FIELD)
};

static struct pier__list all = { &all, &all };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child finds the list whole. */
__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(take, give, give);
}

/* With the lock. */
static struct host_calls *find(const struct ibv_context *context)
{
	struct pier__list *pos, *tmp;
	struct host_calls *calls;

	PIER__LIST_EACH(pos, tmp, &all) {
		calls = pier__container_of(pos, struct host_calls, link);
		if (calls->context == context)
			return calls;
	}
	return NULL;
}

static const struct host_calls *calls_of(const struct ibv_context *context)
{
	const struct host_calls *calls;

	pthread_mutex_lock(&lock);
	calls = find(context);
	pthread_mutex_unlock(&lock);
	return calls;
}

#define CALL(type, name, member, parameters, arguments, of) \
static type call_##name parameters \
{ \
	const struct host_calls *calls = calls_of(of); \
	type value; \
\
	pier__dropin_real_enter(); \
	value = calls->name arguments; \
	pier__dropin_real_leave(); \
	return value; \
}

DROPIN_POINTERS(CALL)

/* One of an older rdma-core is shorter, and begins later. */
#define REPLACE(type, name, member, parameters, arguments, of) \
	if (verbs->sz >= sizeof(*verbs) - \
			 offsetof(struct verbs_context, member) && \
	    verbs->member && verbs->member != call_##name) { \
		calls->name = verbs->member; \
		verbs->member = call_##name; \
	}

static void replace_all(struct verbs_context *verbs, struct host_calls *calls)
{
	DROPIN_POINTERS(REPLACE)
}

/*
 * The host's librdmacm closes its contexts itself: one that has come to lie in
 * the place of such a one gets what that had.
 */
void pier__dropin_real_context(struct ibv_context *context)
{
	struct verbs_context *verbs = context ? verbs_get_ctx(context) : NULL;
	struct host_calls *calls;

	if (!verbs)
		return;
	pthread_mutex_lock(&lock);
	calls = find(context);
	if (!calls) {
		calls = calloc(1, sizeof(*calls));
		if (calls)
			pier__list_add(&all, &calls->link);
	}
	if (calls) {
		calls->context = context;
		replace_all(verbs, calls);
	}
	pthread_mutex_unlock(&lock);
}

static struct ibv_context *(*host_open)(struct ibv_device *device);
static struct ibv_context *(*host_import)(int fd);
static int (*host_close)(struct ibv_context *context);

static struct ibv_context *open_device(struct ibv_device *device)
{
	struct ibv_context *context = host_open(device);

	pier__dropin_real_context(context);
	return context;
}

static struct ibv_context *import_device(int fd)
{
	struct ibv_context *context = host_import(fd);

	pier__dropin_real_context(context);
	return context;
}

/* Another thread may open one in its place as soon as it is closed. */
static int close_device(struct ibv_context *context)
{
	struct host_calls *calls;
	int err;

	pthread_mutex_lock(&lock);
	calls = find(context);
	if (calls)
		pier__list_del(&calls->link);
	pthread_mutex_unlock(&lock);
	err = host_close(context);
	if (!err) {
		free(calls);
	} else if (calls) {
		pthread_mutex_lock(&lock);
		pier__list_add(&all, &calls->link);
		pthread_mutex_unlock(&lock);
	}
	return err;
}

void pier__dropin_real_around(struct dropin_real *real)
{
	host_open = real->ibv_open_device;
	host_import = real->ibv_import_device;
	host_close = real->ibv_close_device;
	real->ibv_open_device = open_device;
	real->ibv_import_device = import_device;
	real->ibv_close_device = close_device;
}
