/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "ops/comch_wire.h"

#define MAGIC 4
#define CREDITS_MASK 0xffffu

#define FAMILY 3	/* of the magic, the same in all releases */

static const uint8_t magic[MAGIC] = { 'p', 'c', 'h', '3' };

/* What follows the magic, but for the name. */
struct req {
	uint8_t magic[MAGIC];
	uint8_t digest[PIER__COMCH_HEAD - MAGIC];
	uint32_t max_msg_size, recv_queue, name_len;
};

struct rep {
	uint8_t magic[MAGIC];
	uint32_t max_msg_size, recv_queue;
};

struct rej {
	uint8_t magic[MAGIC];
	uint32_t reason;
};

struct consumer {
	uint32_t id, port, imm_len;
	uint8_t token[PIER__COMCH_TOKEN];
};

struct request {
	uint32_t id, rkey;
	uint64_t addr;
	uint32_t reply_max, writes;
};

struct reply {
	uint32_t id, status, written;
};

_Static_assert(sizeof(struct request) == PIER__COMCH_REQUEST_HEAD,
	       "a request's head has no holes");
_Static_assert(sizeof(struct reply) == PIER__COMCH_REPLY_HEAD,
	       "nor has a reply's");
_Static_assert(sizeof(struct consumer) == PIER__COMCH_CONSUMER_LEN,
	       "a consumer has no holes");
_Static_assert(sizeof(struct req) + PIER_COMCH_NAME_MAX == PIER__COMCH_REQ,
	       "a REQ has no holes");
_Static_assert(sizeof(struct rep) == PIER__COMCH_REP, "nor has a REP");
_Static_assert(sizeof(struct rej) == PIER__COMCH_REJ, "nor has a REJ");

static bool has_magic(const void *data, size_t len, size_t least)
{
	return len >= least && !memcmp(data, magic, MAGIC);
}

size_t pier__comch_req_encode(const struct pier__comch_name *name,
			      const struct pier__comch_limits *limits,
			      uint8_t ret[PIER__COMCH_REQ])
{
	size_t len = strlen(name->text);
	struct req req = {
		.max_msg_size = htonl(limits->max_msg_size),
		.recv_queue = htonl(limits->recv_queue),
		.name_len = htonl((uint32_t)len),
	};

	memcpy(req.magic, magic, MAGIC);
	memcpy(req.digest, name->digest, sizeof(req.digest));
	memcpy(ret, &req, sizeof(req));
	memcpy(ret + sizeof(req), name->text, len);
	return sizeof(req) + len;
}

enum pier__comch_reject
pier__comch_req_reject(const struct pier__comch_name *name, const void *data,
		       size_t len)
{
	const uint8_t *bytes = data;

	if (!has_magic(data, len, PIER__COMCH_HEAD))
		return PIER__COMCH_REJECT_MALFORMED;
	if (memcmp(bytes + MAGIC, name->digest, PIER__COMCH_HEAD - MAGIC))
		return PIER__COMCH_REJECT_NAME;
	return 0;
}

static int decode_limits(uint32_t max_msg_size, uint32_t recv_queue,
			 struct pier__comch_limits *ret)
{
	ret->max_msg_size = ntohl(max_msg_size);
	ret->recv_queue = ntohl(recv_queue);
	if (!ret->max_msg_size || ret->max_msg_size > PIER_COMCH_MESSAGE_MAX)
		return pier__fail(-EPROTO, "comch: the peer receives messages "
				  "of %u bytes: 1 to %u are allowed",
				  ret->max_msg_size, PIER_COMCH_MESSAGE_MAX);
	if (!ret->recv_queue || ret->recv_queue > PIER__COMCH_QUEUE_MAX)
		return pier__fail(-EPROTO, "comch: the peer receives %u "
				  "messages at a time: 1 to %u are allowed",
				  ret->recv_queue, PIER__COMCH_QUEUE_MAX);
	return 0;
}

int pier__comch_req_decode(const struct pier__comch_name *name,
			   const void *data, size_t len,
			   struct pier__comch_limits *ret)
{
	size_t own = strlen(name->text);
	struct req req;

