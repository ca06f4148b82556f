/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_NULLFABRIC_H
#define PIER_T_BENCH_NULLFABRIC_H

#include <stdbool.h>

#include "dev/dev_impl.h"

/*
 * A device that does nothing: whatever is posted, receives too, has succeeded
 * by the next poll.  What a program spends on it is spent in pier.  If
 * @can_deliver, what is posted on a connection is done at its other end, in the
 * same process and at once, and a receive waits for a message: both ends run on
 * the same thread, and the one that sends must have a receive at the other.
 */
struct pier_dev *nullfabric_open(bool can_deliver);
void nullfabric_close(struct pier_dev *dev);

#endif
