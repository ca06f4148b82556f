/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_LIST_H
#define PIER_CORE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A doubly linked list: a head, and a link in each member. */
struct pier__list {
	struct pier__list *next, *prev;
};

#define pier__container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* Visit the members; the body may remove the one visited. */
#define PIER__LIST_EACH(pos, tmp, head) \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head); \
	     (pos) = (tmp), (tmp) = (pos)->next)

static inline void pier__list_init(struct pier__list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool pier__list_empty(const struct pier__list *head)
{
	return head->next == head;
}

/* Add @link behind all others. */
static inline void pier__list_add(struct pier__list *head,
				  struct pier__list *link)
{
	struct pier__list *last = head->prev;

	link->next = head;
	last->next = link;
	link->prev = last;
	head->prev = link;
}

/* Take @link out; its own pointers are undefined until it is added again. */
static inline void pier__list_take_out(struct pier__list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Take @link out; it is then a list of itself, so that twice is harmless. */
static inline void pier__list_del(struct pier__list *link)
{
	pier__list_take_out(link);
	pier__list_init(link);
}

/* Move all members of @from to the new list @to. */
static inline void pier__list_take_all(struct pier__list *from,
				       struct pier__list *to)
{
	pier__list_init(to);
	if (pier__list_empty(from))
		return;
	*to = *from;
	to->next->prev = to;
	to->prev->next = to;
	pier__list_init(from);
}

/* Take the first one out; NULL: empty. */
static inline struct pier__list *pier__list_pop(struct pier__list *head)
{
	struct pier__list *link = head->next;

	if (link == head)
		return NULL;
	pier__list_del(link);
	return link;
}

#endif
