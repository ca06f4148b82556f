/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_DESC_IMPL_H
#define PIER_OPS_DESC_IMPL_H

#include <pier/desc.h>

#include "core/wire.h"

/* When any descriptor was made, and for how many seconds; 0: no bound. */
int pier__desc_times(const struct pier__wire_in *in, uint64_t *ret_created,
		     uint64_t *ret_valid);

#endif
