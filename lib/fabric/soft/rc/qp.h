/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_RC_QP_H
#define PIER_FABRIC_SOFT_RC_QP_H

#include "fabric/soft/rc/cwnd.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/rc/queue.h"
#include "fabric/soft/stats/recorder.h"
#include "fabric/soft/wire/codec.h"

/*
 * The RC protocol's state, shared by its files.  A packet is identified by its
 * 64-bit sequence number, of which the PSN is the low 24 bits.
 */
#define SOFT_PSN_MASK 0xffffffu
#define SOFT_AHEAD_MAX (1u << 16)	/* packets unacknowledged, of one QP */
#define SOFT_ACK_EVERY 64		/* packets at most; ask for an ACK */
#define SOFT_GAPS 4			/* of a message; ACK from there on */
#define SOFT_QUOTA 16			/* packets of a QP before the next QP */
#define SOFT_EARLY 1024			/* sequence numbers from the expected */
					/* one on, whose packets are held */
#define SOFT_EARLY_EP 4096		/* packets held by an endpoint */
#define SOFT_PARTS 32			/* of READs, again at a time */
#define SOFT_TX_RETRY_NS 50000		/* after a full socket */

enum soft_syndrome {
	SOFT_SYN_ACK = 0x1f,		/* without credits */
	SOFT_SYN_RNR = 0x20,
	SOFT_SYN_NAK = 0x60,
	SOFT_NAK_SEQUENCE = 0x60,
	SOFT_NAK_INVALID = 0x61,
	SOFT_NAK_ACCESS = 0x62,
	SOFT_NAK_OPERATIONAL = 0x63,
};

/* A send work request, from the endpoint's pool. */
struct soft_wqe {
	struct soft_wqe *next;
	struct soft_wqe *local;	/* local requests behind it: window.h */
	uint64_t wr_id;
	uint64_t first;		/* sequence number of the first packet */
	uint32_t packets;	/* sequence numbers it takes */
	uint32_t read_packets;	/* of them in one READ request */
	uint32_t length;
	uint8_t opcode;		/* enum ibv_wr_opcode */
	uint8_t flags;		/* enum ibv_send_flags */
	uint8_t sges;
	uint8_t status;		/* enum ibv_wc_status: how it will fail */
	uint32_t imm;		/* or the key to invalidate */
	uint32_t rkey;
	uint64_t remote;
	uint64_t swap_add, compare;
	uint32_t direct;	/* bytes that were moved without a packet */
	union {
		struct ibv_sge sge[SOFT_SEND_SGE];
		uint8_t data[SOFT_INLINE_MAX];	/* IBV_SEND_INLINE */
	};
};

static inline bool pier__soft_wqe_is_read(const struct soft_wqe *wqe)
{
	return wqe->opcode == IBV_WR_RDMA_READ;
}

