/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "ops/comch_impl.h"
#include "t/lib/caller.h"
#include "t/lib/freight.h"
#include "t/lib/tap.h"

/* Peers of a Comm Channel that do not keep to its protocol. */

#define LEN 8192
#define QUEUE 4

enum {	/* where numbers are in a request and in a reply */
	REQ_MESSAGE = 16, REQ_QUEUE = 20, REQ_NAME_LEN = 24, REQ_NAME = 28,
	REP_MESSAGE = 4, REP_QUEUE = 8,
};

static struct pier_dev *dev;
static struct talker server, client;
static struct caller mallory;		/* by hand */
static struct pier__comch_name name;
static uint8_t request[PIER__COMCH_REQ + 1];
static size_t request_len;

static void put(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
}

static void good_request(void)
{
	struct pier__comch_limits limits = { 4080, 16 };

	request_len = pier__comch_req_encode(&name, &limits, request);
}

static bool start_server(const struct pier_comch_config *cfg)
{
	pier__comch_name_set(&name, talker_name());
	good_request();
	return talker_server(&server, dev, name.text, cfg) &&
	       talker_start(&server);
}

static bool open_server(void)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .recv_queue = QUEUE };

	return start_server(&cfg) &&
	       caller_open(&mallory, dev, server.pe, NULL, LEN);
}

static bool call(uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = caller_address(dev),
		.port = port,
		.data = request,
		.data_len = request_len,
	};

	return IS(pier_rdma_connect_to(mallory.peer.rdma, &cfg,
				       &mallory.peer.conn), 0);
}

/* A well-behaved client is served as ever. */
static void others_are_served(void)
{
	int before = server.received;

	if (talker_client(&client, dev, name.text, NULL, NULL) &&
	    talker_start(&client)) {
		IS(talker_send(client.conn, 1, 100), 0);
		talker_count(&server.received, before + 1);
	}
	talker_close(&client);
}

static void close_all(void)
{
	others_are_served();
	caller_close(&mallory);
	talker_close(&server);
}

/* The request is rejected at once. */
static void is_rejected(enum pier__comch_reject reason)
{
	int before = talker_rejected(&server), failures = mallory.failures;
	const void *data;
	size_t len;

	if (!call(pier__comch_name_port(&name, 0)) ||
	    !talker_count(&mallory.failures, failures + 1))
		return;
	IS(talker_rejected(&server), before + 1);
	IS(pier_conn_reject_reason(mallory.peer.conn), 28);
	if (IS(pier_conn_private_data(mallory.peer.conn, &data, &len), 0))
		IS(pier__comch_rej_decode(data, len), reason);
	pier_conn_destroy(mallory.peer.conn);
}

static void rejections_of_another_release_are_understood(void)
{
	uint8_t rej[PIER__COMCH_REJ];

	pier__comch_rej_encode(PIER__COMCH_REJECT_MALFORMED, rej);
	rej[3]--;
	OK(pier__comch_rej_decode(rej, sizeof(rej)));
	rej[2]--;
	IS(pier__comch_rej_decode(rej, sizeof(rej)), 0);
}

static void requests_that_are_none_are_rejected(void)
{
	if (!open_server())
		return;
	request_len = 0;
	is_rejected(PIER__COMCH_REJECT_MALFORMED);
	request_len = PIER__COMCH_HEAD - 1;
	is_rejected(PIER__COMCH_REJECT_MALFORMED);
	good_request();
	request[0] ^= 1;
	is_rejected(PIER__COMCH_REJECT_MALFORMED);
	good_request();
	request[3] = '1';
	is_rejected(PIER__COMCH_REJECT_MALFORMED);
	good_request();
	request[PIER__COMCH_HEAD - 1] ^= 1;
	is_rejected(PIER__COMCH_REJECT_NAME);
	IS(server.connected, 0);
	close_all();
}

/* The connection ends before it is reported. */
static void is_refused(void)
{
	int before = talker_violations(&server);
	int over = mallory.failures + mallory.disconnected + 1;
	long long limit = limit_from_now();

	if (!call(pier__comch_name_port(&name, 0)))
		return;
	while (mallory.failures + mallory.disconnected < over &&
	       talker_step(limit))
		;
	IS(talker_violations(&server), before + 1);
	IS(server.connected, 0);
	pier_conn_destroy(mallory.peer.conn);
	good_request();
}

