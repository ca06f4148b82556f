/* SPDX-License-Identifier: BSD-2-Clause */
/* CM messages to bytes, and back. */
#include <string.h>

#include "fabric/soft/wire/mad.h"

#define HEADER_LEN 24
#define BASE_VERSION 1
#define CLASS_CM 0x07
#define CLASS_VERSION 2
#define METHOD_SEND 0x03
#define CMA_MAJOR 0		/* version of the IP addresses' layout */

/* A field: where it is in the message's bits, where in the struct. */
struct field {
	uint16_t bit, width;	/* from the most significant bit of byte 0 */
	uint16_t at, size;	/* bytes of the member */
};

#define FIELD(byte, off, bits, name) \
	{ 8 * (byte) + (off), bits, offsetof(struct soft_mad, name), \
	  sizeof(((struct soft_mad *)0)->name) }
#define END { 0, 0, 0, 0 }

static const struct field header[] = {
	FIELD(4, 0, 16, status),
	FIELD(6, 0, 16, specific),
	FIELD(8, 0, 64, tid),
	FIELD(16, 0, 16, attr),
	FIELD(20, 0, 32, modifier),
	END,
};

static const struct field req[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(5, 0, 24, ece_vendor),
	FIELD(8, 0, 64, service_id),
	FIELD(16, 0, 64, guid),
	FIELD(28, 0, 32, qkey),
	FIELD(32, 0, 24, qpn),
	FIELD(35, 0, 8, responder_resources),
	FIELD(36, 0, 24, local_eecn),
	FIELD(39, 0, 8, initiator_depth),
	FIELD(40, 0, 24, remote_eecn),
	FIELD(43, 0, 5, remote_timeout),
	FIELD(43, 5, 2, transport),
	FIELD(43, 7, 1, flow_control),
	FIELD(44, 0, 24, psn),
	FIELD(47, 0, 5, local_timeout),
	FIELD(47, 5, 3, retry_count),
	FIELD(48, 0, 16, pkey),
	FIELD(50, 0, 4, mtu),
	FIELD(50, 4, 1, rdc),
	FIELD(50, 5, 3, rnr_retry),
	FIELD(51, 0, 4, max_retries),
	FIELD(51, 4, 1, srq),
	FIELD(51, 5, 3, ext_transport),
	FIELD(52, 0, 16, primary.local_lid),
	FIELD(54, 0, 16, primary.remote_lid),
	FIELD(56, 0, 128, primary.local_gid),
	FIELD(72, 0, 128, primary.remote_gid),
	FIELD(88, 0, 20, primary.flow_label),
	FIELD(91, 2, 6, primary.rate),
	FIELD(92, 0, 8, primary.tclass),
	FIELD(93, 0, 8, primary.hop_limit),
	FIELD(94, 0, 4, primary.sl),
	FIELD(94, 4, 1, primary.subnet_local),
	FIELD(95, 0, 5, primary.ack_timeout),
	FIELD(96, 0, 16, alternate.local_lid),
	FIELD(98, 0, 16, alternate.remote_lid),
	FIELD(100, 0, 128, alternate.local_gid),
	FIELD(116, 0, 128, alternate.remote_gid),
	FIELD(132, 0, 20, alternate.flow_label),
	FIELD(135, 2, 6, alternate.rate),
	FIELD(136, 0, 8, alternate.tclass),
	FIELD(137, 0, 8, alternate.hop_limit),
	FIELD(138, 0, 4, alternate.sl),
	FIELD(138, 4, 1, alternate.subnet_local),
	FIELD(139, 0, 5, alternate.ack_timeout),
	FIELD(139, 5, 1, alternate.sap),
	END,
};

static const struct field mra[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 2, message),
	FIELD(9, 0, 5, service_timeout),
	END,
};

static const struct field rej[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 2, message),
	FIELD(9, 0, 7, info_len),
	FIELD(10, 0, 16, reason),
	FIELD(12, 0, 576, info),
	END,
};

/* The vendor of ECE is in three pieces: see rep_vendor(). */
static const struct field rep[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 32, qkey),
	FIELD(12, 0, 24, qpn),
	FIELD(16, 0, 24, local_eecn),
	FIELD(20, 0, 24, psn),
	FIELD(24, 0, 8, responder_resources),
	FIELD(25, 0, 8, initiator_depth),
	FIELD(26, 0, 5, ack_delay),
	FIELD(26, 5, 2, failover),
	FIELD(26, 7, 1, flow_control),
	FIELD(27, 0, 3, rnr_retry),
	FIELD(27, 3, 1, srq),
	FIELD(28, 0, 64, guid),
	END,
};

