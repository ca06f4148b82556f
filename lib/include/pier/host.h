/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_HOST_H
#define PIER_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <pier/cm.h>
#include <pier/pe.h>
#include <pier/rdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The devices of this host, each open and with a running RDMA context, on one
 * engine: a server that listens on all of them.  A device that cannot take part
 * remains in the list, with its error.
 *
 * Calls belong to the engine's thread.
 */
struct pier_host;

struct pier_host_config {
	size_t size;		/* sizeof(struct pier_host_config), always */
	const struct pier_rdma_config *rdma;	/* of each context; NULL: the */
				/* defaults */
	pier_conn_fn *request;	/* callbacks of each context, as those of */
	pier_conn_fn *established;	/* pier_rdma_set_conn_callbacks(); */
	pier_conn_fn *failure;	/* each may be NULL */
	pier_conn_fn *disconnected;
	void *user_data;	/* of each context */
	const char *device;	/* this one only, as pier_dev_open() has it; */
				/* NULL: all */
};

/*
 * Open the devices and start their contexts on @pe, which must outlive *ret.
 * @cfg may be NULL.
 * Errors: -EINVAL, also of cfg->rdma; -ENODEV, no device can be used, or there
 * is no cfg->device; -ENOMEM; those of pier_devlist_create().
 */
int pier_host_create(struct pier_pe *pe, const struct pier_host_config *cfg,
		     struct pier_host **ret);

/*
 * Stop the contexts, destroy them and close the devices: what the program has
 * on these must have been destroyed.  Inside a callback it is deferred.  NULL
 * is allowed.
 */
void pier_host_destroy(struct pier_host *host);

/*
 * How many devices there are; the name of device @i, as pier_dev_open() takes
 * it, "mlx5_0:2" if it is not the first port.  NULL: there is none.
 */
size_t pier_host_count(const struct pier_host *host);
const char *pier_host_name(const struct pier_host *host, size_t i);

/* Device @i, and the context on it; NULL: it takes no part.  @host's own. */
struct pier_dev *pier_host_dev(const struct pier_host *host, size_t i);
struct pier_rdma *pier_host_rdma(const struct pier_host *host, size_t i);

/* Why device @i takes no part, or does not listen: 0, "": it does. */
int pier_host_error(const struct pier_host *host, size_t i);
const char *pier_host_error_text(const struct pier_host *host, size_t i);

/*
 * Accept requests on all addresses of all devices, on cfg->port; 0: a free one,
 * the same of all.  cfg->address must be NULL or "".  Called again with the
 * same port it adds the addresses that were added since.
 * Errors: those of the first device if none of them listens; -EINVAL.
 */
int pier_host_listen(struct pier_host *host,
		     const struct pier_listen_config *cfg);

/*
 * Reject further requests; connections remain.  Also from inside a callback.
 * pier_host_listen() may be called again.
 */
void pier_host_stop_listening(struct pier_host *host);

/* The port in use; 0: none. */
uint16_t pier_host_port(const struct pier_host *host);

/* The device by which @conn came; pier_host_count(): it is none of @host's. */
size_t pier_host_find(const struct pier_host *host,
		      const struct pier_conn *conn);

#ifdef __cplusplus
}
#endif

#endif
