/* SPDX-License-Identifier: BSD-2-Clause */
/* Opened devices, and how calls fail. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"
#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"
#include "fabric/soft/io/helper.h"
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

/* Those that are complete.  The lock is also that of who is whose partner. */
static struct pier__list contexts = { &contexts, &contexts };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

/*
 * A child has none of these contexts, and a thread of its parent, which is not
 * in it, may have had the lock.
 */
static void reset_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
	pier__list_init(&contexts);
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(NULL, NULL, reset_in_child);
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

/* The endpoint of a device, for @ctx or a context that shares it. */
static int engine_open(struct dropin_context *ctx, struct ibv_device *dev)
{
	struct dropin_device *device = (struct dropin_device *)dev;
	int err = pier__dropin_peers();

	if (!err)
		err = pier__soft_dev.open(&device->port, &ctx->fdev);
	if (err)
		return err;
	err = pier__soft_chan_create_verbs(ctx->fdev, &ctx->chan);
	if (err)
		goto err_close;
	err = pier__soft_helper_watch_port(chan_of(ctx->chan),
					   pier__dropin_port_event);
	if (err)
		goto err_chan;
	return 0;

err_chan:
	pier__soft_chan_destroy(ctx->chan);
err_close:
	pier__soft_dev.close(ctx->fdev);
	return err;
}

static void engine_close(struct pier__chan *chan, struct pier__fdev *fdev)
{
	pier__soft_chan_destroy(chan);
	pier__soft_dev.close(fdev);
}

/* One that has an endpoint. */
static int context_init(struct dropin_context *ctx, struct ibv_device *dev)
{
	struct dropin_device *device = (struct dropin_device *)dev;
	struct ibv_context *context = &ctx->verbs.context;
	int err = pier__dropin_async_init(ctx);

	if (err)
		return err;
	atomic_fetch_add(&device->refs, 1);
	ctx->device = device;
	ctx->opener = getpid();
	/* Programs duplicate it, to import the device: that fails. */
	context->cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	context->device = dev;
	context->num_comp_vectors = 1;
	pthread_mutex_init(&context->mutex, NULL);
	set_calls(ctx);
	return 0;
}

static void context_free(struct dropin_context *ctx)
{
	struct ibv_context *context = &ctx->verbs.context;

	pier__dropin_async_free(ctx);
	if (context->cmd_fd >= 0)
		close(context->cmd_fd);
	pthread_mutex_destroy(&context->mutex);
	pier__dropin_device_put(ctx->device);
	free(ctx);
}

/* Is @ctx of the device called @name? */
static bool is_of(const struct dropin_context *ctx, const char *name)
{
	const struct soft_fdev *soft = (const struct soft_fdev *)ctx->fdev;

	return ctx->opener == getpid() &&
	       !strcmp(ctx->device->dev.name, name) &&
	       if_nametoindex(soft->fdev.port.netdev) == soft->ifindex;
}

/*
 * The other user's context of @dev that has no partner, or NULL: librdmacm and
 * a program that has opened a device itself share an endpoint.  RoCE devices
 * send what is for the one and for the other to the same UDP port.  With the
 * lock.
 */
static struct dropin_context *find_partner(const struct ibv_device *dev,
					   bool program)
{
	struct pier__list *pos, *tmp;
	struct dropin_context *ctx;

	PIER__LIST_EACH(pos, tmp, &contexts) {
		ctx = pier__container_of(pos, struct dropin_context, link);
		if (ctx->program != program && !ctx->partner &&
		    is_of(ctx, dev->name))
			return ctx;
	}
	return NULL;
}

/* Give @ctx the endpoint of a partner, if there is one.  With the lock. */
static bool pair_up(struct dropin_context *ctx, const struct ibv_device *dev)
{
	struct dropin_context *partner = find_partner(dev, ctx->program);

	if (!partner)
		return false;
	ctx->fdev = partner->fdev;
	ctx->chan = partner->chan;
	ctx->partner = partner;
	partner->partner = ctx;
	return true;
}

