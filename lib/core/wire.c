/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include <msgpack.h>

#include <pier/desc.h>

#include "core/crc.h"
#include "core/fail.h"
#include "core/item.h"
#include "core/wire.h"

/*
 * Writing is msgpack-c's.  Reading is core/item.c's: msgpack-c's unpacker
 * builds trees, and sizes them by counts that a peer sent.
 */

static const char magic[4] = { 'p', 'i', 'e', 'r' };

struct wire_head {
	char magic[4];
	uint16_t version;
	uint16_t kind;
	uint32_t len;
	uint32_t crc;
};

_Static_assert(sizeof(struct wire_head) == PIER__WIRE_HEAD, "no padding");

static const char *kind_name(unsigned int kind)
{
	switch (kind) {
	case PIER__WIRE_CONN:
		return "connection descriptor";
	case PIER__WIRE_MMAP:
		return "memory descriptor";
	case PIER__WIRE_FRAME:
		return "frame";
	case PIER__WIRE_SYNC_EVENT:
		return "sync event descriptor";
	case PIER__WIRE_EXPORT:
		return "descriptor of an export";
	case PIER__WIRE_SYNC_EXPORT:
		return "descriptor of an exported sync event";
	}
	return NULL;
}

/* Over the head without its CRC, then the body. */
static uint32_t envelope_crc(const void *data, size_t len)
{
	uint32_t crc = pier__crc32(0, data, offsetof(struct wire_head, crc));

	return pier__crc32(crc, (const uint8_t *)data + PIER__WIRE_HEAD,
			   len - PIER__WIRE_HEAD);
}

/* Where msgpack-c puts its bytes. */
static int out_write(void *data, const char *buf, size_t len)
{
	struct pier__wire_out *out = data;

	if (out->err)
		return out->err;
	if (len > out->size - out->len) {
		out->err = -ENOBUFS;
		return out->err;
	}
	memcpy(out->buf + out->len, buf, len);
	out->len += len;
	return 0;
}

static msgpack_packer out_packer(struct pier__wire_out *out)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, out, out_write);
	return packer;
}

void pier__wire_begin(struct pier__wire_out *out, void *buf, size_t size,
		      enum pier__wire_kind kind, unsigned int fields)
{
	struct wire_head head = {
		.version = htobe16(PIER__WIRE_VERSION),
		.kind = htobe16((uint16_t)kind),
	};

	out->buf = buf;
	out->size = size;
	out->len = 0;
	out->err = 0;
	memcpy(head.magic, magic, sizeof(magic));
	out_write(out, (const char *)&head, sizeof(head));
	pier__wire_map(out, fields);
}

void pier__wire_uint(struct pier__wire_out *out, unsigned int field,
		     uint64_t value)
{
	msgpack_packer packer = out_packer(out);

	msgpack_pack_unsigned_int(&packer, field);
	msgpack_pack_uint64(&packer, value);
}

void pier__wire_bytes(struct pier__wire_out *out, unsigned int field,
		      const void *data, size_t len)
{
	msgpack_packer packer = out_packer(out);

	if (len > UINT32_MAX) {		/* the format's limit */
		out->err = -ENOBUFS;
		return;
	}
	msgpack_pack_unsigned_int(&packer, field);
	msgpack_pack_bin(&packer, len);
	if (len)
		msgpack_pack_bin_body(&packer, data, len);
}

void pier__wire_array(struct pier__wire_out *out, unsigned int field,
		      unsigned int count)
{
	msgpack_packer packer = out_packer(out);

	msgpack_pack_unsigned_int(&packer, field);
	msgpack_pack_array(&packer, count);
}

void pier__wire_map(struct pier__wire_out *out, unsigned int fields)
{
	msgpack_packer packer = out_packer(out);

	msgpack_pack_map(&packer, fields);
}

/* Is this one map, its keys ascending field numbers, and nothing else? */
static int check_map(const uint8_t *body, size_t len)
{
	struct pier__cursor cur = { body, body + len };
	struct pier__item map, key;
	uint64_t least = 0;

	if (pier__item_read(&cur, &map) || map.type != PIER__ITEM_MAP)
		return -PIER_EDESC;
	for (uint64_t i = 0; i < map.value; i++) {
		if (pier__item_read(&cur, &key) ||
		    key.type != PIER__ITEM_UINT || key.value < least ||
		    key.value > UINT_MAX || pier__item_skip(&cur))
			return -PIER_EDESC;
		least = key.value + 1;
	}
	return cur.at == cur.end ? 0 : -PIER_EDESC;
}

