/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CMNODE_H
#define PIER_T_LIB_CMNODE_H

#include "t/lib/loop.h"

/*
 * Two sides that connect by the connection management of rdma-core's devices,
 * each on a device of its own.  Calls that fail are a failed check.
 */
#define NODE_LIMIT_MS 20000

struct node {
	struct pier__fdev *fdev;
	struct loop_end end;
	struct pier__cm *cm;
};

extern struct node near, far;

/* The calls under test. */
const struct pier__fabric_cm *ops(void);

bool succeeded(int err);

/* The first IPv4 address of @node with @port; static, four in turn. */
const struct sockaddr *address(const struct node *node, uint16_t port);

/* The address in @text, IPv4 or IPv6; static. */
const struct sockaddr *text_address(const char *text, uint16_t port);

/* The next event of @node is of @kind; false: not, or none in time. */
bool next_is(struct node *node, enum pier__cm_kind kind,
	     struct pier__cm_event *ret);

/* Move @node's QP to RTS by the attributes of @id. */
bool move(struct node *node, struct pier__cm_id *id);

struct pier__cm_param param_of(const struct node *node, const void *data,
			       size_t len);

/* Up to the request at @server; its ids are the caller's. */
bool ask(struct node *client, struct node *server,
	 struct pier__cm_listener **listener, struct pier__cm_event *request,
	 struct pier__cm_id **ret);

void fresh_qp(struct node *node);

/*
 * Open near, the device that PIER_DEVICE names, and far, another active one.
 * Returns NULL, or why not.
 */
const char *nodes_open(void);
void nodes_close(void);

/*
 * For t/verbs/diagnose.sh: "open" prints the error of opening the connection
 * manager, "gone" the event when the device is removed.  Returns main()'s exit
 * status.
 */
int node_tool(const char *what);

#endif