static const struct field ids[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	END,
};

static const struct field dreq[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 24, qpn),
	END,
};

static const struct field sidr_req[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 16, pkey),
	FIELD(8, 0, 64, service_id),
	END,
};

static const struct field sidr_rep[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 8, result),
	FIELD(5, 0, 8, info_len),
	FIELD(8, 0, 24, qpn),
	FIELD(12, 0, 64, service_id),
	FIELD(20, 0, 32, qkey),
	FIELD(24, 0, 576, info),
	END,
};

static const struct field lap[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(12, 0, 24, qpn),
	FIELD(15, 0, 5, remote_timeout),
	FIELD(20, 0, 16, alternate.local_lid),
	FIELD(22, 0, 16, alternate.remote_lid),
	FIELD(24, 0, 128, alternate.local_gid),
	FIELD(40, 0, 128, alternate.remote_gid),
	FIELD(56, 0, 20, alternate.flow_label),
	FIELD(59, 0, 8, alternate.tclass),
	FIELD(60, 0, 8, alternate.hop_limit),
	FIELD(61, 2, 6, alternate.rate),
	FIELD(62, 0, 4, alternate.sl),
	FIELD(62, 4, 1, alternate.subnet_local),
	FIELD(63, 0, 5, alternate.ack_timeout),
	END,
};

static const struct field apr[] = {
	FIELD(0, 0, 32, local_id),
	FIELD(4, 0, 32, remote_id),
	FIELD(8, 0, 8, info_len),
	FIELD(9, 0, 8, result),
	FIELD(12, 0, 576, info),
	END,
};

/* By attribute, the first of which is REQ; data is to the end of the MAD. */
static const struct layout {
	const struct field *fields;
	size_t data;
} layouts[] = {
	{ req, 140 },
	{ mra, 10 },
	{ rej, 84 },
	{ rep, 36 },
	{ ids, 8 },
	{ dreq, 12 },
	{ ids, 8 },
	{ sidr_req, 16 },
	{ sidr_rep, 96 },
	{ lap, 64 },
	{ apr, 84 },
};

static const struct layout *layout_of(uint16_t attr)
{
	if (attr < SOFT_MAD_REQ || attr > SOFT_MAD_APR)
		return NULL;
	return &layouts[attr - SOFT_MAD_REQ];
}

static uint64_t get_bits(const uint8_t *p, size_t bit, size_t width)
{
	uint64_t v = 0;

	p += bit / 8;
	if (bit % 8 + width <= 8)
		return *p >> (8 - bit % 8 - width) & ((1u << width) - 1);
	for (; width >= 8; width -= 8)	/* it begins with a byte */
		v = v << 8 | *p++;
	return width ? v << width | *p >> (8 - width) : v;
}

/* The bits were 0. */
static void put_bits(uint8_t *p, size_t bit, size_t width, uint64_t v)
{
	p += bit / 8;
	if (bit % 8 + width <= 8) {
		*p |= (v & ((1u << width) - 1)) << (8 - bit % 8 - width);
		return;
	}
	for (; width >= 8; width -= 8)
		*p++ = (uint8_t)(v >> (width - 8));
	if (width)
		*p |= (uint8_t)(v << (8 - width));
}

static uint64_t member_get(const struct soft_mad *mad, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)mad + f->at;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v16, at, 2);
		return v16;
	case 4:
		memcpy(&v32, at, 4);
		return v32;
	default:
		memcpy(&v64, at, 8);
		return v64;
	}
}

static void member_set(struct soft_mad *mad, const struct field *f, uint64_t v)
{
	uint8_t *at = (uint8_t *)mad + f->at;
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;

	if (f->size == 1)
		*at = (uint8_t)v;
	else if (f->size == 2)
		memcpy(at, &v16, 2);
	else if (f->size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &v, 8);
}

static void fields_encode(const struct field *f, const struct soft_mad *mad,
			  uint8_t *to)
{
	for (; f->width; f++) {
		if (f->size > 8)
			memcpy(to + f->bit / 8, (const uint8_t *)mad + f->at,
			       f->size);
		else
			put_bits(to, f->bit, f->width, member_get(mad, f));
	}
}

static void fields_decode(const struct field *f, const uint8_t *from,
			  struct soft_mad *mad)
{
	for (; f->width; f++) {
		if (f->size > 8)
			memcpy((uint8_t *)mad + f->at, from + f->bit / 8,
			       f->size);
		else
			member_set(mad, f, get_bits(from, f->bit, f->width));
	}
}

