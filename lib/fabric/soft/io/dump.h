/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_DUMP_H
#define PIER_FABRIC_SOFT_IO_DUMP_H

#include "fabric/soft/io/chan.h"

/*
 * The flight recorder by signal: the handler of the one that PIER_EVENTS names
 * writes to a descriptor, which the helper thread watches.
 */

/*
 * The descriptor, which is readable when events are to be dumped; the first
 * call installs the handler.  Below 0: PIER_EVENTS names no signal, or the
 * program handles it.  One thread at a time.
 */
int pier__soft_dump_fd(void);

/* Dump no more until the next signal. */
void pier__soft_dump_clear(void);

/* Print the events of @chan to stderr; the last ones of all connections. */
void pier__soft_dump(const struct soft_chan *chan);
void pier__soft_dump_conns(void);

/* In a child of fork(2): the descriptor is its own. */
void pier__soft_dump_forked(void);

#endif
