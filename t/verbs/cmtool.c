/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include <pier/error.h>

#include "t/lib/cmnode.h"
#include "t/lib/tap.h"

/* The error message of opening the connection manager. */
static int print_open(void)
{
	struct pier__fdev *fdev;
	struct pier__chan *chan = NULL;
	struct pier__cm *cm;
	int err = loop_device(&fdev);

	if (!err)
		err = fdev->fabric->qp->chan_create(fdev, 0, &chan);
	if (!err)
		err = ops()->create(chan, IBV_MTU_4096, &cm);
	puts(err ? pier_last_error() : "opened");
	return err ? 1 : 0;
}

/* "ready", and the event when the device is removed. */
static int print_gone(void)
{
	struct pier__cm_event event = { .id = NULL };
	struct pier__cm_listener *listener;
	struct pier__cm_id *id;

	if (loop_device(&near.fdev) || !loop_end_open(near.fdev, 16,
						      &near.end) ||
	    ops()->create(near.end.chan, IBV_MTU_4096, &near.cm) ||
	    ops()->listen(near.cm, text_address("0.0.0.0", 0), 1, NULL,
			  &listener) ||
	    ops()->resolve(near.cm, NULL, address(&near, listener->port),
			   5000, NULL, &id) ||
	    !next_is(&near, PIER__CM_RESOLVED, &event))
		return 1;
	puts("ready");
	fflush(stdout);
	if (!next_is(&near, PIER__CM_GONE, &event) || event.id != id)
		return 1;
	puts("gone");
	ops()->release(id);
	ops()->unlisten(listener);
	ops()->destroy(near.cm);
	puts("released");
	return 0;
}

int node_tool(const char *what)
{
	return strcmp(what, "gone") ? print_open() : print_gone();
}
