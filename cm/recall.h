/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RECALL_H
#define PIER_CM_RECALL_H

#include "cm/queues.h"

/*
 * Requests that the program cancels.  What can be recalled is ended by @end in
 * the next round, which also restores posted->succeed; @what names it.
 */

/*
 * A send of @conn.  If it is with the device @conn fails, and it is flushed; if
 * it has completed nothing is done.
 */
void pier__conn_recall(struct pier_conn *conn, struct pier__posted *posted,
		       void (*end)(struct pier__posted *posted),
		       const char *what);

/*
 * A receive.  Errors: -EOPNOTSUPP, the device gives none back; -EBUSY, a
 * message is in it.
 */
int pier__queues_recall(struct pier__queues *queues,
			struct pier__posted *posted,
			void (*end)(struct pier__posted *posted),
			const char *what);

/* What is neither: it is not posted. */
void pier__queues_end_later(struct pier__queues *queues,
			    struct pier__posted *posted,
			    void (*end)(struct pier__posted *posted));

#endif
