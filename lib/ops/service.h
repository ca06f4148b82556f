/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_OPS_SERVICE_H
#define PIER_OPS_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/wire.h"
#include "dev/dev_impl.h"

/*
 * The service of a process on one open device: a thread with an engine, an RDMA
 * context and a listener of its own, so that peers can use what the process
 * exports while the program sleeps.  It exists as long as it has an entry.
 *
 * A peer is accepted if its private data is the magic and the token of an
 * entry; what it may then do is decided by the keys that it has.
 */
#define PIER__TOKEN 16
#define PIER__SERVICE_MAGIC "pierdma1"
#define PIER__SERVICE_ASK (sizeof(PIER__SERVICE_MAGIC) - 1 + PIER__TOKEN)

struct pier__service;

/* One thing that is exported, embedded in its object. */
struct pier__service_entry {
	struct pier__list link;		/* the service's */
	struct pier__service *service;
	uint8_t token[PIER__TOKEN];
	uint32_t clients;		/* connected; the service's lock */
	bool used;			/* there was one; the same */
};

/* What a client sends. */
void pier__service_ask(const uint8_t token[PIER__TOKEN],
		       uint8_t ret[PIER__SERVICE_ASK]);

/*
 * Have the service of @dev accept those who know the new token of @entry;
 * the first one starts the service.  Any thread.
 * Errors: those of pier_rdma_listen(); -EAGAIN, no thread; -ENOMEM.
 */
int pier__service_add(struct pier_dev *dev, struct pier__service_entry *entry);

/*
 * Accept them no longer, and end their connections soon; the last one stops the
 * service.  Any thread, but not the service's own.
 */
void pier__service_remove(struct pier__service_entry *entry);

/*
 * Wait until @entry has had a client and has none any more, at most until
 * @deadline or PIER__NEVER.  Any thread.  Errors: -ETIMEDOUT, without
 * a message; -ENODEV, the device was removed, and others of it.
 */
int pier__service_wait(struct pier__service_entry *entry, uint64_t deadline);

/* The port on which the service of @entry listens; constant. */
uint16_t pier__service_port(const struct pier__service_entry *entry);

#endif
