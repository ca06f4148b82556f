/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_REGISTRY_H
#define PIER_FABRIC_REGISTRY_H

#include "fabric/fabric.h"

/* All kinds of device, the preferred first; ends with NULL. */
extern const struct pier__fabric *const pier__fabrics[];

#endif
