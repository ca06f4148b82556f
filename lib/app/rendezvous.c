/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/pe.h>
#include <pier/rendezvous.h>

#include "app/rendezvous_impl.h"
#include "cm/conn_impl.h"
#include "core/clock.h"
#include "core/fail.h"
#include "core/file.h"
#include "core/random.h"
#include "mem/mmap_impl.h"
#include "ops/sync_event_impl.h"
#include "ops/desc_impl.h"
#include "ops/rdma_impl.h"

#define LOOK_MS 5		/* how often to check for a file */
#define DAMAGED_MS 1000		/* how long a file may be incomplete */

/* One rendezvous: what it waits for, and until when. */
struct rendezvous {
	struct pier_rdma *rdma;
	const struct pier_args *args;
	uint64_t deadline;
	struct pier_conn *conn;
	struct pier_mmap *remote;	/* NULL: not requested, or not yet */
	bool want_remote;
	enum pier__wire_kind kind;	/* of its descriptor */
	uint8_t desc[PIER_DESC_MAX];
	char stale[160];		/* a file that was too old; "" none */
};

static uint32_t valid_seconds(const struct pier_args *args)
{
	return ((uint32_t)args->timeout_ms + 999) / 1000;
}

/* Reject a descriptor that is older than its writer's timeout. */
static int check_age(struct rendezvous *m, const char *path, size_t len)
{
	uint64_t created, valid, now = pier__wall_seconds();
	struct pier__wire_in in;
	int err = pier__wire_open(m->desc, len, &in);

	if (!err)
		err = pier__desc_times(&in, &created, &valid);
	if (err)
		return err;
	if (!valid || created + valid >= now)
		return 0;
	snprintf(m->stale, sizeof(m->stale), "%s is %llu s old and was valid "
		 "for %llu s: left by an earlier run", path,
		 (unsigned long long)(now - created),
		 (unsigned long long)valid);
	return pier__fail(-ESTALE, "%s", m->stale);
}

/* Read and check @path.  Returns its length; -EAGAIN: missing, or too old. */
static int read_fresh(struct rendezvous *m, const char *path)
{
	int len, err;

	if (access(path, F_OK))
		return -EAGAIN;
	len = pier_desc_read(path, m->desc);
	if (len == -ENOENT)
		return -EAGAIN;
	if (len < 0)
		return len;
	err = check_age(m, path, (size_t)len);
	if (err)
		return err == -ESTALE ? -EAGAIN : err;
	return len;
}

/*
 * Look for a fresh descriptor in @path and consume it: it is renamed first, so
 * that no other process reads it and a newer one is not lost.  Returns its
 * length; -EAGAIN, missing.
 */
static int look(struct rendezvous *m, const char *path)
{
	char *mine;
	int len = read_fresh(m, path);

	if (len < 0)
		return len;
	if (asprintf(&mine, "%s.%016llx", path,
		     (unsigned long long)pier__random64()) < 0)
		return pier__fail(-ENOMEM, "rendezvous: no memory");
	if (rename(path, mine)) {
		len = errno == ENOENT ? -EAGAIN :
			pier__fail(-errno, "cannot rename %s, which the reader "
				   "of a descriptor does first: %s", path,
				   pier_strerror(errno));
	} else {
		len = read_fresh(m, mine);
		unlink(mine);
	}
	free(mine);
	return len;
}

static int timed_out(const struct rendezvous *m, const char *path)
{
	static const struct pier_args defaults = PIER_ARGS_RENDEZVOUS;
	const char *hint = "is the peer running, and does it write there?";

	if (m->stale[0])
		return pier__fail(-ETIMEDOUT, "no fresh descriptor in %s after "
				  "%d s; %s", path,
				  (int)valid_seconds(m->args), m->stale);
	if (!strcmp(path, defaults.remote_descriptor))
		hint = "is the peer running?  On one host one of the two has "
		       "to swap the default paths: -ld and -re";
	return pier__fail(-ETIMEDOUT, "no descriptor in %s after %d s: %s",
			  path, (int)valid_seconds(m->args), hint);
}

