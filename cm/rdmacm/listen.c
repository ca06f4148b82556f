/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "cm/rdmacm/rdmacm.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"

#define BACKLOG 128
#define BACKLOG_MAX 65535
#define SECOND (1000 * PIER__MS)

static int settle(struct pier_listen_config *cfg)
{
	int err = pier__config_u32(&cfg->backlog, "backlog", BACKLOG, 1,
				   BACKLOG_MAX);

	if (!err && cfg->port > UINT16_MAX)
		err = pier__fail(-EINVAL, "listen: port %u: 1 to 65535, 0 for "
				 "a free one", cfg->port);
	return err;
}

int pier__listen(struct pier__queues *queues,
		 const struct pier_listen_config *cfg,
		 pier__request_fn *request, void *arg,
		 struct pier_listener **ret)
{
	struct pier_listen_config c = { 0 };
	struct pier_listener *listener;
	union pier__sockaddr addr;
	int err;

	err = pier__config_copy(&c, sizeof(c), cfg, cfg->size);
	if (!err)
		err = settle(&c);
	if (!err)
		err = pier__own_parse(c.address, (uint16_t)c.port, &addr);
	if (!err)
		err = pier__dev_alive(queues->dev);
	if (!err)
		err = pier__rdmacm_open(queues);
	if (err)
		return err;
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		return pier__fail(-ENOMEM, "listen: no memory");
	err = queues->rdmacm->fab->listen(queues->rdmacm->cm, &addr.sa,
				      (int)c.backlog, listener, &listener->cm);
	if (err) {
		free(listener);
		return err;
	}
	listener->queues = queues;
	listener->rate = c.rate;
	listener->backlog = c.backlog;
	pier__list_init(&listener->waiting);
	listener->request = request;
	listener->arg = arg;
	pier__list_add(&queues->kept->listeners, &listener->link);
	*ret = listener;
	return 0;
}

void pier__unlisten(struct pier_listener *listener)
{
	pier__requests_reject_all(listener);
	listener->queues->rdmacm->fab->unlisten(listener->cm);
	listener->cm = NULL;
	listener->queues = NULL;
}

bool pier__listener_admits(struct pier_listener *listener, uint64_t now,
			   uint64_t *ret_due)
{
	uint64_t gap;

	if (!listener->rate)
		return true;
	if (now < listener->next) {
		*ret_due = listener->next;
		return false;
	}
	gap = SECOND / listener->rate;
	/* what was not used in the last tenth of a second is not lost */
	if (listener->next + SECOND / 10 < now)
		listener->next = now - SECOND / 10;
	listener->next += gap ? gap : 1;
	return true;
}

uint16_t pier_listener_port(const struct pier_listener *listener)
{
	return listener->cm ? listener->cm->port : 0;
}

void pier_listener_destroy(struct pier_listener *listener)
{
	if (!listener)
		return;
	if (listener->queues)
		pier__unlisten(listener);
	pier__list_del(&listener->link);
	free(listener);
}
