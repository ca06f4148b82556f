/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_PORT_INSTEAD_H
#define PIER_T_LIB_PORT_INSTEAD_H

#include <stdbool.h>

/*
 * What every device says of its port: GIDs at the indexes 1, 3 and 7, IPv4 at
 * 3; an MTU of 1,024 bytes; and what is set here.
 */
extern bool port_is_infiniband, port_cannot_import;

#endif
