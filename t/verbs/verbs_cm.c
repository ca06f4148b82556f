/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#include <pier/error.h>

#include "core/roce.h"
#include "core/sockaddr.h"
#include "t/lib/cmnode.h"
#include "t/lib/failing.h"
#include "t/lib/tap.h"

/*
 * Connection management by librdmacm: what t/fabric/fabric_cm.c does not ask of
 * every device.  Two devices in one network, as t/vm/run makes them: the one
 * that PIER_DEVICE names, and another one.
 *
 * With an argument it is a tool for t/verbs/diagnose.sh, t/verbs/cmtool.c.
 */

static const struct sockaddr *any(uint16_t port)
{
	return text_address("0.0.0.0", port);
}

static void fill(uint8_t *data, size_t len, uint8_t first)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(first + i);
}

/* @event has @len bytes that begin with @first, and the end's numbers. */
static void has_data(const struct pier__cm_event *event,
		     const struct node *node, size_t len, uint8_t first)
{
	uint8_t want[256];

	fill(want, len, first);
	if (IS(event->len, len))
		OK(!memcmp(event->data, want, len));
	IS(event->qpn, node->end.qp->qpn);
	IS(event->responder_resources, 3);
	IS(event->initiator_depth, 4);
}

/* A write from near's buffer into far's. */
static void writes_arrive(void)
{
	struct loop_end *a = &near.end, *b = &far.end;
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE };
	struct ibv_wc wc;

	fill(a->buf, 1000, 7);
	memset(b->buf, 0, 1000);
	wr.wr.rdma.remote_addr = (uintptr_t)b->buf;
	wr.wr.rdma.rkey = b->mr->rkey;
	if (loop_post(a, &wr, 0, 1000) && loop_wait_alone(a, &wc)) {
		IS(wc.status, IBV_WC_SUCCESS);
		OK(!memcmp(a->buf, b->buf, 1000));
	}
}

/* From near to far at @addr, whose port is left out. */
static bool connect_to(const struct sockaddr *addr,
		       struct pier__cm_listener **listener,
		       struct pier__cm_id **ret_far, struct pier__cm_id **ret)
{
	struct sockaddr_storage dst = { 0 };
	struct pier__cm_event event;
	struct pier__cm_param param;
	uint8_t data[196];

	memcpy(&dst, addr, pier__sockaddr_len(addr));
	if (!succeeded(ops()->listen(far.cm, text_address("::", 0), 8, &far,
				     listener)))
		return false;
	((struct sockaddr_in *)&dst)->sin_port = htons((*listener)->port);
	if (!succeeded(ops()->resolve(near.cm, NULL, (void *)&dst, 5000, &near,
				      ret)) ||
	    !next_is(&near, PIER__CM_RESOLVED, &event))
		return false;
	OK(event.id == *ret && (*ret)->owner == &near);
	fill(data, 56, 1);
	param = param_of(&near, data, 56);
	if (!succeeded(ops()->connect(*ret, &param)) ||
	    !next_is(&far, PIER__CM_REQUEST, &event))
		return false;
	OK(event.listener == *listener && event.listener->owner == &far);
	has_data(&event, &near, 56, 1);
	IS(event.retry_count, 6);
	IS(event.rnr_retry, 5);
	*ret_far = event.id;
	fill(data, 196, 50);
	param = param_of(&far, data, 196);
	if (!move(&far, *ret_far) ||
	    !succeeded(ops()->accept(*ret_far, &param)) ||
	    !next_is(&near, PIER__CM_RESPONSE, &event))
		return false;
	has_data(&event, &far, 196, 50);
	return move(&near, *ret) && succeeded(ops()->establish(*ret)) &&
	       next_is(&far, PIER__CM_ESTABLISHED, &event) &&
	       OK(event.id == *ret_far);
}

static void same_address(const struct sockaddr_storage *a,
			 const struct sockaddr_storage *b)
{
	char x[PIER__ADDR_TEXT], y[PIER__ADDR_TEXT];

	pier__sockaddr_text((const void *)a, x);
	pier__sockaddr_text((const void *)b, y);
	IS_STR(x, y);
}

/* @first disconnects, it is reported to @second, both are over. */
static void part(struct node *first, struct pier__cm_id *first_id,
		 struct node *second, struct pier__cm_id *second_id)
{
	struct pier__cm_event event;

