/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "t/lib/tap.h"

/* What ids give their queue pairs: attributes, by options too, and an SRQ. */
#define TIMEOUT_MS 2000
#define TOS 0x6b		/* DSCP 26, and both bits of ECN */
#define DSCP 0x68
#define ACK_TIMEOUT 19
#define ACK_TIMEOUT_OF_REQ 16	/* without the option */
#define LATER (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | \
	       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | \
	       IBV_QP_MIN_RNR_TIMER)

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *client, *server;

static void fails(int result, int err)
{
	IS(result, -1);
	IS(errno, err);
}

/* The next event, which is @type, is acknowledged.  Returns its id. */
static struct rdma_cm_id *take(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (!IS(rdma_get_cm_event(channel, &event), 0))
		return NULL;
	IS_STR(rdma_event_str(event->event), rdma_event_str(type));
	id = event->id;
	IS(rdma_ack_cm_event(event), 0);
	return id;
}

/* A listener, and a client of it that has its address. */
static void set_up(enum rdma_port_space ps)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	channel = rdma_create_event_channel();
	IS(rdma_create_id(channel, &listener, NULL, ps), 0);
	IS(rdma_bind_addr(listener, (struct sockaddr *)&addr), 0);
	IS(rdma_listen(listener, 1), 0);
	addr.sin_port = rdma_get_src_port(listener);
	IS(rdma_create_id(channel, &client, NULL, ps), 0);
	IS(rdma_resolve_addr(client, NULL, (struct sockaddr *)&addr,
			     TIMEOUT_MS), 0);
	OK(take(RDMA_CM_EVENT_ADDR_RESOLVED) == client);
}

static void clean_up(void)
{
	if (client->qp)
		rdma_destroy_qp(client);
	if (server && server->qp)
		rdma_destroy_qp(server);
	if (server)
		IS(rdma_destroy_id(server), 0);
	server = NULL;
	IS(rdma_destroy_id(client), 0);
	IS(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

static bool has_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = id->qp_type,
	};

	return IS(rdma_create_qp(id, NULL, &init), 0);
}

static void resolve_route(void)
{
	IS(rdma_resolve_route(client, TIMEOUT_MS), 0);
	OK(take(RDMA_CM_EVENT_ROUTE_RESOLVED) == client);
}

/* Both with a queue pair of the id. */
static bool connect_both(void)
{
	resolve_route();
	if (!has_qp(client) || !IS(rdma_connect(client, NULL), 0))
		return false;
	server = take(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!server || !has_qp(server) || !IS(rdma_accept(server, NULL), 0))
		return false;
	return take(RDMA_CM_EVENT_ESTABLISHED) &&
	       take(RDMA_CM_EVENT_ESTABLISHED);
}

static struct ibv_qp_attr attr_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { 0 };
	struct ibv_qp_init_attr init;

	IS(ibv_query_qp(qp, &attr, IBV_QP_AV | IBV_QP_TIMEOUT, &init), 0);
	return attr;
}

static int set_byte(struct rdma_cm_id *id, int option, uint8_t value)
{
	return rdma_set_option(id, RDMA_OPTION_ID, option, &value,
			       sizeof(value));
}

/* The bits of ECN are the device's. */
static void a_type_of_service_is_the_traffic_class_at_both_ends(void)
{
	set_up(RDMA_PS_TCP);
	IS(set_byte(client, RDMA_OPTION_ID_TOS, TOS), 0);
	if (connect_both()) {
		IS(client->route.path_rec->traffic_class, TOS);
		IS(attr_of(client->qp).ah_attr.grh.traffic_class, DSCP);
		IS(attr_of(server->qp).ah_attr.grh.traffic_class, DSCP);
	}
	clean_up();
}

/* As in the kernel. */
static void a_type_of_service_behind_the_route_is_not_used(void)
{
	uint32_t word = TOS;

	set_up(RDMA_PS_TCP);
	fails(rdma_set_option(client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
			      &word, sizeof(word)), EINVAL);
	resolve_route();
	IS(set_byte(client, RDMA_OPTION_ID_TOS, TOS), 0);
	IS(client->route.path_rec->traffic_class, 0);
	clean_up();
}

