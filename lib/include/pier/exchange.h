/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_EXCHANGE_H
#define PIER_EXCHANGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Swap files, descriptors mostly, with a peer over TCP or any pair of pipes.
 * In libpier-uv.  Nothing is authenticated or encrypted: on a network that is
 * not yours let it run through ssh, with PIER_EXCHANGE_STDIO.
 */
#define PIER_EXCHANGE_FILES_MAX 64		/* in each direction */
#define PIER_EXCHANGE_FILE_MAX (16 * 1024 * 1024)	/* bytes of one */
#define PIER_EXCHANGE_NAME_MAX 200		/* bytes of its name */

enum pier_exchange_role {
	PIER_EXCHANGE_LISTEN,	/* at address, "[ADDR:]PORT" */
	PIER_EXCHANGE_CONNECT,	/* to address, "HOST:PORT"; retried */
	PIER_EXCHANGE_STDIO,	/* read descriptor 0, write descriptor 1 */
};

struct pier_exchange_config {
	size_t size;		/* sizeof(struct pier_exchange_config) */
	enum pier_exchange_role role;
	const char *address;
	const char *const *send;	/* paths; the peer gets base names */
	size_t send_count;
	const char *receive;	/* directory, made if need be; NULL: refuse */
				/* files */
	int timeout_ms;		/* to meet, and between two signs of life */
	/* the listener's port is known, it may be 0 in address; or NULL */
	void (*listening)(unsigned int port, void *arg);
	void *arg;
};

/*
 * Exchange and return when both sides have everything, in its place and
 * whole.  Returns how many files were received.  One thread; it sleeps.
 * Errors: -EINVAL; -ETIMEDOUT; -ECONNREFUSED, until the time was up;
 * -EHOSTUNREACH, no such host; -ECONNRESET, the peer is gone; -EPROTO, it
 * does not keep to the protocol; -EREMOTEIO, what it says failed there; those
 * of reading and writing files.
 */
int pier_exchange(const struct pier_exchange_config *cfg);

#ifdef __cplusplus
}
#endif

#endif
