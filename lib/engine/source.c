/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of an engine, and what they ask it in their polls. */
#include <errno.h>
#include <sys/epoll.h>

#include "core/clock.h"
#include "core/fail.h"
#include "engine/pe_impl.h"
#include "engine/source.h"

/* Sources are few, and come and go rarely. */
static void append(struct pier__source **list, struct pier__source *source)
{
	while (*list)
		list = &(*list)->next;
	source->next = NULL;
	*list = source;
}

static void take_out(struct pier__source **list, struct pier__source *source)
{
	while (*list != source)
		list = &(*list)->next;
	*list = source->next;
}

int pier__pe_watch(struct pier_pe *pe, int fd, void *ptr)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = ptr };

	if (epoll_ctl(pe->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return pier__fail(-errno, "pe: cannot watch fd %d: %s", fd,
				  pier_strerror(errno));
	return 0;
}

int pier__pe_add(struct pier_pe *pe, struct pier__source *source)
{
	int err = 0;

	if (source->fd >= 0)
		err = pier__pe_watch(pe, source->fd, source);
	if (err)
		return err;
	source->pe = pe;
	append(source->slow ? &pe->slow : &pe->fast, source);
	if (source->slow)
		pier__pe_due(source, source->due);
	return 0;
}

void pier__pe_remove(struct pier__source *source)
{
	struct pier_pe *pe = source->pe;

	if (!pe)
		return;
	if (pe->visit == source)
		pe->visit = source->next;
	if (pe->again == source)
		pe->again = NULL;
	take_out(source->slow ? &pe->slow : &pe->fast, source);
	if (source->fd >= 0)
		epoll_ctl(pe->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	source->pe = NULL;
}

void pier__pe_due(struct pier__source *source, uint64_t due)
{
	struct pier_pe *pe = source->pe;

	source->due = due;
	if (!pe || due >= pe->next_due)
		return;
	pe->next_due = due;
	if (!due)		/* in the next round, however much there is */
		pe->quiet = 1;
}

void pier__pe_event(struct pier_pe *pe)
{
	pe->events++;
}

/* Outside a round nothing is counted. */
void pier_pe_ignore_event(struct pier_pe *pe)
{
	if (!pe)
		return;
	if (pe->events)
		pe->events--;
}

int pier__pe_budget(const struct pier_pe *pe)
{
	return pe->max - pe->events;
}

int pier__pe_busy(const struct pier_pe *pe)
{
	return pe->busy;
}

uint64_t pier__pe_now(const struct pier_pe *pe)
{
	return pe->busy && pe->now ? pe->now : pier__now();
}
