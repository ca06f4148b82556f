/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/capture.h"
#include "t/lib/tap.h"

/*
 * Messages that are lies, noise, or another's: none does harm, and none takes
 * more memory than its sender pays for.
 */
#define STRANGER "192.0.2.66"
#define CORPUS_MAX 512

static struct cm_pair *pair;
static uint8_t corpus[CORPUS_MAX][SOFT_MAD_LEN];
static size_t corpus_len;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static struct soft_addr stranger(void)
{
	return vnet_addr(vnet_node(&pair->net, STRANGER, CM_PORT0));
}

/* What every end of a connection may be sent by the one at the other end. */
static struct soft_mad to_server(enum soft_mad_attr attr)
{
	return (struct soft_mad) {
		.attr = (uint16_t)attr,
		.tid = sent(SOFT_MAD_REQ)->mad.tid,
		.local_id = sent(SOFT_MAD_REQ)->mad.local_id,
		.remote_id = sent(SOFT_MAD_REP)->mad.local_id,
		.qpn = sent(SOFT_MAD_REP)->mad.qpn,
		.guid = sent(SOFT_MAD_REQ)->mad.guid,
		.reason = ROCE_REJ_CONSUMER,
	};
}

static bool stands(void)
{
	cm_run(pair, 1);
	return IS(cm_last(&pair->node[0])->over, -1) &&
	       IS(cm_last(&pair->node[1])->over, -1);
}

static void messages_from_another_address_change_nothing(void)
{
	static const enum soft_mad_attr attrs[] = {
		SOFT_MAD_REJ, SOFT_MAD_DREQ, SOFT_MAD_DREP, SOFT_MAD_RTU,
		SOFT_MAD_REP, SOFT_MAD_MRA,
	};
	struct soft_addr src;
	struct soft_mad mad;
	size_t i;

	pair = cm_open(3, false, 8);
	src = stranger();
	if (cm_connected(pair)) {
		for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
			mad = to_server(attrs[i]);
			cm_inject(pair, 1, &src, CM_PORT1, &mad);
		}
		OK(stands());
	}
	cm_close(pair);
}

static void nor_do_those_with_wrong_ids(void)
{
	struct soft_addr src;
	struct soft_mad mad;

	pair = cm_open(3, false, 8);
	src = pair->node[0].addr;
	if (cm_connected(pair)) {
		mad = to_server(SOFT_MAD_REJ);
		mad.local_id++;
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		mad = to_server(SOFT_MAD_REJ);
		mad.remote_id++;
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		mad = to_server(SOFT_MAD_DREQ);
		mad.qpn++;
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		mad = to_server(SOFT_MAD_DREP);
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		IS(sent(SOFT_MAD_DREP)->count, 0);
		OK(stands());
		/* All of it right, it counts. */
		mad = to_server(SOFT_MAD_DREQ);
		cm_inject(pair, 1, &src, CM_PORT1, &mad);
		cm_run(pair, 1);
		IS(cm_last(&pair->node[1])->over, PIER__CM_DISCONNECTED);
	}
	cm_close(pair);
}

static void a_response_with_wrong_ids_is_no_response(void)
{
	struct soft_mad mad = {
		.attr = SOFT_MAD_REP, .local_id = 5, .qpn = 99,
		.guid = 0x505400fffe123456,
	};
	struct soft_addr src;
	struct cmpair_end *a;

	pair = cm_open(3, false, 0);
	src = pair->node[1].addr;
	a = cm_ask(pair, CM_SERVICE, NULL);
	mad.remote_id = sent(SOFT_MAD_REQ)->mad.local_id + 1;
	mad.tid = sent(SOFT_MAD_REQ)->mad.tid;
	cm_inject(pair, 0, &src, CM_PORT0, &mad);
	/* Its sender receives a REJ: no connection waits for it. */
	IS(sent(SOFT_MAD_REJ)->mad.reason, ROCE_REJ_COMM_ID);
	mad.remote_id--;
	mad.qpn = 1;
	cm_inject(pair, 0, &src, CM_PORT0, &mad);
	cm_run(pair, 1);
	IS(a->events[PIER__CM_RESPONSE], 0);
	cm_close(pair);
}

static void a_request_for_another_address_is_not_reported(void)
{
	struct soft_addr src;
	struct soft_mad mad;
	uint8_t data[92];

	pair = cm_open(3, false, 8);
	src = stranger();
	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	cm_inject(pair, 1, &pair->node[0].addr, CM_SERVICE, &mad);
	mad.primary.remote_gid[15]++;
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	OK(!cm_last(&pair->node[1]));
	IS(pair->net.sent, 0);
	cm_close(pair);
}

