/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices, opened at the first use of any and never closed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dropin/cma/cma.h"
#include "dropin/cma/cma_real.h"

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct pier__list devices = { &devices, &devices };
static pid_t opener;		/* the process that has opened them */
static bool port_taken;		/* UDP port 4791, by one of them */

int pier__cma_result(int err)
{
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

static bool is_loopback(struct ibv_context *verbs)
{
	union pier__sockaddr first;

	return pier__dropin_known(verbs, 0, &first) &&
	       pier__sockaddr_is_loopback(&first.sa);
}

/* UDP port 4791 is for one device: the first that other hosts reach. */
static void choose_roce_port(struct cma_device *device)
{
	device->cm->no_roce_port = port_taken || is_loopback(device->verbs);
	port_taken |= !device->cm->no_roce_port;
}

static int device_open(struct ibv_device *from)
{
	struct cma_device *device = calloc(1, sizeof(*device));
	struct ibv_device_attr attr;

	if (!device)
		return -ENOMEM;
	device->verbs = pier__dropin_cm_open(from);
	if (!device->verbs)
		goto err_free;
	device->pd = ibv_alloc_pd(device->verbs);
	if (!device->pd || ibv_query_device(device->verbs, &attr))
		goto err_close;
	if (pier__dropin_cm_create(device->verbs, pier__cma_take, &device->cm))
		goto err_close;
	device->rd_atomic = (uint8_t)attr.max_qp_rd_atom;
	choose_roce_port(device);
	pier__dropin_cm_watch(device->verbs, pier__cma_changed);
	pier__list_add(&devices, &device->link);
	return 0;

err_close:
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	ibv_close_device(device->verbs);
err_free:
	free(device);
	return -ENODEV;
}

/*
 * One that cannot be opened is as one that is not there.  Those of the parent
 * of this process are not its own.
 */
static void open_all(void)
{
	struct ibv_device **list = pier__soft_ibv_get_device_list(NULL);
	size_t i;

	opener = getpid();
	pier__list_init(&devices);
	port_taken = false;
	for (i = 0; list && list[i]; i++)
		device_open(list[i]);
	if (list)
		pier__soft_ibv_free_device_list(list);
}

/*
 * At the end of the process, as the kernel does it when it closes the file of
 * connection management: peers receive what has ended.  A forked child has no
 * connection.
 */
__attribute__((destructor))
static void goodbye(void)
{
	struct pier__list *pos, *tmp;

	if (opener != getpid())
		return;
	PIER__LIST_EACH(pos, tmp, &devices)
		pier__dropin_cm_goodbye_all(pier__container_of(
			pos, struct cma_device, link)->cm);
}

/* The child opens the devices anew. */
void pier__cma_devices_forked(void)
{
	pthread_mutex_init(&opening, NULL);
}

int pier__cma_devices(struct pier__list **ret)
{
	pthread_mutex_lock(&opening);
	if (pier__list_empty(&devices) || opener != getpid())
		open_all();
	pthread_mutex_unlock(&opening);
	*ret = &devices;
	return pier__list_empty(&devices) ? -ENODEV : 0;
}

/* An index that is not in use has a zero GID. */
static bool has(struct ibv_context *verbs, const struct sockaddr *addr)
{
	union ibv_gid own;
	uint8_t gid[16];
	int i;

	if (pier__sockaddr_is_any(addr))
		return false;
	pier__sockaddr_to_gid(addr, gid);
	for (i = 0; !ibv_query_gid(verbs, 1, i, &own); i++)
		if (!memcmp(own.raw, gid, sizeof(own.raw)))
			return true;
	return false;
}

struct cma_device *pier__cma_device_at(const struct sockaddr *addr)
{
	struct pier__list *all, *pos, *tmp;
	struct cma_device *device;

	if (pier__cma_devices(&all))
		return NULL;
	PIER__LIST_EACH(pos, tmp, all) {
		device = pier__container_of(pos, struct cma_device, link);
		if (has(device->verbs, addr))
			return device;
	}
	return NULL;
}

int pier__cma_device_to(const struct sockaddr *src, const struct sockaddr *dst,
			struct cma_device **ret, union pier__sockaddr *ret_src)
{
	struct pier__list *all, *pos, *tmp;
	struct cma_device *device;
	int err = pier__cma_devices(&all);

	if (err)
		return err;
	PIER__LIST_EACH(pos, tmp, all) {
		device = pier__container_of(pos, struct cma_device, link);
		err = pier__dropin_route(device->verbs, src, dst, ret_src);
		if (!err) {
			*ret = device;
			return 0;
		}
	}
	return err;
}

void pier__cma_use(struct cma_id *id, struct cma_device *device)
{
	id->device = device;
	id->id.verbs = device->verbs;
	id->id.pd = device->pd;
	id->id.port_num = 1;
}

static size_t length(struct pier__list *all)
{
	struct pier__list *pos, *tmp;
	size_t count = 0;

	PIER__LIST_EACH(pos, tmp, all)
		count++;
	return count;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct pier__list *all, *pos, *tmp;
	struct ibv_context **list, **more;
	size_t n = 0;

	if (num_devices)
		*num_devices = 0;
	list = pier__cma_real_devices(&n);
	if (pier__cma_devices(&all) && !n) {
		free(list);
		errno = ENODEV;
		return NULL;
	}
	more = realloc(list, (n + length(all) + 1) *
			     sizeof(struct ibv_context *));
	if (!more) {
		free(list);
		return NULL;
	}
	list = more;
	PIER__LIST_EACH(pos, tmp, all)
		list[n++] = pier__container_of(pos, struct cma_device,
					       link)->verbs;
	list[n] = NULL;
	if (num_devices)
		*num_devices = (int)n;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
