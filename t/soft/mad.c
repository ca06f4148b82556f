/* SPDX-License-Identifier: BSD-2-Clause */
#include <glob.h>
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/wire/codec.h"
#include "fabric/soft/wire/mad.h"
#include "t/lib/capture.h"
#include "t/lib/tap.h"

/* Messages of connection management, as a kernel sent them. */
static glob_t captures;
static unsigned int seen[SOFT_MAD_APR + 1];

/* The message in @packet; NULL: it is for another QP. */
static const uint8_t *mad_of(const struct vnet_packet *packet)
{
	struct soft_hdr hdr;
	size_t len = pier__soft_decode(packet->data, packet->len, &hdr);

	if (!len || hdr.qpn != ROCE_GSI_QPN)
		return NULL;
	IS(packet->len - len - 4, SOFT_MAD_LEN);
	return packet->data + len;
}

/* Run @fn on every message until it returns false. */
static void each_mad(bool (*fn)(const uint8_t *bytes))
{
	struct vnet_packet packet;
	struct capture capture;
	const uint8_t *bytes;
	const char *name;
	char plain[64];
	bool good = true;
	unsigned int count = 0;
	size_t i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; good && i < captures.gl_pathc; i++) {
		name = strrchr(captures.gl_pathv[i], '/') + 1;
		memset(plain, 0, sizeof(plain));
		memcpy(plain, name, strlen(name) - strlen(".pcap"));
		if (!capture_open(plain, &capture))
			return;
		while (good && capture_next(&capture, &packet)) {
			bytes = mad_of(&packet);
			if (!bytes)
				continue;
			count++;
			good = fn(bytes);
			if (!good)
				tap_note("%s, frame %u", plain, capture.frame);
		}
		capture_close(&capture);
	}
	if (!OK(count >= 90))
		tap_note("%u messages", count);
}

static bool comes_back(const uint8_t *bytes)
{
	uint8_t again[SOFT_MAD_LEN];
	struct soft_mad mad;
	int i;

	if (!OK(pier__soft_mad_decode(bytes, SOFT_MAD_LEN, &mad)))
		return false;
	seen[mad.attr]++;
	pier__soft_mad_encode(&mad, again);
	for (i = 0; i < SOFT_MAD_LEN && again[i] == bytes[i]; i++)
		;
	if (i == SOFT_MAD_LEN)
		return true;
	tap_note("attribute 0x%x, byte %d: 0x%02x, not 0x%02x", mad.attr, i,
		 again[i], bytes[i]);
	return OK(!"the same bytes");
}

static void every_message_decodes_and_encodes_to_the_same_bytes(void)
{
	each_mad(comes_back);
	OK(seen[SOFT_MAD_REQ] && seen[SOFT_MAD_MRA] && seen[SOFT_MAD_REJ]);
	OK(seen[SOFT_MAD_REP] && seen[SOFT_MAD_RTU]);
	OK(seen[SOFT_MAD_DREQ] && seen[SOFT_MAD_DREP]);
	OK(seen[SOFT_MAD_SIDR_REQ] && seen[SOFT_MAD_SIDR_REP]);
}

/* The captured client's REQ has what rdma_cm on RoCE sends. */
static bool is_as_linux_says(const uint8_t *bytes)
{
	uint8_t again[SOFT_MAD_IP_LEN];
	struct soft_mad_ip ip;
	struct soft_mad mad;

	if (!pier__soft_mad_decode(bytes, SOFT_MAD_LEN, &mad) ||
	    mad.attr != SOFT_MAD_REQ)
		return true;
	seen[SOFT_MAD_REQ]++;
	IS(mad.len, 92);
	if (!OK(pier__soft_mad_ip_decode(mad.data, mad.len, &ip)))
		return false;
	pier__soft_mad_ip_encode(&ip, again);
	OK(!memcmp(again, mad.data, sizeof(again)));
	OK(!memcmp(&ip.src, mad.primary.local_gid, 16));
	OK(!memcmp(&ip.dst, mad.primary.remote_gid, 16));
	IS(mad.service_id >> 16, 0x0106);
	IS(mad.pkey, 0xffff);
	IS(mad.transport, 0);
	IS(mad.mtu, 3);
	IS(mad.remote_timeout, 20);
	IS(mad.local_timeout, 20);
	IS(mad.max_retries, 15);
	IS(mad.primary.local_lid, 0xffff);
	IS(mad.primary.hop_limit, 64);
	IS(mad.primary.ack_timeout, 19);
	IS(mad.alternate.local_lid, 0);
	return tap_holds();
}

static void a_request_has_its_fields_where_they_belong(void)
{
	each_mad(is_as_linux_says);
	OK(seen[SOFT_MAD_REQ] >= 15);
}

