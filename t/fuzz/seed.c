/* SPDX-License-Identifier: BSD-2-Clause */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>
#include <pier/mmap.h>

#include "cm/conn_impl.h"
#include "cm/rdmacm/private_data.h"
#include "core/wire.h"
#include "fabric/soft/wire/mad.h"
#include "t/lib/capture.h"

/*
 * Write inputs to begin with for fuzz targets: seed DIR makes DIR/codec,
 * DIR/ep and DIR/cm from the captures in t/data/roce, DIR/wire, DIR/frame and
 * DIR/private from what pier writes itself.
 */
static const char *dir;
static int count;

static FILE *begin(const char *target)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/seed-%04d", dir, target, count++);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void put(FILE *file, const void *data, size_t len)
{
	fwrite(data, 1, len, file);
}

static void seed_codec(const struct vnet_packet *packet)
{
	bool message = packet->data[0] == SOFT_UD_SEND_ONLY &&
		       packet->len == 12 + 8 + 256 + 4;
	FILE *file = begin("codec");

	if (message) {
		putc(2, file);
		put(file, packet->data + 24, 252);
		fclose(file);
		return;
	}
	putc(!IN6_IS_ADDR_V4MAPPED(&packet->dst.ip), file);
	put(file, packet->data, packet->len);
	fclose(file);
}

/* A step of the endpoint's target: one packet, in its turn. */
static void put_packet(FILE *file, const struct vnet_packet *packet)
{
	size_t len = packet->len < 400 ? packet->len : 400;
	uint8_t step[4] = { 11, 0, (uint8_t)(len >> 8), (uint8_t)len };
	uint8_t data[400];
	bool answer;

	memcpy(data, packet->data, len);
	answer = data[0] >= SOFT_READ_FIRST && data[0] <= SOFT_ATOMIC_ACK;
	data[11] = 0;			/* the sequence number expected */
	if (len >= 28 && !answer) {
		data[18] = 0;		/* where in the region */
		data[23] = 0;		/* which region */
	}
	/* A receive to take it, or a request for it to answer. */
	if (answer)
		put(file, "\0\4\2\0\1\0", 6);
	else
		put(file, "\1\0\4\0", 4);
	put(file, step, sizeof(step));
	put(file, data, len);
}

static void seed_ep(const struct vnet_packet *packets, size_t n)
{
	bool v6 = !IN6_IS_ADDR_V4MAPPED(&packets[0].dst.ip);
	FILE *file = begin("ep");
	size_t i;

	putc(2 | (v6 ? 16 : 0) | (count & 1 ? 4 : 0), file);
	for (i = 0; i < n; i++)
		put_packet(file, &packets[i]);
	fclose(file);
}

#define HEADER_LEN 24		/* of a message of management */

/* What the program does about a message, and lets a second go by. */
static void put_turn(FILE *file, uint16_t attr)
{
	putc(11, file);				/* take events */
	if (attr == SOFT_MAD_REQ)
		put(file, "\0\0\7", 3);		/* accept */
	else if (attr == SOFT_MAD_REP)
		put(file, "\2\0", 2);		/* establish */
	put(file, "\6\24\13", 3);
}

/* A handshake's messages; a listener receives them, or the active side. */
static void seed_cm(const char *name, bool active)
{
	struct vnet_packet packet;
	const uint8_t *mad = packet.data + 20;
	struct capture capture;
	FILE *file;
	size_t len;

	if (!capture_open(name, &capture))
		exit(1);
	file = begin("cm");
	putc(24, file);
	if (active)
		put(file, "\5\13\13", 3);
	while (capture_next(&capture, &packet)) {
		if (packet.data[0] != SOFT_UD_SEND_ONLY || packet.len != 280)
			continue;
		for (len = 256; len > HEADER_LEN && !mad[len - 1]; len--)
			;
		put(file, "\24\100\0", 3);
		putc(mad[17] - SOFT_MAD_REQ, file);
		putc((int)(len - HEADER_LEN), file);
		put(file, mad + HEADER_LEN, len - HEADER_LEN);
		put_turn(file, mad[17]);
	}
	fclose(file);
	capture_close(&capture);
}

static void seed_capture(const char *name)
{
	static struct vnet_packet packets[8];
	struct capture capture;
	size_t n = 0;

	if (!capture_open(name, &capture))
		exit(1);
	while (capture_next(&capture, &packets[n])) {
		if (packets[n].len < 600)
			seed_codec(&packets[n]);
		if (++n == 8) {
			seed_ep(packets, n);
			n = 0;
		}
	}
	if (n)
		seed_ep(packets, n);
	capture_close(&capture);
}

static void seed_private(size_t data, size_t size)
{
	static const uint8_t some[PIER__CM_FRAME_DATA_MAX] = { 1, 2, 3 };
	struct pier__cm_frame frame = {
		.dev_id = "device", .ctl_addr = 0x7f0011223344,
		.ctl_rkey = 0x11223344, .nonce = 77,
		.access = PIER_REMOTE_READ, .message = 1u << 30,
		.len = data, .data = some, .blob_addr = 0x7f0011220000,
	};
	struct pier__cm_reject refused = {
		.reason = PIER__REJECT_FULL, .data = some, .len = data % 100,
	};
	uint8_t field[256] = { 0 };
	FILE *file = begin("private");

	pier__cm_frame_encode(&frame, field, size);
	putc(0, file);
	put(file, field, size);
	fclose(file);
	file = begin("private");
	pier__cm_reject_encode(&refused, field, size);
	putc(1, file);
	put(file, field, size);
	fclose(file);
}