	succeeded(ops()->disconnect(first_id));
	succeeded(ops()->disconnect(first_id));
	if (next_is(second, PIER__CM_DISCONNECTED, &event))
		OK(event.id == second_id);
	if (next_is(first, PIER__CM_DISCONNECTED, &event))
		OK(event.id == first_id);
	succeeded(ops()->disconnect(second_id));
	succeeded(ops()->disconnect(first_id));
	IS(ops()->next(first->cm, &event), -EAGAIN);
	IS(ops()->next(second->cm, &event), -EAGAIN);
}

static void connection_works(const struct sockaddr *addr, bool server_ends)
{
	struct pier__cm_listener *listener = NULL;
	struct pier__cm_id *id = NULL, *far_id = NULL;

	if (connect_to(addr, &listener, &far_id, &id)) {
		same_address(&id->local, &far_id->peer);
		same_address(&id->peer, &far_id->local);
		writes_arrive();
		if (server_ends)
			part(&far, far_id, &near, id);
		else
			part(&near, id, &far, far_id);
	}
	ops()->release(id);
	ops()->release(far_id);
	ops()->unlisten(listener);
	fresh_qp(&near);
	fresh_qp(&far);
}

static void connection_carries_data_over_ipv4(void)
{
	connection_works(address(&far, 0), false);
}

/* The first IPv6 address of far that is no link-local one. */
static void connection_carries_data_over_ipv6(void)
{
	const struct pier__port *port = &far.fdev->port;
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };

	for (uint32_t i = 0; i < port->gid_count; i++) {
		if (port->gids[i].raw[0] != 0xfd)
			continue;
		memcpy(&addr.sin6_addr, port->gids[i].raw, 16);
		connection_works((void *)&addr, false);
		return;
	}
	tap_skip("no IPv6 address");
}

static void server_may_end_it_as_well(void)
{
	connection_works(address(&far, 0), true);
}

/* A request of QP @qpn to a port without a listener. */
static void is_rejected(uint32_t qpn)
{
	struct pier__cm_param param = param_of(&near, NULL, 0);
	struct pier__cm_event event;
	struct pier__cm_id *id;

	param.qpn = qpn;
	if (!succeeded(ops()->resolve(near.cm, NULL, address(&far, 18502), 5000,
				      NULL, &id)))
		return;
	if (next_is(&near, PIER__CM_RESOLVED, &event) &&
	    succeeded(ops()->connect(id, &param)) &&
	    next_is(&near, PIER__CM_REJECTED, &event))
		IS(event.reason, ROCE_REJ_SERVICE_ID);
	ops()->release(id);
}

static void a_port_without_a_listener_is_reported_by_its_reason(void)
{
	is_rejected(near.end.qp->qpn);
}

static void address_that_no_host_has_is_unreachable(void)
{
	struct pier__cm_event event;
	struct pier__cm_id *id;

	/* In the subnet: no host answers ARP for it. */
	if (succeeded(ops()->resolve(near.cm, NULL,
				     text_address("10.9.0.99", 7), 1500, NULL,
				     &id))) {
		if (next_is(&near, PIER__CM_UNREACHABLE, &event)) {
			OK(event.error == -EHOSTUNREACH ||
			   event.error == -ETIMEDOUT);
			LIKE(pier_last_error(), "10.9.0.99 port 7");
			tap_note("%s", pier_last_error());
		}
		ops()->release(id);
	}
	/* In no subnet, and there is no router. */
	if (!ops()->resolve(near.cm, NULL, text_address("192.0.2.1", 7), 1500,
			    NULL, &id)) {
		if (next_is(&near, PIER__CM_UNREACHABLE, &event))
			IS(event.error, -EHOSTUNREACH);
		ops()->release(id);
	}
	LIKE(pier_last_error(), "192.0.2.1 port 7");
	tap_note("%s", pier_last_error());
}