static void requests_with_bad_members_are_refused(void)
{
	if (!open_server())
		return;
	put(request + REQ_MESSAGE, 0);
	is_refused();
	put(request + REQ_MESSAGE, PIER_COMCH_MESSAGE_MAX + 1);
	is_refused();
	put(request + REQ_QUEUE, 0);
	is_refused();
	put(request + REQ_QUEUE, PIER__COMCH_QUEUE_MAX + 1);
	is_refused();
	put(request + REQ_NAME_LEN, (uint32_t)request_len - REQ_NAME + 1);
	is_refused();
	put(request + REQ_NAME_LEN, UINT32_MAX);
	is_refused();
	request[REQ_NAME] ^= 1;
	is_refused();
	request_len--;
	is_refused();
	request_len++;
	request[request_len++] = 'x';
	is_refused();
	request_len = REQ_NAME - 1;
	is_refused();
	request_len = PIER__COMCH_HEAD;
	is_refused();
	close_all();
}

/* Connect as a client does. */
static bool intrude(void)
{
	int before = server.connected;

	return call(pier__comch_name_port(&name, 0)) &&
	       talker_count(&server.connected, before + 1) &&
	       talker_count(&mallory.established, before + 1);
}

/* What was sent broke the protocol: the connection ends, and is counted. */
static void is_noticed(const char *how)
{
	int before = talker_violations(&server);
	int ended = server.disconnected;

	talker_count(&server.disconnected, ended + 1);
	IS(talker_violations(&server), before + 1);
	IS(server.end_error < 0, true);
	talker_count(&mallory.disconnected, mallory.established);
	pier_conn_destroy(mallory.peer.conn);
	if (!tap_holds())
		tap_note("%s", how);
}

static void ignore(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

static void send_imm(uint32_t head, size_t len)
{
	struct pier_buf *buf = len ? peer_data(&mallory.peer, 0, len) : NULL;

	IS(pier_rdma_send_imm(mallory.peer.conn, buf, htonl(head), ignore,
			      NULL), 0);
	pier_buf_put(buf);
}

static void messages_with_bad_heads_are_noticed(void)
{
	static const struct {
		const char *how;
		uint32_t head;
		size_t len;
	} bad[] = {
		{ "no kind", 0, 10 },
		{ "another kind", 8u << 24, 10 },
		{ "a new consumer in too few bytes", 3u << 24, 10 },
		{ "an expired consumer in too few", 4u << 24, 3 },
		{ "the last kind", 255u << 24, 10 },
		{ "a bit that is not used", 1u << 24 | 1u << 16, 10 },
		{ "credits that were not used", 1u << 24 | 1, 10 },
		{ "as many as can be", 2u << 24 | 0xffff, 0 },
		{ "no credits", 2u << 24, 0 },
		{ "credits with bytes", 2u << 24 | 1, 1 },
	};

	if (!open_server())
		return;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!intrude())
			break;
		send_imm(bad[i].head, bad[i].len);
		is_noticed(bad[i].how);
	}
	IS(server.received, 0);
	close_all();
}

static void messages_without_a_head_are_noticed(void)
{
	struct pier_buf *buf;

	if (!open_server())
		return;
	if (intrude()) {
		buf = peer_data(&mallory.peer, 0, 10);
		IS(pier_rdma_send(mallory.peer.conn, buf, ignore, NULL), 0);
		pier_buf_put(buf);
		is_noticed("without a head");
	}
	if (intrude()) {
		/* as if that were permitted */
		mallory.peer.conn->remote.access = PIER_REMOTE_WRITE;
		IS(pier_rdma_write_imm(mallory.peer.conn, NULL, NULL,
				       htonl(1u << 24), ignore, NULL), 0);
		is_noticed("written");
	}
	if (intrude()) {
		send_imm(1u << 24, 4081);
		is_noticed("too long");
	}
	IS(server.received, 0);
	close_all();
}

/* It takes no credits back, so that the server returns the first half only. */
static void messages_without_credits_are_noticed(void)
{
	if (!open_server())
		return;
	if (intrude()) {
		for (int i = 0; i < 2 * QUEUE; i++)
			send_imm(1u << 24, 10);
		is_noticed("too many");
		OK(server.received <= QUEUE + QUEUE / 2);
	}
	close_all();
}

/* Send a message about the consumer @id, new or expired. */
static void announce(uint32_t id, uint32_t port, uint32_t imm_len, bool new)
{
	struct pier__comch_announced announced = { .id = id };

	pier__comch_consumer_encode(&announced, mallory.peer.mem);
	put(mallory.peer.mem + 4, port);
	put(mallory.peer.mem + 8, imm_len);
	send_imm(new ? 3u << 24 : 4u << 24, new ? PIER__COMCH_CONSUMER_LEN :
						  PIER__COMCH_EXPIRED_LEN);
}

