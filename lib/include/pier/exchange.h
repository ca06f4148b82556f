/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_EXCHANGE_H
#define PIER_EXCHANGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Exchange files, mostly descriptors, with a peer over TCP or any pair of
 * pipes.  In libpier-uv.  There is neither authentication nor encryption: on a
 * shared network use it through ssh, with PIER_EXCHANGE_STDIO.
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
	const char *receive;	/* directory, created if missing; NULL: */
				/* files are refused */
	int timeout_ms;		/* to connect, and for progress */
	/* called with the port when the listener is ready; or NULL */
	void (*listening)(unsigned int port, void *arg);
	void *arg;
};

/*
 * Exchange, and return when both sides have all files, complete and in place.
 * Returns the number of received files.  One thread; the call sleeps.
 * Errors: -EINVAL; -ETIMEDOUT; -ECONNREFUSED, until the time limit;
 * -EHOSTUNREACH, no such host; -ECONNRESET, the peer closed the connection;
 * -EPROTO, it violates the protocol; -EREMOTEIO, it reported a failure; those
 * of reading and writing files.
 */
int pier_exchange(const struct pier_exchange_config *cfg);

#ifdef __cplusplus
}
#endif

#endif
