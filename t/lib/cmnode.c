/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/verbs/verbs_impl.h"
#include "t/lib/cmnode.h"
#include "t/lib/tap.h"

struct node near, far;

const struct pier__fabric_cm *ops(void)
{
	return pier__verbs.cm;
}

bool succeeded(int err)
{
	if (err)
		tap_note("%s", pier_last_error());
	return IS(err, 0);
}

/* The first IPv4 address of @node with @port. */
const struct sockaddr *address(const struct node *node, uint16_t port)
{
	static struct sockaddr_in addrs[4];
	static unsigned int turn;
	struct sockaddr_in *ret = &addrs[turn++ % 4];
	const struct pier__port *p = &node->fdev->port;

	memset(ret, 0, sizeof(*ret));
	ret->sin_family = AF_INET;
	ret->sin_port = htons(port);
	for (uint32_t i = 0; i < p->gid_count; i++) {
		if (memcmp(p->gids[i].raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12))
			continue;
		memcpy(&ret->sin_addr, p->gids[i].raw + 12, 4);
		break;
	}
	return (const void *)ret;
}

const struct sockaddr *text_address(const char *text, uint16_t port)
{
	static struct sockaddr_storage addr;
	struct sockaddr_in6 *v6 = (void *)&addr;
	struct sockaddr_in *v4 = (void *)&addr;

	memset(&addr, 0, sizeof(addr));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
	}
	return (const void *)&addr;
}

/* The next event of @node; false: none within NODE_LIMIT_MS. */
static bool next(struct node *node, struct pier__cm_event *ret)
{
	uint64_t until = pier__now() + NODE_LIMIT_MS * PIER__MS;
	struct pollfd fd = { .fd = node->cm->fd, .events = POLLIN };
	int err;

	while ((err = ops()->next(node->cm, ret)) == -EAGAIN) {
		if (pier__now() > until)
			return OK(!"an event in time");
		poll(&fd, 1, 100);
	}
	return succeeded(err);
}

/* The next event is of @kind. */
bool next_is(struct node *node, enum pier__cm_kind kind,
	     struct pier__cm_event *ret)
{
	return next(node, ret) && IS(ret->kind, kind);
}

bool move(struct node *node, struct pier__cm_id *id)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
	};
	struct ibv_qp_attr attr;
	uint16_t port;
	int mask;

	for (int i = 0; i < 3; i++) {
		if (!succeeded(
			    ops()->qp_attr(id, states[i], &attr, &mask, &port)))
			return false;
		IS(port, ROCE_UDP_PORT);
		if (!succeeded(node->fdev->fabric->qp->qp_modify(
			    node->end.qp, &attr, mask, port)))
			return false;
	}
	return true;
}

struct pier__cm_param param_of(const struct node *node,
			       const void *data, size_t len)
{
	return (struct pier__cm_param) {
		.qpn = node->end.qp->qpn, .responder_resources = 4,
		.initiator_depth = 3, .retry_count = 6, .rnr_retry = 5,
		.data = data, .len = len,
	};
}

/* Up to the request at @server; its ids are the caller's. */
bool ask(struct node *client, struct node *server,
	 struct pier__cm_listener **listener,
	 struct pier__cm_event *request, struct pier__cm_id **ret)
{
	struct pier__cm_param param = param_of(client, "knock", 5);
	struct pier__cm_event event;

	if (!succeeded(ops()->listen(server->cm, text_address("0.0.0.0", 0), 8,
				     server, listener)))
		return false;
	if (!succeeded(ops()->resolve(client->cm, NULL,
				      address(server, (*listener)->port), 5000,
				      client, ret)))
		return false;
	return next_is(client, PIER__CM_RESOLVED, &event) &&
	       succeeded(ops()->connect(*ret, &param)) &&
	       next_is(server, PIER__CM_REQUEST, request);
}

void fresh_qp(struct node *node)
{
	struct ibv_qp_cap cap = { .max_send_wr = 16, .max_send_sge = 2 };
	const struct pier__fabric_qp *qp = node->fdev->fabric->qp;

	qp->qp_destroy(node->end.qp);
	node->end.qp = NULL;
	succeeded(qp->qp_create(node->end.cq, node->end.srq, &cap,
				&node->end.qp));
}

/* The first active device that is not near's. */
static int open_far(void)
{
	struct pier__ports ports = { 0 };
	int err = pier__verbs.dev->list(&ports);

	for (size_t i = 0; !err && i < ports.count; i++) {
		if (strcmp(ports.port[i].name, near.fdev->port.name) &&
		    ports.port[i].active) {
			err = pier__verbs.dev->open(&ports.port[i], &far.fdev);
			break;
		}
	}
	free(ports.port);
	return err;
}

static bool open_node(struct node *node)
{
	return loop_end_open(node->fdev, 16, &node->end) &&
	       succeeded(
		       ops()->create(node->end.chan, IBV_MTU_4096, &node->cm));
}

static void close_node(struct node *node)
{
	ops()->destroy(node->cm);
	loop_end_close(&node->end);
	node->fdev->fabric->dev->close(node->fdev);
}

const char *nodes_open(void)
{
	int err = loop_device(&near.fdev);

	if (!err && near.fdev->fabric != &pier__verbs)
		return "not a device of rdma-core";
	if (!err)
		err = open_far();
	if (err)
		return pier_last_error();
	if (!far.fdev)
		return "there is no second device";
	if (!open_node(&near) || !open_node(&far))
		return "the devices cannot be used";
	return NULL;
}

void nodes_close(void)
{
	close_node(&far);
	close_node(&near);
}
