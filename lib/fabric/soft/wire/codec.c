/* SPDX-License-Identifier: BSD-2-Clause */
/* BTH and extended headers to bytes, and back. */
#include <string.h>

#include "fabric/soft/wire/codec.h"

/* Extended headers behind the BTH, in the order in which they stand there. */
enum part {
	KNOWN = 1 << 0,
	DETH = 1 << 1,
	RETH = 1 << 2,
	ATOMIC = 1 << 3,
	AETH = 1 << 4,
	ORIGINAL = 1 << 5,
	IMM = 1 << 6,
	IETH = 1 << 7,
};

static const uint8_t parts[256] = {
	[SOFT_SEND_FIRST] = KNOWN,
	[SOFT_SEND_MIDDLE] = KNOWN,
	[SOFT_SEND_LAST] = KNOWN,
	[SOFT_SEND_LAST_IMM] = KNOWN | IMM,
	[SOFT_SEND_ONLY] = KNOWN,
	[SOFT_SEND_ONLY_IMM] = KNOWN | IMM,
	[SOFT_WRITE_FIRST] = KNOWN | RETH,
	[SOFT_WRITE_MIDDLE] = KNOWN,
	[SOFT_WRITE_LAST] = KNOWN,
	[SOFT_WRITE_LAST_IMM] = KNOWN | IMM,
	[SOFT_WRITE_ONLY] = KNOWN | RETH,
	[SOFT_WRITE_ONLY_IMM] = KNOWN | RETH | IMM,
	[SOFT_READ_REQUEST] = KNOWN | RETH,
	[SOFT_READ_FIRST] = KNOWN | AETH,
	[SOFT_READ_MIDDLE] = KNOWN,
	[SOFT_READ_LAST] = KNOWN | AETH,
	[SOFT_READ_ONLY] = KNOWN | AETH,
	[SOFT_ACK] = KNOWN | AETH,
	[SOFT_ATOMIC_ACK] = KNOWN | AETH | ORIGINAL,
	[SOFT_COMPARE_SWAP] = KNOWN | ATOMIC,
	[SOFT_FETCH_ADD] = KNOWN | ATOMIC,
	[SOFT_SEND_LAST_INV] = KNOWN | IETH,
	[SOFT_SEND_ONLY_INV] = KNOWN | IETH,
	[SOFT_UD_SEND_ONLY] = KNOWN | DETH,
	[SOFT_UD_SEND_ONLY_IMM] = KNOWN | DETH | IMM,
	[SOFT_CNP] = KNOWN,
};

#define BTH_LEN 12

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
	return p + 4;
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	return put32(put32(p, v >> 32), v);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static uint8_t *encode_bth(const struct soft_hdr *hdr, uint8_t *p)
{
	p[0] = hdr->opcode;
	p[1] = hdr->solicited << 7 | hdr->pad << 4;
	p[2] = hdr->pkey >> 8;
	p[3] = hdr->pkey;
	put32(p + 4, (uint32_t)hdr->becn << 30 | (hdr->qpn & 0xffffff));
	put32(p + 8, (uint32_t)hdr->ack_req << 31 |
		     (hdr->selective ? SOFT_SELECTIVE << 24 : 0) |
		     (uint32_t)hdr->senders << (24 + SOFT_SENDERS_SHIFT) |
		     (hdr->psn & 0xffffff));
	return p + BTH_LEN;
}

size_t pier__soft_encode(const struct soft_hdr *hdr, uint8_t *bytes)
{
	unsigned int have = parts[hdr->opcode];
	uint8_t *p = encode_bth(hdr, bytes);

	if (have & DETH) {
		p = put32(p, hdr->qkey);
		p = put32(p, hdr->src_qpn & 0xffffff);
	}
	if (have & RETH) {
		p = put64(p, hdr->va);
		p = put32(p, hdr->rkey);
		p = put32(p, hdr->dma_len);
	}
	if (have & ATOMIC) {
		p = put64(p, hdr->va);
		p = put32(p, hdr->rkey);
		p = put64(p, hdr->swap_add);
		p = put64(p, hdr->compare);
	}
	if (have & AETH)
		p = put32(p, (uint32_t)hdr->syndrome << 24 |
			     (hdr->msn & 0xffffff));
	if (have & ORIGINAL)
		p = put64(p, hdr->original);
	if (have & IMM) {
		memcpy(p, &hdr->imm, 4);
		p += 4;
	}
	if (have & IETH)
		p = put32(p, hdr->invalidate);
	return p - bytes;
}

/* The length of the headers of a known opcode, else 0. */
static size_t header_len(uint8_t opcode)
{
	unsigned int have = parts[opcode];

	if (!have)
		return 0;
	return BTH_LEN + (have & DETH ? 8 : 0) + (have & RETH ? 16 : 0) +
	       (have & ATOMIC ? 28 : 0) + (have & AETH ? 4 : 0) +
	       (have & ORIGINAL ? 8 : 0) + (have & IMM ? 4 : 0) +
	       (have & IETH ? 4 : 0);
}

static void decode_bth(const uint8_t *p, struct soft_hdr *hdr)
{
	hdr->opcode = p[0];
	hdr->solicited = p[1] >> 7;
	hdr->pad = p[1] >> 4 & 3;
	hdr->pkey = p[2] << 8 | p[3];
	hdr->qpn = get32(p + 4) & 0xffffff;
	hdr->ack_req = p[8] >> 7;
	hdr->selective = p[8] & SOFT_SELECTIVE;
	hdr->senders = p[8] >> SOFT_SENDERS_SHIFT & SOFT_SENDERS_MAX;
	hdr->psn = get32(p + 8) & 0xffffff;
}

static void decode_parts(const uint8_t *p, struct soft_hdr *hdr)
{
	unsigned int have = parts[hdr->opcode];

	if (have & DETH) {
		hdr->qkey = get32(p);
		hdr->src_qpn = get32(p + 4) & 0xffffff;
		p += 8;
	}
	if (have & (RETH | ATOMIC)) {
		hdr->va = get64(p);
		hdr->rkey = get32(p + 8);
		p += 12;
	}
	if (have & RETH) {
		hdr->dma_len = get32(p);
		p += 4;
	}
	if (have & ATOMIC) {
		hdr->swap_add = get64(p);
		hdr->compare = get64(p + 8);
		p += 16;
	}
	if (have & AETH) {
		hdr->syndrome = p[0];
		hdr->msn = get32(p) & 0xffffff;
		p += 4;
	}
	if (have & ORIGINAL) {
		hdr->original = get64(p);
		p += 8;
	}
	if (have & IMM) {
		memcpy(&hdr->imm, p, 4);
		p += 4;
	}
	if (have & IETH)
		hdr->invalidate = get32(p);
}

size_t pier__soft_decode(const uint8_t *bytes, size_t len, struct soft_hdr *ret)
{
	struct soft_hdr hdr = { 0 };
	size_t hdr_len;

	/* Pad and ICRC make every packet a multiple of four. */
	if (len < BTH_LEN + 4 || len > SOFT_PACKET_MAX || len % 4)
		return 0;
	hdr_len = header_len(bytes[0]);
	if (!hdr_len || bytes[1] & 0x0f)
		return 0;
	decode_bth(bytes, &hdr);
	if (hdr_len + hdr.pad + 4 > len)
		return 0;

	decode_parts(bytes + BTH_LEN, &hdr);
	*ret = hdr;
	return hdr_len;
}
