/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids whose address, or device, is removed. */
#include <string.h>

#include "dropin/cma/cma.h"

/*
 * Of all ids that have a device.  The lock is taken within the endpoint's, and
 * not while pier__cma_lock is held.
 */
static struct pier__list watched = { &watched, &watched };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pier__cma_watch_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	pier__list_init(&watched);
}

void pier__cma_unwatch(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	if (id->watch.next && !pier__cma_inherited(id))
		pier__list_del(&id->watch);
	id->watch.next = NULL;
	pthread_mutex_unlock(&lock);
}

static bool has_address(const struct cma_id *id)
{
	union pier__sockaddr addr, local = pier__cma_local(id);
	uint8_t own[16], gid[16];
	int i;

	pier__sockaddr_to_gid(&local.sa, own);
	for (i = 0; pier__dropin_known(id->id.verbs, i, &addr); i++) {
		pier__sockaddr_to_gid(&addr.sa, gid);
		if (!memcmp(own, gid, sizeof(own)))
			return true;
	}
	return false;
}

/* Not of a request that no program has taken. */
static void report(struct cma_id *id, enum rdma_cm_event_type type)
{
	struct cma_event *event = NULL;

	pthread_mutex_lock(&pier__cma_lock);
	if (!id->listener && !id->closing)
		event = pier__cma_event_new(id, type, 0);
	pthread_mutex_unlock(&pier__cma_lock);
	if (event)
		pier__cma_push(event);
}

static void check(struct cma_id *id)
{
	bool has = has_address(id);
	bool removed = pier__dropin_is_removed(id->id.verbs);

	if (removed && !id->removed)
		report(id, RDMA_CM_EVENT_DEVICE_REMOVAL);
	else if (!removed && !has && !id->moved)
		report(id, RDMA_CM_EVENT_ADDR_CHANGE);
	id->moved = !has;
	id->removed = removed;
}

/* What has changed before that was no event of @id. */
void pier__cma_watch(struct cma_id *id)
{
	pthread_mutex_lock(&lock);
	if (id->id.verbs && !id->watch.next && !pier__cma_inherited(id)) {
		pier__list_add(&watched, &id->watch);
		check(id);
	}
	pthread_mutex_unlock(&lock);
}

void pier__cma_changed(struct ibv_context *verbs)
{
	struct pier__list *pos, *tmp;
	struct cma_id *id;

	pthread_mutex_lock(&lock);
	PIER__LIST_EACH(pos, tmp, &watched) {
		id = pier__container_of(pos, struct cma_id, watch);
		if (id->id.verbs == verbs)
			check(id);
	}
	pthread_mutex_unlock(&lock);
}
