/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of streams: made, accepted, shut down. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/clock.h"
#include "dropin/rsocket/rs.h"

#define TIMEOUT_MS 2000
#define RETRIES 7

static int fail_with(int err)
{
	errno = err;
	return -1;
}

void pier__rs_fail(struct rs *rs, int err)
{
	rs->state = rs->state == RS_CONNECTING ? RS_REFUSED : RS_FAILED;
	rs->err = err;
	pier__rs_changed(rs);
}

static void connected(struct rs *rs)
{
	rs->state = RS_CONNECTED;
	rs->readable = true;
	rs->writable = true;
}

static void established(struct rs *rs, const struct rdma_conn_param *param)
{
	if (rs->state != RS_CONNECTING)
		return;		/* accepted: the hello was in the request */
	if (pier__rs_greeted(rs, param->private_data, param->private_data_len))
		connected(rs);
	else
		pier__rs_fail(rs, EPROTO);
}

/* @status: of an event that is a failure. */
static int error_of(const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	if (event->event == RDMA_CM_EVENT_UNREACHABLE)
		return ETIMEDOUT;
	return event->status < 0 ? -event->status : ECONNABORTED;
}

/* Can it still fail? */
static bool is_open(const struct rs *rs)
{
	return rs->state == RS_CONNECTING || rs->state == RS_CONNECTED;
}

static void handle(struct rs *rs, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(rs, &event->param.conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (rs->state == RS_CONNECTED)
			rs->state = RS_DISCONNECTED;
		break;
	default:
		if (is_open(rs))
			pier__rs_fail(rs, error_of(event));
		break;
	}
	pier__rs_changed(rs);
}

/* Returns false: there is none.  A channel that fails has no more of them. */
static bool handle_next(struct rs *rs)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(rs->channel, &event)) {
		if (errno != EAGAIN && is_open(rs))
			pier__rs_fail(rs, errno);
		return false;
	}
	handle(rs, event);
	rdma_ack_cm_event(event);
	return true;
}

/* A listener's are requests, which raccept() takes. */
void pier__rs_events(struct rs *rs)
{
	int err = errno;

	while (rs->state != RS_LISTENING && !rs->closed && handle_next(rs))
		continue;
	errno = err;
}

int rbind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct rs *rs = pier__rs_find(fd);
	int ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return bind(fd, addr, len);
	if (len < sizeof(struct sockaddr_in))
		return fail_with(EINVAL);
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = rdma_bind_addr(rs->id, (struct sockaddr *)addr);
	if (!ret)
		rs->bound = rs->id->route.addr.src_storage;
	pier__rs_unlock(rs);
	return ret;
}

int rlisten(int fd, int backlog)
{
	struct rs *rs = pier__rs_find(fd);
	int ret = 0;

	if (!rs)
		return -1;
	if (rs->datagram)
		return fail_with(EOPNOTSUPP);
	if (pier__rs_lock(rs, fd))
		return -1;
	if (rs->state == RS_NEW) {
		ret = rdma_listen(rs->id, backlog);
		if (!ret)
			rs->state = RS_LISTENING;
	} else if (rs->state != RS_LISTENING) {
		ret = fail_with(EINVAL);
	}
	pier__rs_unlock(rs);
	return ret;
}

static struct rdma_conn_param param_of(const struct rs *rs,
				       struct rs_hello *hello)
{
	pier__rs_hello(rs, hello);
	return (struct rdma_conn_param){
		.private_data = hello, .private_data_len = sizeof(*hello),
		.flow_control = 1, .retry_count = RETRIES,
		.rnr_retry_count = RETRIES,
	};
}

static int begin(struct rs *rs, const struct sockaddr *addr)
{
	struct rdma_conn_param param;
	struct rs_hello hello;

	rs->state = RS_CONNECTING;
	if (rdma_resolve_addr(rs->id, NULL, (struct sockaddr *)addr,
			      TIMEOUT_MS))
		return -1;
	pier__rs_events(rs);
	if (rs->state != RS_CONNECTING)
		return fail_with(rs->err);
	if (rdma_resolve_route(rs->id, TIMEOUT_MS) || pier__rs_set_up(rs))
		return -1;
	param = param_of(rs, &hello);
	return rdma_connect(rs->id, &param);
}

