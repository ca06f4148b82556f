/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_ENGINE_TASK_TIMEOUT_H
#define PIER_ENGINE_TASK_TIMEOUT_H

#include "engine/task_impl.h"

/*
 * Timeouts of tasks: one that is in flight for longer is cancelled by the
 * engine, in its rounds, and ends with -ETIMEDOUT.  Tasks that have a timeout
 * are in a list of their engine, in flight or not, which it looks at at least
 * once a millisecond and before it sleeps: submitting a task costs no more, and
 * its time begins with the first look.  Engine's thread.
 */

/* Give @task, not in flight, the timeout @ms; 0: none. */
void pier__task_time(struct pier_task *task, int ms);

/*
 * @task, which has a timeout, has finished.  If its time was over, and that has
 * ended it, its status becomes -ETIMEDOUT, with a message.
 */
void pier__task_was_timed(struct pier_task *task);

/* The engine is destroyed: its tasks have no timeouts any more. */
void pier__timeouts_stop(struct pier_pe *pe);

/* What holds @task up, for messages: "" or a text that ends in ": ". */
const char *pier__task_obstacle(const struct pier_task *task);

#endif
