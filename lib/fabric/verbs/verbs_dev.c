/* SPDX-License-Identifier: BSD-2-Clause */
/* Open verbs devices, and their asynchronous events. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/verbs/verbs_cm.h"
#include "fabric/verbs/verbs_impl.h"

/* The context of the device called @name. */
static int open_context(const char *name, struct ibv_context **ret)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **devs;
	int err = -ENODEV;
	int n = 0;

	devs = ibv_get_device_list(&n);
	for (int i = 0; devs && i < n; i++) {
		if (strcmp(ibv_get_device_name(devs[i]), name))
			continue;
		errno = 0;
		ctx = ibv_open_device(devs[i]);
		err = ctx ? 0 : pier__verbs_error(-1);
		break;
	}
	if (devs)
		ibv_free_device_list(devs);
	if (err)
		return pier__fail(err, "%s cannot be opened: %s", name,
				  err == -ENODEV ? "it was removed" :
				  pier_strerror(err));
	*ret = ctx;
	return 0;
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

/* A body without a device; NULL: no memory, with an error text. */
static struct verbs_dev *create(const struct pier__port *port)
{
	struct verbs_dev *dev = calloc(1, sizeof(*dev));

	if (!dev) {
		pier__fail(-ENOMEM, "%s: no memory", port->name);
		return NULL;
	}
	dev->fdev.fabric = &pier__verbs;
	dev->fdev.port = *port;
	pthread_mutex_init(&dev->lock, NULL);
	pier__list_init(&dev->cqs);
	pier__list_init(&dev->srqs);
	pier__list_init(&dev->qps);
	return dev;
}

int pier__verbs_open(const struct pier__port *port, struct pier__fdev **ret)
{
	struct verbs_dev *dev = create(port);
	int err;

	if (!dev)
		return -ENOMEM;
	err = open_context(port->name, &dev->ibv);
	if (err)
		goto err_free;
	err = set_nonblocking(dev->ibv->async_fd);
	if (err) {
		pier__fail(err, "%s: its event descriptor: %s", port->name,
			   pier_strerror(err));
		goto err_close;
	}
	err = pier__verbs_watch_open(dev->ibv, true, &dev->watch);
	if (err)
		goto err_close;
	dev->fdev.event_fd = dev->watch.fd;
	err = pier__verbs_query(&dev->fdev);
	if (err)
		goto err_watch_close;
	errno = 0;
	dev->pd = ibv_alloc_pd(dev->ibv);
	if (!dev->pd) {
		err = pier__verbs_error(-1);
		pier__fail(err, "%s: no protection domain: %s", port->name,
			   pier_strerror(err));
		goto err_watch_close;
	}

	*ret = &dev->fdev;
	return 0;

err_watch_close:
	pier__verbs_watch_close(&dev->watch);
err_close:
	ibv_close_device(dev->ibv);
err_free:
	free(dev);
	return err;
}

int pier__verbs_adopt(const struct pier__port *port, struct ibv_pd *pd,
		      struct pier__fdev **ret)
{
	struct verbs_dev *dev = create(port);
	int err;

	if (!dev)
		return -ENOMEM;
	dev->ibv = pd->context;
	dev->pd = pd;
	dev->adopted = true;
	dev->fdev.mute = true;
	/* its asynchronous events are the program's, its removal is not one */
	err = pier__verbs_watch_open(dev->ibv, false, &dev->watch);
	if (err)
		goto err_free;
	dev->fdev.event_fd = dev->watch.fd;
	err = pier__verbs_query(&dev->fdev);
	if (err)
		goto err_watch_close;
	*ret = &dev->fdev;
	return 0;

err_watch_close:
	pier__verbs_watch_close(&dev->watch);
err_free:
	free(dev);
	return err;
}

/* The context and its protection domain, unless they are the program's. */
static void close_own(struct verbs_dev *dev)
{
	if (dev->adopted)
		return;
	/* EBUSY: an object is left; closing the context frees it. */
	pier__verbs_log_end(dev->fdev.port.name, ibv_dealloc_pd(dev->pd),
			    "its protection domain is in use");
	ibv_close_device(dev->ibv);
}

