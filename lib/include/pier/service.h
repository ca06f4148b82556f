/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_SERVICE_H
#define PIER_SERVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Services: a process that exports memory or sync events to other processes
 * has one thread for each open device that it exports on.  It accepts the
 * peers' connections, and exists as long as there is an export.
 *
 * Processes of the same user can see each other's services:
 * struct pier_servicelist is a snapshot of them.
 */
struct pier_servicelist;

#define PIER_SERVICE_ADDRESSES 16

/* A service.  Its numbers are from one moment, or a moment later. */
struct pier_service {
	int pid;
	char program[16];
	char device[64];
	uint16_t port;		/* where it listens: of the CM */
	uint16_t address_count;
	uint32_t exports;
	uint32_t peers;		/* connected */
	uint64_t refused;	/* requests of strangers, since its start */
	char address[PIER_SERVICE_ADDRESSES][48];	/* "127.0.0.1" */
};

/*
 * The services of process @pid, 0: of every process whose services this user
 * can see.  Any thread.  The caller destroys it by pier_servicelist_destroy();
 * NULL is allowed there.
 * Errors: -ENOMEM.
 */
int pier_servicelist_create(int pid, struct pier_servicelist **ret);
void pier_servicelist_destroy(struct pier_servicelist *list);

/* Entry @i belongs to @list; NULL: there is none. */
size_t pier_servicelist_count(const struct pier_servicelist *list);
const struct pier_service *
pier_servicelist_get(const struct pier_servicelist *list, size_t i);

#ifdef __cplusplus
}
#endif

#endif
