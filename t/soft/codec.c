/* SPDX-License-Identifier: BSD-2-Clause */
#include <glob.h>
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/wire/codec.h"
#include "t/lib/capture.h"
#include "t/lib/tap.h"
#include "t/lib/vnet.h"

/* Every capture: what real peers sent. */
static glob_t captures;
static unsigned int packets, ipv6;

/* Run @fn on every packet until it returns false. */
static void each_packet(bool (*fn)(struct vnet_packet *packet))
{
	struct vnet_packet packet;
	struct capture capture;
	const char *name;
	char plain[64];
	bool good = true;
	size_t i;

	packets = 0;
	ipv6 = 0;
	for (i = 0; good && i < captures.gl_pathc; i++) {
		name = strrchr(captures.gl_pathv[i], '/') + 1;
		memset(plain, 0, sizeof(plain));
		memcpy(plain, name, strlen(name) - strlen(".pcap"));
		if (!capture_open(plain, &capture))
			return;
		while (good && capture_next(&capture, &packet)) {
			packets++;
			ipv6 += !IN6_IS_ADDR_V4MAPPED(&packet.dst.ip);
			good = fn(&packet);
			if (!good)
				tap_note("%s, frame %u", plain, capture.frame);
		}
		capture_close(&capture);
	}
	OK(packets >= 860);
	OK(ipv6 >= 54);
}

static struct soft_rx rx_of(const struct vnet_packet *packet)
{
	return (struct soft_rx) {
		.data = packet->data,
		.len = packet->len,
		.src = packet->src,
		.dst = packet->dst,
	};
}

static uint32_t stored_icrc(const struct vnet_packet *packet)
{
	const uint8_t *p = packet->data + packet->len - 4;

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The packet as one would send it; its payload stays where it is. */
static bool tx_of(const struct vnet_packet *packet, struct soft_tx *tx)
{
	struct soft_hdr hdr;
	size_t len = pier__soft_decode(packet->data, packet->len, &hdr);

	memset(tx, 0, sizeof(*tx));
	if (!len)
		return false;
	tx->src = packet->src;
	tx->dst = packet->dst;
	tx->pad = hdr.pad;
	tx->hdr_len = pier__soft_encode(&hdr, tx->hdr);
	tx->payload_len = packet->len - len - hdr.pad - 4;
	/* In two pieces, as memory may be. */
	tx->iov_count = 2;
	tx->iov[0].iov_base = (void *)(packet->data + len);
	tx->iov[0].iov_len = tx->payload_len / 3;
	tx->iov[1].iov_base = (void *)(packet->data + len +
				       tx->iov[0].iov_len);
	tx->iov[1].iov_len = tx->payload_len - tx->iov[0].iov_len;
	return true;
}

static void seal(struct vnet_packet *packet, uint16_t id)
{
	struct soft_tx tx;
	uint32_t icrc;
	int i;

	tx_of(packet, &tx);
	packet->id = id;
	icrc = pier__soft_icrc(&tx, id);
	for (i = 0; i < 4; i++)
		packet->data[packet->len - 4 + i] = icrc >> 8 * i;
}

static bool same_again(struct vnet_packet *packet)
{
	uint8_t bytes[SOFT_HDR_MAX];
	struct soft_hdr hdr;
	size_t len;

	len = pier__soft_decode(packet->data, packet->len, &hdr);
	return OK(len > 0) && IS(pier__soft_encode(&hdr, bytes), len) &&
	       OK(!memcmp(bytes, packet->data, len));
}

static void headers_decode_and_encode_to_the_same_bytes(void)
{
	each_packet(same_again);
}

static bool icrc_right(struct vnet_packet *packet)
{
	struct soft_rx rx = rx_of(packet);
	struct soft_tx tx;

	return OK(tx_of(packet, &tx)) &&
	       IS(pier__soft_icrc(&tx, packet->id), stored_icrc(packet)) &&
	       OK(pier__soft_icrc_ok(&rx, UINT16_MAX));
}

static void the_icrc_of_every_packet_is_right(void)
{
	each_packet(icrc_right);
}

/* How many packets of @name are refused; only acknowledgements may be. */
static int wrong_icrcs(const char *name)
{
	struct vnet_packet packet;
	struct capture capture;
	struct soft_rx rx;
	int wrong = 0;

	if (!capture_open(name, &capture))
		return -1;
	while (capture_next(&capture, &packet)) {
		rx = rx_of(&packet);
		if (pier__soft_icrc_ok(&rx, UINT16_MAX))
			continue;
		IS(packet.data[0], SOFT_ACK);
		wrong++;
	}
	OK(capture.frame > 0);
	capture_close(&capture);
	return wrong;
}

/* What it talked with rxe; three times it got one acknowledgement wrong. */
static void a_user_space_peers_wrong_icrcs_are_found(void)
{
	IS(wrong_icrcs("peer/cm-same-commid-ignored"), 0);
	IS(wrong_icrcs("peer/cmclient"), 0);
	IS(wrong_icrcs("peer/cmclient6"), 0);
	IS(wrong_icrcs("peer/cmserver"), 0);
	IS(wrong_icrcs("peer/cmserver6"), 0);
	IS(wrong_icrcs("peer/cmstale"), 0);
	IS(wrong_icrcs("peer/rc-atomic-cas-v4"), 0);
	IS(wrong_icrcs("peer/rc-atomic-faa-v4"), 0);
	IS(wrong_icrcs("peer/rc-read-v4"), 0);
	IS(wrong_icrcs("peer/rc-send-v4"), 1);
	IS(wrong_icrcs("peer/rc-write-v4"), 1);
	IS(wrong_icrcs("peer/rc-mix6-v6"), 1);
}

static bool id_found(struct vnet_packet *packet)
{
	struct soft_rx rx = rx_of(packet);

	if (!IN6_IS_ADDR_V4MAPPED(&packet->dst.ip))
		return true;
	return OK(pier__soft_icrc_ok(&rx, packet->id)) &&
	       (!packet->id || OK(!pier__soft_icrc_ok(&rx, packet->id - 1)));
}

static void the_identification_that_explains_a_packet_is_its_own(void)
{
	each_packet(id_found);
}

/* The byte that routers may change. */
#define CONGESTION 4

static bool corruption_seen(struct vnet_packet *packet)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&packet->dst.ip), good = true;
	struct soft_rx rx;
	size_t i;

	if (v4)
		seal(packet, packet->id % 64);
	for (i = 0; good && i < packet->len; i++) {
		packet->data[i] ^= 1 + i % 255;
		rx = rx_of(packet);
		good = pier__soft_icrc_ok(&rx, 63) == (i == CONGESTION);
		packet->data[i] ^= 1 + i % 255;
		if (!good)
			tap_note("byte %zu of %zu", i, packet->len);
	}
	rx = rx_of(packet);
	return OK(good) && OK(pier__soft_icrc_ok(&rx, 63));
}