/* The kernel keeps it from us; only the answer finds out. */
static void attempt_that_is_given_up_cannot_be_accepted(void)
{
	struct pier__cm_param param = param_of(&far, NULL, 0);
	struct pier__cm_listener *listener;
	struct pier__cm_event request, event;
	struct ibv_qp_attr attr;
	struct pier__cm_id *id;
	uint16_t port;
	int err, mask;

	if (!ask(&near, &far, &listener, &request, &id))
		return;
	ops()->release(id);
	err = ops()->accept(request.id, &param);
	/* The REJ may cross the answer. */
	if (!err) {
		next_is(&far, PIER__CM_REJECTED, &event);
	} else if (IS(err, -ECONNABORTED)) {
		LIKE(pier_last_error(), "given up");
		IS(ops()->reject(request.id, NULL, 0), -ECONNABORTED);
		IS(ops()->qp_attr(request.id, IBV_QPS_INIT, &attr, &mask,
				  &port), -ECONNABORTED);
	}
	ops()->release(request.id);
	ops()->unlisten(listener);
}

static void way_leads_over_the_device_and_no_other(void)
{
	struct pier__cm_event event;
	struct pier__cm_id *id;

	if (!succeeded(ops()->resolve(near.cm, address(&far, 0),
				      address(&near, 7), 5000, NULL, &id)))
		return;
	if (next_is(&near, PIER__CM_UNREACHABLE, &event)) {
		IS(event.error, -EHOSTUNREACH);
		LIKE(pier_last_error(), near.fdev->port.name);
		LIKE(pier_last_error(), far.fdev->port.name);
		LIKE(pier_last_error(), "source address");
	}
	ops()->release(id);
}

static void source_in_the_subnet_is_chosen_of_the_device(void)
{
	struct pier__cm_event event;
	struct pier__cm_id *id;

	/* By its routes the kernel would take the one that has the address. */
	if (!succeeded(ops()->resolve(near.cm, NULL, address(&far, 7), 5000,
				      NULL, &id)))
		return;
	if (next_is(&near, PIER__CM_RESOLVED, &event))
		OK(!memcmp(&((struct sockaddr_in *)&id->local)->sin_addr,
			   &((const struct sockaddr_in *)
			     address(&near, 0))->sin_addr, 4));
	ops()->release(id);
}

static void listeners_address_is_one_of_the_device(void)
{
	struct pier__cm_listener *none = NULL;

	IS(ops()->listen(near.cm, address(&far, 0), 1, NULL, &none),
	   -EADDRNOTAVAIL);
	LIKE(pier_last_error(), near.fdev->port.name);
	LIKE(pier_last_error(), far.fdev->port.name);
	IS(ops()->listen(near.cm, text_address("10.99.99.99", 0), 1, NULL,
			 &none), -EADDRNOTAVAIL);
	LIKE(pier_last_error(), "10.99.99.99");
	OK(!none);
}

/* Listen on @first, then on @second: the port is taken. */
static void is_taken(const struct sockaddr *first,
		     const struct sockaddr *second)
{
	struct pier__cm_listener *listener, *none = NULL;

	if (!succeeded(ops()->listen(near.cm, first, 1, NULL, &listener)))
		return;
	IS(ops()->listen(near.cm, second, 1, NULL, &none), -EADDRINUSE);
	LIKE(pier_last_error(), "port is taken");
	OK(!none);
	ops()->unlisten(listener);
}

static void port_in_use_is_reported_whatever_the_address(void)
{
	struct sockaddr_in wild = *(const struct sockaddr_in *)any(18500);

	is_taken(address(&near, 18500), address(&near, 18500));
	is_taken((void *)&wild, (void *)&wild);
	is_taken((void *)&wild, address(&near, 18500));
	is_taken(address(&near, 18500), (void *)&wild);
}

static void port_is_free_once_its_listener_is_gone(void)
{
	struct pier__cm_listener *listener, *again;
	struct pier__cm_event request, event;
	struct pier__cm_param param = param_of(&far, NULL, 0);
	struct pier__cm_id *id;
	uint16_t port;

	if (!ask(&near, &far, &listener, &request, &id))
		return;
	if (move(&far, request.id) &&
	    succeeded(ops()->accept(request.id, &param)))
		next_is(&near, PIER__CM_RESPONSE, &event);
	port = listener->port;
	ops()->unlisten(listener);
	/* The connection that came by it lives on. */
	if (succeeded(ops()->listen(far.cm, any(port), 1, NULL, &again)))
		ops()->unlisten(again);
	ops()->release(id);
	ops()->release(request.id);
	fresh_qp(&far);
}

