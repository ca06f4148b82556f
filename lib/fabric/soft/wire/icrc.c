/* SPDX-License-Identifier: BSD-2-Clause */
/* The ICRC, and the IPv4 identification that it was computed with. */
#include <pthread.h>
#include <string.h>

#include "core/crc.h"
#include "fabric/soft/wire/codec.h"

/*
 * The ICRC covers a masked packet: eight bytes of ones in place of the link
 * header, the IP and UDP headers with the fields that routers change set to
 * ones, and the packet with the congestion byte of the BTH set to ones.
 */
#define LRH_LEN 8
#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8
#define FRONT_MAX (LRH_LEN + IPV6_LEN + UDP_LEN)
#define ICRC_LEN 4

#define POLYNOMIAL 0xedb88320u	/* reflected */

/*
 * The change of the CRC before the BTH that makes a congestion byte of zero
 * count as one of ones: 0xff times x^32, for the four bytes between.  So the
 * CRC is computed over the packet as it is.
 */
#define AS_ONES 0x0f6a70d9u

static uint8_t *put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
	return p + 2;
}

static uint8_t *put_ipv4(uint8_t *p, const struct soft_addr *src,
			 const struct soft_addr *dst, size_t udp_len,
			 uint16_t id)
{
	p[0] = 0x45;
	p[1] = 0xff;
	put16(p + 2, IPV4_LEN + udp_len);
	put16(p + 4, id);
	put16(p + 6, 0x4000);	/* don't fragment */
	p[8] = 0xff;
	p[9] = IPPROTO_UDP;
	put16(p + 10, 0xffff);
	memcpy(p + 12, &src->ip.s6_addr[12], 4);
	memcpy(p + 16, &dst->ip.s6_addr[12], 4);
	return p + IPV4_LEN;
}

static uint8_t *put_ipv6(uint8_t *p, const struct soft_addr *src,
			 const struct soft_addr *dst, size_t udp_len)
{
	p[0] = 0x6f;
	memset(p + 1, 0xff, 3);
	put16(p + 4, udp_len);
	p[6] = IPPROTO_UDP;
	p[7] = 0xff;
	memcpy(p + 8, &src->ip, 16);
	memcpy(p + 24, &dst->ip, 16);
	return p + IPV6_LEN;
}

static bool is_ipv4(const struct soft_addr *a)
{
	return IN6_IS_ADDR_V4MAPPED(&a->ip);
}

/* All that stands before the BTH; @len is that of the packet with ICRC. */
static size_t put_front(uint8_t *front, const struct soft_addr *src,
			const struct soft_addr *dst, size_t len, uint16_t id)
{
	uint8_t *p = front;

	memset(p, 0xff, LRH_LEN);
	p += LRH_LEN;
	if (is_ipv4(dst))
		p = put_ipv4(p, src, dst, UDP_LEN + len, id);
	else
		p = put_ipv6(p, src, dst, UDP_LEN + len);
	p = put16(p, src->port);
	p = put16(p, dst->port);
	p = put16(p, UDP_LEN + len);
	p = put16(p, 0xffff);
	return p - front;
}

uint32_t pier__soft_icrc(const struct soft_tx *tx, uint16_t id)
{
	static const uint8_t zero[4];
	uint8_t front[FRONT_MAX + SOFT_HDR_MAX];
	size_t len = tx->hdr_len + tx->payload_len + tx->pad + ICRC_LEN;
	size_t at = put_front(front, &tx->src, &tx->dst, len, id);
	uint32_t crc, i;

	memcpy(front + at, tx->hdr, tx->hdr_len);
	front[at + SOFT_BTH_CONGESTION] = 0xff;
	crc = pier__crc32(0, front, at + tx->hdr_len);
	for (i = 0; i < tx->iov_count; i++)
		crc = pier__crc32(crc, tx->iov[i].iov_base, tx->iov[i].iov_len);
	return tx->pad ? pier__crc32(crc, zero, tx->pad) : crc;
}

/*
 * A CRC is linear, so the one over a packet with identification i differs
 * from the one with 0 by f(i), which depends on i and on the number of bytes
 * behind it alone.  In the field in which the CRC register counts, f moves
 * the two bytes of i up by x^8 for each byte that follows.  Moving the
 * difference down again by as much must leave 16 bits, which are i.
 */
static uint32_t down[SOFT_PACKET_MAX / 4 + 1];	/* by packet length / 4 */
static pthread_once_t down_once = PTHREAD_ONCE_INIT;

/* The product modulo the polynomial; the top bit stands for x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a; a <<= 1) {
		product ^= b & -(a >> 31);
		b = b >> 1 ^ (POLYNOMIAL & -(b & 1));
	}
	return product;
}

/* Divide by x. */
static uint32_t divide(uint32_t a)
{
	return a & 0x80000000u ? (a ^ POLYNOMIAL) << 1 | 1 : a << 1;
}

static void down_fill(void)
{
	/* From the identification: 2 + 2 + 12 bytes of IPv4, UDP, packet. */
	const unsigned int fixed = 2 + 2 + 12 + UDP_LEN - ICRC_LEN;
	uint32_t power = 0x80000000u;
	size_t i;
	int bit;

	for (bit = 0; bit < 8 * (int)fixed; bit++)
		power = divide(power);
	for (i = 0; i < sizeof(down) / sizeof(*down); i++) {
		down[i] = power;
		for (bit = 0; bit < 32; bit++)
			power = divide(power);
	}
}

