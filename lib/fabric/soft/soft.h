/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_SOFT_H
#define PIER_FABRIC_SOFT_SOFT_H

#include "fabric/fabric.h"

extern const struct pier__fabric pier__soft;

extern const struct pier__fabric_dev pier__soft_dev;

/* As the fabric's member counters; where the QP's body is known. */
int pier__soft_counters(struct pier__fdev *fdev, const struct pier__qp *qp,
			struct pier_counters *ret);

extern const struct pier__fabric_cm pier__soft_cm_table;

#endif
