/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "fabric/registry.h"
#include "fabric/soft/soft.h"
#include "fabric/verbs/verbs_impl.h"

/* Hardware comes before soft: it is the default device where there is one. */
const struct pier__fabric *const pier__fabrics[] = {
	&pier__verbs,
	&pier__soft,
	NULL,
};
