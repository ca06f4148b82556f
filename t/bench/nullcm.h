/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_NULLCM_H
#define PIER_T_BENCH_NULLCM_H

#include "fabric/fabric.h"

/*
 * Connection management of the null device: both ends are in this process, and
 * an event is there as soon as the other end has made its call.
 */
extern const struct pier__fabric_cm nullcm;

#endif