/* Add the name of the file, which the system's errors have already. */
static int about(const char *path, int err)
{
	char reason[400];

	if (err != -PIER_EDESC && err != -PIER_EVERSION && err != -PIER_EKIND)
		return err;
	snprintf(reason, sizeof(reason), "%s", pier_last_error());
	return pier__fail(err, "%s: %s", path, reason);
}

/* Wait for the descriptor in @path, driving the engine.  Returns its length. */
static int await(struct rendezvous *m, const char *path)
{
	uint64_t damaged = PIER__NEVER;

	for (;;) {
		int len = look(m, path);
		uint64_t now = pier__now();

		if (len >= 0)
			return len;
		if (len != -EAGAIN && len != -PIER_EDESC)
			return about(path, len);
		if (len == -EAGAIN)
			damaged = PIER__NEVER;
		else if (damaged == PIER__NEVER)
			damaged = now + DAMAGED_MS * PIER__MS;
		else if (now >= damaged)
			return about(path, len);
		if (now >= m->deadline)
			return len == -EAGAIN ? timed_out(m, path) :
						about(path, len);
		pier_pe_wait(m->rdma->ctx.pe, LOOK_MS);
	}
}

static int write_memory(struct rendezvous *m, const struct pier_mmap *mmap)
{
	int len = pier__mmap_describe(mmap, valid_seconds(m->args), m->desc,
				      sizeof(m->desc));

	return len < 0 ? len : pier_desc_write(m->args->memory_descriptor,
					       m->desc, (size_t)len);
}

/* Read the peer's memory descriptor, if it exists and is for this @conn. */
static int read_remote(struct rendezvous *m)
{
	struct pier_mmap *remote;
	int len = await(m, m->args->memory_descriptor), err;

	if (len < 0)
		return len;
	err = pier__mmap_import(NULL, m->desc, (size_t)len, m->kind, &remote);
	if (err)
		return about(m->args->memory_descriptor, err);
	pier_mmap_destroy(m->remote);
	m->remote = remote;
	return 0;
}

static int connect_to_file(struct rendezvous *m)
{
	int len = await(m, m->args->remote_descriptor);

	if (len < 0)
		return len;
	return about(m->args->remote_descriptor,
		     pier__conn_connect(m->conn, m->desc, (size_t)len,
					(uint32_t)m->args->timeout_ms));
}

/*
 * Wait until connected.  A newer file while the peer does not answer means that
 * the first one was left by a process that has died.
 */
static int await_hello(struct rendezvous *m)
{
	struct pier_conn *conn = m->conn;

	while (pier_conn_state(conn) == PIER_CONN_INIT) {
		int len;

		if (pier__now() >= m->deadline)
			return pier__conn_no_hello(conn);
		pier_pe_wait(m->rdma->ctx.pe, LOOK_MS);
		if (!pier__conn_may_retarget(conn))
			continue;	/* else the file would be lost */
		len = look(m, m->args->remote_descriptor);
		if (len > 0)
			len = pier__conn_connect(conn, m->desc, (size_t)len,
						 (uint32_t)
						 m->args->timeout_ms);
		if (len < 0 && len != -EAGAIN && len != -PIER_EDESC)
			return len;
	}
	return pier__conn_was_connected(conn) ? 0 : pier_conn_wait(conn, 0);
}

/* The memory must be the connected peer's, not an earlier process's. */
static int match_remote(struct rendezvous *m)
{
	uint32_t rkey;
	int err;

	while ((err = pier__conn_rkey(m->conn, m->remote, &rkey))) {
		if (pier__now() < m->deadline)
			err = read_remote(m);
		if (err)
			return err;
	}
	return 0;
}

static int meet(struct rendezvous *m, const struct pier_mmap *mmap)
{
	int gid_index = m->args->gid_index, err = 0;

	if (gid_index < 0)
		gid_index = m->rdma->conn_cfg.gid_index;
	if (mmap)
		err = write_memory(m, mmap);
	if (!err)
		err = pier__conn_export(m->rdma->owner.queues, gid_index,
					valid_seconds(m->args), &m->conn);
	if (!err)
		err = pier_desc_write(m->args->local_descriptor, m->conn->desc,
				      m->conn->desc_len);
	if (!err && m->want_remote)
		err = read_remote(m);
	if (!err)
		err = connect_to_file(m);
	if (!err)
		err = await_hello(m);
	if (!err && m->want_remote)
		err = match_remote(m);
	return err;
}