static void every_field_has_bits_of_its_own(void)
{
	uint8_t bytes[SOFT_MAD_LEN], again[SOFT_MAD_LEN];
	struct soft_mad mad;
	unsigned int attr, i, bit;

	for (attr = SOFT_MAD_REQ; attr <= SOFT_MAD_APR; attr++) {
		mad = (struct soft_mad) { .attr = (uint16_t)attr };
		pier__soft_mad_encode(&mad, bytes);
		/* Every bit behind the header is a field's or reserved. */
		for (i = 24; i < SOFT_MAD_LEN; i++) {
			for (bit = 0; bit < 8; bit++) {
				bytes[i] = (uint8_t)(1 << bit);
				OK(pier__soft_mad_decode(bytes, sizeof(bytes),
							 &mad));
				pier__soft_mad_encode(&mad, again);
				if (again[i])
					IS(again[i], bytes[i]);
				bytes[i] = 0;
				again[i] = 0;
				OK(!memcmp(bytes, again, sizeof(bytes)));
			}
		}
	}
}

static void what_is_no_message_is_refused(void)
{
	struct soft_mad mad = { .attr = SOFT_MAD_RTU };
	uint8_t bytes[SOFT_MAD_LEN];
	int i;

	pier__soft_mad_encode(&mad, bytes);
	OK(pier__soft_mad_decode(bytes, SOFT_MAD_LEN, &mad));
	OK(!pier__soft_mad_decode(bytes, SOFT_MAD_LEN - 1, &mad));
	OK(!pier__soft_mad_decode(bytes, 0, &mad));
	for (i = 0; i < 4; i++) {
		bytes[i] ^= 0x40;
		OK(!pier__soft_mad_decode(bytes, SOFT_MAD_LEN, &mad));
		bytes[i] ^= 0x40;
	}
	for (i = 0; i < 0x10000; i++) {
		bytes[16] = (uint8_t)(i >> 8);
		bytes[17] = (uint8_t)i;
		if (pier__soft_mad_decode(bytes, SOFT_MAD_LEN, &mad) !=
		    (i >= SOFT_MAD_REQ && i <= SOFT_MAD_APR))
			IS(i, -1);
	}
}

static void addresses_of_another_version_are_refused(void)
{
	uint8_t bytes[SOFT_MAD_IP_LEN] = { 0x00, 0x40 };
	struct soft_mad_ip ip;

	OK(pier__soft_mad_ip_decode(bytes, sizeof(bytes), &ip));
	OK(IN6_IS_ADDR_V4MAPPED(&ip.src));
	OK(!pier__soft_mad_ip_decode(bytes, sizeof(bytes) - 1, &ip));
	bytes[1] = 0x50;
	OK(!pier__soft_mad_ip_decode(bytes, sizeof(bytes), &ip));
	bytes[1] = 0x60;
	OK(pier__soft_mad_ip_decode(bytes, sizeof(bytes), &ip));
	OK(!IN6_IS_ADDR_V4MAPPED(&ip.src));
	bytes[0] = 0x10;
	OK(!pier__soft_mad_ip_decode(bytes, sizeof(bytes), &ip));
}

static void private_data_beyond_the_field_is_cut_off(void)
{
	uint8_t data[SOFT_MAD_LEN], bytes[SOFT_MAD_LEN + 8];
	struct soft_mad mad = {
		.attr = SOFT_MAD_REP, .data = data, .len = sizeof(data),
	};

	memset(data, 0xab, sizeof(data));
	memset(bytes, 0x5a, sizeof(bytes));
	pier__soft_mad_encode(&mad, bytes);
	IS(bytes[SOFT_MAD_LEN - 1], 0xab);
	IS(bytes[SOFT_MAD_LEN], 0x5a);
	IS(pier__soft_mad_data_len(SOFT_MAD_REP), 196);
	IS(pier__soft_mad_data_len(SOFT_MAD_REJ), 148);
	IS(pier__soft_mad_data_len(SOFT_MAD_SIDR_REP), 136);
	IS(pier__soft_mad_data_len(0x1b), 0);
}

int main(void)
{
	if (glob(capture_path("cm-*", ".pcap"), 0, NULL, &captures))
		return tap_skip_all("no captures");
	TEST(every_message_decodes_and_encodes_to_the_same_bytes);
	TEST(a_request_has_its_fields_where_they_belong);
	TEST(every_field_has_bits_of_its_own);
	TEST(what_is_no_message_is_refused);
	TEST(addresses_of_another_version_are_refused);
	TEST(private_data_beyond_the_field_is_cut_off);
	globfree(&captures);
	return tap_done();
}