static void consumers_that_are_none_are_noticed(void)
{
	static const struct {
		const char *how;
		uint32_t id, port, imm_len;
		bool new;
	} bad[] = {
		{ "no id", 0, 1, 32, true },
		{ "an id too large", 0xffff, 1, 32, true },
		{ "no port", 1, 0, 32, true },
		{ "a port too large", 1, 65536, 32, true },
		{ "an immediate too long", 1, 1, 33, true },
		{ "expired, never new", 1, 0, 0, false },
		{ "expired, no id", 0, 0, 0, false },
	};

	if (!open_server())
		return;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!intrude())
			break;
		announce(bad[i].id, bad[i].port, bad[i].imm_len, bad[i].new);
		is_noticed(bad[i].how);
	}
	IS(server.consumers + server.expired, 0);
	if (intrude()) {
		announce(1, 1, 32, true);
		talker_count(&server.consumers, 1);
		announce(1, 1, 32, true);
		is_noticed("new twice");
		IS(server.expired, 1);
	}
	close_all();
}

static void consumers_that_do_not_listen_get_nothing(void)
{
	struct freight producer = { .done = 0 };

	if (!open_server())
		return;
	if (intrude() &&
	    freight_producer(&producer, dev, server.conn, LEN, NULL, NULL) &&
	    freight_start(&producer)) {
		announce(7, 1, 32, true);
		talker_count(&server.consumers, 1);
		IS(server.consumer, 7);
		IS(freight_produce(&producer, 7, 1, 0, 100, 0), 0);
		talker_count(&producer.failed, 1);
		LIKE(producer.text, "consumer 7");
		IS(pier_ctx_state(producer.ctx), PIER_CTX_RUNNING);
		pier_conn_destroy(mallory.peer.conn);
		talker_count(&server.disconnected, 1);
		IS(server.expired, 1);
	}
	freight_close(&producer);
	close_all();
}

/* Listen as if it were the server, with what may be a reply. */
static bool pretend(const void *reply, size_t len)
{
	pier__comch_name_set(&name, talker_name());
	if (!talker_client(&client, dev, name.text, NULL, NULL) ||
	    !caller_open(&mallory, dev, client.pe, NULL, LEN))
		return false;
	memcpy(mallory.answer, reply, len);
	mallory.answer_len = len;
	return caller_listen(&mallory, pier__comch_name_port(&name, 0)) &&
	       IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
}

static void end_pretence(void)
{
	caller_close(&mallory);
	talker_close(&client);
}

static void replies_of_no_server_are_not_taken(void)
{
	uint8_t reply[PIER__COMCH_REP];
	struct pier__comch_limits limits = { 4080, 16 };
	struct {
		int at;
		uint32_t value;
		size_t len;
	} bad[] = {
		{ -1, 0, 0 },
		{ -1, 0, PIER__COMCH_REP - 1 },
		{ 0, 0x12345678, PIER__COMCH_REP },
		{ REP_MESSAGE, 0, PIER__COMCH_REP },
		{ REP_MESSAGE, UINT32_MAX, PIER__COMCH_REP },
		{ REP_QUEUE, 0, PIER__COMCH_REP },
		{ REP_QUEUE, UINT32_MAX, PIER__COMCH_REP },
	};
	const char *text;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]) && tap_holds();
	     i++) {
		pier__comch_rep_encode(&limits, reply);
		if (bad[i].at >= 0)
			put(reply + bad[i].at, bad[i].value);
		if (pretend(reply, bad[i].len)) {
			talker_state(&client, PIER_CTX_IDLE);
			OK(pier_comch_error(client.comch, &text) < 0);
			LIKE(text, "no server");
			IS(talker_violations(&client), 1);
			IS(client.connected, 0);
		}
		end_pretence();
	}
}

static void a_server_behind_another_program_is_found(void)
{
	if (pretend("hello", 5) &&
	    talker_server(&server, dev, name.text, NULL) &&
	    talker_start(&server)) {
		talker_state(&client, PIER_CTX_RUNNING);
		talker_count(&server.connected, 1);
		IS(talker_send(client.conn, 1, 10), 0);
	}
	talker_close(&server);
	end_pretence();
}

static void a_server_that_breaks_the_protocol_is_left(void)
{
	uint8_t reply[PIER__COMCH_REP];
	struct pier__comch_limits limits = { 4080, 16 };
	const char *text;

	pier__comch_rep_encode(&limits, reply);
	if (pretend(reply, sizeof(reply)) &&
	    talker_state(&client, PIER_CTX_RUNNING) &&
	    talker_count(&mallory.established, 1)) {
		send_imm(8u << 24, 0);
		talker_state(&client, PIER_CTX_IDLE);
		IS(pier_comch_error(client.comch, &text), -EPROTO);
		LIKE(text, "kind is 8");
		IS(client.disconnected, 1);
		IS(talker_violations(&client), 1);
	}
	end_pretence();
}