	if (!has_magic(data, len, sizeof(req)))
		return pier__fail(-EPROTO, "comch: the request of the peer, "
				  "%zu bytes, is none of a Comm Channel", len);
	memcpy(&req, data, sizeof(req));
	if (ntohl(req.name_len) != own || len != sizeof(req) + own ||
	    memcmp((const uint8_t *)data + sizeof(req), name->text, own))
		return pier__fail(-EPROTO, "comch: the request of the peer has "
				  "the digest of the name \"%s\", but another "
				  "name, of %u bytes", name->text,
				  ntohl(req.name_len));
	return decode_limits(req.max_msg_size, req.recv_queue, ret);
}

void pier__comch_rep_encode(const struct pier__comch_limits *limits,
			    uint8_t ret[PIER__COMCH_REP])
{
	struct rep rep = {
		.max_msg_size = htonl(limits->max_msg_size),
		.recv_queue = htonl(limits->recv_queue),
	};

	memcpy(rep.magic, magic, MAGIC);
	memcpy(ret, &rep, sizeof(rep));
}

int pier__comch_rep_decode(const void *data, size_t len,
			   struct pier__comch_limits *ret)
{
	struct rep rep;

	if (!has_magic(data, len, sizeof(rep)))
		return pier__fail(-EPROTO, "comch: the reply of the peer, %zu "
				  "bytes, is none of a Comm Channel", len);
	memcpy(&rep, data, sizeof(rep));
	return decode_limits(rep.max_msg_size, rep.recv_queue, ret);
}

void pier__comch_rej_encode(enum pier__comch_reject reason,
			    uint8_t ret[PIER__COMCH_REJ])
{
	struct rej rej = { .reason = htonl(reason) };

	memcpy(rej.magic, magic, MAGIC);
	memcpy(ret, &rej, sizeof(rej));
}

enum pier__comch_reject pier__comch_rej_decode(const void *data, size_t len)
{
	struct rej rej;

	if (len < sizeof(rej) || memcmp(data, magic, FAMILY))
		return 0;
	memcpy(&rej, data, sizeof(rej));
	return (enum pier__comch_reject)ntohl(rej.reason);
}

int pier__comch_head_decode(uint32_t imm, struct pier__comch_head *ret)
{
	uint32_t head = ntohl(imm);

	ret->kind = (enum pier__comch_kind)(head >> PIER__COMCH_KIND_SHIFT);
	ret->credits = head & CREDITS_MASK;
	if (ret->kind < PIER__COMCH_DATA || ret->kind > PIER__COMCH_CANCEL ||
	    (head & ~((uint32_t)ret->kind << PIER__COMCH_KIND_SHIFT |
		      CREDITS_MASK)))
		return pier__fail(-EPROTO, "comch: the peer sent a message "
				  "with the head 0x%08x, whose kind is %u: 1 "
				  "to 7 are allowed", head,
				  (unsigned int)ret->kind);
	return 0;
}

static int check_id(uint32_t id)
{
	if (id && id <= PIER__COMCH_ID_MAX)
		return 0;
	return pier__fail(-EPROTO, "comch: the peer has a consumer %u: 1 to %u "
			  "are allowed", id, PIER__COMCH_ID_MAX);
}

void pier__comch_consumer_encode(const struct pier__comch_announced *consumer,
				 uint8_t ret[PIER__COMCH_CONSUMER_LEN])
{
	struct consumer wire = {
		.id = htonl(consumer->id),
		.port = htonl(consumer->port),
		.imm_len = htonl(consumer->imm_len),
	};

	memcpy(wire.token, consumer->token, sizeof(wire.token));
	memcpy(ret, &wire, sizeof(wire));
}

int pier__comch_consumer_decode(const void *data, size_t len,
				struct pier__comch_announced *ret)
{
	struct consumer wire;
	uint32_t port, imm_len;

	if (len != sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer sent a new "
				  "consumer in %zu bytes: %zu are allowed",
				  len, sizeof(wire));
	memcpy(&wire, data, sizeof(wire));
	port = ntohl(wire.port);
	imm_len = ntohl(wire.imm_len);
	if (!port || port > UINT16_MAX || imm_len > PIER_COMCH_IMM_MAX)
		return pier__fail(-EPROTO, "comch: the peer's consumer %u is "
				  "on port %u and takes %u immediate bytes: 1 "
				  "to 65535 and 0 to %u are allowed",
				  ntohl(wire.id), port, imm_len,
				  PIER_COMCH_IMM_MAX);
	ret->id = ntohl(wire.id);
	ret->port = (uint16_t)port;
	ret->imm_len = imm_len;
	memcpy(ret->token, wire.token, sizeof(ret->token));
	return check_id(ret->id);
}