/* Send a REQ with one field that cannot be. */
static uint16_t reason_for(void (*spoil)(struct soft_mad *, uint8_t *))
{
	struct soft_addr src;
	struct soft_mad mad;
	uint16_t reason;
	uint8_t data[92];

	pair = cm_open(3, false, 8);
	src = pair->node[0].addr;
	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	spoil(&mad, data);
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	OK(!cm_last(&pair->node[1]));
	reason = sent(SOFT_MAD_REJ)->count ? sent(SOFT_MAD_REJ)->mad.reason :
					     0;
	IS(pair->node[1].ep->counters->cm_refused, 1);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	cm_close(pair);
	return reason;
}

static void spoil_port(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->service_id++;
}

static void spoil_space(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->service_id += UINT64_C(1) << 40;
}

static void spoil_version(struct soft_mad *mad, uint8_t *data)
{
	(void)mad;
	data[0] = 0x10;
}

static void spoil_address(struct soft_mad *mad, uint8_t *data)
{
	(void)mad;
	data[35]++;
}

static void spoil_transport(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->transport = 1;
}

static void spoil_xrc(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->ext_transport = 1;
}

static void spoil_mtu(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->mtu = IBV_MTU_2048;
}

static void spoil_no_mtu(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->mtu = 0;
}

static void spoil_qpn(struct soft_mad *mad, uint8_t *data)
{
	(void)data;
	mad->qpn = 1;
}

static void a_request_that_cannot_be_is_rejected_with_a_reason(void)
{
	IS(reason_for(spoil_port), ROCE_REJ_SERVICE_ID);
	IS(reason_for(spoil_space), ROCE_REJ_SERVICE_ID);
	IS(reason_for(spoil_version), ROCE_REJ_CONSUMER);
	IS(reason_for(spoil_address), ROCE_REJ_CONSUMER);
	IS(reason_for(spoil_transport), ROCE_REJ_TRANSPORT);
	IS(reason_for(spoil_xrc), ROCE_REJ_TRANSPORT);
	IS(reason_for(spoil_mtu), ROCE_REJ_MTU);
	IS(reason_for(spoil_no_mtu), ROCE_REJ_MTU);
	IS(reason_for(spoil_qpn), ROCE_REJ_UNSUPPORTED);
}

static struct in6_addr listen_ip;

static void other_address(struct soft_mad *mad, uint8_t *data)
{
	(void)mad;
	(void)data;
	pair->node[1].listener.ip = listen_ip;
}

static void lost_address(struct soft_mad *mad, uint8_t *data)
{
	(void)mad;
	(void)data;
	pair->node[1].no_gid = true;
}

/* "No" would be final; at another address it may listen. */
static void an_address_without_a_listener_is_named(void)
{
	inet_pton(AF_INET6, "::ffff:192.0.2.3", &listen_ip);
	IS(reason_for(other_address), ROCE_REJ_GID);
	IS(reason_for(lost_address), ROCE_REJ_GID);
}

static void a_flood_of_requests_takes_the_backlog_and_no_more(void)
{
	struct soft_addr src;
	struct soft_mad mad;
	uint8_t data[92];
	uint32_t i;

	pair = cm_open(3, false, 16);
	src = stranger();
	for (i = 0; i < 5000; i++) {
		cm_linux_req(pair, &src, 1000 + i, 100 + i, &mad, data);
		mad.guid += i % 7;
		cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	}
	IS(pair->node[1].listener.waiting, 16);
	IS(pier__soft_cm_count(pair->node[1].cm), 16);
	IS(pair->net.sent, 0);
	IS(pair->node[1].ep->counters->cm_overflows, 5000 - 16);
	cm_close(pair);
}

static void flood(uint32_t from, uint32_t count)
{
	struct soft_addr src = stranger();
	struct soft_mad mad;
	uint8_t data[92];
	uint32_t i;

	for (i = from; i < from + count; i++) {
		cm_linux_req(pair, &src, 1000 + i, 100 + i, &mad, data);
		cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	}
}

/* The flood takes all there is; an honest client's turn comes. */
static void an_honest_client_is_served_in_a_flood(void)
{
	const struct soft_counters *counters;
	struct cmpair_end *a;
	uint32_t i;

	pair = cm_open(3, false, 16);
	counters = pair->node[1].ep->counters;
	flood(0, 20);
	a = cm_ask(pair, CM_SERVICE, NULL);
	vnet_run(&pair->net, 10 * PIER__MS, NULL, NULL);
	IS(counters->cm_overflows, 5);
	for (i = 1; i < 500 && !a->events[PIER__CM_RESPONSE]; i++) {
		flood(20 * i, 20);
		cm_run(pair, 1);
	}
	IS(a->events[PIER__CM_RESPONSE], 1);
	cm_close(pair);
}