static void seed_conn(unsigned int gids)
{
	struct pier__end end = {
		.created = 1700000000, .valid = 30, .nonce = 77, .qpn = 0x1234,
		.psn = 0xfffff0, .link_layer = 2, .mtu = 1024,
		.udp_port = 5000, .ctl_addr = 0x7f0011223344,
		.ctl_rkey = 0x11223344, .access = PIER_REMOTE_READ,
		.rd_atomic = 16, .message = 1u << 31, .gid_count = gids,
	};
	uint8_t bytes[PIER_DESC_MAX];
	FILE *file = begin("wire");
	int len = pier__end_encode(&end, bytes, sizeof(bytes));

	putc(3, file);
	put(file, bytes, (size_t)len);
	fclose(file);
}

/* Fields as lib/mem/export.c has them. */
/* Memory of @keys keys, or an event's word. */
static int build_mmap(uint8_t *bytes, enum pier__wire_kind kind,
		      unsigned int keys)
{
	struct pier__wire_out out;
	unsigned int i;

	pier__wire_begin(&out, bytes, PIER_DESC_MAX, kind, 6);
	for (i = 1; i <= 5; i++)
		pier__wire_uint(&out, i, i == 3 ? 4096 : i == 4 ? 8 : 12);
	pier__wire_array(&out, 6, keys);
	for (i = 0; i < keys; i++) {
		pier__wire_map(&out, 3);
		pier__wire_bytes(&out, 1, "deviceid", 8);
		pier__wire_uint(&out, 2, 0x55667788);
		pier__wire_uint(&out, 3, 2);
	}
	return pier__wire_end(&out);
}

static void put_desc(const uint8_t *bytes, int len)
{
	FILE *file = begin("wire");

	putc(3, file);
	put(file, bytes, (size_t)len);
	fclose(file);
}

static void seed_mmap(enum pier__wire_kind kind, unsigned int keys)
{
	uint8_t bytes[PIER_DESC_MAX];

	put_desc(bytes, build_mmap(bytes, kind, keys));
}

/* Of @kind, with a descriptor of @mmap_kind in it. */
static void seed_export(enum pier__wire_kind kind,
			enum pier__wire_kind mmap_kind)
{
	uint8_t bytes[PIER_DESC_MAX], memory[PIER_DESC_MAX];
	int len = build_mmap(memory, mmap_kind, 1);
	struct pier__wire_out out;

	pier__wire_begin(&out, bytes, sizeof(bytes), kind, 6);
	pier__wire_uint(&out, 1, 12);
	pier__wire_uint(&out, 2, 0);
	pier__wire_uint(&out, 3, 40000);
	pier__wire_bytes(&out, 4, "a token of 16 by", 16);
	pier__wire_array(&out, 5, 1);
	pier__wire_map(&out, 3);
	pier__wire_bytes(&out, 1, "an address of 16", 16);
	pier__wire_uint(&out, 2, 2);
	pier__wire_uint(&out, 3, 24);
	pier__wire_bytes(&out, 6, memory, (size_t)len);
	put_desc(bytes, pier__wire_end(&out));
}

/* An exchange of one file; the target adds the heads. */
static void seed_frames(const char *data, unsigned int files)
{
	static const struct { unsigned int type; } order[] = {
		{ 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 },
	};
	uint8_t bytes[1024];
	struct pier__wire_out out;
	FILE *file = begin("frame");
	size_t i, len;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		pier__wire_begin(&out, bytes, sizeof(bytes), PIER__WIRE_FRAME,
				 3);
		pier__wire_uint(&out, 1, order[i].type);
		pier__wire_uint(&out, 2, i ? strlen(data) : files);
		pier__wire_bytes(&out, 3, data, strlen(data));
		len = (size_t)pier__wire_end(&out) - PIER__WIRE_HEAD;
		putc((int)(len >> 8), file);
		putc((int)(len & 0xff), file);
		put(file, bytes + PIER__WIRE_HEAD, len);
	}
	fclose(file);
}

int main(int argc, char *argv[])
{
	glob_t captures;
	char name[64];
	size_t i;

	if (argc != 2 || glob(capture_path("*", ".pcap"), 0, NULL, &captures)) {
		fprintf(stderr, "usage: srcdir=... seed DIR\n");
		return 2;
	}
	dir = argv[1];
	for (i = 0; i < captures.gl_pathc; i++) {
		snprintf(name, sizeof(name), "%s",
			 strrchr(captures.gl_pathv[i], '/') + 1);
		*strrchr(name, '.') = '\0';
		seed_capture(name);
		if (!strncmp(name, "cm-", 3)) {
			seed_cm(name, false);
			seed_cm(name, true);
		}
	}
	globfree(&captures);
	for (i = 0; i < 4; i++)
		seed_conn((unsigned int)i);
	for (i = 1; i < 4; i++) {
		seed_mmap(PIER__WIRE_MMAP, (unsigned int)i);
		seed_mmap(PIER__WIRE_SYNC_EVENT, (unsigned int)i);
	}
	seed_export(PIER__WIRE_EXPORT, PIER__WIRE_MMAP);
	seed_export(PIER__WIRE_SYNC_EXPORT, PIER__WIRE_SYNC_EVENT);
	seed_private(10, 148);
	seed_private(20, 56);
	seed_private(4096, 56);
	seed_private(4096, 196);
	seed_frames("data of a file", 1);
	seed_frames("", 0);
	return 0;
}
