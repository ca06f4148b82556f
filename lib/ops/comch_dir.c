/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/random.h"
#include "ops/comch_dir.h"

#define NAMES_MAX 200	/* bytes of names in a message */

/* A consumer of the peer. */
struct their_consumer {
	struct pier__list link;		/* dir->theirs */
	struct pier__comch_announced announced;
};

static struct pier__comch_member *of_link(struct pier__list *link)
{
	return pier__container_of(link, struct pier__comch_member, link);
}

static struct their_consumer *of_theirs(struct pier__list *link)
{
	return pier__container_of(link, struct their_consumer, link);
}

static const char *kind_of(bool is_consumer)
{
	return is_consumer ? "consumer" : "producer";
}

static int ended(void)
{
	return pier__fail(-ENOTCONN, "comch: the connection has ended");
}

static void drop(struct pier__comch_dir *dir)
{
	bool last;

	pthread_mutex_lock(&dir->lock);
	last = !--dir->refs;
	pthread_mutex_unlock(&dir->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&dir->lock);
	free(dir);
}

/* Have the connection's engine look.  The lock is held. */
static void notify_conn(struct pier__comch_dir *dir)
{
	if (!dir->comch)
		return;
	atomic_store(&dir->comch->attention, true);
	pier__pe_nudge(dir->comch->ctx.pe);
}

void pier__comch_member_notify(struct pier__comch_member *member)
{
	if (!member->pe)
		return;
	atomic_store(&member->attention, true);
	pier__pe_nudge(member->pe);
}

/* The lock is held. */
static void notify_all(struct pier__comch_dir *dir)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &dir->members)
		pier__comch_member_notify(of_link(pos));
}

/* Members. */

static bool id_is_taken(struct pier__comch_dir *dir, uint32_t id,
			bool is_consumer)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &dir->members) {
		const struct pier__comch_member *m = of_link(pos);

		if (m->id == id && m->is_consumer == is_consumer)
			return true;
	}
	return false;
}

/* There are fewer members than ids. */
static uint32_t next_id(struct pier__comch_dir *dir, bool is_consumer)
{
	uint32_t *last = &dir->last_id[is_consumer];

	do
		*last = *last % PIER__COMCH_ID_MAX + 1;
	while (id_is_taken(dir, *last, is_consumer));
	return *last;
}

static int add_member(struct pier__comch_dir *dir,
		      struct pier__comch_member *m)
{
	if (dir->count[m->is_consumer] >= PIER_COMCH_CONSUMERS_MAX)
		return pier__fail(-ENOSPC, "comch: the connection has %u %ss: "
				  "destroy one", PIER_COMCH_CONSUMERS_MAX,
				  kind_of(m->is_consumer));
	m->id = next_id(dir, m->is_consumer);
	dir->count[m->is_consumer]++;
	pier__list_add(&dir->members, &m->link);
	m->dir = dir;
	dir->refs++;
	return 0;
}

static struct pier__comch_dir *dir_create(struct pier_comch_conn *c)
{
	struct pier__comch_dir *dir = calloc(1, sizeof(*dir));
	struct pier_conn_path path = { 0 };

	if (!dir)
		return NULL;
	pier_conn_path(c->conn, &path);
	memcpy(dir->own_gid, path.local_gid, sizeof(dir->own_gid));
	memcpy(dir->peer_gid, path.peer_gid, sizeof(dir->peer_gid));
	pthread_mutex_init(&dir->lock, NULL);
	pier__list_init(&dir->members);
	pier__list_init(&dir->theirs);
	dir->comch = c->comch;
	dir->refs = 1;
	return dir;
}

/* That of @c, made when first needed.  Errors: -ENOTCONN; -ENOMEM. */
static int dir_get(struct pier_comch_conn *c)
{
	if (!c->open)
		return ended();
	if (!c->dir)
		c->dir = dir_create(c);
	return c->dir ? 0 : pier__fail(-ENOMEM, "comch: no memory");
}

int pier__comch_member_create(struct pier_comch_conn *c, bool is_consumer,
			      struct pier__comch_member **ret)
{
	struct pier__comch_member *m;
	int err = dir_get(c);

	if (err)
		return err;
	m = calloc(1, sizeof(*m));
	if (!m)
		return pier__fail(-ENOMEM, "comch: no memory for a %s",
				  kind_of(is_consumer));
	m->is_consumer = is_consumer;
	pthread_mutex_lock(&c->dir->lock);
	err = add_member(c->dir, m);
	pthread_mutex_unlock(&c->dir->lock);
	if (err) {
		free(m);
		return err;
	}
	*ret = m;
	return 0;
}