void pier__verbs_close(struct pier__fdev *fdev)
{
	if (!fdev)
		return;
	pier__verbs_cm_unhold(verbs_dev(fdev));
	pier__verbs_watch_close(&verbs_dev(fdev)->watch);
	close_own(verbs_dev(fdev));
	pthread_mutex_destroy(&verbs_dev(fdev)->lock);
	free(verbs_dev(fdev));
}

int pier__verbs_query(struct pier__fdev *fdev)
{
	struct pier__port port = fdev->port;
	int err;

	if (pier__verbs_watch_lost(&verbs_dev(fdev)->watch))
		return pier__fail(-ENODEV, "%s was removed", fdev->port.name);
	port.netdev[0] = '\0';
	err = pier__verbs_port(verbs_dev(fdev)->ibv, fdev->port.port, &port);
	if (err)
		return err;
	pier__port_update(&fdev->port, &port);
	return 0;
}

/* Is @event about another port than the one that is open? */
static bool is_foreign(const struct ibv_async_event *event, uint32_t port)
{
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		return (uint32_t)event->element.port_num != port;
	default:
		return false;
	}
}

/*
 * Events of queues are handled here.  A failed completion or receive queue
 * makes the next poll fail.  A queue pair that completes nothing any more is
 * moved to ERR, which flushes its requests; one that has refused a request of
 * its peer's is there.  No object is destroyed before its events are
 * acknowledged.
 */
static void see_to_queue(struct verbs_dev *dev,
			 const struct ibv_async_event *event)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		pier__verbs_cq_broken(dev, event->element.cq);
		break;
	case IBV_EVENT_SRQ_ERR:
		pier__verbs_srq_broken(dev, event->element.srq);
		break;
	case IBV_EVENT_QP_FATAL:
		ibv_modify_qp(event->element.qp, &attr, IBV_QP_STATE);
		pier__verbs_qp_broken(dev, event->element.qp,
				      IBV_WC_FATAL_ERR);
		break;
	case IBV_EVENT_QP_ACCESS_ERR:
		pier__verbs_qp_broken(dev, event->element.qp,
				      IBV_WC_REM_ACCESS_ERR);
		break;
	case IBV_EVENT_QP_REQ_ERR:
		pier__verbs_qp_broken(dev, event->element.qp,
				      IBV_WC_REM_INV_REQ_ERR);
		break;
	default:
		break;
	}
}

/* The next asynchronous event about the open port.  -EAGAIN: none. */
static int next_event(struct verbs_dev *dev, int *ret)
{
	struct ibv_async_event event;
	bool foreign;

	do {
		errno = 0;
		if (ibv_get_async_event(dev->ibv, &event))
			return pier__verbs_error(-1);
		foreign = is_foreign(&event, dev->fdev.port.port);
		see_to_queue(dev, &event);
		/* At once: the destruction of its object waits for this. */
		ibv_ack_async_event(&event);
	} while (foreign);
	*ret = (int)event.event_type;
	return 0;
}

/* The removal of the device is reported once, by either sign of it. */
int pier__verbs_event(struct pier__fdev *fdev, int *ret)
{
	struct verbs_dev *dev = verbs_dev(fdev);
	int err = -EAGAIN;

	if (!dev->adopted && dev->watch.async >= 0)
		err = next_event(dev, ret);
	if (!err && *ret != IBV_EVENT_DEVICE_FATAL)
		return 0;
	if (err != -EAGAIN && err != -EINTR)	/* unplugged: EIO */
		pier__verbs_watch_ended(&dev->watch);
	if (!pier__verbs_watch_check(&dev->watch) || dev->lost_reported)
		return -EAGAIN;
	dev->lost_reported = true;
	*ret = IBV_EVENT_DEVICE_FATAL;
	return 0;
}
