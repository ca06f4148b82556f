/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/*
 * The REJ of a request for an address at which no listener is, and its private
 * data.
 */
static struct pier__cm owner = { .elsewhere = "key.1234" };
static const uint8_t none[PIER__CM_REJ_DATA];
static struct in6_addr listen_ip;
static uint8_t got[PIER__CM_REJ_DATA];

/* What a REQ with @key as private data is answered with, in got. */
static bool asks_with(const char *key, bool is_known)
{
	struct cm_pair *pair = cm_open(3, false, 8);
	const struct cm_sent *rej = &pair->sent[SOFT_MAD_REJ];
	struct soft_addr src = pair->node[0].addr;
	struct soft_hdr hdr;
	struct soft_mad mad;
	uint8_t data[92];
	bool ok;

	cm_linux_req(pair, &src, 1000, 77, &mad, data);
	memcpy(data + SOFT_MAD_IP_LEN, key, 4);
	pair->node[1].listener.ip = listen_ip;
	if (is_known)
		pier__soft_cm_owner(pair->node[1].cm, &owner);
	cm_inject(pair, 1, &src, CM_SERVICE, &mad);
	cm_run(pair, 1);
	memset(got, 0xee, sizeof(got));
	ok = IS(rej->count, 1) && IS(rej->mad.reason, ROCE_REJ_GID) &&
	     IS(rej->mad.info_len, 16) &&
	     OK(!memcmp(rej->mad.info, &listen_ip, 16)) &&
	     OK(pier__soft_mad_decode(rej->packet.data +
				      pier__soft_decode(rej->packet.data,
							rej->packet.len, &hdr),
				      SOFT_MAD_LEN, &mad)) &&
	     IS(mad.len, sizeof(got));
	if (ok)
		memcpy(got, mad.data, sizeof(got));
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	cm_close(pair);
	return ok;
}

static void a_client_of_pier_gets_the_address_as_private_data(void)
{
	if (!asks_with("key.", true))
		return;
	OK(!memcmp(got, owner.elsewhere, PIER__CM_ELSEWHERE_HEAD));
	OK(!memcmp(got + PIER__CM_ELSEWHERE_HEAD, &listen_ip, 16));
	OK(!memcmp(got + PIER__CM_ELSEWHERE, none,
		   sizeof(got) - PIER__CM_ELSEWHERE));
}

static void another_client_gets_none(void)
{
	if (asks_with("key?", true))
		OK(!memcmp(got, none, sizeof(got)));
	if (asks_with("key.", false))
		OK(!memcmp(got, none, sizeof(got)));
}

static void gets_it_in(enum pier__cm_space space)
{
	struct cm_pair *pair = cm_open(3, false, 8);
	struct cmpair_end *a;

	pair->node[1].listener.ip = listen_ip;
	pair->node[1].listener.space = space;
	a = cm_ask_in(pair, CM_SERVICE, NULL, space);
	cm_run(pair, 1);
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_GID);
	OK(!memcmp(a->event.instead, &listen_ip, 16));
	cm_close(pair);
}

static void the_program_of_a_client_gets_it_too(void)
{
	gets_it_in(PIER__CM_TCP);
	gets_it_in(PIER__CM_IB);
}

/* What has another length is no address. */
static void half_an_address_is_none(void)
{
	struct cm_pair *pair = cm_open(3, false, 0);
	struct soft_mad mad = {
		.attr = SOFT_MAD_REJ, .reason = ROCE_REJ_GID, .info_len = 15,
	};
	struct cmpair_end *a = cm_ask(pair, CM_SERVICE, NULL);

	memset(mad.info, 0x20, 15);
	mad.tid = pair->sent[SOFT_MAD_REQ].mad.tid;
	mad.remote_id = pair->sent[SOFT_MAD_REQ].mad.local_id;
	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	cm_run(pair, 1);
	IS(a->over, PIER__CM_REJECTED);
	OK(!memcmp(a->event.instead, none, 16));
	cm_close(pair);
}

int main(void)
{
	inet_pton(AF_INET6, "::ffff:192.0.2.3", &listen_ip);
	TEST(a_client_of_pier_gets_the_address_as_private_data);
	TEST(another_client_gets_none);
	TEST(the_program_of_a_client_gets_it_too);
	TEST(half_an_address_is_none);
	return tap_done();
}
