/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_BUFPOOL_2_0_H
#define DOCA_BUFPOOL_2_0_H

/* Pools of buffers of one size. */
#include <doca_buf_pool.h>

#endif