static void a_flood_of_rejected_requests_leaves_a_bounded_trace(void)
{
	struct soft_addr src;
	struct soft_mad mad;
	uint8_t data[92];
	uint32_t i;

	pair = cm_open(3, false, 16);
	pair->node[1].manner = CM_REFUSE;
	src = stranger();
	for (i = 0; i < 6000; i++) {
		cm_linux_req(pair, &src, 1000 + i, 100 + i, &mad, data);
		cm_inject(pair, 1, &src, CM_SERVICE, &mad);
		cm_events(&pair->node[1]);
		cm_release(cm_last(&pair->node[1]));
	}
	IS(pier__soft_cm_count(pair->node[1].cm), 4096);
	cm_run(pair, 10000);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	cm_close(pair);
}

/* The same REQ again, while and after it had its connection. */
static void a_replayed_request_makes_no_second_connection(void)
{
	struct vnet_packet req;
	int i;

	pair = cm_open(3, false, 8);
	if (cm_connected(pair)) {
		req = sent(SOFT_MAD_REQ)->packet;
		for (i = 0; i < 10; i++) {
			vnet_deliver(&pair->net, &req);
			cm_run(pair, 1);
		}
		IS(pier__soft_cm_disconnect(cm_last(&pair->node[1])->id), 0);
		cm_run(pair, 10);
		for (i = 0; i < 10; i++) {
			vnet_deliver(&pair->net, &req);
			cm_run(pair, 1);
		}
		OK(!cm_last(&pair->node[1])->next);
		IS(cm_last(&pair->node[1])->events[PIER__CM_REQUEST], 1);
		IS(sent(SOFT_MAD_REP)->count, 1);
		/* After timewait it is a request, that comes to nothing. */
		cm_run(pair, 20000);
		IS(pier__soft_cm_count(pair->node[1].cm), 0);
		vnet_deliver(&pair->net, &req);
		cm_run(pair, 100000);
		OK(cm_last(&pair->node[1])->next);
		IS(cm_last(&pair->node[1])->events[PIER__CM_REQUEST], 1);
		IS(cm_last(&pair->node[1])->events[PIER__CM_ESTABLISHED], 0);
		IS(cm_last(&pair->node[1])->over, PIER__CM_REJECTED);
		IS(cm_last(&pair->node[0])->events[PIER__CM_RESPONSE], 1);
		IS(pier__soft_cm_count(pair->node[1].cm), 0);
	}
	cm_close(pair);
}

static void what_is_not_for_qp_1_in_its_form_is_dropped(void)
{
	const struct soft_counters *counters;
	struct vnet_packet packet;
	uint64_t dropped;
	int i;

	pair = cm_open(3, false, 8);
	counters = pair->node[1].ep->counters;
	cm_ask(pair, CM_SERVICE, NULL);
	packet = sent(SOFT_MAD_REQ)->packet;
	cm_run(pair, 1);
	dropped = counters->dropped + counters->bad_icrc;
	for (i = 0; i < 20; i++) {
		struct vnet_packet bad = packet;

		/* The ICRC is wrong then, but for the byte it leaves out. */
		bad.data[i + (i >= 4)] ^= 0x10;
		vnet_deliver(&pair->net, &bad);
		cm_run(pair, 1);
	}
	OK(counters->dropped + counters->bad_icrc >= dropped + 20);
	cm_close(pair);
}

static void corpus_load(void)
{
	struct vnet_packet packet;
	struct capture capture;
	struct soft_hdr hdr;
	glob_t captures;
	char plain[64];
	const char *name;
	size_t i, len;

	if (glob(capture_path("cm-*", ".pcap"), 0, NULL, &captures))
		return;
	for (i = 0; i < captures.gl_pathc; i++) {
		name = strrchr(captures.gl_pathv[i], '/') + 1;
		memset(plain, 0, sizeof(plain));
		memcpy(plain, name, strlen(name) - strlen(".pcap"));
		if (!capture_open(plain, &capture))
			break;
		while (corpus_len < CORPUS_MAX &&
		       capture_next(&capture, &packet)) {
			len = pier__soft_decode(packet.data, packet.len, &hdr);
			if (len && hdr.qpn == ROCE_GSI_QPN)
				memcpy(corpus[corpus_len++], packet.data + len,
				       SOFT_MAD_LEN);
		}
		capture_close(&capture);
	}
	globfree(&captures);
}

static uint32_t chance(uint32_t n)
{
	return (uint32_t)(vnet_random(&pair->net) % n);
}

