/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_SOFT_SHM_VICTIM_H
#define PIER_T_SOFT_SHM_VICTIM_H

#include <pier/pier.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"

/*
 * A process that works with its parent's peer, and is killed or stopped before
 * one of its steps; and the requests that both make.
 */
#define LEN (1u << 18)		/* of the memory of each */
#define PULLED 131072		/* bytes that the receiver reads itself */
#define PUT_LEN 24		/* bytes that are put directly */

enum kind { HANDSHAKE, PUT, SERVE, PULL };
enum when { AT_STEP, IN_USE, AFTER_USE };

/* Memory of pier's own, which the victim accesses directly. */
struct victim_target {
	uint64_t addr;
	uint32_t rkey;
};

/* What a victim does, and when it gets @sig. */
struct victim_demand {
	enum kind kind;
	enum when when;
	unsigned int step;
	int sig;
	struct victim_target target;
};

/* What one end has to know of the other. */
struct victim_card {
	uint16_t port;
	size_t len, mem_len;
	uint8_t desc[PIER_DESC_MAX], mem[PIER_DESC_MAX];
};

extern struct pier_dev *dev;
extern struct peer me;

/*
 * For pair_start(): forks a victim for each socket that comes, sends its pid,
 * and then what waitpid(2) says of it.  The victim gets its demand, sends its
 * card, gets the other's, and when it has done all, the number of its steps.
 */
int victims_breed(struct pair *pair, void *arg);

uint16_t port_of(const struct pier_conn *conn);
bool send_card(struct pair *pair, struct pier_conn *conn);
bool connect_to(const struct victim_card *card);
bool is_connected(void);

/* Requests; one that cannot be posted is none. */
void post_write(size_t off, size_t len);
void post_read(size_t off, size_t len);
void post_send(size_t len);
void post_add(void);
bool all_done(void);

/* All have ended.  The first that failed did so with -PIER_ERETRY. */
bool await_all(void);

#endif