static void listener_on_any_address_gets_its_own_device_only(void)
{
	struct pier__cm_param param = param_of(&far, NULL, 0);
	struct pier__cm_listener *listener;
	struct pier__cm_event event;
	struct pier__cm_id *id;

	if (!succeeded(ops()->listen(near.cm, any(0), 8, NULL, &listener)))
		return;
	if (succeeded(ops()->resolve(far.cm, NULL,
				     address(&far, listener->port), 5000, NULL,
				     &id))) {
		if (next_is(&far, PIER__CM_RESOLVED, &event) &&
		    succeeded(ops()->connect(id, &param))) {
			struct pollfd fd = { near.cm->fd, POLLIN, 0 };

			IS(poll(&fd, 1, NODE_LIMIT_MS), 1);
			IS(ops()->next(near.cm, &event), -EAGAIN);
			if (next_is(&far, PIER__CM_REJECTED, &event))
				IS(event.reason, ROCE_REJ_CONSUMER);
		}
		ops()->release(id);
	}
	ops()->unlisten(listener);
}

/* The kernel at the other end repeats a request after 6 s. */
static void requests_beyond_the_backlog_are_reported_later(void)
{
	struct pier__cm_param param = param_of(&near, NULL, 0);
	struct pier__cm_listener *listener;
	struct pier__cm_event event, request;
	struct pier__cm_id *ids[2];

	if (!succeeded(ops()->listen(far.cm, any(0), 1, NULL, &listener)))
		return;
	for (int i = 0; i < 2; i++) {
		param.qpn ^= 1;		/* the same one twice is stale */
		if (!succeeded(ops()->resolve(near.cm, NULL,
					      address(&far, listener->port),
					      5000, NULL, &ids[i])) ||
		    !next_is(&near, PIER__CM_RESOLVED, &event) ||
		    !succeeded(ops()->connect(ids[i], &param)))
			return;
	}
	/* The kernel handles requests in order: both have been. */
	is_rejected(param.qpn ^ 2);
	if (next_is(&far, PIER__CM_REQUEST, &event)) {
		IS(ops()->next(far.cm, &request), -EAGAIN);
		ops()->release(event.id);
	}
	if (next_is(&near, PIER__CM_REJECTED, &event))
		OK(event.id == ids[0]);
	if (next_is(&far, PIER__CM_REQUEST, &request))
		ops()->release(request.id);
	ops()->release(ids[0]);
	ops()->release(ids[1]);
	ops()->unlisten(listener);
}

static void ipv4_listener_leaves_ipv6_to_another(void)
{
	struct pier__cm_listener *four, *six = NULL;

	if (!succeeded(ops()->listen(near.cm, any(18501), 1, NULL, &four)))
		return;
	/* :: means both families, as with sockets. */
	IS(ops()->listen(near.cm, text_address("::", 18501), 1, NULL, &six),
	   -EADDRINUSE);
	ops()->unlisten(four);
	if (succeeded(ops()->listen(near.cm, text_address("::", 18501), 1, NULL,
				    &six)))
		ops()->unlisten(six);
}

static void bad_arguments_are_refused_before_the_kernel_sees_them(void)
{
	static const uint8_t bytes[256];
	struct sockaddr_storage ib = { .ss_family = 27 /* AF_IB */ };
	struct pier__cm_param param = param_of(&near, bytes, 57);
	struct pier__cm_listener *listener = NULL;
	struct pier__cm_event event, request;
	struct pier__cm_id *id = NULL;

	IS(ops()->resolve(near.cm, NULL, (void *)&ib, 1000, NULL, &id),
	   -EOPNOTSUPP);
	LIKE(pier_last_error(), "IPv4 or IPv6");
	ib.ss_family = AF_UNIX;
	IS(ops()->resolve(near.cm, NULL, (void *)&ib, 1000, NULL, &id),
	   -EINVAL);
	IS(ops()->resolve(near.cm, NULL, address(&far, 7), 0, NULL, &id),
	   -EINVAL);
	IS(ops()->listen(near.cm, (void *)&ib, 1, NULL, &listener), -EINVAL);
	OK(!id && !listener);

	if (!ask(&near, &far, &listener, &request, &id))
		return;
	IS(ops()->connect(id, &param), -EINVAL);	/* for the 2nd time */
	IS(ops()->establish(id), -EINVAL);
	IS(ops()->accept(id, &param), -EINVAL);
	IS(ops()->disconnect(id), -EINVAL);
	param.len = 197;
	IS(ops()->accept(request.id, &param), -EINVAL);
	LIKE(pier_last_error(), "at most 196");
	IS(ops()->reject(request.id, bytes, 149), -EINVAL);
	LIKE(pier_last_error(), "at most 148");
	param.len = 0;
	param.responder_resources = 255;
	IS(ops()->accept(request.id, &param), -EINVAL);
	/* It is as it was. */
	IS(ops()->reject(request.id, bytes, 148), 0);
	if (next_is(&near, PIER__CM_REJECTED, &event))
		IS(event.len, 148);
	IS(ops()->disconnect(id), 0);
	IS(ops()->connect(id, &param), -ECONNABORTED);
	ops()->release(request.id);
	ops()->release(id);
	ops()->unlisten(listener);
}