int pier__wire_end(struct pier__wire_out *out)
{
	struct wire_head head;
	size_t body;

	if (out->err || out->len > INT_MAX)
		return pier__fail(-ENOBUFS, "no space for a descriptor or frame"
				  " in %zu bytes", out->size);
	body = out->len - PIER__WIRE_HEAD;
	if (check_map(out->buf + PIER__WIRE_HEAD, body))
		return pier__fail(-EINVAL, "wire: the fields written are not "
				  "those announced, or not ascending");

	memcpy(&head, out->buf, sizeof(head));
	head.len = htobe32((uint32_t)body);
	memcpy(out->buf, &head, sizeof(head));
	head.crc = htobe32(envelope_crc(out->buf, out->len));
	memcpy(out->buf, &head, sizeof(head));
	return (int)out->len;
}

int pier__wire_size(const void *data, size_t len, size_t max, size_t *ret)
{
	struct wire_head head;
	uint64_t total;

	if (len < sizeof(head))
		return pier__fail(-PIER_EDESC, "%zu bytes are no descriptor "
				  "or frame: at least %zu", len, sizeof(head));
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0)
		return pier__fail(-PIER_EDESC, "no descriptor or frame of "
				  "pier: it does not begin with \"pier\"");
	total = (uint64_t)be32toh(head.len) + sizeof(head);
	if (total > max)
		return pier__fail(-EMSGSIZE, "descriptor or frame of %" PRIu64
				  " bytes: at most %zu", total, max);
	*ret = (size_t)total;
	return 0;
}

int pier__wire_open(const void *data, size_t len, struct pier__wire_in *ret)
{
	const uint8_t *body;
	struct wire_head head;
	size_t total;
	int err = pier__wire_size(data, len, SIZE_MAX, &total);

	if (err)
		return err;
	if (total != len)
		return pier__fail(-PIER_EDESC, "damaged descriptor or frame: "
				  "%zu bytes, its head has %zu", len, total);
	memcpy(&head, data, sizeof(head));
	if (be32toh(head.crc) != envelope_crc(data, len))
		return pier__fail(-PIER_EDESC, "damaged descriptor or frame: "
				  "its checksum is wrong");
	if (be16toh(head.version) != PIER__WIRE_VERSION)
		return pier__fail(-PIER_EVERSION, "descriptor or frame of "
				  "version %u: this pier reads version %u only",
				  be16toh(head.version), PIER__WIRE_VERSION);
	if (!kind_name(be16toh(head.kind)))
		return pier__fail(-PIER_EKIND, "descriptor or frame of kind "
				  "%u, which this pier does not support",
				  be16toh(head.kind));
	if (be16toh(head.kind) != PIER__WIRE_FRAME && len > PIER_DESC_MAX)
		return pier__fail(-PIER_EDESC, "%s of %zu bytes: at most %d",
				  kind_name(be16toh(head.kind)), len,
				  PIER_DESC_MAX);
	body = (const uint8_t *)data + PIER__WIRE_HEAD;
	len -= PIER__WIRE_HEAD;
	if (check_map(body, len))
		return pier__fail(-PIER_EDESC, "damaged %s: its body is not a "
				  "map of fields",
				  kind_name(be16toh(head.kind)));

	ret->body = body;
	ret->len = len;
	ret->kind = be16toh(head.kind);
	return 0;
}

int pier__wire_expect(const void *data, size_t len, enum pier__wire_kind kind,
		      struct pier__wire_in *ret)
{
	struct pier__wire_in in;
	int err = pier__wire_open(data, len, &in);

	if (err)
		return err;
	if (in.kind != kind)
		return pier__fail(-PIER_EKIND, "a %s where a %s is required",
				  kind_name(in.kind), kind_name(kind));
	*ret = in;
	return 0;
}