static inline bool pier__soft_wqe_is_atomic(const struct soft_wqe *wqe)
{
	return wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* What became of a packet that is in flight. */
enum soft_slot_flags {
	SOFT_SLOT_HELD = 1 << 0,	/* the peer has it */
	SOFT_SLOT_LOST = 1 << 1,	/* it is to be sent again */
	SOFT_SLOT_AGAIN = 1 << 2,	/* it was sent again */
	SOFT_SLOT_FREE = 1 << 3,	/* it costs its window nothing */
	SOFT_SLOT_HERE = 1 << 4,	/* its response has arrived */
	SOFT_SLOT_PART = 1 << 5,	/* a part begins here that is on its */
					/* way */
};

struct soft_slot {
	uint64_t missing_at;	/* when a later one had arrived; 0 */
	uint32_t order;		/* among those sent since; 0: before that */
	uint8_t flags;		/* enum soft_slot_flags */
};

/*
 * What selective acknowledgements say of the packets from una on: board.c.
 * The slot of a sequence number is the remainder.  A READ request uses that of
 * its first sequence number, and SOFT_SLOT_FREE of all; from when it has been
 * executed, each of its responses uses its own.
 */
struct soft_board {
	struct soft_board *next;	/* a free one */
	uint64_t high;		/* one past the last that the peer has */
	uint64_t passed;	/* the peer has executed all before this */
	uint64_t answered;	/* and has sent the responses before this */
	uint64_t end;		/* nothing is recorded from here on */
	uint64_t check_at;	/* when one may be lost; PIER__NEVER */
	uint64_t round_at;	/* of the count of losses */
	uint32_t round_lost;
	uint32_t order, newest;	/* last one given; last one that arrived */
	uint32_t lost;		/* slots that are */
	uint32_t parts;		/* the same */
	struct soft_slot slot[SOFT_EARLY];
};

/* The requester: seq in [una, nxt) is in flight, in [nxt, end) waits. */
struct soft_req {
	struct pier__list link;		/* of the window's qps */
	struct soft_wqe *head, **tail;	/* oldest first */
	struct soft_wqe *cur;		/* with packet nxt; NULL: none waits */
	uint64_t una, nxt, end;
	uint64_t max;			/* one past the highest ever sent */
	uint64_t failed_at;		/* in ERR: the first not acknowledged */
	uint64_t drain_end;		/* nothing is sent from here on: SQD, */
					/* or pier__soft_local_barrier() */
	uint64_t ack_req_seq;		/* the last one with AckReq */
	uint64_t go_back_una;		/* una at the last retransmission */
	uint64_t go_back_at;
	uint64_t rtt_seq, rtt_at;	/* being timed; rtt_at 0: none */
	uint64_t progress_at;		/* when una moved, or sending began */
	uint64_t retransmit_at;
	uint64_t give_up_at;		/* PIER__NEVER: not at all */
	uint64_t rnr_at, rnr_seq;	/* end of the RNR wait, for which */
	uint64_t tail_at;		/* when to send the last one again; */
					/* PIER__NEVER: not at all */
	uint64_t parts_end;		/* no part was requested from here on */
	struct soft_board *board;	/* NULL: nothing is missing */
	struct soft_wqe *waiting, **waiting_tail;	/* behind the queue: */
					/* post_direct.h */
	uint32_t posted;		/* those included */
	uint32_t others;		/* of the queue, that need packets */
	uint32_t inflight;		/* cost of [una, nxt) */
	uint32_t refused_len;
	uint32_t read_from;		/* low bits of una at its last READ */
					/* request */
	uint8_t rd_atomic, rd_max;	/* requests in flight, allowed */
	uint8_t timeout, retry_cnt;
	uint8_t rnr_retry, rnr_left;
	uint8_t backoff;	/* of the timer, until an RTT is measured */
	uint8_t tails;		/* of tail_at, as backoff */
	bool rnr_wait;
	bool nak;		/* of the last retransmission */
	bool refused;		/* for a receive of refused_len bytes */
	bool progressed;	/* una moved since sending began */
	bool probe;		/* one packet at a time, until an ACK */
	bool notify_drained;	/* when all before drain_end is completed */
};

/* A READ or atomic that was executed, kept for duplicate requests. */
struct soft_res {
	uint64_t seq;
	union {
		uint64_t va;		/* READ */
		uint64_t original;	/* atomic */
	};
	uint32_t rkey;
	uint32_t packets, len;	/* of the whole response */
	uint32_t bytes;		/* up to the end of this request */
	uint32_t start, at, end;	/* packets requested, sent up to at */
	uint32_t msn : 24;
	bool atomic : 1;
	bool fresh : 1;		/* not sent in full yet */
};

/* A part of a READ's result, to be sent once more. */
struct soft_part {
	uint64_t seq;			/* its first */
	uint32_t len;			/* bytes */
	uint16_t packets, sent;
};

enum soft_within { SOFT_IDLE, SOFT_IN_SEND, SOFT_IN_WRITE };

/* What to send when the responses before it are sent. */
enum soft_due {
	SOFT_DUE_NONE,
	SOFT_DUE_ACK,
	SOFT_DUE_NAK,
	SOFT_DUE_SELECTIVE,	/* what was received, and what is held */
};

/* A request that arrived ahead of a gap: a copy of it. */
struct soft_held {
	struct soft_hdr hdr;
	uint32_t len;
	uint8_t data[];
};

/* Requests held until those before them arrive: early.c. */
struct soft_early {
	uint64_t base;		/* none is held before it */
	uint64_t high;		/* nor from here on */
	uint32_t count;
	uint8_t bitmap[SOFT_EARLY / 8];	/* as it is sent */
	struct soft_held *at[SOFT_EARLY];	/* by the remainder */
};

/* How long an acknowledgement may wait: ack_coalesce.c. */
struct soft_ack_coalesce {
	uint64_t deadline;
	bool may_coalesce : 1;		/* a message is complete */
	bool waiting : 1;		/* in the endpoint's coalesced */
	bool held : 1;			/* the same, for an answer */
	bool unanswered : 1;		/* it was held, and not sent yet */
	uint8_t misses : 4;		/* waits without effect, in a row */
	uint8_t held_misses : 4;	/* the same, without an answer */
	uint8_t unacked;		/* messages */
	uint8_t limit;			/* of them */
	uint16_t trial_in;		/* ACKs until the limit is raised */
	uint16_t held_in;		/* ACKs until one is held again */
};

struct soft_resp {
	struct pier__list link;		/* of the endpoint's replying, */
					/* or coalesced */
	uint64_t epsn;			/* expected sequence number */
	uint32_t msn;
	uint8_t within;			/* enum soft_within */
	bool established;		/* a request has come */
	uint8_t due;			/* enum soft_due */
	uint8_t syndrome;		/* of the NAK that is due */
	bool nak_sent;			/* for epsn: none until it arrives */
	bool filled;			/* it has just arrived */
	bool too_short;			/* the receive that a NAK is for: */
	uint32_t short_len;		/* its length, as it is sent */
	uint8_t gaps;			/* filled in the current message */
	uint8_t min_rnr_timer;
	uint8_t rnr_opcode;		/* of the last that found no receive */
	uint8_t rd_max;
	uint8_t res_head, res_count;	/* res: oldest at head */
	uint8_t res_todo;		/* of them to be sent */
	uint8_t part_head, part_count;	/* part: oldest at head */
	uint32_t rkey;			/* of the current WRITE */
	uint64_t va;			/* of its next byte */
	uint32_t total, remaining;	/* its bytes; total: also of a SEND */
	struct soft_rwqe *rwqe;		/* of the current SEND */
	struct soft_early *early;	/* NULL: none is held */
	struct soft_ack_coalesce coalesce;
	struct soft_res res[SOFT_RD_ATOMIC];
	struct soft_part *part;		/* a ring of SOFT_PARTS; NULL: none */
					/* was needed yet */
};

struct soft_qp {
	struct soft_ep *ep;
	struct soft_cq *cq;
	struct soft_cq *recv_cq;	/* of receives; mostly the same */
	struct soft_srq *srq;		/* NULL: no receives */
	void *async;			/* gets the events; NULL: none does */
	struct pier__hash_link link;	/* of the endpoint's qps */
	const void *pd;			/* of the keys that it may use */
	uint32_t qpn, dest_qpn;
	uint32_t mtu;			/* bytes */
	uint32_t cm_id;			/* connection that the next packet is */
					/* reported of; 0: none */
	uint32_t send_wr;
	uint32_t unpolled;		/* for verbs: sends, in cq */
	enum ibv_qp_state state;
	uint16_t inline_size;
	uint8_t send_sge;
	uint8_t access;			/* IBV_ACCESS_REMOTE_* */
	uint8_t tclass, hop_limit;
	bool selective;			/* the peer is not a RoCE device */
	bool ud;			/* of datagrams: no peer, and: */
	uint32_t qkey, ud_psn;
	uint64_t cnp_at;		/* ns, the last one sent; 0: none was */
	struct soft_io *io;		/* borrowed; to send by */
	struct soft_io *wire;		/* the same, without shared memory */
	struct soft_addr src;
	struct soft_cwnd *cwnd;		/* from RTR on */
	struct soft_timer timer;
	struct soft_counters *counters;	/* own, or of a row of the file */
	struct soft_counters own;
	struct soft_qp_events *events;	/* borrowed; NULL: it has no ring */
	struct soft_req req;
	struct soft_resp resp;
	struct soft_fault *fault;	/* owned; NULL: there is none */
};

/* Count an event of @qp, and of its endpoint. */
static inline void pier__soft_count(struct soft_qp *qp, size_t counter)
{
	pier__soft_add(qp->counters, counter, 1);
	pier__soft_add(qp->ep->counters, counter, 1);
}

/* Record an event of @qp that is about no packet: note.c. */
static inline void pier__soft_note(struct soft_qp *qp, int kind, int detail)
{
	pier__soft_ep_note(qp->ep, qp->qpn, kind, detail, 0);
}

static inline bool pier__soft_is_read_response(uint8_t opcode)
{
	return opcode >= SOFT_READ_FIRST && opcode <= SOFT_READ_ONLY;
}

/* A received packet, decoded. */
struct soft_packet {
	struct soft_hdr hdr;
	const uint8_t *data;		/* payload, or: */
	const struct soft_pull *pull;	/* where it is to be read */
	uint32_t len;
	uint32_t packets;		/* that this one is instead of */
};

/* What is held ahead of a gap is single packets, with their payload. */
static inline bool pier__soft_is_several(const struct soft_packet *in)
{
	return in->pull || in->packets > 1;
}

/* The sequence number next to @base that has @psn. */
static inline uint64_t pier__soft_seq(uint64_t base, uint32_t psn)
{
	int32_t diff = (int32_t)((psn - (uint32_t)base) << 8);

	return base + diff / 256;
}

/* cq.c: a completion of @qp in @cq.  The caller fills in the rest of @wc. */
void pier__soft_cq_push(struct soft_qp *qp, struct soft_cq *cq,
			struct ibv_wc *wc);
/* Drop those of QP @qpn; with @keep not those of sends that succeeded. */
void pier__soft_cq_purge(struct soft_cq *cq, uint32_t qpn, bool keep);
/* Report @fault behind all completions, without taking an entry; and not. */
void pier__soft_cq_fault(struct soft_cq *cq, struct soft_fault *fault);
void pier__soft_cq_no_fault(struct soft_cq *cq, struct soft_fault *fault);

/* wqe.c: the pool of send work requests. */
int pier__soft_wqe_reserve(struct soft_ep *ep);
struct soft_wqe *pier__soft_wqe_get(struct soft_ep *ep);
void pier__soft_wqe_put(struct soft_ep *ep, struct soft_wqe *wqe);
void pier__soft_wqe_free_all(struct soft_ep *ep);

/* srq.c: NULL if nothing is posted. */
struct soft_rwqe *pier__soft_srq_take(struct soft_srq *srq);
void pier__soft_srq_give(struct soft_srq *srq, struct soft_rwqe *rwqe);
/* Has @qp a queue of its own?  What is posted to that: flush it; drop it. */
bool pier__soft_has_own(const struct soft_qp *qp);
void pier__soft_srq_flush(struct soft_qp *qp);
void pier__soft_srq_drop(struct soft_qp *qp);

/*
 * sge.c: [@off, @off + @len) of a list as pieces of memory with @access.
 * Returns how many pieces, or -EACCES: a key does not cover it.
 */
int pier__soft_sge_map(const struct soft_qp *qp, const struct ibv_sge *sge,
		       uint32_t sges, uint32_t off, uint32_t len, int access,
		       struct iovec *iov);

/* The same for copying @src there; into a receive, by its queue's keys. */
int pier__soft_sge_fill(const struct soft_qp *qp, const struct ibv_sge *sge,
			uint32_t sges, uint32_t off, const void *src,
			uint32_t len);
int pier__soft_rwqe_fill(const struct soft_qp *qp, const struct soft_rwqe *rwqe,
			 uint32_t off, const void *src, uint32_t len);
/* The same of a packet; -EFAULT, -EAGAIN: as the member pull of soft_io_ops. */
int pier__soft_rwqe_take(const struct soft_qp *qp, const struct soft_rwqe *rwqe,
			 uint32_t off, const struct soft_packet *in);
/* Its payload to @to.  Errors: -EFAULT, -EAGAIN. */
int pier__soft_take(const struct soft_qp *qp, void *to,
		    const struct soft_packet *in);

/* The same memory of a request of the peer's; NULL: it may not use it. */
void *pier__soft_memory(const struct soft_qp *qp, uint32_t rkey, uint64_t addr,
			size_t len, int access);

/*
 * A copy in which an aligned 8-byte word is never seen half done.  For verbs,
 * memory may have been unmapped; and may that of @iov be read?
 * Errors: -EFAULT.
 */
int pier__soft_copy(const struct soft_ep *ep, void *dst, const void *src,
		    size_t len);
int pier__soft_readable(const struct soft_ep *ep, const struct iovec *iov,
			int count);

/* timer.c: call at @due (pier__soft_req_timer); PIER__NEVER: not at all. */
void pier__soft_timer_set(struct soft_qp *qp, uint64_t due);
/* It is long overdue: what has come may have waited for us. */
bool pier__soft_timer_is_late(const struct soft_qp *qp);
int pier__soft_timer_run(struct soft_ep *ep);

/* qp_table.c: the QPs by number. */
int pier__soft_table_add(struct soft_ep *ep, struct soft_qp *qp);
void pier__soft_table_del(struct soft_ep *ep, struct soft_qp *qp);
struct soft_qp *pier__soft_table_find(const struct soft_ep *ep, uint32_t qpn);
/* Call @fn for each QP; it creates and destroys none. */
void pier__soft_table_each(const struct soft_ep *ep,
			   void (*fn)(struct soft_qp *qp, void *arg),
			   void *arg);

/*
 * ud.c: a QP of datagrams.  The state changes to that of @attr; a packet for
 * it has arrived.
 */
void pier__soft_ud_modify(struct soft_qp *qp, const struct ibv_qp_attr *attr,
			  int mask);
void pier__soft_ud_receive(struct soft_qp *qp, const struct soft_packet *in,
			   const struct soft_rx *rx);
/* ud_group.c: for each QP in the group of @rx. */
void pier__soft_group_receive(struct soft_ep *ep, const struct soft_packet *in,
			      const struct soft_rx *rx);

/*
 * qp.c.  To ERR: the oldest request completes with @status, the rest flushes,
 * as does the current receive.  No effect in ERR.
 */
void pier__soft_qp_fail(struct soft_qp *qp, enum ibv_wc_status status);
/* To RESET: nothing is completed, unread completions are dropped. */
void pier__soft_qp_reset(struct soft_qp *qp);

/* note.c: @qp has failed: log the events of it that are recorded. */
void pier__soft_qp_dump(struct soft_qp *qp);

/* requester.c: requests sent. */
void pier__soft_req_init(struct soft_req *req, uint32_t psn);
bool pier__soft_req_can_send(const struct soft_qp *qp);
/* One packet.  Returns 1; 0: nothing to send; -EAGAIN: the window is full. */
int pier__soft_req_send(struct soft_qp *qp);
void pier__soft_req_undo(struct soft_qp *qp, const struct soft_tx_note *note);
/* The packets of one READ request now; a long READ is several requests. */
uint32_t pier__soft_read_packets(const struct soft_qp *qp);
/* The cost of [@from, @to), which lies in @wqe. */
uint32_t pier__soft_wqe_cost(const struct soft_qp *qp,
			     const struct soft_wqe *wqe, uint64_t from,
			     uint64_t to);
/* Complete and remove the oldest. */
void pier__soft_req_complete(struct soft_qp *qp, enum ibv_wc_status status);
/* In SQD: is what was begun completed? */
bool pier__soft_req_is_drained(const struct soft_qp *qp);
/* In SQD: report it if it is. */
void pier__soft_req_drained(struct soft_qp *qp);
enum ibv_wc_opcode pier__soft_wc_opcode(uint8_t opcode);
/* post_send.c: put @wqe, which is counted in posted, behind the others. */
void pier__soft_req_queue(struct soft_qp *qp, struct soft_wqe *wqe);

/* How many sequence numbers the packet of @wqe that begins at @seq takes. */
uint32_t pier__soft_wqe_span(const struct soft_wqe *wqe, uint64_t seq);

/*
 * board.c: which packets the peer lacks.  Without a board nothing is known to
 * be missing.  Errors of allocation make the caller go back N.
 */
/* @in, a selective acknowledgement, says what is held from @seq on. */
int pier__soft_board_read(struct soft_qp *qp, const struct soft_packet *in,
			  uint64_t seq);
/* Mark what is missing for too long as lost. */
void pier__soft_board_check(struct soft_qp *qp);
/* No answer comes: mark one packet to be sent again. */
int pier__soft_board_tail(struct soft_qp *qp);
/* [una, @to) of @wqe, the oldest, is acknowledged.  Returns its cost. */
uint32_t pier__soft_board_acked(struct soft_qp *qp, const struct soft_wqe *wqe,
				uint64_t to);
/* The response @seq, of @wqe, has arrived. */
int pier__soft_board_answered(struct soft_qp *qp, const struct soft_wqe *wqe,
			      uint64_t seq);
bool pier__soft_board_is_answered(const struct soft_qp *qp, uint64_t seq);
/* All before @seq is executed, though responses before it are missing. */
int pier__soft_board_passed(struct soft_qp *qp, uint64_t seq);
/* One past what of the oldest packet's request is complete from una on. */
uint64_t pier__soft_board_complete(const struct soft_qp *qp);
/* Can more packets that are lost be sent again? */
bool pier__soft_board_can_send(const struct soft_qp *qp);
/* The first lost packet, or part of a READ, into @note. */
void pier__soft_board_next(const struct soft_qp *qp, struct soft_tx_note *note);
/* The packet of @note was sent; it was not; it can never be. */
void pier__soft_board_sent(struct soft_qp *qp, const struct soft_tx_note *note);
void pier__soft_board_undo(struct soft_qp *qp, const struct soft_tx_note *note);
void pier__soft_board_drop(struct soft_qp *qp, const struct soft_tx_note *note);
void pier__soft_board_free(struct soft_qp *qp);

/* board_pool.c: one whose contents are not set, or NULL; give it back. */
struct soft_board *pier__soft_board_take(struct soft_ep *ep);
void pier__soft_board_put(struct soft_ep *ep, struct soft_board *board);
/* The boards that @ep keeps.  -ENOMEM: those that there are stay. */
int pier__soft_board_reserve(struct soft_ep *ep);
void pier__soft_board_free_all(struct soft_ep *ep);

/* requester_ack.c: acknowledgements of requests, and their timeouts. */
void pier__soft_req_receive(struct soft_qp *qp, const struct soft_packet *in);
/* @wqe, the oldest, is acknowledged up to @to, at most its end. */
void pier__soft_req_advance(struct soft_qp *qp, struct soft_wqe *wqe,
			    uint64_t to);
/* What was timed is answered. */
void pier__soft_req_timed(struct soft_qp *qp);
/* The timer of @qp, which runs @late ns after it was due. */
void pier__soft_req_timer(struct soft_qp *qp, uint64_t late);
/* Set the timer to what is due first. */
void pier__soft_req_arm(struct soft_qp *qp);
/* A packet was sent when nothing was unacknowledged. */
void pier__soft_req_start_timer(struct soft_qp *qp);

/*
 * requester_read.c: a response to the READ or atomic that is the oldest; one
 * ahead of it.  The first returns false if it is as one that has not come, the
 * second 1, 0 if it is not new, or -1 if it cannot be used.
 */
bool pier__soft_req_answered(struct soft_qp *qp, const struct soft_packet *in);
int pier__soft_req_answered_early(struct soft_qp *qp,
				  const struct soft_packet *in, uint64_t seq);

/* responder.c: requests executed. */
void pier__soft_resp_init(struct soft_resp *resp, uint32_t psn);
void pier__soft_resp_receive(struct soft_qp *qp, const struct soft_packet *in);
/* Complete the current receive, if there is one. */
void pier__soft_resp_complete(struct soft_qp *qp, struct ibv_wc *wc);

/* early.c: requests that arrive ahead of a gap. */
/*
 * Hold a copy of @in.  Returns false if there is no space for it, or if one was
 * held that differs, which then is not any more.
 */
bool pier__soft_early_hold(struct soft_qp *qp, const struct soft_packet *in,
			   uint64_t seq);
/* The one that is expected now, which the caller frees; NULL: none. */
struct soft_held *pier__soft_early_take(struct soft_qp *qp);
/* Write which are held behind the expected one.  Returns the bytes. */
uint32_t pier__soft_early_bitmap(struct soft_qp *qp);
/* Drop all; the second is not called while a batch is built. */
void pier__soft_early_clear(struct soft_qp *qp);
void pier__soft_early_free(struct soft_qp *qp);

/*
 * fault.c: NAK the request @in, which ends @qp, and report that to the program;
 * the same for a SEND whose receive has failed, which reports it to a program
 * of verbs; and for the READ that was to be at @res.
 */
void pier__soft_refuse(struct soft_qp *qp, const struct soft_packet *in,
		       uint8_t syndrome);
void pier__soft_refuse_send(struct soft_qp *qp, const struct soft_packet *in,
			    uint8_t syndrome);
void pier__soft_refuse_read(struct soft_qp *qp, const struct soft_res *res);
/* Forget it: @qp is reset. */
void pier__soft_fault_free(struct soft_qp *qp);

/* responder_reply.c: responses and acknowledgements. */
void pier__soft_reply_ack(struct soft_qp *qp);
/* Report what was received and what is held; with nothing held a NAK. */
void pier__soft_reply_selective(struct soft_qp *qp);
/* A NAK other than sequence and RNR ends the QP. */
void pier__soft_reply_nak(struct soft_qp *qp, uint8_t syndrome);
/* Are as many responses to be sent as there may be? */
bool pier__soft_reply_is_full(struct soft_qp *qp);
/* A place for a new result; NULL: the peer has too many in flight. */
struct soft_res *pier__soft_reply_new(struct soft_qp *qp);
/* Send packets [@start, @end) of @res. */
void pier__soft_reply_start(struct soft_qp *qp, struct soft_res *res,
			    uint32_t start, uint32_t end);
/*
 * Send them, up to byte @bytes of the result, besides what else of @res is to
 * be sent; if there is no space for that, the peer asks again.
 */
void pier__soft_reply_part(struct soft_qp *qp, const struct soft_res *res,
			   uint32_t start, uint32_t end, uint32_t bytes);
/* The end of a ring of parts: @ep keeps one, for the first QP that needs it. */
void pier__soft_reply_put_parts(struct soft_ep *ep, struct soft_part *parts);
/* The result that has @seq, or NULL. */
struct soft_res *pier__soft_reply_find(struct soft_qp *qp, uint64_t seq);
bool pier__soft_reply_pending(const struct soft_qp *qp);
/* One packet.  Returns 0 if there is none to send. */
int pier__soft_reply_send(struct soft_qp *qp);
/* The packet of @note was sent; it was not. */
void pier__soft_reply_sent(struct soft_qp *qp, const struct soft_tx_note *note);
void pier__soft_reply_undo(struct soft_qp *qp, const struct soft_tx_note *note);
/*
 * @qp ends.  The first drops the results not sent yet and keeps an
 * acknowledgement of what was received before them; the second sends that
 * acknowledgement as well, between rounds.
 */
void pier__soft_reply_drop_results(struct soft_qp *qp);
void pier__soft_reply_final_ack(struct soft_qp *qp);

/* ack_coalesce.c: ACKs that wait for the next message, or for an answer. */
void pier__soft_ack_coalesce_init(struct soft_ack_coalesce *coalesce);
/* The program has posted a request. */
void pier__soft_ack_coalesce_posted(struct soft_qp *qp);
void pier__soft_ack_coalesce_cancel(struct soft_qp *qp);
/* The peer has retransmitted a message. */
void pier__soft_ack_coalesce_duplicate(struct soft_qp *qp);
/* Those that could leave now wait for an answer, if one often comes soon. */
void pier__soft_ack_coalesce_hold(struct soft_ep *ep);
/* Schedule those whose wait is over; @all: every one. */
void pier__soft_ack_coalesce_run(struct soft_ep *ep, bool all);
/* When the first wait ends; PIER__NEVER. */
uint64_t pier__soft_ack_coalesce_due(const struct soft_ep *ep);

/* probe.c: count @tx, which is sent and has no payload. */
void pier__soft_qp_sent_alone(struct soft_qp *qp, const struct soft_tx *tx);

/* cnp.c: a packet was received that a switch has marked; a CNP was. */
void pier__soft_cnp_marked(struct soft_qp *qp, const struct soft_packet *in);
void pier__soft_cnp_receive(struct soft_qp *qp);

#endif
