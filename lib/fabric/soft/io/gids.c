/* SPDX-License-Identifier: BSD-2-Clause */
/* Indices of GIDs, which all of a process see alike while a device is open. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/list.h"
#include "fabric/soft/io/fdev.h"

#define INDICES 32	/* of GIDs: as many as a port has */
#define NO_INDEX UINT32_MAX	/* of one that is new */

/* An interface with an opened device. */
struct interface {
	struct pier__list link;
	unsigned int ifindex;
	unsigned int users;
	struct pier__port port;		/* with the indices of its GIDs */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pier__list all = { &all, &all };

/* Also around fork(2): the child's copy is consistent. */
static void take(void)
{
	pthread_mutex_lock(&lock);
}

static void give(void)
{
	pthread_mutex_unlock(&lock);
}

static void follow_forks(void)
{
	pthread_atfork(take, give, give);
}

void pier__soft_gids_lock(void)
{
	pthread_once(&once, follow_forks);
	take();
}

void pier__soft_gids_unlock(void)
{
	give();
}

/* The index of @gid in @port, one that is not in @used. */
static uint32_t index_in(const struct pier__port *port,
			 const struct pier_gid *gid, uint32_t used)
{
	for (uint32_t i = 0; i < port->gid_count; i++) {
		const struct pier_gid *own = &port->gids[i];

		if (!memcmp(own->raw, gid->raw, sizeof(gid->raw)) &&
		    own->type == gid->type && own->index < INDICES &&
		    !(used >> own->index & 1))
			return own->index;
	}
	return NO_INDEX;
}

/*
 * Number the GIDs of @port: those that @was has as well keep their indices, and
 * others get the lowest that are free.
 */
static void number(struct pier__port *port, const struct pier__port *was)
{
	uint32_t used = 0, i, next = 0;

	for (i = 0; i < port->gid_count; i++) {
		port->gids[i].index = index_in(was, &port->gids[i], used);
		if (port->gids[i].index != NO_INDEX)
			used |= 1u << port->gids[i].index;
	}
	for (i = 0; i < port->gid_count; i++) {
		if (port->gids[i].index != NO_INDEX)
			continue;
		while (used >> next & 1)
			next++;
		port->gids[i].index = next++;
	}
}

/* NULL: no device of the interface is open. */
static struct interface *find(unsigned int ifindex)
{
	struct pier__list *pos, *tmp;
	struct interface *one;

	PIER__LIST_EACH(pos, tmp, &all) {
		one = pier__container_of(pos, struct interface, link);
		if (one->ifindex == ifindex)
			return one;
	}
	return NULL;
}

void pier__soft_gids_number(unsigned int ifindex, struct pier__port *port)
{
	struct interface *one = find(ifindex);

	if (!one)
		return;
	number(port, &one->port);
	one->port = *port;
}

/* NULL: there is no memory. */
static struct interface *add(unsigned int ifindex,
			     const struct pier__port *port)
{
	struct interface *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->ifindex = ifindex;
	one->port = *port;
	pier__list_add(&all, &one->link);
	return one;
}

int pier__soft_gids_hold(unsigned int ifindex, const struct pier__port *port)
{
	struct interface *one = find(ifindex);

	if (!one)
		one = add(ifindex, port);
	if (!one)
		return pier__fail(-ENOMEM, "no memory for a device");
	one->users++;
	return 0;
}

void pier__soft_gids_release(unsigned int ifindex)
{
	struct interface *one = find(ifindex);

	if (!one || --one->users)
		return;
	pier__list_del(&one->link);
	free(one);
}