bool pier__comch_member_take_out(struct pier__comch_member *m)
{
	if (m->dir->comch && (m->sent_run || m->in_flight))
		return false;
	pier__list_del(&m->link);
	return true;
}

void pier__comch_member_free(struct pier__comch_member *m)
{
	struct pier__comch_dir *dir = m->dir;

	free(m);
	drop(dir);
}

void pier__comch_member_destroy(struct pier__comch_member *m)
{
	struct pier__comch_dir *dir = m->dir;
	bool out;

	pthread_mutex_lock(&dir->lock);
	m->destroyed = true;
	m->wanted = false;
	dir->count[m->is_consumer]--;
	out = pier__comch_member_take_out(m);
	if (!out)
		notify_conn(dir);
	pthread_mutex_unlock(&dir->lock);
	if (out)
		pier__comch_member_free(m);
}

int pier__comch_member_start(struct pier__comch_member *m, struct pier_pe *pe)
{
	int err;

	pthread_mutex_lock(&m->dir->lock);
	err = m->dir->comch ? 0 : ended();
	if (!err)
		m->pe = pe;
	pthread_mutex_unlock(&m->dir->lock);
	return err;
}

void pier__comch_member_announce(struct pier__comch_member *m, uint16_t port,
				 uint32_t imm_len)
{
	pthread_mutex_lock(&m->dir->lock);
	m->own.id = m->id;
	m->own.port = port;
	m->own.imm_len = imm_len;
	pier__random(m->own.token, sizeof(m->own.token));
	m->run++;
	m->wanted = true;
	notify_conn(m->dir);
	pthread_mutex_unlock(&m->dir->lock);
}

/* The lock is held. */
static void withdraw(struct pier__comch_member *m)
{
	if (m->wanted)
		notify_conn(m->dir);
	m->wanted = false;
}

void pier__comch_member_withdraw(struct pier__comch_member *m)
{
	pthread_mutex_lock(&m->dir->lock);
	withdraw(m);
	pthread_mutex_unlock(&m->dir->lock);
}

void pier__comch_member_stop(struct pier__comch_member *m)
{
	pthread_mutex_lock(&m->dir->lock);
	withdraw(m);
	m->pe = NULL;
	pthread_mutex_unlock(&m->dir->lock);
	atomic_store(&m->attention, false);
}

bool pier__comch_member_known(struct pier__comch_member *m)
{
	bool known;

	pthread_mutex_lock(&m->dir->lock);
	known = m->wanted && m->known_run == m->run;
	pthread_mutex_unlock(&m->dir->lock);
	return known;
}

bool pier__comch_dir_ended(struct pier__comch_dir *dir)
{
	bool has_ended;

	pthread_mutex_lock(&dir->lock);
	has_ended = !dir->comch;
	pthread_mutex_unlock(&dir->lock);
	return has_ended;
}

/* The peer's consumers.  The lock is held. */

static struct their_consumer *find(struct pier__comch_dir *dir, uint32_t id)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &dir->theirs) {
		if (of_theirs(pos)->announced.id == id)
			return of_theirs(pos);
	}
	return NULL;
}

int pier__comch_dir_find(struct pier__comch_dir *dir, uint32_t id,
			 struct pier__comch_announced *ret)
{
	struct their_consumer *their;
	int err = 0;

	pthread_mutex_lock(&dir->lock);
	their = find(dir, id);
	if (their)
		*ret = their->announced;
	else if (!dir->comch)
		err = ended();
	else
		err = pier__fail(-ENOENT, "comch: the peer has no consumer %u: "
				 "it has expired, or was never new", id);
	pthread_mutex_unlock(&dir->lock);
	return err;
}

static int add_their(struct pier__comch_dir *dir,
		     const struct pier__comch_announced *announced)
{
	struct their_consumer *their;

	if (find(dir, announced->id))
		return pier__fail(-EPROTO, "comch: the peer's consumer %u is "
				  "new, but has not expired", announced->id);
	if (dir->their_count >= PIER_COMCH_CONSUMERS_MAX)
		return pier__fail(-EPROTO, "comch: the peer has more than %u "
				  "consumers", PIER_COMCH_CONSUMERS_MAX);
	their = calloc(1, sizeof(*their));
	if (!their)
		return pier__fail(-ENOMEM, "comch: no memory for a consumer of "
				  "the peer");
	their->announced = *announced;
	pier__list_add(&dir->theirs, &their->link);
	dir->their_count++;
	return 0;
}

