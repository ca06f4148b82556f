/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/wire.h"
#include "t/lib/liar.h"
#include "t/lib/tap.h"

enum {	/* the fields of a frame */
	TYPE = 1, NUMBER = 2, BYTES = 3,
};

#define CRC_AT 12

struct liar liar = { .sock = -1 };

void liar_add(int type, uint64_t value, const void *bytes, size_t len)
{
	struct pier__wire_out wire;

	pier__wire_begin(&wire, liar.out + liar.len,
			 sizeof(liar.out) - liar.len, PIER__WIRE_FRAME, 3);
	pier__wire_uint(&wire, TYPE, (uint64_t)type);
	pier__wire_uint(&wire, NUMBER, value);
	pier__wire_bytes(&wire, BYTES, bytes, len);
	liar.len += (size_t)pier__wire_end(&wire);
}

void liar_put_crc(uint8_t *data, size_t len)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++) {
		if (i == CRC_AT)
			i = PIER__WIRE_HEAD;
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	crc = htonl(~crc);
	memcpy(data + CRC_AT, &crc, sizeof(crc));
}

void liar_add_file(const char *name, uint64_t size)
{
	liar_add(LIAR_FILE, size, name, strlen(name));
}

void liar_add_data(size_t len)
{
	static const uint8_t data[40 * 1024];

	liar_add(LIAR_DATA, 0, data, len);
}

void liar_send(void)
{
	size_t at = 0;
	ssize_t n;

	while (at < liar.len) {
		n = send(liar.sock, liar.out + at, liar.len - at, MSG_NOSIGNAL);
		if (n < 0)
			break;		/* it may have ended by now */
		at += (size_t)n;
	}
	liar.len = 0;
}

static bool receive(size_t from, size_t len)
{
	return recv(liar.sock, liar.frame + from, len, MSG_WAITALL) ==
	       (ssize_t)len;
}

int liar_recv(void)
{
	struct pier__wire_in wire;
	const uint8_t *bytes;
	uint64_t type;
	size_t size, len;

	if (!receive(0, PIER__WIRE_HEAD))
		return 0;
	if (!IS(pier__wire_size(liar.frame, PIER__WIRE_HEAD, LIAR_FRAME_MAX,
				&size), 0) ||
	    !receive(PIER__WIRE_HEAD, size - PIER__WIRE_HEAD))
		return 0;
	IS(pier__wire_expect(liar.frame, size, PIER__WIRE_FRAME, &wire), 0);
	IS(pier__wire_get_uint(&wire, TYPE, 1, 6, &type), 0);
	IS(pier__wire_get_uint(&wire, NUMBER, 0, UINT64_MAX, &liar.number),
	   0);
	IS(pier__wire_get_bytes(&wire, BYTES, 0, LIAR_FRAME_MAX, &bytes,
				&len), 0);
	snprintf(liar.text, sizeof(liar.text), "%.*s", (int)len,
		 (const char *)bytes);
	return (int)type;
}

bool liar_recv_until(int wanted)
{
	int type;

	do
		type = liar_recv();
	while (type && type != wanted);
	return type == wanted;
}
