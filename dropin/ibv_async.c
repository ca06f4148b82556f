/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: those of the port. */
#include <errno.h>

#include "dropin/cm.h"
#include "dropin/dropin.h"
#include "fabric/soft/soft.h"

int ibv_get_async_event(struct ibv_context *context,
			struct ibv_async_event *event)
{
	struct pier__fdev *fdev = dropin_of(context)->fdev;
	int type, err;

	while ((err = pier__soft_dev.event(fdev, &type)) == -EAGAIN)
		if (pier__dropin_wait(context->async_fd))
			return -1;
	if (err) {
		errno = pier__dropin_errno(err);
		return -1;
	}
	event->event_type = (enum ibv_event_type)type;
	event->element.port_num = 1;
	return 0;
}

/* An event of a port belongs to no object that waits for this. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
