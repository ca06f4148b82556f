/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of libibverbs as programs have them: for a soft device, or by the
 * library that real ones have.
 */
#include <errno.h>
#include <stdlib.h>

#include "dropin/cm.h"
#include "dropin/private.h"
#define DROPIN_REAL_NAMES
#include "dropin/real/real.h"

/* Not in the headers for programs, but exported. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num,
		       unsigned int index, int *type);

static const struct dropin_real *loaded(void)
{
	return pier__dropin_real_loaded;
}

void pier__dropin_real_enter(void)
{
	*loaded()->error() = errno;
}

void pier__dropin_real_leave(void)
{
	errno = *loaded()->error();
}

/* An object that is none gets where it gets without a real device. */
#define IS_REAL(device) (loaded() && !pier__dropin_is_soft(device))

#define FORWARD(kind, type, name, parameters, arguments, device) \
type name parameters \
{ \
	type value; \
\
	if (!IS_REAL(device)) \
		return pier__soft_##name arguments; \
	pier__dropin_real_enter(); \
	value = loaded()->name arguments; \
	pier__dropin_real_leave(); \
	return value; \
}

#define FORWARD_VOID(name, parameters, arguments, device) \
void name parameters \
{ \
	if (IS_REAL(device)) \
		loaded()->name arguments; \
	else \
		pier__soft_##name arguments; \
}

DROPIN_CALLS(FORWARD)
DROPIN_VOID_CALLS(FORWARD_VOID)

PRIVATE_SINCE_34(ibv_query_gid_type, ibv_query_gid_type);

/* A list of both kinds. */
struct both {
	struct ibv_device **real, **soft;	/* owned */
	struct ibv_device *all[];		/* what programs have */
};

static size_t append(struct ibv_device **to, size_t count,
		     struct ibv_device **list)
{
	while (list && *list)
		to[count++] = *list++;
	to[count] = NULL;
	return count;
}

static size_t length(struct ibv_device **list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

static void both_free(struct both *both)
{
	if (both->real)
		loaded()->ibv_free_device_list(both->real);
	if (both->soft)
		pier__soft_ibv_free_device_list(both->soft);
	free(both);
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	const struct dropin_real *real = pier__dropin_real();
	struct ibv_device **of_real, **soft;
	struct both *both;
	size_t count;

	if (!real)
		return pier__soft_ibv_get_device_list(num_devices);
	of_real = real->ibv_get_device_list(NULL);
	soft = pier__soft_ibv_get_device_list(NULL);
	count = length(of_real) + length(soft);
	both = calloc(1, sizeof(*both) + (count + 1) * sizeof(both->all[0]));
	if (!both) {
		if (of_real)
			real->ibv_free_device_list(of_real);
		pier__soft_ibv_free_device_list(soft);
		return pier__dropin_null(-ENOMEM);
	}
	both->real = of_real;
	both->soft = soft;
	append(both->all, append(both->all, 0, of_real), soft);
	if (num_devices)
		*num_devices = (int)count;
	return both->all;
}

void ibv_free_device_list(struct ibv_device **list)
{
	if (!list || !loaded())
		pier__soft_ibv_free_device_list(list);
	else
		both_free(pier__container_of(list, struct both, all));
}

/* The context of what @event is about; NULL: a port, or a work queue. */
static struct ibv_context *context_of(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq->context;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq->context;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return event->element.qp->context;
	default:
		return NULL;
	}
}

/* What is neither, only real devices have. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_context *context;

	if (loaded()) {
		context = context_of(event);
		if (!context || IS_REAL(context->device)) {
			loaded()->ibv_ack_async_event(event);
			return;
		}
	}
	pier__soft_ibv_ack_async_event(event);
}

/* Its layout is that of its library. */
void ibv_free_buf(struct ibv_buf *buf)
{
	if (pier__dropin_buf_is_soft(buf))
		pier__soft_ibv_free_buf(buf);
	else if (loaded())
		loaded()->ibv_free_buf(buf);
}

/* Programs may make these before they have looked for devices. */
int ibv_fork_init(void)
{
	const struct dropin_real *real = pier__dropin_real();

	return real ? real->ibv_fork_init() : pier__soft_ibv_fork_init();
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	const struct dropin_real *real = pier__dropin_real();

	return real ? real->ibv_is_fork_initialized() :
		      pier__soft_ibv_is_fork_initialized();
}

int ibv_dontfork_range(void *base, size_t size)
{
	const struct dropin_real *real = pier__dropin_real();

	return real ? real->ibv_dontfork_range(base, size) :
		      pier__soft_ibv_dontfork_range(base, size);
}

int ibv_dofork_range(void *base, size_t size)
{
	const struct dropin_real *real = pier__dropin_real();

	return real ? real->ibv_dofork_range(base, size) :
		      pier__soft_ibv_dofork_range(base, size);
}

struct ibv_context *ibv_import_device(int fd)
{
	const struct dropin_real *real = pier__dropin_real();
	struct ibv_context *ret;

	if (!real)
		return pier__soft_ibv_import_device(fd);
	pier__dropin_real_enter();
	ret = real->ibv_import_device(fd);
	pier__dropin_real_leave();
	return ret;
}
