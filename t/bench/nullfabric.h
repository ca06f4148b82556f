/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_NULLFABRIC_H
#define PIER_T_BENCH_NULLFABRIC_H

#include "dev/dev_impl.h"

/*
 * A device that does nothing: whatever is posted, receives too, has succeeded
 * by the next poll.  What a program spends on it is spent in pier.
 */
struct pier_dev *nullfabric_open(void);
void nullfabric_close(struct pier_dev *dev);

#endif
