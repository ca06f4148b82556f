/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program for libibverbs, for real.sh: soft devices beside those of
 * fake_verbs.c.  It prints what is not as it should be, and how many calls it
 * has made.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "dropin/real/calls.h"
#include "t/dropin/fake_verbs.h"

/* Of the private part of the interface. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, int *type);

static int failed, calls;
static struct fake_object object;

static void check(int ok, const char *what)
{
	calls++;
	failed |= !ok;
	if (!ok)
		printf("%s: errno %d\n", what, errno);
}

/* Each call on an object of the fake: which one has come there? */
#define TRY(kind, type, name, parameters, arguments, device) \
static void try_##name parameters \
{ \
	errno = 0; \
	(void)name arguments; \
	check(errno == FAKE_##name, #name); \
}

DROPIN_CALLS(TRY)

/* The same by a pointer of the context, as the header makes them. */
#define TRY_POINTER(type, name, member, parameters, arguments, of) \
static void try_##name parameters \
{ \
	errno = 0; \
	(void)verbs_get_ctx(of)->member arguments; \
	check(errno == FAKE_##name, #name); \
}

DROPIN_POINTERS(TRY_POINTER)

typedef void any_call(void *first, long, long, long, long, long);

/* Zeros behind the first argument, as many as there may be. */
static void call(void (*try)(void), void *first)
{
	any_call *volatile any = (any_call *)try;

	any(first, 0, 0, 0, 0, 0);
}

#define CALL(kind, type, name, parameters, arguments, device) \
	call((void (*)(void))try_##name, first);

#define CALL_POINTER(type, name, member, parameters, arguments, of) \
	call((void (*)(void))try_##name, first);

static void try_device(void *first)
{
	DROPIN_DEVICE_CALLS(CALL)
}

static void try_context(void *first)
{
	DROPIN_CONTEXT_POINTERS(CALL_POINTER)
	DROPIN_CONTEXT_CALLS(CALL)
}

static void try_object(void *first)
{
	DROPIN_OBJECT_POINTERS(CALL_POINTER)
	DROPIN_PD_CALLS(CALL)
	DROPIN_QUEUE_CALLS(CALL)
}

static void try_others(void)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ACTIVE };

	ibv_ack_cq_events((struct ibv_cq *)&object, 1);
	ibv_unimport_pd((struct ibv_pd *)&object);
	ibv_unimport_mr((struct ibv_mr *)&object);
	ibv_unimport_dm((struct ibv_dm *)&object);
	ibv_free_buf((struct ibv_buf *)&object);
	check(object.calls == 5, "calls that return nothing");
	ibv_ack_async_event(&event);
	check(event.element.port_num == 1, "ibv_ack_async_event");
	check(ibv_fork_init() == FAKE_FORK, "ibv_fork_init");
	check(ibv_is_fork_initialized() == IBV_FORK_ENABLED,
	      "ibv_is_fork_initialized");
	check(!ibv_import_device(5) && errno == FAKE_FORK + 5,
	      "ibv_import_device");
}

static void try_soft_buf(struct ibv_pd *pd)
{
	struct ibv_buf *buf = NULL;
	char *mem = ibv_alloc_buf(pd, 64, &buf);

	check(mem && buf, "memory for it");
	if (mem)
		ibv_free_buf(buf);
}

/* The same beside them, on one that is soft. */
static void try_soft(struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	static char mem[64];

	check(context && context->device == device, "a soft device");
	if (!context)
		return;
	check(!ibv_query_device(context, &attr) && attr.max_cqe > 0,
	      "its limits");
	pd = ibv_alloc_pd(context);
	mr = pd ? ibv_reg_mr(pd, mem, sizeof(mem), 0) : NULL;
	cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	check(pd && mr && cq, "its objects");
	try_soft_buf(pd);
	check(!ibv_destroy_cq(cq) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) &&
	      !ibv_close_device(context), "their ends");
}

int main(void)
{
	struct ibv_device **list;
	int count = 0, i;

	check(ibv_fork_init() == FAKE_FORK, "ibv_fork_init, first of all");
	list = ibv_get_device_list(&count);
	if (!list || count < 3)
		return 2;
	for (i = 0; i < count; i++)
		printf("%s %s\n", list[i]->name, list[i]->dev_name);
	check(!list[count], "the end of the list");
	try_device(list[0]);
	object.context = ibv_open_device(list[0]);
	try_object(&object);
	try_context(object.context);	/* which is closed then */
	try_others();
	try_soft(list[count - 1]);
	ibv_free_device_list(list);
	printf("%d calls\n", calls);
	return failed;
}
