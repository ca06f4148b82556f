/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DROPIN_FAKE_VERBS_H
#define PIER_T_DROPIN_FAKE_VERBS_H

#include <infiniband/verbs.h>

#include "dropin/real/calls.h"

#define FAKE_NAME "fake0"
#define FAKE_FORK 4000		/* what ibv_fork_init() returns */

/* The header makes macros of these, which are functions here. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* The errno of each call. */
#define FAKE_NUMBER(kind, type, name, parameters, arguments, device) \
	FAKE_##name,

#define FAKE_POINTER_NUMBER(type, name, member, parameters, arguments, of) \
	FAKE_##name,

enum {
	FAKE_FIRST = 1000,
	DROPIN_CALLS(FAKE_NUMBER)
	DROPIN_POINTERS(FAKE_POINTER_NUMBER)
};

/* Any object of a device: all have that pointer first. */
struct fake_object {
	struct ibv_context *context;
	int calls;			/* that return nothing */
	char rest[1024];
};

#endif
