/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <pier/desc.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/fail.h"
#include "ops/origin.h"

/* Fields of the descriptor; 1 and 2 are those of every descriptor. */
enum {
	FIELD_CREATED = 1,
	FIELD_VALID = 2,
	FIELD_PORT = 3,
	FIELD_TOKEN = 4,
	FIELD_GIDS = 5,
	FIELD_MEMORY = 6,	/* the descriptor of the mmap, whole */
	FIELD_COUNT = 6,
};

#define GIDS_MAX 8	/* in a descriptor, so that it is short */
#define CONNECT_MS 10000	/* a service answers without its program */

int pier__origin_describe(const struct pier__service_entry *entry,
			  struct pier_dev *dev, struct pier_mmap *mmap,
			  enum pier__wire_kind kind, void *buf, size_t size)
{
	struct pier__gid_offer gids[PIER__GIDS_MAX];
	struct pier__wire_out out;
	struct pier__port port;
	const void *memory;
	int count, err;
	size_t len;

	pier__dev_port(dev, &port);
	count = pier__gid_offers(&port, PIER__GID_ANY, gids);
	if (count < 0)
		return count;
	err = pier_mmap_export(mmap, &memory, &len);
	if (err)
		return err;
	pier__wire_begin(&out, buf, size, kind, FIELD_COUNT);
	pier__wire_uint(&out, FIELD_CREATED, pier__wall_seconds());
	pier__wire_uint(&out, FIELD_VALID, 0);
	pier__wire_uint(&out, FIELD_PORT, pier__service_port(entry));
	pier__wire_bytes(&out, FIELD_TOKEN, entry->token, PIER__TOKEN);
	pier__gids_encode(&out, FIELD_GIDS, gids,
			  count < GIDS_MAX ? (unsigned int)count : GIDS_MAX);
	pier__wire_bytes(&out, FIELD_MEMORY, memory, len);
	return pier__wire_end(&out);
}

static int read_origin(const struct pier__wire_in *in,
		       struct pier__mmap_origin *ret)
{
	const uint8_t *token;
	uint64_t port;
	size_t len;
	int err = pier__wire_get_uint(in, FIELD_PORT, 1, UINT16_MAX, &port);

	if (!err)
		err = pier__wire_get_bytes(in, FIELD_TOKEN, PIER__TOKEN,
					   PIER__TOKEN, &token, &len);
	if (!err)
		err = pier__gids_decode(in, FIELD_GIDS, ret->gids,
					&ret->gid_count);
	if (err)
		return err;
	if (!ret->gid_count)
		return pier__fail(-PIER_EDESC, "descriptor of an export: no "
				  "addresses");
	ret->port = (uint16_t)port;
	memcpy(ret->token, token, PIER__TOKEN);
	return 0;
}

static int read_memory(const struct pier__wire_in *in,
		       enum pier__wire_kind kind, struct pier_mmap **ret)
{
	const uint8_t *memory;
	size_t len;
	int err = pier__wire_get_bytes(in, FIELD_MEMORY, PIER__WIRE_HEAD,
				       PIER_DESC_MAX, &memory, &len);

	return err ? err : pier__mmap_import(NULL, memory, len, kind, ret);
}

/* The pair of addresses to use, as text. */
static int choose(struct pier_dev *dev, const struct pier__mmap_origin *origin,
		  char *ret_ours, char *ret_theirs)
{
	struct pier__gid_offer ours[PIER__GIDS_MAX];
	unsigned int our = 0, their = 0;
	struct pier__port port;
	int count, err;

	pier__dev_port(dev, &port);
	count = pier__gid_offers(&port, PIER__GID_ANY, ours);
	if (count < 0)
		return count;
	err = pier__gid_choose(ours, (unsigned int)count, origin->gids,
			       origin->gid_count, &our, &their);
	if (err)
		return err;
	pier__gid_text(ours[our].raw, ret_ours);
	pier__gid_text(origin->gids[their].raw, ret_theirs);
	return 0;
}

/* Can @dev connect to the owner of @mmap, by what is known of both? */
static int check_dev(struct pier_dev *dev, const struct pier_mmap *mmap)
{
	char ours[INET6_ADDRSTRLEN], theirs[INET6_ADDRSTRLEN];
	int err = pier__mmap_check_link(mmap, dev);

	return err ? err : choose(dev, mmap->origin, ours, theirs);
}

int pier__origin_import(struct pier_dev *dev, const void *desc, size_t len,
			enum pier__wire_kind kind,
			enum pier__wire_kind mmap_kind, struct pier_mmap **ret)
{
	struct pier__mmap_origin *origin;
	struct pier__wire_in in;
	struct pier_mmap *mmap;
	int err = pier__wire_expect(desc, len, kind, &in);

	if (err)
		return err;
	origin = calloc(1, sizeof(*origin));
	if (!origin)
		return pier__fail(-ENOMEM, "export: no memory");
	err = read_origin(&in, origin);
	if (!err)
		err = read_memory(&in, mmap_kind, &mmap);
	if (err) {
		free(origin);
		return err;
	}
	pier__origin_add(origin);
	mmap->origin = origin;
	err = dev ? check_dev(dev, mmap) : 0;
	if (err) {
		pier_mmap_destroy(mmap);
		return err;
	}
	*ret = mmap;
	return 0;
}

int pier__origin_connect(const struct pier__mmap_origin *origin,
			 struct pier_dev *dev,
			 struct pier__queues *queues, void *user_data,
			 struct pier_conn **ret)
{
	char ours[INET6_ADDRSTRLEN], theirs[INET6_ADDRSTRLEN];
	uint8_t ask[PIER__SERVICE_ASK];
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = theirs,
		.port = origin->port,
		.source = ours,
		.data = ask,
		.data_len = sizeof(ask),
		.user_data = user_data,
		.timeout_ms = CONNECT_MS,
	};
	int err = choose(dev, origin, ours, theirs);

	if (err)
		return err;
	pier__service_ask(origin->token, ask);
	return pier__connect_to(queues, &cfg, ret);
}

int pier__origin_ended(const struct pier_conn *conn, const char *what)
{
	int err = pier_conn_error(conn);

	if (!err)
		return pier__fail(-ECONNRESET, "the owner of the %s has ended, "
				  "or has taken it back", what);
	return pier__fail_again(err, pier_conn_error_text(conn));
}
