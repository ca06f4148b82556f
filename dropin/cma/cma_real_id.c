/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids on real devices: which they are, and their calls. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dropin/cma/cma_real.h"
#include "dropin/cma/cma_real_calls.h"

#define CALLS pier__cma_real_calls

/* What the program has requested before @id had an address. */
static void replay_options(struct cma_id *id)
{
	int i;

	for (i = 0; i < CMA_OPTIONS; i++)
		if (id->options[i].len)
			CALLS.rdma_set_option(id->real, RDMA_OPTION_ID, i,
					      &id->options[i].value,
					      id->options[i].len);
}

static int real_new(struct cma_id *id)
{
	struct cma_channel *channel = (struct cma_channel *)id->id.channel;

	if (pier__cma_real_channel(channel))
		return -1;
	pier__dropin_real_enter();
	if (CALLS.rdma_create_id(channel->real, &id->real, id, id->id.ps)) {
		id->real = NULL;
		pier__dropin_real_leave();
		return -1;
	}
	id->real->qp_type = id->id.qp_type;
	pier__cma_real_add(id);
	replay_options(id);
	return 0;
}

void pier__cma_real_destroy(struct cma_id *id)
{
	pier__cma_real_remove(id);
	CALLS.rdma_destroy_id(id->real);
	id->real = NULL;
	id->id.route.path_rec = NULL;	/* it was of that */
}

/* Bound to @addr, or not at all. */
static int bind_real(struct cma_id *id, const struct sockaddr *addr)
{
	int ret;

	if (real_new(id))
		return -1;
	ret = CALLS.rdma_bind_addr(id->real, (struct sockaddr *)addr);
	pier__dropin_real_leave();
	if (ret || !id->real->verbs) {
		int err = ret ? errno : ENODEV;

		pier__cma_real_destroy(id);
		errno = err;
		return -1;
	}
	pier__cma_real_show(id);
	return 0;
}

/* The kernel finds no device first of all, whatever else is wrong. */
int pier__cma_real_bind(struct cma_id *id, const struct sockaddr *addr)
{
	if (!pier__cma_real() || pier__sockaddr_is_any(addr) ||
	    pier__sockaddr_is_loopback(addr))
		return 0;
	if (!bind_real(id, addr))
		return 0;
	return errno == ENODEV || errno == EADDRNOTAVAIL ? 0 : -1;
}

/* The address from which the kernel reaches @dst. */
static int source_of(const struct sockaddr *dst, union pier__sockaddr *ret)
{
	int fd = socket(dst->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;
	union pier__sockaddr to = { 0 };
	socklen_t len = sizeof(*ret);

	if (fd < 0)
		return -1;
	memcpy(&to, dst, pier__sockaddr_len(dst));
	pier__sockaddr_set_port(&to, 1);
	err = connect(fd, &to.sa, pier__sockaddr_len(dst)) ||
	      getsockname(fd, &ret->sa, &len);
	close(fd);
	return err;
}

int pier__cma_real_bind_to(struct cma_id *id, const struct sockaddr *src,
			   const struct sockaddr *dst)
{
	union pier__sockaddr from = { 0 };

	if (!pier__cma_real())
		return 0;
	if (src && !pier__sockaddr_is_any(src))
		return pier__cma_real_bind(id, src);
	if (source_of(dst, &from))
		return 0;
	pier__sockaddr_set_port(&from, be16toh(rdma_get_src_port(&id->id)));
	return pier__cma_real_bind(id, &from.sa);
}

int pier__cma_real_listen_too(struct cma_id *id, int backlog)
{
	struct sockaddr *addr = &id->id.route.addr.src_addr;
	int ret;

	if (!pier__cma_real())
		return 0;
	if (real_new(id))
		return -1;
	ret = CALLS.rdma_bind_addr(id->real, addr);
	if (!ret)
		ret = CALLS.rdma_listen(id->real, backlog);
	pier__dropin_real_leave();
	if (ret) {
		int err = errno;

		pier__cma_real_destroy(id);
		errno = err;
	}
	return ret;
}

/* A call whose end is an event. */
static int completed(struct cma_id *id, int ret)
{
	ret = pier__cma_real_after(id, ret);
	return ret ? ret : pier__cma_complete(id);
}

int pier__cma_real_resolve_addr(struct cma_id *id, const struct sockaddr *dst,
				int timeout_ms)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_resolve_addr(
			 id->real, NULL, (struct sockaddr *)dst, timeout_ms));
}

int pier__cma_real_resolve_route(struct cma_id *id, int timeout_ms)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_resolve_route(id->real, timeout_ms));
}

int pier__cma_real_connect(struct cma_id *id, struct rdma_conn_param *param)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_connect(id->real, param));
}

/* No message says that a peer with datagrams has got it. */
int pier__cma_real_accept(struct cma_id *id, struct rdma_conn_param *param)
{
	int ret;

	pier__cma_real_before(id);
	ret = CALLS.rdma_accept(id->real, param);
	return pier__cma_is_datagram(id) ? pier__cma_real_after(id, ret) :
					   completed(id, ret);
}

int pier__cma_real_disconnect(struct cma_id *id)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_disconnect(id->real));
}

int pier__cma_real_join(struct cma_id *id, struct sockaddr *addr, void *context)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_join_multicast(id->real, addr,
						       context));
}

int pier__cma_real_join_ex(struct cma_id *id,
			   struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	pier__cma_real_before(id);
	return completed(id, CALLS.rdma_join_multicast_ex(id->real, attr,
							  context));
}

int pier__cma_real_leave(struct cma_id *id, struct sockaddr *addr)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_leave_multicast(id->real,
								   addr));
}

int pier__cma_real_listen(struct cma_id *id, int backlog)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_listen(id->real, backlog));
}

int pier__cma_real_reject(struct cma_id *id, const void *data, uint8_t len)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_reject(id->real, data,
							  len));
}

int pier__cma_real_establish(struct cma_id *id)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_establish(id->real));
}

int pier__cma_real_notify(struct cma_id *id, enum ibv_event_type event)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_notify(id->real, event));
}

int pier__cma_real_option(struct cma_id *id, int level, int name, void *value,
			  size_t len)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_set_option(
				    id->real, level, name, value, len));
}

int pier__cma_real_qp_attr(struct cma_id *id, struct ibv_qp_attr *attr,
			   int *mask)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_init_qp_attr(id->real, attr,
								mask));
}

int pier__cma_real_create_srq(struct cma_id *id, struct ibv_pd *pd,
			      struct ibv_srq_init_attr *attr)
{
	pier__cma_real_before(id);
	return pier__cma_real_after(id, CALLS.rdma_create_srq(id->real, pd,
							      attr));
}

/* Without one the host's library would use a null pointer. */
void pier__cma_real_destroy_srq(struct cma_id *id)
{
	if (!id->id.srq)
		return;
	pier__cma_real_before(id);
	CALLS.rdma_destroy_srq(id->real);
	pier__cma_real_after(id, 0);
}
