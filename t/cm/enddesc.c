/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>
#include <pier/error.h>
#include <pier/mmap.h>

#include "cm/conn_impl.h"
#include "core/crc.h"
#include "core/roce.h"
#include "core/wire.h"
#include "t/lib/tap.h"

/* The bytes of a connection descriptor, there and back. */

static struct pier__end some_end(unsigned int gids)
{
	struct pier__end end = {
		.created = 1700000000, .valid = 60, .nonce = UINT64_MAX,
		.dev_id = { 1, 2, 3, 4, 5, 6, 7, 8 },
		.qpn = 0xabcdef, .psn = 0xffffff, .link_layer = 2, .lid = 9,
		.mtu = 4096, .udp_port = ROCE_UDP_PORT,
		.ctl_addr = UINT64_C(0x7fff12345678), .ctl_rkey = 0xdeadbeef,
		.access = PIER_REMOTE_READ | PIER_REMOTE_WRITE,
		.rd_atomic = 16, .message = UINT64_C(1) << 31,
		.gid_count = gids,
	};
	unsigned int i;

	for (i = 0; i < gids; i++) {
		end.gids[i].raw[0] = 0xfd;
		end.gids[i].raw[15] = (uint8_t)i;
		end.gids[i].type = PIER_GID_ROCE_V2;
		end.gids[i].prefix = 64;
	}
	return end;
}

static int there_and_back(const struct pier__end *end, struct pier__end *ret)
{
	uint8_t buf[PIER_DESC_MAX];
	int len = pier__end_encode(end, buf, sizeof(buf));

	return OK(len > 0) ? pier__end_decode(buf, (size_t)len, ret) : -EINVAL;
}

static void what_is_written_is_what_is_read(void)
{
	unsigned int n;

	for (n = 0; n <= PIER__GIDS_MAX; n++) {
		struct pier__end end = some_end(n), back;

		memset(&back, 0x55, sizeof(back));
		if (!IS(there_and_back(&end, &back), 0))
			break;
		IS(back.created, end.created);
		IS(back.valid, end.valid);
		OK(back.nonce == end.nonce);
		IS(memcmp(back.dev_id, end.dev_id, 8), 0);
		IS(back.qpn, end.qpn);
		IS(back.psn, end.psn);
		IS(back.link_layer, end.link_layer);
		IS(back.lid, end.lid);
		IS(back.mtu, end.mtu);
		IS(back.udp_port, end.udp_port);
		IS(back.ctl_addr, end.ctl_addr);
		IS(back.ctl_rkey, end.ctl_rkey);
		IS(back.access, end.access);
		IS(back.rd_atomic, end.rd_atomic);
		IS(back.message, end.message);
		IS(back.gid_count, n);
		IS(memcmp(back.gids, end.gids, n * sizeof(end.gids[0])), 0);
	}
}

static void a_buffer_too_small_is_reported(void)
{
	struct pier__end end = some_end(PIER__GIDS_MAX);
	uint8_t buf[PIER_DESC_MAX];
	int full = pier__end_encode(&end, buf, sizeof(buf)), i;

	OK(full > 0);
	for (i = 0; i < full; i++)
		IS(pier__end_encode(&end, buf, (size_t)i), -ENOBUFS);
	IS(pier__end_encode(&end, buf, (size_t)full), full);
}

/* One field of an otherwise good end beyond what it may be. */
static void fields_out_of_range_are_refused(void)
{
	struct pier__end good = some_end(1), end, back;

	memset(&back, 0, sizeof(back));
	end = good;
	end.qpn = 1;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.qpn = 0x1000000;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.psn = 0x1000000;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.nonce = 0;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.mtu = 128;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.mtu = 1500;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.udp_port = 0;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.ctl_addr = UINT64_MAX - 8;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.access = 32;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.rd_atomic = 256;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.gids[0].type = 3;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	end = good;
	end.gids[0].prefix = 129;
	IS(there_and_back(&end, &back), -PIER_EDESC);
	IS(back.qpn, 0);	/* nothing was returned */
}