/* Returns whether @ctx was the last one with its endpoint. */
static bool part(struct dropin_context *ctx)
{
	struct dropin_context *partner;

	pthread_mutex_lock(&lock);
	partner = ctx->partner;
	if (partner)
		partner->partner = NULL;
	if (ctx->link.next && ctx->opener == getpid())
		pier__list_del(&ctx->link);
	pthread_mutex_unlock(&lock);
	return !partner;
}

/* The other user may have opened the device meanwhile. */
static void publish(struct dropin_context *ctx, const struct ibv_device *dev)
{
	struct pier__fdev *fdev = ctx->fdev;
	struct pier__chan *chan = ctx->chan;
	bool paired;

	pthread_mutex_lock(&lock);
	paired = !ctx->partner && pair_up(ctx, dev);
	pier__list_add(&contexts, &ctx->link);
	pthread_mutex_unlock(&lock);
	if (paired)
		engine_close(chan, fdev);
}

static struct ibv_context *failed(struct dropin_context *ctx,
				  const struct ibv_device *dev, int err)
{
	free(ctx);
	/* The program has a number only. */
	pier__log(PIER_LOG_CRITICAL, "verbs", "cannot open %s: %s", dev->name,
		  pier_last_error());
	return pier__dropin_null(err);
}

/*
 * A device is opened without the lock: what another thread forks meanwhile
 * would find it taken for ever.
 */
static struct ibv_context *open_for(struct ibv_device *dev, bool program)
{
	struct dropin_context *ctx = calloc(1, sizeof(*ctx));
	bool paired;
	int err = 0;

	if (!ctx)
		return pier__dropin_null(-ENOMEM);
	ctx->program = program;
	pthread_mutex_lock(&lock);
	paired = pair_up(ctx, dev);
	pthread_mutex_unlock(&lock);
	if (!paired)
		err = engine_open(ctx, dev);
	if (err)
		return failed(ctx, dev, err);
	err = context_init(ctx, dev);
	if (err) {
		if (part(ctx))
			engine_close(ctx->chan, ctx->fdev);
		return failed(ctx, dev, err);
	}
	publish(ctx, dev);
	return &ctx->verbs.context;
}

const struct pier_gid *pier__dropin_gid(const struct pier__port *port,
					uint32_t index)
{
	return pier__soft_port_gid(port, index);
}

uint32_t pier__dropin_gid_end(const struct pier__port *port)
{
	return pier__soft_port_gid_end(port);
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	return open_for(dev, true);
}

struct ibv_context *pier__dropin_cm_open(struct ibv_device *dev)
{
	return open_for(dev, false);
}

void pier__dropin_cm_watch(struct ibv_context *context,
			   void (*changed)(struct ibv_context *context))
{
	pthread_mutex_lock(&lock);
	dropin_of(context)->changed = changed;
	pthread_mutex_unlock(&lock);
}

bool pier__dropin_inherited(const struct ibv_context *context)
{
	return dropin_of((struct ibv_context *)context)->opener != getpid();
}

void pier__dropin_each(const struct pier__chan *chan,
		       void (*fn)(struct dropin_context *ctx, int type),
		       int type)
{
	struct pier__list *pos, *tmp;
	struct dropin_context *ctx;

	pthread_mutex_lock(&lock);
	PIER__LIST_EACH(pos, tmp, &contexts) {
		ctx = pier__container_of(pos, struct dropin_context, link);
		if (ctx->chan == chan)
			fn(ctx, type);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * As with a device of the kernel, what was not destroyed ends here: it must not
 * be used any more, and its memory is not freed.
 */
int ibv_close_device(struct ibv_context *context)
{
	struct dropin_context *ctx = dropin_of(context);

	if (ctx->opener == getpid()) {
		pier__soft_chan_acknowledge(ctx->chan);
		pier__dropin_end_qps(ctx);
	}
	if (part(ctx))
		engine_close(ctx->chan, ctx->fdev);
	context_free(ctx);
	return 0;
}
