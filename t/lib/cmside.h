/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CMSIDE_H
#define PIER_T_LIB_CMSIDE_H

#include "t/lib/loop.h"

/*
 * Two sides that connect by the connection management of rdma-core's devices,
 * each on a device of its own.  Calls that fail say so as a failed check.
 */
#define SIDE_PATIENCE_MS 20000

struct side {
	struct pier__fdev *fdev;
	struct loop_end end;
	struct pier__cm *cm;
};

extern struct side near, far;

/* The calls under test. */
const struct pier__fabric_cm *ops(void);

bool succeeded(int err);

/* The first IPv4 address of @side with @port; static, four in turn. */
const struct sockaddr *address(const struct side *side, uint16_t port);

/* What @text says, IPv4 or IPv6; static. */
const struct sockaddr *text_address(const char *text, uint16_t port);

/* The next event of @side is of @kind; false: not, or none in time. */
bool told(struct side *side, enum pier__cm_kind kind,
	  struct pier__cm_event *ret);

/* Move @side's QP to RTS as @id says. */
bool move(struct side *side, struct pier__cm_id *id);

struct pier__cm_param param_of(const struct side *side, const void *data,
			       size_t len);

/* Up to the request that @server hears of; its ids are the caller's. */
bool ask(struct side *client, struct side *server,
	 struct pier__cm_listener **listener, struct pier__cm_event *request,
	 struct pier__cm_id **ret);

void fresh_qp(struct side *side);

/*
 * Open near, the device that PIER_DEVICE names, and far, another active one.
 * Returns NULL, or why not.
 */
const char *sides_open(void);
void sides_close(void);

/*
 * For t/verbs/diagnose.sh: "open" prints what opening the connection manager
 * says, "gone" what is told when the device is taken away.  Returns main()'s
 * exit status.
 */
int side_tool(const char *what);

#endif
