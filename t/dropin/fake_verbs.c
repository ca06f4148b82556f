/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libibverbs.so.1 with two devices that are not soft, for real.sh.  Each call
 * on one of them fails with an errno of its own, so that a program finds out
 * which call has come here; what returns nothing counts in its object.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "dropin/real/calls.h"
#include "t/dropin/fake_verbs.h"

static struct verbs_context verbs;
static struct ibv_device devices[2] = {
	{ .name = FAKE_NAME, .dev_name = "uverbs3" },
	{ .name = "soft_lo", .dev_name = "uverbs7" },
};

#define FAKE(kind, type, name, parameters, arguments, device) \
type name parameters \
{ \
	errno = FAKE_##name; \
	return (type)0; \
}

#define FAKE_VOID(name, parameters, arguments, device) \
void name parameters \
{ \
	((struct fake_object *)fake_first arguments)->calls++; \
}

/* The first of the arguments, or the one. */
static void *fake_first(void *object, ...)
{
	return object;
}

/* These two do what they should, below. */
#define ibv_open_device fake_open_device
#define ibv_get_device_name fake_get_device_name
DROPIN_CALLS(FAKE)
#undef ibv_open_device
#undef ibv_get_device_name
DROPIN_VOID_CALLS(FAKE_VOID)

#define FAKE_POINTER(type, name, member, parameters, arguments, of) \
static type fake_##name parameters \
{ \
	errno = FAKE_##name; \
	return NULL; \
}

DROPIN_POINTERS(FAKE_POINTER)

#define SET_POINTER(type, name, member, parameters, arguments, of) \
	verbs.member = fake_##name;

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(3, sizeof(*list));

	list[0] = &devices[0];
	list[1] = &devices[1];
	if (num_devices)
		*num_devices = 2;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	errno = FAKE_ibv_get_device_name;
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	verbs.context.device = device;
	verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs.sz = sizeof(verbs);
	DROPIN_POINTERS(SET_POINTER)
	errno = FAKE_ibv_open_device;
	return &verbs.context;
}

void ibv_free_buf(struct ibv_buf *buf)
{
	((struct fake_object *)buf)->calls++;
}

int ibv_fork_init(void)
{
	return FAKE_FORK;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_ENABLED;
}

struct ibv_context *ibv_import_device(int fd)
{
	errno = FAKE_FORK + fd;
	return NULL;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	event->element.port_num++;
}