/* Which identification explains the difference?  False: none does. */
static bool solve(uint32_t diff, size_t len, uint16_t *ret)
{
	uint32_t bytes;

	*ret = 0;
	if (!diff)
		return true;
	pthread_once(&down_once, down_fill);
	bytes = multiply(diff, down[len / 4]);
	*ret = (uint16_t)(bytes << 8 | bytes >> 8);
	return !(bytes >> 16);
}

/* By how much an identification changes the CRC of what is before the BTH. */
static uint32_t by_id[SOFT_ID_MAX + 1];
static pthread_once_t by_id_once = PTHREAD_ONCE_INIT;

static void by_id_fill(void)
{
	static const struct soft_addr any = {
		.ip = { { { [10] = 0xff, [11] = 0xff } } },
	};
	uint8_t front[FRONT_MAX];
	size_t at = put_front(front, &any, &any, 0, 0), id;
	uint32_t none = pier__crc32(0, front, at);

	for (id = 1; id <= SOFT_ID_MAX; id++) {
		put_front(front, &any, &any, 0, (uint16_t)id);
		by_id[id] = pier__crc32(0, front, at) ^ none;
	}
}

static bool addr_same(const struct soft_addr *a, const struct soft_addr *b)
{
	return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->ip, &b->ip);
}

/* The CRC of what is before the BTH, for @id; IPv6 has none. */
static uint32_t front_crc(struct soft_fronts *fronts,
			  const struct soft_addr *src,
			  const struct soft_addr *dst, size_t len, uint16_t id)
{
	struct soft_front *front = &fronts->at[len / 4 % SOFT_FRONTS];
	uint8_t bytes[FRONT_MAX];

	if (front->len != len || !addr_same(&front->src, src) ||
	    !addr_same(&front->dst, dst)) {
		front->src = *src;
		front->dst = *dst;
		front->len = len;
		front->crc = pier__crc32(0, bytes, put_front(bytes, src, dst,
							     len, 0));
	}
	if (!id || !is_ipv4(dst))
		return front->crc;
	pthread_once(&by_id_once, by_id_fill);
	return front->crc ^ by_id[id];
}

uint32_t pier__soft_icrc_begin(struct soft_fronts *fronts,
			       const struct soft_addr *src,
			       const struct soft_addr *dst, size_t len,
			       uint16_t id)
{
	return front_crc(fronts, src, dst, len, id) ^ AS_ONES;
}

/* From the CRC @crc of what is before the BTH on, to that of the packet. */
static uint32_t rest_crc(uint32_t crc, const struct soft_rx *rx)
{
	uint8_t begin[SOFT_BTH_CONGESTION + 1];

	if (!rx->data[SOFT_BTH_CONGESTION])
		return pier__crc32(crc ^ AS_ONES, rx->data, rx->len - ICRC_LEN);
	memcpy(begin, rx->data, SOFT_BTH_CONGESTION);
	begin[SOFT_BTH_CONGESTION] = 0xff;
	crc = pier__crc32(crc, begin, sizeof(begin));
	return pier__crc32(crc, rx->data + sizeof(begin),
			   rx->len - sizeof(begin) - ICRC_LEN);
}

static uint32_t stored_crc(const struct soft_rx *rx)
{
	const uint8_t *p = rx->data + rx->len - ICRC_LEN;

	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool length_ok(const struct soft_rx *rx)
{
	return rx->len >= 16 && rx->len <= SOFT_PACKET_MAX && rx->len % 4 == 0;
}

/* The stored ICRC XOR that for @id. */
static uint32_t icrc_diff(struct soft_fronts *fronts, const struct soft_rx *rx,
			  uint16_t id)
{
	uint32_t crc = front_crc(fronts, &rx->src, &rx->dst, rx->len, id);

	return rest_crc(crc, rx) ^ stored_crc(rx);
}

/* @guess is tried before one is solved for. */
static bool icrc_id(struct soft_fronts *fronts, const struct soft_rx *rx,
		    uint16_t guess, uint16_t *ret)
{
	bool v4 = is_ipv4(&rx->dst);
	uint32_t diff;

	*ret = 0;
	if (!length_ok(rx))
		return false;
	diff = icrc_diff(fronts, rx, guess);
	if (!diff && v4)
		*ret = guess;
	if (!diff || !v4)
		return !diff;
	if (guess)
		diff = icrc_diff(fronts, rx, 0);
	return solve(diff, rx->len, ret);
}

bool pier__soft_icrc_id(const struct soft_rx *rx, uint16_t *ret)
{
	struct soft_fronts none = { 0 };

	return icrc_id(&none, rx, 0, ret);
}

bool pier__soft_icrc_fits(struct soft_fronts *fronts, const struct soft_rx *rx,
			  uint16_t max_id)
{
	uint16_t guess = rx->place <= max_id && rx->place <= SOFT_ID_MAX
				 ? rx->place : 0, id;

	return icrc_id(fronts, rx, guess, &id) && id <= max_id;
}

bool pier__soft_icrc_ok(const struct soft_rx *rx, uint16_t max_id)
{
	uint16_t id;

	return pier__soft_icrc_id(rx, &id) && id <= max_id;
}