static void a_service_of_datagrams_is_reached_by_the_type_of_service(void)
{
	struct rdma_conn_param param = { .qp_num = 17 };
	struct rdma_cm_event *event;

	set_up(RDMA_PS_UDP);
	IS(set_byte(client, RDMA_OPTION_ID_TOS, TOS), 0);
	resolve_route();
	IS(rdma_connect(client, &param), 0);
	server = take(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (server && IS(rdma_accept(server, &param), 0) &&
	    IS(rdma_get_cm_event(channel, &event), 0)) {
		IS(event->event, RDMA_CM_EVENT_ESTABLISHED);
		IS(event->param.ud.ah_attr.grh.traffic_class, DSCP);
		IS(rdma_ack_cm_event(event), 0);
	}
	clean_up();
}

static void a_timeout_is_that_of_the_queue_pair(void)
{
	set_up(RDMA_PS_TCP);
	fails(set_byte(client, RDMA_OPTION_ID_ACK_TIMEOUT, 32), EINVAL);
	IS(set_byte(client, RDMA_OPTION_ID_ACK_TIMEOUT, ACK_TIMEOUT), 0);
	if (connect_both()) {
		IS(attr_of(client->qp).timeout, ACK_TIMEOUT);
		IS(attr_of(server->qp).timeout, ACK_TIMEOUT_OF_REQ);
	}
	clean_up();
}

static void a_shared_receive_queue_is_for_the_queue_pair(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4,
						    .max_sge = 1 } };

	set_up(RDMA_PS_TCP);
	fails(rdma_create_srq(NULL, NULL, &init), EINVAL);
	fails(rdma_create_srq(client, NULL, NULL), EINVAL);
	fails(rdma_create_srq(listener, NULL, &init), EINVAL);	/* no device */
	IS(rdma_create_srq(client, NULL, &init), 0);
	fails(rdma_create_srq(client, NULL, &init), EINVAL);
	if (OK(client->srq) && has_qp(client)) {
		OK(client->qp->srq == client->srq);
		rdma_destroy_qp(client);
	}
	rdma_destroy_srq(client);
	OK(!client->srq);
	clean_up();
}

/* Change the state of @qp as @id has it; and of a program's own. */
static bool move(struct rdma_cm_id *id, struct ibv_qp *qp,
		 enum ibv_qp_state state, int wanted)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = 0;

	return IS(rdma_init_qp_attr(id, &attr, &mask), 0) &&
	       IS(attr.qp_state, state) && IS(mask & wanted, wanted) &&
	       IS(ibv_modify_qp(qp, &attr, mask), 0);
}

/* Connect @qp, which the client does not have, and its peer. */
static void connect_own(struct ibv_qp *qp)
{
	struct rdma_conn_param param = { .retry_count = 7 };

	param.qp_num = qp->qp_num;
	OK(move(client, qp, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PORT));
	IS(rdma_connect(client, &param), 0);
	server = take(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!server || !has_qp(server) || !IS(rdma_accept(server, NULL), 0))
		return;
	OK(take(RDMA_CM_EVENT_CONNECT_RESPONSE) == client);
	OK(move(client, qp, IBV_QPS_RTR, LATER));
	OK(move(client, qp, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT));
	IS(attr_of(qp).dest_qp_num, server->qp->qp_num);
	IS(rdma_establish(client), 0);
	OK(take(RDMA_CM_EVENT_ESTABLISHED) == server);
}

static void a_program_connects_a_queue_pair_of_its_own(void)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	set_up(RDMA_PS_TCP);
	resolve_route();
	init.send_cq = ibv_create_cq(client->verbs, 2, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	qp = ibv_create_qp(client->pd, &init);
	if (OK(qp))
		connect_own(qp);
	clean_up();
	if (qp)
		IS(ibv_destroy_qp(qp), 0);
	IS(ibv_destroy_cq(init.send_cq), 0);
}

static void there_are_no_attributes_before_the_peer_has_answered(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	set_up(RDMA_PS_TCP);
	fails(rdma_init_qp_attr(client, &attr, &mask), EINVAL);
	fails(rdma_init_qp_attr(NULL, &attr, &mask), EINVAL);
	fails(rdma_init_qp_attr(client, NULL, &mask), EINVAL);
	fails(rdma_init_qp_attr(client, &attr, NULL), EINVAL);
	clean_up();
}

static void only_communication_is_reported_to_an_id(void)
{
	set_up(RDMA_PS_TCP);
	IS(rdma_notify(client, IBV_EVENT_COMM_EST), 0);
	fails(rdma_notify(client, IBV_EVENT_PATH_MIG), EINVAL);
	fails(rdma_notify(NULL, IBV_EVENT_COMM_EST), EINVAL);
	clean_up();
}

int main(void)
{
	TEST(a_type_of_service_is_the_traffic_class_at_both_ends);
	TEST(a_type_of_service_behind_the_route_is_not_used);
	TEST(a_service_of_datagrams_is_reached_by_the_type_of_service);
	TEST(a_timeout_is_that_of_the_queue_pair);
	TEST(a_shared_receive_queue_is_for_the_queue_pair);
	TEST(a_program_connects_a_queue_pair_of_its_own);
	TEST(there_are_no_attributes_before_the_peer_has_answered);
	TEST(only_communication_is_reported_to_an_id);
	return tap_done();
}