static void any_corrupted_byte_is_noticed(void)
{
	each_packet(corruption_seen);
}

static bool address_seen(struct vnet_packet *packet)
{
	bool good = true;
	struct soft_rx rx;
	int i;

	if (IN6_IS_ADDR_V4MAPPED(&packet->dst.ip))
		seal(packet, packet->id % 64);
	for (i = 12; i < 16; i++) {
		rx = rx_of(packet);
		rx.src.ip.s6_addr[i] ^= 0x10;
		good = good && !pier__soft_icrc_ok(&rx, 63);
		rx = rx_of(packet);
		rx.dst.ip.s6_addr[i] ^= 0x10;
		good = good && !pier__soft_icrc_ok(&rx, 63);
	}
	rx = rx_of(packet);
	rx.src.port ^= 1;
	return OK(good) && OK(!pier__soft_icrc_ok(&rx, 63));
}

static void other_addresses_and_ports_are_noticed(void)
{
	each_packet(address_seen);
}

static void any_identification_is_found(void)
{
	struct vnet_packet packet;
	struct soft_rx rx;
	struct capture capture;
	uint32_t id;
	bool good = true;

	if (!capture_open("rc-send", &capture))
		return;
	OK(capture_next(&capture, &packet));
	for (id = 0; good && id <= UINT16_MAX; id++) {
		seal(&packet, id);
		rx = rx_of(&packet);
		good = pier__soft_icrc_ok(&rx, id) &&
		       (!id || !pier__soft_icrc_ok(&rx, id - 1));
	}
	IS(id, UINT16_MAX + 1);
	OK(good);
	capture_close(&capture);
}