static void remove_their(struct pier__comch_dir *dir,
			 struct their_consumer *their)
{
	pier__list_del(&their->link);
	dir->their_count--;
	free(their);
	notify_all(dir);
}

static int expire_their(struct pier__comch_dir *dir, uint32_t id)
{
	struct their_consumer *their = find(dir, id);

	if (!their)
		return pier__fail(-EPROTO, "comch: the peer's consumer %u has "
				  "expired, but was not new", id);
	remove_their(dir, their);
	return 0;
}

/* What is the connection's. */

static void report(struct pier_comch_conn *c, pier_comch_consumer_fn *fn,
		   uint32_t id)
{
	if (!fn)
		return;
	pier__pe_event(c->comch->ctx.pe);
	fn(c, id, pier_ctx_user_data(&c->comch->ctx));
}

static int receive_new(struct pier_comch_conn *c, const void *data, size_t len)
{
	struct pier__comch_announced announced;
	int err = pier__comch_consumer_decode(data, len, &announced);

	if (err)
		return err;
	pthread_mutex_lock(&c->dir->lock);
	err = add_their(c->dir, &announced);
	pthread_mutex_unlock(&c->dir->lock);
	if (!err)
		report(c, c->comch->callbacks.consumer, announced.id);
	return err;
}

static int receive_expired(struct pier_comch_conn *c, const void *data,
			   size_t len)
{
	uint32_t id;
	int err = pier__comch_expired_decode(data, len, &id);

	if (err)
		return err;
	pthread_mutex_lock(&c->dir->lock);
	err = expire_their(c->dir, id);
	pthread_mutex_unlock(&c->dir->lock);
	if (!err)
		report(c, c->comch->callbacks.expired, id);
	return err;
}

int pier__comch_dir_receive(struct pier_comch_conn *c,
			    enum pier__comch_kind kind, const void *data,
			    size_t len)
{
	int err = dir_get(c);

	if (err)
		return err;
	return kind == PIER__COMCH_CONSUMER ? receive_new(c, data, len) :
					      receive_expired(c, data, len);
}

/* Members that are destroyed wait no longer.  The lock is held. */
static void collect(struct pier__comch_dir *dir, struct pier__list *ret)
{
	struct pier__list *pos, *tmp;

	pier__list_init(ret);
	PIER__LIST_EACH(pos, tmp, &dir->members) {
		if (!of_link(pos)->destroyed)
			continue;
		pier__list_del(pos);
		pier__list_add(ret, pos);
	}
	notify_all(dir);
}

void pier__comch_dir_end(struct pier_comch_conn *c)
{
	struct pier__comch_dir *dir = c->dir;
	struct pier__list theirs, gone, *link;

	if (!dir)
		return;
	if (c->frame && c->frame->busy)
		c->frame->member = NULL;
	else if (c->frame)
		pier__comch_frame_free(c);
	pthread_mutex_lock(&dir->lock);
	dir->comch = NULL;
	pier__list_take_all(&dir->theirs, &theirs);
	dir->their_count = 0;
	collect(dir, &gone);
	pthread_mutex_unlock(&dir->lock);
	while ((link = pier__list_pop(&gone)))
		pier__comch_member_free(of_link(link));
	while ((link = pier__list_pop(&theirs))) {
		struct their_consumer *their = of_theirs(link);

		if (c->open)
			report(c, c->comch->callbacks.expired,
			       their->announced.id);
		free(their);
	}
}

/* Append the name of @m. */
static void name(const struct pier__comch_member *m, char *ret, size_t size)
{
	size_t len = strlen(ret);

	snprintf(ret + len, size - len, "%s%s %u", len ? ", " : "",
		 kind_of(m->is_consumer), m->id);
}

int pier__comch_dir_idle(struct pier_comch_conn *c)
{
	char names[NAMES_MAX] = "";
	struct pier__list *pos, *tmp;

	if (!c->dir)
		return 0;
	pthread_mutex_lock(&c->dir->lock);
	PIER__LIST_EACH(pos, tmp, &c->dir->members) {
		if (!of_link(pos)->destroyed)
			name(of_link(pos), names, sizeof(names));
	}
	pthread_mutex_unlock(&c->dir->lock);
	if (!names[0])
		return 0;
	return pier__fail(-EBUSY, "comch: the connection has %s: destroy them "
			  "first", names);
}

void pier__comch_dir_drop(struct pier_comch_conn *c)
{
	if (c->dir)
		drop(c->dir);
}