static bool is_decided(const struct rs *rs)
{
	return rs->state != RS_CONNECTING;
}

/* The error of an attempt is reported once. */
static int refused(struct rs *rs)
{
	int err = rs->err;

	rs->err = 0;
	return fail_with(err);
}

static int finish(struct rs *rs)
{
	if (pier__rs_wait(rs, is_decided, false))
		return errno == EAGAIN ? fail_with(EINPROGRESS) : -1;
	if (rs->state == RS_REFUSED)
		return refused(rs);
	return rs->state == RS_FAILED ? fail_with(rs->err) : 0;
}

/* Another attempt has an id of its own, with the address of this one. */
static int begin_again(struct rs *rs)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(rs->channel, &id, rs, RDMA_PS_TCP))
		return -1;
	pier__rs_tear_down(rs);
	rdma_destroy_id(rs->id);
	rs->id = id;
	if (pier__rs_set_id(rs))
		return -1;
	if (rs->bound.ss_family &&
	    rdma_bind_addr(id, (struct sockaddr *)&rs->bound))
		return -1;
	rs->state = RS_NEW;
	return 0;
}

static int connect_to(struct rs *rs, const struct sockaddr *addr)
{
	switch (rs->state) {
	case RS_NEW:
		break;
	case RS_CONNECTING:
		return rs->nonblocking ? fail_with(EALREADY) : finish(rs);
	case RS_REFUSED:
		if (rs->err)
			return refused(rs);
		if (begin_again(rs))
			return -1;
		break;
	case RS_CONNECTED:
		return fail_with(EISCONN);
	default:
		return fail_with(EINVAL);
	}
	if (begin(rs, addr)) {
		rs->state = RS_REFUSED;
		rs->err = 0;
		return -1;
	}
	return finish(rs);
}

int rconnect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct rs *rs = pier__rs_find(fd);
	int ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return connect(fd, addr, len);
	if (len < sizeof(struct sockaddr_in))
		return fail_with(EINVAL);
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = connect_to(rs, addr);
	pier__rs_unlock(rs);
	return ret;
}

/* A listener's options are those of what it accepts. */
static struct rs *child_of(const struct rs *listener)
{
	struct rs *rs = pier__rs_new(listener->family);

	if (!rs)
		return NULL;
	rs->sq_size = listener->sq_size;
	rs->rq_size = listener->rq_size;
	rs->inline_size = listener->inline_size;
	rs->sbuf_size = listener->sbuf_size;
	rs->rbuf_size = listener->rbuf_size;
	rs->iomaps = listener->iomaps;
	memcpy(rs->ints, listener->ints, sizeof(rs->ints));
	rs->linger = listener->linger;
	return rs;
}

/*
 * The id of @event, which is released, is that of the new socket.  Fails with
 * EPROTO, ECONNABORTED because of the peer.
 */
static int accept_on(struct rs *rs, struct rdma_cm_event *event)
{
	struct rdma_conn_param param;
	struct rs_hello hello;
	bool ok;

	rs->id = event->id;
	rs->id->context = rs;
	ok = pier__rs_greeted(rs, event->param.conn.private_data,
			      event->param.conn.private_data_len);
	rdma_ack_cm_event(event);
	if (!ok) {
		rdma_reject(rs->id, NULL, 0);
		return fail_with(EPROTO);
	}
	if (rdma_migrate_id(rs->id, rs->channel) || pier__rs_set_up(rs))
		return -1;
	param = param_of(rs, &hello);
	if (rdma_accept(rs->id, &param))
		return fail_with(ECONNABORTED);
	connected(rs);
	return 0;
}

