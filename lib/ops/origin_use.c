/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/source.h"
#include "ops/origin.h"

/* What is imported, and who is connected for it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pier__list imports = { &imports, &imports };
static struct pier__list users = { &users, &users };

/* @lock is held, here and below. */
static bool is_imported(const uint8_t *token)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &imports)
		if (!memcmp(pier__container_of(pos, struct pier__mmap_origin,
					       link)->token, token,
			    PIER__TOKEN))
			return true;
	return false;
}

static void mark_unused(const uint8_t *token)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &users) {
		struct pier__origin_user *user = pier__container_of(
			pos, struct pier__origin_user, link);

		if (memcmp(user->token, token, PIER__TOKEN))
			continue;
		atomic_store(&user->unused, true);
		atomic_store(user->attention, true);
		pier__pe_nudge(user->pe);
	}
}

void pier__origin_add(struct pier__mmap_origin *origin)
{
	origin->head.free = pier__origin_free;
	pthread_mutex_lock(&lock);
	pier__list_add(&imports, &origin->link);
	pthread_mutex_unlock(&lock);
}

void pier__origin_free(struct pier__mmap_origin *origin)
{
	pthread_mutex_lock(&lock);
	pier__list_del(&origin->link);
	if (!is_imported(origin->token))
		mark_unused(origin->token);
	pthread_mutex_unlock(&lock);
	free(origin);
}

void pier__origin_watch(struct pier__origin_user *user)
{
	pthread_mutex_lock(&lock);
	pier__list_add(&users, &user->link);
	pthread_mutex_unlock(&lock);
}

void pier__origin_unwatch(struct pier__origin_user *user)
{
	pthread_mutex_lock(&lock);
	pier__list_del(&user->link);
	pthread_mutex_unlock(&lock);
}
