/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_CROWD_H
#define PIER_T_LIB_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/pier.h>

#include "t/lib/pair.h"

/*
 * Many connections by address, between processes.  This process has one side
 * of them, a server's or a client's.  The client numbers its connections and
 * has the number in its messages, which the server sends back.
 *
 * What is waited for is bounded; it ends as well when something failed.
 */
#define CROWD_BUDGET 16		/* events of a progress call */

/* What has become of a connection. */
enum fate {
	NONE,
	BEGUN,
	UP,
	OVER,
	FAILED,
};

/* Counted since crowd_open(). */
struct crowd {
	int requests, up, over, failures;
	int received, answered;	/* messages */
	int wrong;		/* of anything that is not as it should be */
	int most;		/* callbacks of one progress call */
	int one_fds;		/* descriptors with one connection */
	uint64_t first_ns, last_ns;	/* requests */
};

extern struct crowd crowd;

/*
 * How many connections the device is asked for in all: PIER_TEST_CONNS, or
 * 4,096 on soft devices, fewer with a sanitizer, and 64 on others.
 */
int crowd_size(void);

/*
 * Open a side of @count connections at most, after the fork.  Close checks
 * that nothing is left of it.
 */
bool crowd_open(int count, bool is_server);
void crowd_close(void);

/* A server's: listen, and send @pair the port.  Zero is the default. */
bool crowd_listen(uint32_t backlog, uint32_t rate);
bool crowd_send_port(struct pair *pair);
uint16_t crowd_recv_port(struct pair *pair);

/* Connect one, or @count from @from on with up to @under_way at once. */
bool crowd_call(int i, uint16_t port);
bool crowd_call_all(int from, int count, int under_way, uint16_t port);

/* A message there and back on each. */
bool crowd_exchange(int from, int count);

/* Disconnect each @step'th of those that are connected. */
void crowd_hang_up(int from, int count, int step);

/* How many of them are so; and until all are. */
int crowd_count(int from, int count, enum fate fate);
bool crowd_await(int from, int count, enum fate fate);

/* One progress call, after a nap if there is nothing to do. */
void crowd_turn(void);

/* Until a counter of ours is @want. */
bool crowd_until(const int *count, int want);

/*
 * No descriptor is a connection's; port 4791 has one, now and then, and each of
 * two links of shared memory two, which come after the first connection.
 */
bool crowd_fds_few(void);

#endif
