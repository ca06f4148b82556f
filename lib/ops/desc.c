/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pier/desc.h>
#include <pier/mmap.h>

#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/file.h"
#include "core/wire.h"
#include "mem/mmap_impl.h"
#include "ops/desc_impl.h"
#include "ops/origin.h"

#define AWAIT_NAP_NS 5000000	/* how often to look for a file */

/* Text whose length is counted beyond the end of the buffer. */
struct text {
	char *buf;
	size_t size, len;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *fmt, ...)
{
	size_t at = text->len < text->size ? text->len : text->size;
	va_list ap;

	va_start(ap, fmt);
	text->len += (size_t)vsnprintf(text->size ? text->buf + at : NULL,
				       text->size - at, fmt, ap);
	va_end(ap);
}

static void add_age(struct text *text, uint64_t created, uint64_t valid)
{
	uint64_t now = pier__wall_seconds();

	if (created > now)
		add(text, "created: in %llu s, by its writer's clock",
		    (unsigned long long)(created - now));
	else
		add(text, "created: %llu s ago",
		    (unsigned long long)(now - created));
	if (valid)
		add(text, ", valid for %llu s\n", (unsigned long long)valid);
	else
		add(text, "\n");
}

static void add_access(struct text *text, uint32_t access)
{
	add(text, "access:%s%s%s%s\n",
	    access & PIER_REMOTE_READ ? " read" : "",
	    access & PIER_REMOTE_WRITE ? " write" : "",
	    access & PIER_REMOTE_ATOMIC ? " atomic" : "",
	    access ? "" : " none");
}

static void add_id(struct text *text, const uint8_t id[8])
{
	char line[PIER__DEV_ID_TEXT];

	add(text, "%s", pier__dev_id_text(id, line));
}

static void add_gids(struct text *text, const struct pier__gid_offer *gids,
		     unsigned int count)
{
	static const char *const types[] = { "IB", "RoCEv1", "RoCEv2" };
	char gid[INET6_ADDRSTRLEN];

	for (unsigned int i = 0; i < count; i++)
		add(text, "gid: %s %s/%u\n", types[gids[i].type],
		    pier__gid_text(gids[i].raw, gid), gids[i].prefix);
}

static int print_conn(const void *desc, size_t len, struct text *text)
{
	struct pier__end end;
	int err = pier__end_decode(desc, len, &end);

	if (err)
		return err;
	add(text, "kind: connection\n");
	add_age(text, end.created, end.valid);
	add(text, "link: %s\n",
	    end.link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" :
							  "Ethernet");
	add(text, "qpn: 0x%06x\nlid: %u\nmtu: %u\nudp port: %u\n", end.qpn,
	    end.lid, end.mtu, end.udp_port);
	add(text, "device: ");
	add_id(text, end.dev_id);
	add(text, "\nreads and atomics served: %u\nlargest message: %llu\n",
	    end.rd_atomic, (unsigned long long)end.message);
	add_access(text, end.access);
	add_gids(text, end.gids, end.gid_count);
	return 0;
}

/* Of @kind, called @name: @mmap, and what its descriptor @desc has besides. */
static int add_mmap(struct text *text, const void *desc, size_t len,
		    enum pier__wire_kind kind, const char *name,
		    const struct pier_mmap *mmap)
{
	uint64_t created = 0, valid = 0;
	struct pier__wire_in in;
	int err = pier__wire_expect(desc, len, kind, &in);

	if (!err)
		err = pier__desc_times(&in, &created, &valid);
	if (err)
		return err;
	add(text, "kind: %s\n", name);
	add_age(text, created, valid);
	add(text, "address: %p\nlength: %zu\n", mmap->cfg.addr, mmap->cfg.len);
	add_access(text, mmap->cfg.access);
	for (uint32_t i = 0; i < mmap->key_count; i++) {
		add(text, "key: 0x%08x on device ", mmap->keys[i].rkey);
		add_id(text, mmap->keys[i].dev_id);
		add(text, "\n");
	}
	return 0;
}