/* If any identification will do, sixteen bits of check are left. */
static void chance_is_believed_once_in_65536_times(void)
{
	const uint32_t times = 1 << 20;
	struct vnet_packet packet;
	uint32_t i, icrc, any = 0, small = 0;
	struct soft_rx rx;
	struct vnet net;
	struct capture capture;

	vnet_init(&net, 1);
	if (!capture_open("rc-send", &capture))
		return;
	OK(capture_next(&capture, &packet));
	for (i = 0; i < times; i++) {
		icrc = vnet_random(&net);
		memcpy(packet.data + packet.len - 4, &icrc, 4);
		rx = rx_of(&packet);
		any += pier__soft_icrc_ok(&rx, UINT16_MAX);
		small += pier__soft_icrc_ok(&rx, 63);
	}
	OK(any > 2 && any < 64);
	IS(small, 0);
	capture_close(&capture);
}

/* From the specification's worked example. */
static void the_known_packet_is_built(void)
{
	static const uint8_t payload[] = { 0x1a, 0x21, 0x28, 0x2f, 0x36, 0x3d,
					   0x44 };
	static const uint8_t want[] = { 0x04, 0x10, 0xff, 0xff, 0, 0, 0, 0xa1,
					0x80, 0x0a, 0x1b, 0x2e };
	struct soft_hdr hdr = { .opcode = SOFT_SEND_ONLY,
				.ack_req = true,
				.pad = 1,
				.pkey = ROCE_PKEY_DEFAULT,
				.qpn = 0xa1,
				.psn = 0x0a1b2e };
	struct soft_tx tx = {
		.src = { .port = 0xcab1 }, .dst = { .port = ROCE_UDP_PORT },
		.pad = 1, .payload_len = 7, .iov_count = 1,
		.iov = { { (void *)payload, 7 } },
	};

	memcpy(&tx.src.ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x01", 16);
	memcpy(&tx.dst.ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x02", 16);
	tx.hdr_len = pier__soft_encode(&hdr, tx.hdr);
	IS(tx.hdr_len, sizeof(want));
	OK(!memcmp(tx.hdr, want, sizeof(want)));
	IS(pier__soft_icrc(&tx, 0x36d8), 0x2774c8f4);
}

static void malformed_packets_are_refused(void)
{
	uint8_t bytes[SOFT_PACKET_MAX + 8] = { SOFT_SEND_ONLY };
	struct soft_hdr hdr = { .qpn = 77 };
	int i, known = 0;

	IS(pier__soft_decode(bytes, 16, &hdr), 12);
	IS(hdr.qpn, 0);
	IS(pier__soft_decode(bytes, 0, &hdr), 0);
	IS(pier__soft_decode(bytes, 12, &hdr), 0);
	IS(pier__soft_decode(bytes, 17, &hdr), 0);
	IS(pier__soft_decode(bytes, SOFT_PACKET_MAX, &hdr), 12);
	IS(pier__soft_decode(bytes, SOFT_PACKET_MAX + 4, &hdr), 0);
	bytes[1] = 0x30;
	IS(pier__soft_decode(bytes, 16, &hdr), 0);
	IS(pier__soft_decode(bytes, 20, &hdr), 12);
	bytes[1] = 0x01;
	IS(pier__soft_decode(bytes, 20, &hdr), 0);
	bytes[1] = 0;
	for (i = 0; i < 256; i++) {
		bytes[0] = i;
		known += pier__soft_decode(bytes, 64, &hdr) > 0;
	}
	IS(known, 26);
	bytes[0] = SOFT_WRITE_ONLY_IMM;
	IS(pier__soft_decode(bytes, 32, &hdr), 0);
	IS(pier__soft_decode(bytes, 36, &hdr), 32);
}

static void a_congestion_notification_is_known(void)
{
	uint8_t bytes[32] = { SOFT_CNP, 0, 0xff, 0xff, 0x40, 0, 0, 9 };
	struct soft_hdr hdr;

	IS(pier__soft_decode(bytes, sizeof(bytes), &hdr), 12);
	IS(hdr.opcode, SOFT_CNP);
	IS(hdr.qpn, 9);
}

int main(void)
{
	if (glob(capture_path("*", ".pcap"), 0, NULL, &captures))
		return tap_skip_all("no captures in t/data/roce");
	TEST(headers_decode_and_encode_to_the_same_bytes);
	TEST(the_icrc_of_every_packet_is_right);
	TEST(a_user_space_peers_wrong_icrcs_are_found);
	TEST(the_identification_that_explains_a_packet_is_its_own);
	TEST(any_identification_is_found);
	TEST(any_corrupted_byte_is_noticed);
	TEST(chance_is_believed_once_in_65536_times);
	TEST(other_addresses_and_ports_are_noticed);
	TEST(the_known_packet_is_built);
	TEST(malformed_packets_are_refused);
	TEST(a_congestion_notification_is_known);
	globfree(&captures);
	return tap_done();
}