void pier__comch_expired_encode(uint32_t id,
				uint8_t ret[PIER__COMCH_EXPIRED_LEN])
{
	uint32_t wire = htonl(id);

	memcpy(ret, &wire, sizeof(wire));
}

int pier__comch_expired_decode(const void *data, size_t len, uint32_t *ret)
{
	uint32_t wire;

	if (len != sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer sent an expired "
				  "consumer in %zu bytes: %zu are allowed",
				  len, sizeof(wire));
	memcpy(&wire, data, sizeof(wire));
	*ret = ntohl(wire);
	return check_id(*ret);
}

void pier__comch_request_encode(const struct pier__comch_request_head *head,
				uint8_t ret[PIER__COMCH_REQUEST_HEAD])
{
	struct request wire = {
		.id = htonl(head->id),
		.rkey = htonl(head->rkey),
		.addr = htobe64(head->addr),
		.reply_max = htonl(head->reply_max),
		.writes = htonl(head->writes),
	};

	memcpy(ret, &wire, sizeof(wire));
}

int pier__comch_request_decode(const void *data, size_t len,
			       struct pier__comch_request_head *ret)
{
	struct request wire;

	if (len < sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer sent a request of "
				  "%zu bytes: %zu or more are allowed", len,
				  sizeof(wire));
	memcpy(&wire, data, sizeof(wire));
	if (ntohl(wire.writes) > 1)
		return pier__fail(-EPROTO, "comch: the peer sent a request "
				  "with the flags 0x%x: 0 and 1 are allowed",
				  ntohl(wire.writes));
	ret->id = ntohl(wire.id);
	ret->rkey = ntohl(wire.rkey);
	ret->addr = be64toh(wire.addr);
	ret->reply_max = ntohl(wire.reply_max);
	ret->writes = wire.writes;
	return 0;
}

void pier__comch_reply_encode(const struct pier__comch_reply_head *head,
			      uint8_t ret[PIER__COMCH_REPLY_HEAD])
{
	struct reply wire = {
		.id = htonl(head->id),
		.status = htonl(head->status),
		.written = htonl(head->written),
	};

	memcpy(ret, &wire, sizeof(wire));
}

int pier__comch_reply_decode(const void *data, size_t len,
			     struct pier__comch_reply_head *ret)
{
	struct reply wire;
	uint32_t status;

	if (len < sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer sent a reply of "
				  "%zu bytes: %zu or more are allowed", len,
				  sizeof(wire));
	memcpy(&wire, data, sizeof(wire));
	status = ntohl(wire.status);
	ret->id = ntohl(wire.id);
	ret->written = ntohl(wire.written);
	if (status > PIER__COMCH_REPLY_CANCELLED)
		return pier__fail(-EPROTO, "comch: the peer sent a reply with "
				  "the status %u: 0 to %d are allowed", status,
				  PIER__COMCH_REPLY_CANCELLED);
	ret->status = (enum pier__comch_reply_status)status;
	if ((status || ret->written) && len != sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer sent a reply with "
				  "the status %u, %u bytes written and %zu "
				  "more: none are allowed", status,
				  ret->written, len - sizeof(wire));
	return 0;
}

void pier__comch_cancel_encode(uint32_t id,
			       uint8_t ret[PIER__COMCH_CANCEL_LEN])
{
	uint32_t wire = htonl(id);

	memcpy(ret, &wire, sizeof(wire));
}

int pier__comch_cancel_decode(const void *data, size_t len, uint32_t *ret)
{
	uint32_t wire;

	if (len != sizeof(wire))
		return pier__fail(-EPROTO, "comch: the peer cancelled a "
				  "request in %zu bytes: %zu are allowed",
				  len, sizeof(wire));
	memcpy(&wire, data, sizeof(wire));
	*ret = ntohl(wire);
	return 0;
}
