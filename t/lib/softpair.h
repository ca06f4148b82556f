/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_SOFTPAIR_H
#define PIER_T_LIB_SOFTPAIR_H

#include "fabric/soft/rc/qp.h"
#include "t/lib/vnet.h"

/*
 * Two soft endpoints on a virtual network, connected by one QP each, each
 * with a region of memory that its peer may use.
 */
#define PAIR_MEM (2u << 20)
#define PAIR_WC 4096

struct softpair_opts {
	const char *ip[2];	/* NULL: IPv4 addresses of documentation */
	uint16_t port;		/* 0: 5000 */
	uint32_t mtu;		/* bytes; 0: 1024 */
	uint32_t psn[2];	/* first of each side's requests */
	uint8_t timeout;	/* code; 0: 14 */
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;	/* code; 0: 12, 0.64 ms */
	uint8_t rd_atomic;	/* 0: 4 */
	uint8_t max_dest_rd_atomic;	/* 0: 4; 0xff: none */
	int access;		/* of the QPs; 0: all */
	int mr_access;		/* of the regions; 0: all */
	bool no_retry;		/* retry_cnt 0 is meant; else 0 is 7 */
	bool no_rnr_retry;	/* the same for rnr_retry */
	bool verbs;		/* endpoints for programs of libibverbs */
};

struct softpair_end {
	struct soft_io *io;
	struct soft_mr_table *keys;
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_srq *srq;
	struct soft_qp *qp;
	struct soft_mr mr;
	uint8_t *mem;		/* PAIR_MEM bytes */
	struct ibv_wc wc[PAIR_WC];	/* all that completed, oldest first */
	uint32_t wcs;
	uint32_t faults;	/* of QPs, which are no completions */
};

struct softpair {
	struct vnet net;
	struct softpair_end end[2];
	struct softpair_opts opts;
};

/* Returns a pair that is connected; ends the program if it cannot. */
struct softpair *softpair_open(const struct softpair_opts *opts, uint64_t seed);
void softpair_close(struct softpair *pair);

/* A QP on @end, in RESET. */
struct soft_qp *softpair_qp(struct softpair_end *end);

/*
 * Set the defaults of @opts, and take @qp to INIT, and of side @i to RTR by the
 * way from @src to @dst, with QP @peer there, and to RTS.
 */
void softpair_defaults(struct softpair_opts *opts);
int softpair_init(struct soft_qp *qp, const struct softpair_opts *opts);
int softpair_rtr_by(struct soft_qp *qp, const struct softpair_opts *opts, int i,
		    const struct soft_addr *src, const struct soft_addr *dst,
		    uint32_t peer);
int softpair_rts_by(struct soft_qp *qp, const struct softpair_opts *opts,
		    int i);

/* Take @qp of side @i to RTR with @peer of the other, then to RTS. */
int softpair_rtr(struct softpair *pair, int i, struct soft_qp *qp,
		 uint32_t peer);
int softpair_rts(struct softpair *pair, int i, struct soft_qp *qp);
int softpair_state(struct soft_qp *qp, enum ibv_qp_state state);
void softpair_connect(struct softpair *pair, struct soft_qp *a,
		      struct soft_qp *b);

/* Post one request of @len bytes at @off of the own region. */
struct ibv_sge softpair_sge(const struct softpair_end *end, uint32_t off,
			    uint32_t len);
int softpair_post(struct soft_qp *qp, struct ibv_send_wr *wr);
int softpair_send(struct softpair_end *end, uint64_t wr_id,
		  enum ibv_wr_opcode opcode, uint32_t off, uint32_t len,
		  const struct softpair_end *peer, uint32_t peer_off);
int softpair_recv(struct softpair_end *end, uint64_t wr_id, uint32_t off,
		  uint32_t len);

/* Collect completions.  Returns how many there are in all. */
uint32_t softpair_poll(struct softpair_end *end);

/* Run until side @i has @count completions.  Returns false after @limit ns. */
bool softpair_wait(struct softpair *pair, int i, uint32_t count,
		   uint64_t limit);

/* Run until nothing is left to happen, at most a minute of virtual time. */
bool softpair_idle(struct softpair *pair);

/*
 * Give side @i a packet that looks as if its peer had sent it: @hdr with its
 * destination, PSN and P_Key, and @len bytes of @data.
 */
void softpair_inject(struct softpair *pair, int i, struct soft_hdr *hdr,
		     const void *data, uint32_t len);

/* Contents that distinguish one range from another. */
void softpair_pattern(uint8_t *mem, uint32_t len, uint32_t seed);
bool softpair_is_pattern(const uint8_t *mem, uint32_t len, uint32_t seed);

#endif