/* A captured message made to fit what goes on here, here and there broken. */
static void mutate(uint8_t *bytes, struct soft_mad *mad, int to)
{
	const struct soft_mad *req = &sent(SOFT_MAD_REQ)->mad;
	const struct soft_mad *rep = &sent(SOFT_MAD_REP)->mad;
	uint32_t i;

	memcpy(bytes, corpus[chance((uint32_t)corpus_len)], SOFT_MAD_LEN);
	for (i = chance(4); i; i--)
		bytes[16 + chance(SOFT_MAD_LEN - 16)] ^=
			(uint8_t)vnet_random(&pair->net);
	if (!pier__soft_mad_decode(bytes, SOFT_MAD_LEN, mad))
		memset(mad, 0, sizeof(*mad));
	if (!mad->attr)
		mad->attr = (uint16_t)(SOFT_MAD_REQ + chance(11));
	if (chance(4)) {
		mad->local_id = to ? req->local_id : rep->local_id;
		mad->remote_id = to ? rep->local_id : req->local_id;
	}
	if (chance(2))
		mad->qpn = to ? rep->qpn : req->qpn;
	if (chance(2))
		mad->guid = to ? req->guid : rep->guid;
	if (chance(2))
		mad->service_id = 0x0106u << 16 | CM_SERVICE;
	if (chance(4)) {
		memcpy(mad->primary.local_gid, &pair->node[!to].addr.ip, 16);
		memcpy(mad->primary.remote_gid, &pair->node[to].addr.ip, 16);
	}
}

/*
 * Noise of the right form from the right address, between attempts, accepts
 * and releases; the checks are those of the side's events, and of the tools
 * that check memory.
 */
static void noise(uint64_t seed, int messages)
{
	struct cm_node *node;
	uint8_t bytes[SOFT_MAD_LEN];
	struct soft_mad mad;
	struct cmpair_end *end;
	int i, to;

	pair = cm_open(seed, seed % 2, 8);
	for (i = 0; i < messages; i++) {
		to = (int)chance(2);
		node = &pair->node[to];
		if (!chance(16))
			cm_ask(pair, CM_SERVICE, "noise");
		if (!chance(8))
			pair->node[1].manner = (enum cm_manner)chance(3);
		if (!chance(8))
			pair->node[0].manner = (enum cm_manner)chance(2);
		mutate(bytes, &mad, to);
		cm_inject(pair, to, &pair->node[!to].addr,
			  to ? CM_SERVICE : CM_PORT0, &mad);
		if (!chance(4))
			cm_run(pair, 1 + chance(200));
		end = cm_last(node);
		if (end && end->id && !chance(8))
			cm_release(end);
		OK(pair->node[1].listener.waiting <= 8);
	}
	cm_run(pair, 100000);
	for (i = 0; i < 2; i++)
		for (end = pair->node[i].ends; end; end = end->next)
			if (end->id)
				cm_release(end);
	cm_run(pair, 400000);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	if (!tap_holds())
		tap_note("seed %llu", (unsigned long long)seed);
	cm_close(pair);
}

/* PIER_ROUNDS in the environment: so many seeds. */
static void noise_of_the_right_form_does_no_harm(void)
{
	const char *rounds = getenv("PIER_ROUNDS");
	uint64_t seed, last = rounds ? strtoull(rounds, NULL, 0) : 50;

	if (!OK(corpus_len))
		return;
	for (seed = 1; seed <= last && tap_holds(); seed++)
		noise(seed, 300);
}

static void random_bytes_do_no_harm(void)
{
	uint8_t bytes[SOFT_MAD_LEN];
	struct soft_mad mad;
	int i;
	size_t k;

	pair = cm_open(9, false, 8);
	if (cm_connected(pair)) {
		for (i = 0; i < 20000; i++) {
			for (k = 0; k < sizeof(bytes); k++)
				bytes[k] = (uint8_t)vnet_random(&pair->net);
			memcpy(bytes, "\x01\x07\x02\x03", 4);
			bytes[16] = 0;
			bytes[17] = 0x10 + bytes[17] % 11;
			if (!pier__soft_mad_decode(bytes, sizeof(bytes), &mad))
				continue;
			cm_inject(pair, i % 2, &pair->node[!(i % 2)].addr,
				  i % 2 ? CM_PORT1 : CM_PORT0, &mad);
		}
		OK(stands());
	}
	cm_close(pair);
}

int main(void)
{
	corpus_load();
	TEST(messages_from_another_address_change_nothing);
	TEST(nor_do_those_with_wrong_ids);
	TEST(a_response_with_wrong_ids_is_no_response);
	TEST(a_request_for_another_address_is_not_reported);
	TEST(a_request_that_cannot_be_is_rejected_with_a_reason);
	TEST(an_address_without_a_listener_is_named);
	TEST(a_flood_of_requests_takes_the_backlog_and_no_more);
	TEST(an_honest_client_is_served_in_a_flood);
	TEST(a_flood_of_rejected_requests_leaves_a_bounded_trace);
	TEST(a_replayed_request_makes_no_second_connection);
	TEST(what_is_not_for_qp_1_in_its_form_is_dropped);
	TEST(noise_of_the_right_form_does_no_harm);
	TEST(random_bytes_do_no_harm);
	return tap_done();
}
