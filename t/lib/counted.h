/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_COUNTED_H
#define PIER_T_LIB_COUNTED_H

#include <pier/pier.h>

/* What @dev in this process, and @conn, have counted under @name. */
uint64_t counted_dev(struct pier_dev *dev, const char *name);
uint64_t counted_conn(const struct pier_conn *conn, const char *name);

#endif
