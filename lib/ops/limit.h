/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_LIMIT_H
#define PIER_OPS_LIMIT_H

#include <stdint.h>

#include <pier/dev.h>

struct pier__port;

/* What a configuration may ask for on any device. */
#define PIER__CONNS_MAX UINT32_C(65535)
#define PIER__QUEUE_MAX (UINT32_C(1) << 20)	/* requests, receives */
#define PIER__TASKS_MAX (UINT32_C(1) << 20)	/* of one pool */
#define PIER__CHAIN_MAX UINT32_C(64)
#define PIER__INLINE_MAX (UINT32_C(1) << 16)
#define PIER__RD_ATOMIC_MAX UINT32_C(255)

/* The value of @limit, which is a known one, on the device of @port. */
uint64_t pier__port_limit(const struct pier__port *port,
			  enum pier_limit limit);

#endif