/* Fail each allocation of @call in turn; it returns -ENOMEM until it works. */
static void every_allocation(int (*call)(void))
{
	int err;
	long n;

	for (n = 0; n < 100; n++) {
		failing_at(n);
		err = call();
		if (!failing_happened())
			break;
		IS(err, -ENOMEM);
	}
	failing_at(-1);
	OK(n > 0);
	IS(err, 0);
}

static int create_one(void)
{
	struct pier__cm *cm;
	int err = ops()->create(near.end.chan, IBV_MTU_4096, &cm);

	if (!err)
		ops()->destroy(cm);
	return err;
}

static int listen_once(void)
{
	struct pier__cm_listener *listener;
	int err = ops()->listen(near.cm, any(0), 1, NULL, &listener);

	if (!err)
		ops()->unlisten(listener);
	return err;
}

static int resolve_once(void)
{
	struct pier__cm_id *id;
	int err = ops()->resolve(near.cm, NULL, address(&far, 7), 1000, NULL,
				 &id);

	if (!err)
		ops()->release(id);
	return err;
}

static void lack_of_memory_is_reported_and_leaves_nothing(void)
{
	long live = failing_live();

	every_allocation(create_one);
	every_allocation(listen_once);
	every_allocation(resolve_once);
	IS(failing_live(), live);
}

static void request_that_there_is_no_memory_for_is_rejected(void)
{
	struct pier__cm_param param = param_of(&near, NULL, 0);
	struct pier__cm_listener *listener;
	struct pier__cm_event event;
	struct pollfd fd = { far.cm->fd, POLLIN, 0 };
	struct pier__cm_id *id;

	if (!succeeded(ops()->listen(far.cm, any(0), 8, NULL, &listener)))
		return;
	if (succeeded(ops()->resolve(near.cm, NULL,
				     address(&far, listener->port), 5000, NULL,
				     &id))) {
		if (next_is(&near, PIER__CM_RESOLVED, &event) &&
		    succeeded(ops()->connect(id, &param))) {
			IS(poll(&fd, 1, NODE_LIMIT_MS), 1);
			failing_at(0);
			IS(ops()->next(far.cm, &event), -EAGAIN);
			OK(failing_happened());
			failing_at(-1);
			next_is(&near, PIER__CM_REJECTED, &event);
		}
		ops()->release(id);
	}
	ops()->unlisten(listener);
}

int main(int argc, char *argv[])
{
	const char *reason;

	if (argc == 2)
		return node_tool(argv[1]);
	reason = nodes_open();
	if (reason)
		return tap_skip_all(reason);
	TEST(way_leads_over_the_device_and_no_other);
	TEST(source_in_the_subnet_is_chosen_of_the_device);
	TEST(listeners_address_is_one_of_the_device);
	TEST(port_in_use_is_reported_whatever_the_address);
	TEST(port_is_free_once_its_listener_is_gone);
	TEST(connection_carries_data_over_ipv4);
	TEST(connection_carries_data_over_ipv6);
	TEST(a_port_without_a_listener_is_reported_by_its_reason);
	TEST(address_that_no_host_has_is_unreachable);
	TEST(server_may_end_it_as_well);
	TEST(attempt_that_is_given_up_cannot_be_accepted);
	TEST(listener_on_any_address_gets_its_own_device_only);
	TEST(requests_beyond_the_backlog_are_reported_later);
	TEST(ipv4_listener_leaves_ipv6_to_another);
	TEST(bad_arguments_are_refused_before_the_kernel_sees_them);
	TEST(lack_of_memory_is_reported_and_leaves_nothing);
	TEST(request_that_there_is_no_memory_for_is_rejected);
	nodes_close();
	return tap_done();
}
