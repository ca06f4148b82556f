/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <pier/mmap.h>

#include "cm/conn_impl.h"
#include "core/fail.h"
#include "core/wire.h"

/* Fields of a connection descriptor; 1 and 2 are those of every descriptor. */
enum {
	FIELD_CREATED = 1,
	FIELD_VALID = 2,
	FIELD_NONCE = 3,
	FIELD_DEV = 4,
	FIELD_QPN = 5,
	FIELD_PSN = 6,
	FIELD_LINK = 7,
	FIELD_LID = 8,
	FIELD_MTU = 9,
	FIELD_UDP_PORT = 10,
	FIELD_CTL_ADDR = 11,
	FIELD_CTL_RKEY = 12,
	FIELD_ACCESS = 13,
	FIELD_RD_ATOMIC = 14,
	FIELD_MESSAGE = 15,
	FIELD_GIDS = 16,	/* of maps: */
	FIELD_COUNT = 16,
	GID_RAW = 1,
	GID_TYPE = 2,
	GID_PREFIX = 3,
};

#define ACCESS_MAX (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

void pier__gids_encode(struct pier__wire_out *out, unsigned int field,
		       const struct pier__gid_offer *gids, unsigned int count)
{
	pier__wire_array(out, field, count);
	for (unsigned int i = 0; i < count; i++) {
		pier__wire_map(out, 3);
		pier__wire_bytes(out, GID_RAW, gids[i].raw, 16);
		pier__wire_uint(out, GID_TYPE, gids[i].type);
		pier__wire_uint(out, GID_PREFIX, gids[i].prefix);
	}
}

int pier__end_encode(const struct pier__end *end, void *buf, size_t size)
{
	struct pier__wire_out out;

	pier__wire_begin(&out, buf, size, PIER__WIRE_CONN, FIELD_COUNT);
	pier__wire_uint(&out, FIELD_CREATED, end->created);
	pier__wire_uint(&out, FIELD_VALID, end->valid);
	pier__wire_uint(&out, FIELD_NONCE, end->nonce);
	pier__wire_bytes(&out, FIELD_DEV, end->dev_id, sizeof(end->dev_id));
	pier__wire_uint(&out, FIELD_QPN, end->qpn);
	pier__wire_uint(&out, FIELD_PSN, end->psn);
	pier__wire_uint(&out, FIELD_LINK, end->link_layer);
	pier__wire_uint(&out, FIELD_LID, end->lid);
	pier__wire_uint(&out, FIELD_MTU, end->mtu);
	pier__wire_uint(&out, FIELD_UDP_PORT, end->udp_port);
	pier__wire_uint(&out, FIELD_CTL_ADDR, end->ctl_addr);
	pier__wire_uint(&out, FIELD_CTL_RKEY, end->ctl_rkey);
	pier__wire_uint(&out, FIELD_ACCESS, end->access);
	pier__wire_uint(&out, FIELD_RD_ATOMIC, end->rd_atomic);
	pier__wire_uint(&out, FIELD_MESSAGE, end->message);
	pier__gids_encode(&out, FIELD_GIDS, end->gids, end->gid_count);
	return pier__wire_end(&out);
}

static int read_gid(const struct pier__wire_in *in, struct pier__gid_offer *ret)
{
	const uint8_t *raw;
	uint64_t type, prefix;
	size_t len;
	int err = pier__wire_get_bytes(in, GID_RAW, 16, 16, &raw, &len);

	if (!err)
		err = pier__wire_get_uint(in, GID_TYPE, 0, PIER_GID_ROCE_V2,
					  &type);
	if (!err)
		err = pier__wire_get_uint(in, GID_PREFIX, 0, 128, &prefix);
	if (err)
		return err;
	memcpy(ret->raw, raw, 16);
	ret->type = (uint8_t)type;
	ret->prefix = (uint8_t)prefix;
	ret->index = 0;
	return 0;
}

int pier__gids_decode(const struct pier__wire_in *in, unsigned int field,
		      struct pier__gid_offer *ret, unsigned int *ret_count)
{
	struct pier__wire_in map;
	int err = pier__wire_get_array(in, field, PIER__GIDS_MAX, ret_count);

	for (unsigned int i = 0; !err && i < *ret_count; i++) {
		err = pier__wire_get_map(in, field, i, &map);
		if (!err)
			err = read_gid(&map, &ret[i]);
	}
	return err;
}

/* The numbers: field, least, most, where to; in the order of the fields. */
static int decode_numbers(const struct pier__wire_in *in, struct pier__end *ret)
{
	static const struct {
		unsigned int field;
		uint64_t min, max;
	} fields[] = {
		{ FIELD_CREATED, 0, UINT64_MAX },
		{ FIELD_VALID, 0, UINT32_MAX },
		{ FIELD_NONCE, 1, UINT64_MAX },
		{ FIELD_QPN, 2, 0xffffff },
		{ FIELD_PSN, 0, 0xffffff },
		{ FIELD_LINK, 0, UINT8_MAX },
		{ FIELD_LID, 0, UINT16_MAX },
		{ FIELD_MTU, 256, 4096 },
		{ FIELD_UDP_PORT, 1, UINT16_MAX },
		{ FIELD_CTL_ADDR, 0, UINT64_MAX - 15 },
		{ FIELD_CTL_RKEY, 0, UINT32_MAX },
		{ FIELD_ACCESS, 0, ACCESS_MAX },
		{ FIELD_RD_ATOMIC, 0, UINT8_MAX },
		{ FIELD_MESSAGE, 0, UINT64_MAX },
	};
	uint64_t v[sizeof(fields) / sizeof(fields[0])];
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(v) / sizeof(v[0]); i++)
		err = pier__wire_get_uint(in, fields[i].field, fields[i].min,
					  fields[i].max, &v[i]);
	if (err)
		return err;
	ret->created = v[0];
	ret->valid = v[1];
	ret->nonce = v[2];
	ret->qpn = (uint32_t)v[3];
	ret->psn = (uint32_t)v[4];
	ret->link_layer = (uint8_t)v[5];
	ret->lid = (uint16_t)v[6];
	ret->mtu = (uint32_t)v[7];
	ret->udp_port = (uint16_t)v[8];
	ret->ctl_addr = v[9];
	ret->ctl_rkey = (uint32_t)v[10];
	ret->access = (uint32_t)v[11];
	ret->rd_atomic = (uint32_t)v[12];
	ret->message = v[13];
	return 0;
}

int pier__end_decode(const void *desc, size_t len, struct pier__end *ret)
{
	struct pier__end end = { 0 };
	struct pier__wire_in in;
	const uint8_t *dev_id;
	size_t dev_id_len;
	int err = pier__wire_expect(desc, len, PIER__WIRE_CONN, &in);

	if (!err)
		err = decode_numbers(&in, &end);
	if (!err)
		err = pier__wire_get_bytes(&in, FIELD_DEV, sizeof(end.dev_id),
					   sizeof(end.dev_id), &dev_id,
					   &dev_id_len);
	if (!err)
		err = pier__gids_decode(&in, FIELD_GIDS, end.gids,
					&end.gid_count);
	if (err)
		return err;
	memcpy(end.dev_id, dev_id, sizeof(end.dev_id));
	if (end.mtu & (end.mtu - 1))
		return pier__fail(-PIER_EDESC, "connection descriptor: MTU %u "
				  "is not 256, 512, 1024, 2048 or 4096",
				  end.mtu);
	*ret = end;
	return 0;
}
