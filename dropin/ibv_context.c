/* SPDX-License-Identifier: BSD-2-Clause */
/* Opened devices, and how calls fail and wait. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"
#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/soft.h"

void *pier__dropin_null(int err)
{
	errno = pier__dropin_errno(err);
	return NULL;
}

/* A full queue has its own number in verbs. */
int pier__dropin_errno(int err)
{
	return err == -EAGAIN ? ENOMEM : -err;
}

int pier__dropin_wait(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	if (flags & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	return poll(&pfd, 1, -1) < 0 ? -1 : 0;
}

static struct pier__list contexts = { &contexts, &contexts };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of these */

/* At the end of the process, as hardware has done it. */
__attribute__((destructor)) static void acknowledge_all(void)
{
	struct pier__list *pos, *tmp;
	struct dropin_context *ctx;

	if (pthread_mutex_trylock(&lock))
		return;
	PIER__LIST_EACH(pos, tmp, &contexts) {
		ctx = pier__container_of(pos, struct dropin_context, link);
		if (ctx->opener == getpid())
			pier__soft_chan_acknowledge(ctx->chan);
	}
	pthread_mutex_unlock(&lock);
}

/* What is not set here the header's calls report as not supported. */
static void set_calls(struct dropin_context *ctx)
{
	struct verbs_context *verbs = &ctx->verbs;
	struct ibv_context *context = &verbs->context;

	verbs->sz = sizeof(*verbs);
	verbs->query_port = pier__dropin_query_port;
	verbs->query_device_ex = pier__dropin_query_device_ex;
	verbs->advise_mr = pier__dropin_advise_mr;
	verbs->alloc_td = pier__dropin_alloc_td;
	verbs->dealloc_td = pier__dropin_dealloc_td;
	verbs->alloc_parent_domain = pier__dropin_alloc_parent_domain;
	verbs->create_cq_ex = pier__dropin_create_cq_ex;
	verbs->create_qp_ex = pier__dropin_create_qp_ex;
	context->ops.alloc_mw = pier__dropin_alloc_mw;
	context->ops.bind_mw = pier__dropin_bind_mw;
	context->ops.dealloc_mw = pier__dropin_dealloc_mw;
	context->ops.poll_cq = pier__dropin_poll;
	context->ops.req_notify_cq = pier__dropin_arm;
	context->ops.post_send = pier__dropin_post_send;
	context->ops.post_recv = pier__dropin_post_recv;
	context->ops.post_srq_recv = pier__dropin_post_srq;
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
}

static void set_context(struct dropin_context *ctx,
			struct dropin_device *device)
{
	struct ibv_context *context = &ctx->verbs.context;

	atomic_fetch_add(&device->refs, 1);
	ctx->device = device;
	context->device = &device->dev;
	context->num_comp_vectors = 1;
	pthread_mutex_init(&context->mutex, NULL);
	set_calls(ctx);
	ctx->opener = getpid();
}

static struct dropin_context *open_new(struct ibv_device *dev)
{
	struct dropin_device *device = (struct dropin_device *)dev;
	struct dropin_context *ctx = calloc(1, sizeof(*ctx));
	int err;

	if (!ctx)
		return pier__dropin_null(-ENOMEM);
	err = pier__soft_dev.open(&device->port, &ctx->fdev);
	if (err)
		goto err_free;
	err = pier__soft_chan_create_verbs(ctx->fdev, &ctx->chan);
	if (err)
		goto err_close;
	err = pier__dropin_async_init(ctx);
	if (err)
		goto err_chan;
	/* Programs duplicate it, to import the device: that fails. */
	ctx->verbs.context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	set_context(ctx, device);
	return ctx;

err_chan:
	pier__soft_chan_destroy(ctx->chan);
err_close:
	pier__soft_dev.close(ctx->fdev);
err_free:
	free(ctx);
	/* The program has a number only. */
	pier__log(PIER_LOG_CRITICAL, "verbs", "cannot open %s: %s", dev->name,
		  pier_last_error());
	return pier__dropin_null(err);
}

static bool is_of(const struct dropin_context *ctx,
		  const struct ibv_device *dev)
{
	const struct soft_fdev *soft = (const struct soft_fdev *)ctx->fdev;

	return ctx->opener == getpid() && !strcmp(ctx->device->dev.name,
						  dev->name) &&
	       if_nametoindex(soft->fdev.port.netdev) == soft->ifindex;
}

/*
 * One of @dev that has one of two users alone, or NULL: librdmacm and a program
 * that has opened a device itself share an endpoint.  RoCE devices send what is
 * for the one and for the other to the same UDP port.  With the lock.
 */
static struct dropin_context *find_half(const struct ibv_device *dev,
					bool program)
{
	struct pier__list *pos, *tmp;
	struct dropin_context *ctx;

	PIER__LIST_EACH(pos, tmp, &contexts) {
		ctx = pier__container_of(pos, struct dropin_context, link);
		if (ctx->program == program && ctx->cm != program &&
		    is_of(ctx, dev))
			return ctx;
	}
	return NULL;
}

/* As of a new one: another user may have changed it. */
static void set_blocking(const struct dropin_context *ctx)
{
	int fd = ctx->verbs.context.async_fd, flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/*
 * As with a device of the kernel, what programs have not destroyed ends here:
 * they must not use it any more, and its memory is not freed.
 */
static void close_last(struct dropin_context *ctx)
{
	struct ibv_context *context = &ctx->verbs.context;

	pier__soft_chan_destroy(ctx->chan);
	pier__dropin_async_free(ctx);
	pier__soft_dev.close(ctx->fdev);
	if (context->cmd_fd >= 0)
		close(context->cmd_fd);
	pthread_mutex_destroy(&context->mutex);
	pier__dropin_device_put(ctx->device);
	free(ctx);
}

/* One that the other user has, or @fresh, or NULL. */
static struct dropin_context *take(const struct ibv_device *dev, bool program,
				   struct dropin_context *fresh)
{
	struct dropin_context *ctx;

	pthread_mutex_lock(&lock);
	ctx = find_half(dev, !program);
	if (!ctx && fresh) {
		pier__list_add(&contexts, &fresh->link);
		ctx = fresh;
	}
	if (ctx && program) {
		ctx->program = true;
		set_blocking(ctx);
	} else if (ctx) {
		ctx->cm = true;
	}
	pthread_mutex_unlock(&lock);
	return ctx;
}

/*
 * For the program, or for librdmacm.  A device is opened without the lock: what
 * another thread forks meanwhile would find it taken for ever.
 */
static struct ibv_context *open_for(struct ibv_device *dev, bool program)
{
	struct dropin_context *ctx = take(dev, program, NULL), *fresh;

	if (ctx)
		return &ctx->verbs.context;
	fresh = open_new(dev);
	if (!fresh)
		return NULL;
	ctx = take(dev, program, fresh);
	if (ctx != fresh)
		close_last(fresh);
	return &ctx->verbs.context;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	return open_for(dev, true);
}

struct ibv_context *pier__dropin_cm_open(struct ibv_device *dev)
{
	return open_for(dev, false);
}

/*
 * By the program, or by librdmacm, which closes none before the process ends:
 * what the program has left in a context that both use lives on.
 */
static void close_for(struct ibv_context *context, bool program)
{
	struct dropin_context *ctx = dropin_of(context);
	bool last;

	if (ctx->opener == getpid())
		pier__soft_chan_acknowledge(ctx->chan);
	pthread_mutex_lock(&lock);
	if (program)
		ctx->program = false;
	else
		ctx->cm = false;
	last = !ctx->program && !ctx->cm;
	if (last)
		pier__list_del(&ctx->link);
	pthread_mutex_unlock(&lock);
	if (last)
		close_last(ctx);
}

int ibv_close_device(struct ibv_context *context)
{
	close_for(context, true);
	return 0;
}

void pier__dropin_cm_close(struct ibv_context *context)
{
	close_for(context, false);
}
