/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_MW_H
#define PIER_T_LIB_MW_H

#include "fabric/soft/rc/window.h"
#include "t/lib/softpair.h"

/*
 * A pair of endpoints for programs of libibverbs, of which b has a memory
 * window that a uses.
 */
#define MW_REMOTE (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		   IBV_ACCESS_REMOTE_ATOMIC)
#define MW_SRC 4096		/* at a: what it writes, or has read */
#define MW_DST (PAIR_MEM / 2)	/* at b: the range of the window */
#define MW_LEN 3000
#define MW_ADD 5		/* by an atomic, or compared */

/* The kinds of requests that use memory of the peer. */
#define MW_REMOTES 4
extern const enum ibv_wr_opcode mw_remote[MW_REMOTES];

/* The region of b has @access. */
struct softpair *mw_open(int access);
void mw_close(void);

/* Destroy the window, and create another one, of @pd. */
void mw_renew(const void *pd);
uint32_t mw_key(void);

/* The QPs of both ends are as new. */
void mw_reconnect(void);

/* The address of MW_DST at b. */
uint64_t mw_start(void);

/* Bind the window: it is of type 2 if @by_qp, by the key that it has. */
struct soft_local mw_binding(bool by_qp, int access);
struct soft_local mw_invalidation(uint32_t key);

/* Completion @i of b is as given. */
void mw_completed(uint32_t i, uint64_t wr_id, enum ibv_wc_status status,
		  enum ibv_wc_opcode opcode, const struct soft_qp *qp);

/*
 * Post @op to @qp, or the QP of b, which has no other request: it completes at
 * once, with @status.
 */
void mw_local_by(struct soft_qp *qp, const struct soft_local *op,
		 enum ibv_wc_status status);
void mw_local(const struct soft_local *op, enum ibv_wc_status status);

/* Bind the window, if @by_qp by another key.  Returns the key. */
uint32_t mw_bind_by(struct soft_qp *qp, bool by_qp, int access);
uint32_t mw_bind(bool by_qp, int access);

/* A request with one piece, at MW_SRC of a. */
struct ibv_send_wr mw_request(enum ibv_wr_opcode opcode, uint32_t key,
			      uint64_t addr, uint32_t len);

/* Returns what it ends with when it is posted to @qp, or the QP of a. */
enum ibv_wc_status mw_use_by(struct soft_qp *qp, enum ibv_wr_opcode opcode,
			     uint32_t key, uint64_t addr, uint32_t len);
enum ibv_wc_status mw_use(enum ibv_wr_opcode opcode, uint32_t key,
			  uint64_t addr, uint32_t len);

bool mw_is_all(const uint8_t *mem, size_t len, uint8_t byte);

/*
 * Requests to @qp, or the QP of a, of each kind reach the window and no more.
 * The first address of the window is @addr, or mw_start().
 */
void mw_works_by(struct soft_qp *qp, uint32_t key, uint64_t addr);
void mw_works(uint32_t key);

/*
 * A request is refused: no memory changes, and both QPs are in error, until
 * they are as new.  The same for each of mw_remote, of 8 bytes.
 */
void mw_denied(enum ibv_wr_opcode opcode, uint32_t key, uint64_t addr,
	       uint32_t len);
void mw_each_denied(uint32_t key, uint64_t addr);

#endif
