/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_RIGHTS_H
#define PIER_T_LIB_RIGHTS_H

#include <stdbool.h>

/*
 * Have the calling thread do with or without CAP_IPC_LOCK, which exempts from
 * the limit of locked memory.  False: it has not got it to do with.
 */
bool rights_ipc_lock(bool with);

#endif