/* Set @cur to the value of @field; false if there is none. */
static bool find(const struct pier__wire_in *in, unsigned int field,
		 struct pier__cursor *cur)
{
	struct pier__item map, key;

	cur->at = in->body;
	cur->end = in->body + in->len;
	if (pier__item_read(cur, &map))
		return false;
	for (uint64_t i = 0; i < map.value; i++) {
		if (pier__item_read(cur, &key) || key.value > field)
			return false;
		if (key.value == field)
			return true;
		if (pier__item_skip(cur))
			return false;
	}
	return false;
}

/* Read the head of @field, which must be of @type. */
static int get_item(const struct pier__wire_in *in, unsigned int field,
		    enum pier__item_type type, struct pier__cursor *cur,
		    struct pier__item *item)
{
	if (!find(in, field, cur) || pier__item_read(cur, item))
		return pier__fail(-PIER_EDESC, "%s without field %u",
				  kind_name(in->kind), field);
	if (item->type != type)
		return pier__fail(-PIER_EDESC, "%s: field %u is %s, not %s",
				  kind_name(in->kind), field,
				  pier__item_name(item->type),
				  pier__item_name(type));
	return 0;
}

int pier__wire_get_uint(const struct pier__wire_in *in, unsigned int field,
			uint64_t min, uint64_t max, uint64_t *ret)
{
	struct pier__cursor cur;
	struct pier__item item;
	int err = get_item(in, field, PIER__ITEM_UINT, &cur, &item);

	if (err)
		return err;
	if (item.value < min || item.value > max)
		return pier__fail(-PIER_EDESC, "%s: field %u is %" PRIu64
				  ", allowed %" PRIu64 " to %" PRIu64,
				  kind_name(in->kind), field, item.value, min,
				  max);
	*ret = item.value;
	return 0;
}

int pier__wire_get_bytes(const struct pier__wire_in *in, unsigned int field,
			 size_t min, size_t max, const uint8_t **ret,
			 size_t *ret_len)
{
	struct pier__cursor cur;
	struct pier__item item;
	int err = get_item(in, field, PIER__ITEM_BYTES, &cur, &item);

	if (err)
		return err;
	if (item.value < min || item.value > max)
		return pier__fail(-PIER_EDESC, "%s: field %u has %" PRIu64
				  " bytes, allowed %zu to %zu",
				  kind_name(in->kind), field, item.value, min,
				  max);
	*ret = item.data;
	*ret_len = (size_t)item.value;
	return 0;
}

int pier__wire_get_array(const struct pier__wire_in *in, unsigned int field,
			 unsigned int max, unsigned int *ret)
{
	struct pier__cursor cur;
	struct pier__item item;
	int err = get_item(in, field, PIER__ITEM_ARRAY, &cur, &item);

	if (err)
		return err;
	if (item.value > max)
		return pier__fail(-PIER_EDESC, "%s: field %u holds %" PRIu64
				  " entries, allowed %u", kind_name(in->kind),
				  field, item.value, max);
	*ret = (unsigned int)item.value;
	return 0;
}

int pier__wire_get_map(const struct pier__wire_in *in, unsigned int field,
		       unsigned int i, struct pier__wire_in *ret)
{
	const uint8_t *body;
	struct pier__cursor cur;
	struct pier__item item;
	int err = get_item(in, field, PIER__ITEM_ARRAY, &cur, &item);

	if (err)
		return err;
	if (i >= item.value)
		return pier__fail(-PIER_EDESC, "%s: no entry %u of the %" PRIu64
				  " in field %u", kind_name(in->kind), i,
				  item.value, field);
	body = cur.at;
	for (unsigned int n = 0; n <= i; n++) {
		body = cur.at;
		if (pier__item_skip(&cur))
			return pier__fail(-PIER_EDESC, "%s: field %u ends "
					  "early", kind_name(in->kind), field);
	}
	if (check_map(body, (size_t)(cur.at - body)))
		return pier__fail(-PIER_EDESC, "%s: entry %u of field %u is "
				  "not a map of fields", kind_name(in->kind),
				  i, field);

	ret->body = body;
	ret->len = (size_t)(cur.at - body);
	ret->kind = in->kind;
	return 0;
}