static int take(struct rs *listener, struct rdma_cm_event *event)
{
	struct rs *rs = child_of(listener);
	struct rdma_cm_id *id = event->id;
	int err = errno;

	if (!rs) {
		rdma_reject(id, NULL, 0);
		rdma_ack_cm_event(event);
		rdma_destroy_id(id);
		return fail_with(err);
	}
	if (!accept_on(rs, event))
		return pier__rs_add(rs);
	err = errno;
	pier__rs_free(rs);
	return fail_with(err);
}

static bool has_event(const struct rs *rs)
{
	struct pollfd pfd = { .fd = rs->channel->fd, .events = POLLIN };

	return rs->closed || poll(&pfd, 1, 0) == 1;
}

/* NULL with errno. */
static struct rdma_cm_event *next_request(struct rs *rs)
{
	struct rdma_cm_event *event;

	if (rs->state != RS_LISTENING || rs->closed) {
		errno = rs->closed ? EBADF : EINVAL;
		return NULL;
	}
	return rdma_get_cm_event(rs->channel, &event) ? NULL : event;
}

/* The next request of a peer that is one: others are none of the program's. */
static int accept_next(struct rs *rs)
{
	struct rdma_cm_event *event;
	int ret;

	do {
		event = next_request(rs);
		if (!event && errno == EAGAIN &&
		    !pier__rs_wait(rs, has_event, false))
			continue;
		if (!event)
			return -1;
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
			rdma_ack_cm_event(event);
			continue;
		}
		ret = take(rs, event);
		if (ret >= 0 || (errno != EPROTO && errno != ECONNABORTED))
			return ret;
	} while (true);
}

int raccept(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct rs *rs = pier__rs_find(fd);
	int ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return fail_with(EOPNOTSUPP);
	if (pier__rs_lock(rs, fd))
		return -1;
	ret = accept_next(rs);
	pier__rs_unlock(rs);
	if (ret >= 0 && addr && len)
		rgetpeername(ret, addr, len);
	return ret;
}

static bool can_control(const struct rs *rs)
{
	return rs->controls || rs->state != RS_CONNECTED;
}

/* The rest of it does not depend on the program: no signal ends this. */
static int wait_through(struct rs *rs, bool (*is)(const struct rs *rs),
			uint64_t end)
{
	int ret;

	do
		ret = pier__rs_wait_until(rs, is, end);
	while (ret && errno == EINTR);
	return ret;
}

void pier__rs_settle(struct rs *rs, uint64_t end)
{
	wait_through(rs, pier__rs_all_sent, end);
}

/* Is there anything to say to the peer if @how is shut down? */
static bool is_news(const struct rs *rs, int how)
{
	bool readable = rs->readable && how == SHUT_WR;

	if (how == SHUT_RD || rs->ended)
		return false;
	return rs->writable || !readable;
}

/* Fails before anything has changed. */
int pier__rs_shutdown(struct rs *rs, int how, uint64_t end)
{
	bool news;

	if (rs->state == RS_CONNECTED && is_news(rs, how) &&
	    wait_through(rs, can_control, end))
		return -1;
	news = is_news(rs, how);
	if (how != SHUT_WR)
		rs->readable = false;
	if (how != SHUT_RD)
		rs->writable = false;
	pier__rs_changed(rs);
	if (rs->state != RS_CONNECTED)
		return rs->state == RS_DISCONNECTED ? 0 : fail_with(ENOTCONN);
	if (!news)
		return 0;
	rs->ended = !rs->readable;
	return pier__rs_post(rs, RS_CONTROL,
			     rs->ended ? RS_DISCONNECT : RS_SHUTDOWN, NULL, 0,
			     0, 0);
}

int rshutdown(int fd, int how)
{
	struct rs *rs = pier__rs_find(fd);
	uint64_t end;
	int ret;

	if (!rs)
		return -1;
	if (rs->datagram)
		return shutdown(fd, how);
	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return fail_with(EINVAL);
	if (pier__rs_lock(rs, fd))
		return -1;
	end = rs->nonblocking ? 0 : pier__now() + RS_LINGER_S * 1000 * PIER__MS;
	ret = pier__rs_shutdown(rs, how, end);
	if (!ret)
		pier__rs_settle(rs, end);
	pier__rs_unlock(rs);
	return ret;
}