/* Memory, or another kind with the same fields: @name. */
static int print_mmap(const void *desc, size_t len, enum pier__wire_kind kind,
		      const char *name, struct text *text)
{
	struct pier_mmap *mmap;
	int err = pier__mmap_import(NULL, desc, len, kind, &mmap);

	if (err)
		return err;
	err = add_mmap(text, desc, len, kind, name, mmap);
	pier_mmap_destroy(mmap);
	return err;
}

/* Of @kind, called @name, with a descriptor of @mmap_kind in it. */
static int print_export(const void *desc, size_t len, enum pier__wire_kind kind,
			enum pier__wire_kind mmap_kind, const char *name,
			struct text *text)
{
	struct pier_mmap *mmap;
	int err = pier__origin_import(NULL, desc, len, kind, mmap_kind, &mmap);

	if (err)
		return err;
	err = add_mmap(text, desc, len, kind, name, mmap);
	if (!err) {
		add(text, "udp port: %u\n", mmap->origin->port);
		add_gids(text, mmap->origin->gids, mmap->origin->gid_count);
	}
	pier_mmap_destroy(mmap);
	return err;
}

int pier_desc_print(const void *desc, size_t len, char *text, size_t size)
{
	struct text out = { .buf = text, .size = size };
	struct pier__wire_in in;
	int err = pier__wire_open(desc, len, &in);

	if (!err && in.kind == PIER__WIRE_CONN)
		err = print_conn(desc, len, &out);
	else if (!err && in.kind == PIER__WIRE_MMAP)
		err = print_mmap(desc, len, in.kind, "memory", &out);
	else if (!err && in.kind == PIER__WIRE_SYNC_EVENT)
		err = print_mmap(desc, len, in.kind, "sync event", &out);
	else if (!err && in.kind == PIER__WIRE_EXPORT)
		err = print_export(desc, len, in.kind, PIER__WIRE_MMAP,
				   "memory for DMA", &out);
	else if (!err && in.kind == PIER__WIRE_SYNC_EXPORT)
		err = print_export(desc, len, in.kind, PIER__WIRE_SYNC_EVENT,
				   "sync event for processes", &out);
	else if (!err)
		err = pier__fail(-PIER_EKIND, "descriptor of kind %d, known "
				 "are %d, a connection, %d, memory, %d, a sync "
				 "event, %d, an export, and %d, an exported "
				 "sync event", (int)in.kind, PIER__WIRE_CONN,
				 PIER__WIRE_MMAP, PIER__WIRE_SYNC_EVENT,
				 PIER__WIRE_EXPORT, PIER__WIRE_SYNC_EXPORT);
	return err ? err : (int)out.len;
}

int pier__desc_times(const struct pier__wire_in *in, uint64_t *ret_created,
		     uint64_t *ret_valid)
{
	int err = pier__wire_get_uint(in, 1, 0, UINT64_MAX, ret_created);

	return err ? err :
		     pier__wire_get_uint(in, 2, 0, UINT32_MAX, ret_valid);
}

int pier_desc_read(const char *path, void *ret)
{
	int len = pier__file_read(path, ret, PIER_DESC_MAX);

	if (len == 0)
		return pier__fail(-PIER_EDESC, "%s: empty", path);
	return len;
}

int pier_desc_await(const char *path, int timeout_ms, void *ret)
{
	const struct timespec nap = { .tv_nsec = AWAIT_NAP_NS };
	uint64_t deadline = pier__deadline(pier__now(), timeout_ms);
	uint8_t desc[PIER_DESC_MAX];
	int err = pier__file_remove(path), len;

	if (err)
		return err;
	while (access(path, F_OK)) {
		if (pier__now() >= deadline)
			return pier__fail(-ETIMEDOUT, "%s: no descriptor after "
					  "%d ms", path, timeout_ms);
		nanosleep(&nap, NULL);
	}
	len = pier_desc_read(path, desc);
	if (len < 0)
		return len;
	err = pier__file_remove(path);
	if (err)
		return err;
	memcpy(ret, desc, (size_t)len);
	return len;
}

int pier_desc_write(const char *path, const void *desc, size_t len)
{
	return pier__file_write(path, desc, len, 0600);
}