int pier__rendezvous_runs(const struct pier_rdma *rdma)
{
	if (rdma->ctx.state == PIER_CTX_RUNNING)
		return 0;
	return pier__fail(-ESHUTDOWN, "rendezvous: the context is %s",
			  pier_ctx_state_name(rdma->ctx.state));
}

int pier__rendezvous(struct pier_rdma *rdma, const struct pier_args *args,
		     enum pier__wire_kind kind, struct pier_mmap *mmap,
		     struct pier_conn **ret, struct pier_mmap **ret_remote)
{
	struct rendezvous m = {
		.rdma = rdma,
		.args = args,
		.deadline = pier__deadline(pier__now(), args->timeout_ms),
		.want_remote = ret_remote != NULL,
		.kind = kind,
	};
	char reason[512];
	int err = pier__rendezvous_runs(rdma);

	if (err)
		return err;
	if (args->use_cm || args->server_addr)
		return pier__rendezvous_cm(rdma, args, kind, mmap, ret,
					   ret_remote);
	if (!args->local_descriptor || !args->remote_descriptor ||
	    ((mmap || ret_remote) && !args->memory_descriptor))
		return pier__fail(-EINVAL, "rendezvous: no %s_descriptor, "
				  "which is a path", !args->local_descriptor ?
				  "local" : !args->remote_descriptor ?
				  "remote" : "memory");
	if (!strcmp(args->local_descriptor, args->remote_descriptor))
		return pier__fail(-EINVAL, "rendezvous: -ld and -re are both "
				  "%s: each side writes its own and reads the "
				  "other's", args->local_descriptor);
	err = meet(&m, mmap);
	if (err) {
		snprintf(reason, sizeof(reason), "%s", pier_last_error());
		pier__file_remove(args->local_descriptor);
		if (mmap)
			pier__file_remove(args->memory_descriptor);
		pier_mmap_destroy(m.remote);
		pier_conn_destroy(m.conn);
		return pier__fail_again(err, reason);
	}
	if (mmap)
		pier__desc_file_keep(m.conn, args->memory_descriptor);
	*ret = m.conn;
	if (ret_remote)
		*ret_remote = m.remote;
	return 0;
}

int pier_rendezvous(struct pier_rdma *rdma, const struct pier_args *args,
		    struct pier_mmap *mmap, struct pier_conn **ret,
		    struct pier_mmap **ret_remote)
{
	if (!rdma)
		return pier__no_object(__func__);
	return pier__rendezvous(rdma, args, PIER__WIRE_MMAP, mmap, ret,
				ret_remote);
}

/* The peer's event, started; @mmap is destroyed on an error. */
static int start_remote(struct pier_mmap *mmap, struct pier_sync_event **ret)
{
	struct pier_sync_event *event;
	int err = pier__sync_import(mmap, &event);

	if (err)
		return err;
	err = pier_sync_event_start(event);
	if (err) {
		pier_sync_event_destroy(event);
		return err;
	}
	*ret = event;
	return 0;
}

int pier_rendezvous_event(struct pier_rdma *rdma, const struct pier_args *args,
			  struct pier_sync_event *event,
			  struct pier_conn **ret,
			  struct pier_sync_event **ret_remote)
{
	struct pier_mmap *mmap = NULL, *remote = NULL;
	struct pier_conn *conn;
	int err;

	if (!rdma)
		return pier__no_object(__func__);
	err = event ? pier__sync_mmap(event, &mmap) : 0;
	if (err)
		return err;
	err = pier__rendezvous(rdma, args, PIER__WIRE_SYNC_EVENT, mmap, &conn,
			       ret_remote ? &remote : NULL);
	if (err)
		return err;
	err = ret_remote ? start_remote(remote, ret_remote) : 0;
	if (err) {
		pier_conn_destroy(conn);
		return err;
	}
	*ret = conn;
	return 0;
}
