/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_REAL_REAL_H
#define PIER_DROPIN_REAL_REAL_H

#include <stdbool.h>

#include "dropin/dropin.h"
#include "dropin/real/calls.h"

/*
 * The libibverbs.so.1 of the host, for devices that are not soft.  `pier run`
 * names its file in PIER_REAL_VERBS if it has any devices and the program is to
 * see them.
 *
 * It has the same soname and the same names as this library, and so have the
 * libraries of vendors that it loads, which need it by that soname.  So it is
 * in a link-map namespace of its own, with a C library of its own: what it
 * loads finds it, not this one.  Memory and threads pass through as they are;
 * errno does not, and is copied.
 */
#define DROPIN_REAL_ENV "PIER_REAL_VERBS"

#define DROPIN_REAL_CALL(kind, type, name, parameters, arguments, device) \
	type (*name) parameters;
#define DROPIN_REAL_VOID_CALL(name, parameters, arguments, device) \
	void (*name) parameters;

struct dropin_real {
	int *(*error)(void);		/* where its errno is */
	DROPIN_CALLS(DROPIN_REAL_CALL)
	DROPIN_OTHER_CALLS(DROPIN_REAL_CALL)
	DROPIN_VOID_CALLS(DROPIN_REAL_VOID_CALL)
	DROPIN_OTHER_VOID_CALLS(DROPIN_REAL_VOID_CALL)
};

/* ibv_buf.c: that of a soft device, and not of the host's library? */
bool pier__dropin_buf_is_soft(const struct ibv_buf *buf);

/* Load it, once.  NULL: there is none, or it has failed, which is logged. */
const struct dropin_real *pier__dropin_real(void);

/* That, if it is loaded. */
extern const struct dropin_real *pier__dropin_real_loaded;

/* Have @real, which is complete, look after the contexts that it opens. */
void pier__dropin_real_around(struct dropin_real *real);

/*
 * Of the list that it had when it was loaded: has it a device of that name, and
 * what number may the first uverbsN of a soft device have?
 */
bool pier__dropin_real_has(const char *name);
size_t pier__dropin_real_next(void);

#endif