#define PLACES 3

/* Peers that complete no handshake, each on an engine of its own. */
static struct holder {
	struct pier_pe *pe;
	struct caller caller;
} holders[PLACES];

/* The server accepts its request, and it does not progress any more. */
static bool hold_place(struct holder *holder, const char *address)
{
	long long limit = limit_from_now();
	unsigned int before = server.comch->conn_count;
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = address,
		.source = address,
		.port = pier__comch_name_port(&name, 0),
		.data = request,
		.data_len = request_len,
	};
	struct caller *caller = &holder->caller;

	if (!IS(pier_pe_create(&holder->pe), 0) ||
	    !caller_open(caller, dev, holder->pe, NULL, LEN) ||
	    !IS(pier_rdma_connect_to(caller->peer.rdma, &cfg,
				     &caller->peer.conn), 0))
		return false;
	while (server.comch->conn_count == before) {
		pier_pe_progress(holder->pe, 0);
		if (!talker_step(limit))
			return false;
	}
	return true;
}

static bool hold_places(const char *address)
{
	struct pier_comch_config cfg = { .size = sizeof(cfg),
					 .max_clients = PLACES,
					 .connect_timeout_ms = 600000 };
	bool ok = start_server(&cfg);

	for (int i = 0; i < PLACES && ok; i++)
		ok = hold_place(&holders[i], address);
	return ok && IS(server.connected, 0);
}

static void leave_places(void)
{
	talker_close(&client);
	for (int i = 0; i < PLACES; i++) {
		caller_close(&holders[i].caller);
		pier_pe_destroy(holders[i].pe);
	}
	memset(holders, 0, sizeof(holders));
	talker_close(&server);
}

static bool client_tries(void)
{
	long long limit = limit_from_now();

	IS(pier_ctx_start(client.ctx, client.pe), -EINPROGRESS);
	while (pier_ctx_state(client.ctx) == PIER_CTX_STARTING &&
	       talker_step(limit))
		;
	return client.connected;
}

static void requests_without_an_end_do_not_hold_the_places(void)
{
	long long limit = limit_from_now();

	if (hold_places(caller_address(dev)) &&
	    talker_client(&client, dev, name.text, NULL, NULL)) {
		while (!client_tries() && limit_holds(limit))
			IS(pier_comch_error(client.comch, NULL), -ENOSPC);
		if (OK(client.connected)) {
			IS(talker_send(client.conn, 1, 100), 0);
			talker_count(&server.received, 1);
		}
	}
	leave_places();
}

/* An address of @dev that is not caller_address(); NULL: there is none. */
static const char *other_address(void)
{
	const struct pier__port *port = &pier_dev_info(dev)->port;
	static char text[INET6_ADDRSTRLEN];

	for (uint32_t i = 0; i < port->gid_count; i++) {
		const struct in6_addr *ip =
			(const void *)port->gids[i].raw;

		if (port->gids[i].type != PIER_GID_ROCE_V2 ||
		    IN6_IS_ADDR_LINKLOCAL(ip))
			continue;
		pier__gid_text(port->gids[i].raw, text);
		if (strcmp(text, caller_address(dev)))
			return text;
	}
	return NULL;
}

/* At once: the client is not from their host. */
static void requests_of_one_host_hold_no_others_place(void)
{
	const char *address = other_address();

	if (!address) {
		tap_note("the device has one address only");
		return;
	}
	if (hold_places(address) &&
	    talker_client(&client, dev, name.text, caller_address(dev), NULL))
		OK(client_tries());
	leave_places();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(rejections_of_another_release_are_understood);
	TEST(requests_that_are_none_are_rejected);
	TEST(requests_with_bad_members_are_refused);
	TEST(messages_with_bad_heads_are_noticed);
	TEST(messages_without_a_head_are_noticed);
	TEST(messages_without_credits_are_noticed);
	TEST(consumers_that_are_none_are_noticed);
	TEST(consumers_that_do_not_listen_get_nothing);
	TEST(replies_of_no_server_are_not_taken);
	TEST(a_server_behind_another_program_is_found);
	TEST(a_server_that_breaks_the_protocol_is_left);
	TEST(requests_without_an_end_do_not_hold_the_places);
	TEST(requests_of_one_host_hold_no_others_place);
	pier_dev_close(dev);
	return tap_done();
}
