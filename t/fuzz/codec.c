/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/wire/codec.h"
#include "fabric/soft/wire/mad.h"
#include "t/fuzz/fuzz.h"

/*
 * Headers and ICRC of a packet, and messages of connection management.  Input:
 * a byte, 1 for IPv6, 2 for a message; the packet, or the message.  What
 * decodes is encoded to what decodes to the same, and a packet that is sealed
 * is accepted.
 */
static void address(struct soft_addr *addr, bool v6, uint8_t last)
{
	memset(addr, 0, sizeof(*addr));
	if (v6)
		addr->ip.s6_addr[0] = 0xfd;
	else
		memset(&addr->ip.s6_addr[10], 0xff, 2);
	addr->ip.s6_addr[12] = 10;
	addr->ip.s6_addr[15] = last;
	addr->port = ROCE_UDP_PORT;
}

/* Its ICRC made right, for identification @id. */
static void seal(struct soft_rx *rx, uint8_t *bytes, size_t hdr_len,
		 uint16_t id)
{
	struct soft_tx tx = {
		.src = rx->src, .dst = rx->dst, .hdr_len = (uint8_t)hdr_len,
		.payload_len = (uint32_t)(rx->len - hdr_len - 4),
		.iov_count = 1,
	};
	uint32_t icrc;
	int i;

	memcpy(tx.hdr, bytes, hdr_len);
	tx.iov[0].iov_base = bytes + hdr_len;
	tx.iov[0].iov_len = tx.payload_len;
	icrc = pier__soft_icrc(&tx, id);
	for (i = 0; i < 4; i++)
		bytes[rx->len - 4 + i] = (uint8_t)(icrc >> 8 * i);
}

static void decoded(struct soft_rx *rx, uint8_t *bytes, size_t hdr_len,
		    const struct soft_hdr *hdr)
{
	uint8_t again[SOFT_HDR_MAX], twice[SOFT_HDR_MAX];
	struct soft_hdr same;
	bool v4 = IN6_IS_ADDR_V4MAPPED(&rx->dst.ip);

	MUST(hdr_len + hdr->pad + 4 <= rx->len);
	MUST(pier__soft_encode(hdr, again) == hdr_len);
	memcpy(bytes, again, hdr_len);
	MUST(pier__soft_decode(bytes, rx->len, &same) == hdr_len);
	MUST(pier__soft_encode(&same, twice) == hdr_len);
	MUST(!memcmp(again, twice, hdr_len));
	seal(rx, bytes, hdr_len, v4 ? 63 : 0);
	MUST(pier__soft_icrc_ok(rx, 63));
	MUST(!v4 || !pier__soft_icrc_ok(rx, 62));
	bytes[hdr_len - 1] ^= 1;
	MUST(!pier__soft_icrc_ok(rx, 63));
}

/* Its head is made right, and its end is zeros, which makes them short. */
static void message(const uint8_t *data, size_t size)
{
	uint8_t bytes[SOFT_MAD_LEN] = { 1, 7, 2, 3 }, again[SOFT_MAD_LEN];
	uint8_t twice[SOFT_MAD_LEN];
	struct soft_mad_ip ip;
	struct soft_mad mad;

	if (size > SOFT_MAD_LEN - 4)
		size = SOFT_MAD_LEN - 4;
	memcpy(bytes + 4, data, size);
	if (!pier__soft_mad_decode(bytes, sizeof(bytes), &mad))
		return;
	MUST(mad.len == pier__soft_mad_data_len(mad.attr));
	MUST(mad.data >= bytes && mad.data + mad.len <= bytes + SOFT_MAD_LEN);
	pier__soft_mad_ip_decode(mad.data, mad.len, &ip);
	pier__soft_mad_encode(&mad, again);
	MUST(pier__soft_mad_decode(again, sizeof(again), &mad));
	pier__soft_mad_encode(&mad, twice);
	MUST(!memcmp(again, twice, sizeof(twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct soft_hdr hdr;
	struct soft_rx rx;
	uint8_t *bytes;
	size_t hdr_len;

	if (!size)
		return 0;
	if (data[0] & 2) {
		message(data + 1, size - 1);
		return 0;
	}
	/* Of exactly this size, so that a byte too far is noticed. */
	bytes = malloc(size);
	if (!bytes)
		return 0;
	rx.len = size - 1;
	rx.data = bytes;
	memcpy(bytes, data + 1, rx.len);
	address(&rx.src, data[0] & 1, 1);
	address(&rx.dst, data[0] & 1, 2);
	pier__soft_icrc_ok(&rx, UINT16_MAX);
	memset(&hdr, 0, sizeof(hdr));
	hdr_len = pier__soft_decode(rx.data, rx.len, &hdr);
	if (hdr_len)
		decoded(&rx, bytes, hdr_len, &hdr);
	free(bytes);
	return 0;
}
