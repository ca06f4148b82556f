/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "core/fail.h"
#include "ops/comch_impl.h"

/*
 * How the connections of a server share the tasks of pier_comch_send().
 *
 * A peer that acknowledges nothing holds the tasks of the messages to it.  So a
 * connection that has tasks leaves one to each other client that there is or
 * may be and that has none, but no more than half of all tasks.  A connection
 * that may take none waits in comch->starved; while one does, all are blocked,
 * so that each completion comes here.
 */

/* What @c leaves to others. */
static uint32_t reserved(const struct pier_comch_conn *c)
{
	const struct pier_comch *comch = c->comch;
	uint32_t most = comch->cfg.max_clients, half = comch->pool->count / 2;
	uint32_t others = most > comch->busy ? most - comch->busy : 0;

	if (!c->tasks || !pier__comch_is_server(comch))
		return 0;
	return others < half ? others : half;
}

/* Without a message in flight nothing would end its wait. */
bool pier__comch_may_take(const struct pier_comch_conn *c)
{
	return c->comch->pool->free_count > reserved(c) ||
	       !c->comch->ctx.inflight;
}

static void block_all(struct pier_comch *comch)
{
	struct pier__list *pos, *tmp;

	PIER__LIST_EACH(pos, tmp, &comch->conns)
		pier__container_of(pos, struct pier_comch_conn,
				   link)->blocked = true;
}

int pier__comch_starve(struct pier_comch_conn *c)
{
	struct pier_comch *comch = c->comch;
	char text[128];

	if (pier__list_empty(&c->starved))
		pier__list_add(&comch->starved, &c->starved);
	block_all(comch);
	snprintf(text, sizeof(text), "comch: messages in flight have the %u "
		 "tasks, but for those that are left to other connections: "
		 "progress first", comch->pool->count);
	return pier__fail_again(-EAGAIN, text);
}

/* One that waits may take a task now: report that it can send. */
static void feed(struct pier_comch_conn *c)
{
	c->refused = c->blocked = true;
	pier__comch_check_writable(c);
}

void pier__comch_task_over(struct pier_comch_conn *c)
{
	struct pier_comch *comch = c->comch;
	struct pier__list batch, *link;

	pier__comch_check_writable(c);
	pier__list_take_all(&comch->starved, &batch);
	while ((link = pier__list_pop(&batch))) {
		c = pier__container_of(link, struct pier_comch_conn, starved);
		if (pier__comch_may_take(c))
			feed(c);
		else
			pier__list_add(&comch->starved, link);
	}
	if (!pier__list_empty(&comch->starved))
		block_all(comch);
}