/* Where the bytes of the ECE vendor are, the highest first. */
static const uint8_t rep_vendor[3] = { 15, 19, 23 };
static const uint8_t sidr_vendor[3] = { 6, 7, 11 };

static const uint8_t *vendor_of(uint16_t attr)
{
	if (attr == SOFT_MAD_REP)
		return rep_vendor;
	return attr == SOFT_MAD_SIDR_REP ? sidr_vendor : NULL;
}

uint8_t pier__soft_mad_attr(const uint8_t *bytes)
{
	return bytes[17];	/* those of CM fit into it */
}

size_t pier__soft_mad_data_len(uint16_t attr)
{
	const struct layout *layout = layout_of(attr);

	return layout ? SOFT_MAD_LEN - HEADER_LEN - layout->data : 0;
}

void pier__soft_mad_encode(const struct soft_mad *mad, uint8_t *bytes)
{
	const struct layout *layout = layout_of(mad->attr);
	const uint8_t *vendor = vendor_of(mad->attr);
	size_t size = pier__soft_mad_data_len(mad->attr);
	uint8_t *body = bytes + HEADER_LEN;
	int i;

	memset(bytes, 0, SOFT_MAD_LEN);
	bytes[0] = BASE_VERSION;
	bytes[1] = CLASS_CM;
	bytes[2] = CLASS_VERSION;
	bytes[3] = METHOD_SEND;
	fields_encode(header, mad, bytes);
	fields_encode(layout->fields, mad, body);
	for (i = 0; vendor && i < 3; i++)
		body[vendor[i]] = (uint8_t)(mad->ece_vendor >> (16 - 8 * i));
	if (mad->len)
		memcpy(body + layout->data, mad->data,
		       mad->len < size ? mad->len : size);
}

bool pier__soft_mad_decode(const uint8_t *bytes, size_t len,
			   struct soft_mad *ret)
{
	const struct layout *layout;
	const uint8_t *body = bytes + HEADER_LEN, *vendor;
	struct soft_mad mad = { 0 };
	int i;

	if (len != SOFT_MAD_LEN || bytes[0] != BASE_VERSION ||
	    bytes[1] != CLASS_CM || bytes[2] != CLASS_VERSION ||
	    bytes[3] != METHOD_SEND)
		return false;
	fields_decode(header, bytes, &mad);
	layout = layout_of(mad.attr);
	if (!layout)
		return false;

	fields_decode(layout->fields, body, &mad);
	vendor = vendor_of(mad.attr);
	for (i = 0; vendor && i < 3; i++)
		mad.ece_vendor = mad.ece_vendor << 8 | body[vendor[i]];
	mad.data = body + layout->data;
	mad.len = pier__soft_mad_data_len(mad.attr);
	*ret = mad;
	return true;
}

/* IPv4 is in the last 4 bytes, behind zeros. */
static void ip_put(const struct in6_addr *ip, uint8_t *to)
{
	memcpy(to, ip, 16);
	if (IN6_IS_ADDR_V4MAPPED(ip))
		memset(to, 0, 12);
}

static void ip_get(const uint8_t *from, bool v4, struct in6_addr *ret)
{
	memcpy(ret, from, 16);
	if (v4) {
		memset(ret, 0, 10);
		memset(&ret->s6_addr[10], 0xff, 2);
	}
}

void pier__soft_mad_ip_encode(const struct soft_mad_ip *ip, uint8_t *bytes)
{
	memset(bytes, 0, SOFT_MAD_IP_LEN);
	bytes[0] = CMA_MAJOR << 4;
	bytes[1] = IN6_IS_ADDR_V4MAPPED(&ip->src) ? 4 << 4 : 6 << 4;
	bytes[2] = ip->src_port >> 8;
	bytes[3] = (uint8_t)ip->src_port;
	ip_put(&ip->src, bytes + 4);
	ip_put(&ip->dst, bytes + 20);
}

bool pier__soft_mad_ip_decode(const uint8_t *bytes, size_t len,
			      struct soft_mad_ip *ret)
{
	unsigned int version = bytes[1] >> 4;

	if (len < SOFT_MAD_IP_LEN || bytes[0] >> 4 != CMA_MAJOR ||
	    (version != 4 && version != 6))
		return false;
	ret->src_port = (uint16_t)(bytes[2] << 8 | bytes[3]);
	ip_get(bytes + 4, version == 4, &ret->src);
	ip_get(bytes + 20, version == 4, &ret->dst);
	return true;
}