/* An end with @gids addresses, written field by field. */
static int write_end(uint8_t *buf, unsigned int gids)
{
	struct pier__end end = some_end(1);
	const uint64_t numbers[] = {
		[1] = end.created, [2] = end.valid, [3] = end.nonce,
		[5] = end.qpn, [6] = end.psn, [7] = end.link_layer,
		[8] = end.lid, [9] = end.mtu, [10] = end.udp_port,
		[11] = end.ctl_addr, [12] = end.ctl_rkey, [13] = end.access,
		[14] = end.rd_atomic, [15] = end.message,
	};
	struct pier__wire_out out;
	unsigned int i;

	pier__wire_begin(&out, buf, PIER_DESC_MAX, PIER__WIRE_CONN, 16);
	for (i = 1; i < 16; i++) {
		if (i == 4)
			pier__wire_bytes(&out, i, end.dev_id, 8);
		else
			pier__wire_uint(&out, i, numbers[i]);
	}
	pier__wire_array(&out, 16, gids);
	for (i = 0; i < gids; i++) {
		pier__wire_map(&out, 3);
		pier__wire_bytes(&out, 1, end.gids[0].raw, 16);
		pier__wire_uint(&out, 2, end.gids[0].type);
		pier__wire_uint(&out, 3, end.gids[0].prefix);
	}
	return pier__wire_end(&out);
}

static void more_addresses_than_allowed_are_refused(void)
{
	uint8_t buf[PIER_DESC_MAX];
	struct pier__end back;
	int len;

	len = write_end(buf, PIER__GIDS_MAX);
	if (OK(len > 0))
		IS(pier__end_decode(buf, (size_t)len, &back), 0);
	len = write_end(buf, PIER__GIDS_MAX + 1);
	if (OK(len > 0))
		IS(pier__end_decode(buf, (size_t)len, &back), -PIER_EDESC);
}

static void missing_fields_are_refused(void)
{
	uint8_t buf[PIER_DESC_MAX];
	struct pier__wire_out out;
	struct pier__end back;
	int len;

	pier__wire_begin(&out, buf, sizeof(buf), PIER__WIRE_CONN, 1);
	pier__wire_uint(&out, 1, 5);
	len = pier__wire_end(&out);
	if (OK(len > 0))
		IS(pier__end_decode(buf, (size_t)len, &back), -PIER_EDESC);
}

static void put_check_sum(uint8_t *buf, size_t len)
{
	uint32_t crc = pier__crc32(0, buf, 12);
	int i;

	crc = pier__crc32(crc, buf + 16, len - 16);
	for (i = 0; i < 4; i++)
		buf[12 + i] = (uint8_t)(crc >> (24 - 8 * i));
}

/*
 * Damage with a check sum that fits: refused, or an end whose every field is
 * within its range; never more is read than there is.
 */
static void forged_bytes_are_bounded(void)
{
	struct pier__end end = some_end(3), back;
	uint8_t buf[PIER_DESC_MAX], *copy;
	int len = pier__end_encode(&end, buf, sizeof(buf)), i, byte;
	char text[128];

	copy = malloc((size_t)len);	/* ends where the sanitizer sees it */
	if (!OK(copy))
		return;
	for (i = PIER__WIRE_HEAD; i < len; i++) {
		for (byte = 0; byte < 256; byte++) {
			memcpy(copy, buf, (size_t)len);
			copy[i] = (uint8_t)byte;
			put_check_sum(copy, (size_t)len);
			pier_desc_print(copy, (size_t)len, text, sizeof(text));
			if (pier__end_decode(copy, (size_t)len, &back))
				continue;
			OK(back.gid_count <= PIER__GIDS_MAX);
			OK(back.mtu >= 256 && back.mtu <= 4096);
			OK(back.qpn >= 2 && back.qpn <= 0xffffff);
			OK(back.psn <= 0xffffff);
		}
	}
	free(copy);
}

static void a_printed_descriptor_says_where_the_end_is(void)
{
	struct pier__end end = some_end(2);
	uint8_t buf[PIER_DESC_MAX];
	int len = pier__end_encode(&end, buf, sizeof(buf));
	char text[1024];

	OK(pier_desc_print(buf, (size_t)len, text, sizeof(text)) > 0);
	LIKE(text, "kind: connection");
	LIKE(text, "link: Ethernet");
	LIKE(text, "qpn: 0xabcdef");
	LIKE(text, "udp port: 4791");
	LIKE(text, "device: 0102030405060708");
	LIKE(text, "access: read write\n");
	LIKE(text, "gid: RoCEv2 fd00::1/64");
}

int main(void)
{
	TEST(what_is_written_is_what_is_read);
	TEST(a_buffer_too_small_is_reported);
	TEST(fields_out_of_range_are_refused);
	TEST(more_addresses_than_allowed_are_refused);
	TEST(missing_fields_are_refused);
	TEST(forged_bytes_are_bounded);
	TEST(a_printed_descriptor_says_where_the_end_is);
	return tap_done();
}
