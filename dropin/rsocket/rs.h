/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_DROPIN_RSOCKET_RS_H
#define PIER_DROPIN_RSOCKET_RS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

/*
 * Sockets over RDMA.  A stream is a connection of rdma_cm.  Each side has a
 * ring of memory that the other writes to; it is given to it in halves.
 *
 * WHAT IS ON THE WIRE.  REQ and REP have struct rs_hello as private data.  Each
 * message is an RDMA write with immediate: 3 bits of enum rs_op, and 29 bits:
 *
 *   RS_DATA	bytes for the ring, so many; takes one credit
 *   RS_GRANT	credits end at this number, modulo 2^16; with a struct rs_range,
 *		it also gives the next half of the ring
 *   RS_IOMAP	memory for riowrite(3), in this place of the table of the peer
 *   RS_CONTROL	enum rs_control
 *
 * A datagram socket is a UDP socket.
 */
#define RS_VERSION 1
#define RS_BIG_ENDIAN (1 << 0)		/* ranges are; flags of the hello */
#define RS_HAS_IOMAP (1 << 1)
#define RS_OP_SHIFT 29
#define RS_CONTROLS 4			/* messages that take no credit */
#define RS_HALVES 2
#define RS_TRANSFER 65536		/* bytes of a message, at most */
#define RS_IOMAPS 128			/* at most */
#define RS_LINGER_S 5			/* of rclose(3), without SO_LINGER */
#define RS_ALIVE_MS 1000		/* that a thread waits for a peer, */
					/* which may have been killed */

enum rs_op { RS_DATA = 0, RS_WRITE = 2, RS_GRANT = 4, RS_IOMAP = 6,
	     RS_CONTROL = 7 };

enum rs_control { RS_DISCONNECT, RS_KEEPALIVE, RS_SHUTDOWN };

struct rs_range {
	uint64_t addr;
	uint32_t key, len;
};

struct rs_iomap {
	uint64_t offset;
	struct rs_range range;
};

/* In network order. */
struct rs_hello {
	uint8_t version, flags;
	uint16_t credits;
	uint8_t reserved[3];
	uint8_t iomaps;			/* places of its table, as a code */
	struct rs_range table;		/* for ranges, and iomaps behind them */
	struct rs_range data;		/* the first half of the ring */
};

enum rs_state {
	RS_NEW,
	RS_LISTENING,
	RS_CONNECTING,
	RS_CONNECTED,
	RS_DISCONNECTED,		/* by the peer, or by us */
	RS_FAILED,			/* with err */
	RS_REFUSED,			/* the same, of an attempt: the next */
					/* may succeed */
};

/* What peers write to: registered as a whole, the ring behind it. */
struct rs_table {
	struct rs_range range[RS_HALVES];
	struct rs_iomap iomap[RS_IOMAPS];
	uint8_t ring[];
};

/* Memory that the peer may write by riowrite(3). */
struct rs_mapped {
	void *buf;
	size_t len;
	uint64_t offset;
	struct ibv_mr *mr;		/* NULL: the place is free */
	bool pending;			/* the peer does not have it */
};

struct rs {
	pthread_mutex_t lock;		/* of all below */
	struct rs *next;		/* that is free, of rs_table.c */
	unsigned int users;		/* in calls; the last one frees it */
	bool closed;
	int fd;				/* of the program: an epoll set of */
					/* what wakes, or the UDP socket */
	int family;
	bool datagram;
	bool nonblocking;
	enum rs_state state;
	int err;			/* for SO_ERROR */
	bool readable, writable;	/* not shut down */
	bool ended;			/* RS_DISCONNECT was posted */

	struct rdma_event_channel *channel;	/* owned */
	struct rdma_cm_id *id;		/* owned */
	struct sockaddr_storage bound;	/* by the program; or of no family */
	struct ibv_comp_channel *comp;	/* owned, as below; or NULL */
	struct ibv_cq *cq;
	struct ibv_mr *send_mr, *table_mr;
	uint8_t *send_ring;
	struct rs_table *table;
	int wake;			/* an eventfd: readable if something */
	uint64_t alive_at;		/* pier__rs_alive() writes; 0: unset */
	unsigned int sleepers;		/* changes while there are any */
	unsigned int round, to_wake;	/* sleepers of rounds before this one */
	bool again;			/* it has changed since */
	unsigned int polls;

	/* Options. */
	uint32_t sq_size, rq_size, inline_size, sbuf_size, rbuf_size;
	uint32_t iomaps;
	int ints[8];			/* rs_option.c */
	struct linger linger;

	/* Sending. */
	uint32_t send_free, send_at;	/* bytes of the ring */
	uint32_t sends, controls;	/* that may be posted */
	uint16_t seq, seq_end;		/* credits */
	struct rs_range target[RS_HALVES];
	unsigned int target_at;
	struct rs_range peer_table;
	uint32_t peer_iomaps;
	bool swap;			/* the peer has another byte order */

	/* Receiving. */
	uint32_t *lens;			/* of messages, a ring of rq_size */
	uint32_t first, count;		/* of them */
	uint32_t bytes;			/* in them */
	uint32_t at;			/* in the ring: of the next byte */
	uint32_t returned, free_at;	/* bytes to be given to the peer */
	unsigned int grant_range, landed;	/* whose turn it is */
	uint16_t taken, taken_end;	/* messages; when to grant */

	struct rs_mapped mapped[RS_IOMAPS];
	bool any_pending;
};

/* rs_table.c.  NULL with EBADF: @fd is none. */
struct rs *pier__rs_find(int fd);
/*
 * Of what pier__rs_find() has found, whose memory stays; only the kind of
 * socket may be looked at without.  Returns -1 with EBADF: it was closed.
 */
int pier__rs_lock(struct rs *rs, int fd);
void pier__rs_unlock(struct rs *rs);
/* Without an id.  NULL with errno. */
struct rs *pier__rs_new(int family);
/* Returns its fd, or -1 with errno: then it is freed. */
int pier__rs_add(struct rs *rs);
void pier__rs_free(struct rs *rs);

/* rs_conn.c.  Handle events of the connection.  With the lock held, as all */
/* that follows. */
void pier__rs_events(struct rs *rs);
void pier__rs_fail(struct rs *rs, int err);
int pier__rs_shutdown(struct rs *rs, int how, uint64_t end);
/* Wait until what was sent is at the peer, at most until @end. */
void pier__rs_settle(struct rs *rs, uint64_t end);

/* rs_queue.c: its queues and memory.  Returns -1 with errno. */
int pier__rs_set_up(struct rs *rs);
void pier__rs_tear_down(struct rs *rs);	/* all is as before that */
/* The hello of @rs; that of the peer, of @len bytes.  Returns false: bad. */
void pier__rs_hello(const struct rs *rs, struct rs_hello *ret);
bool pier__rs_greeted(struct rs *rs, const struct rs_hello *from, size_t len);
/* Post a write with @op and @value; @src: NULL without data. */
int pier__rs_post(struct rs *rs, enum rs_op op, uint32_t value,
		  const void *src, uint32_t len, uint64_t to, uint32_t key);
/*
 * A thread has waited for the peer.  One that was killed sends nothing: write
 * no bytes to it, once in RS_ALIVE_MS, which fails if it is not there.
 */
void pier__rs_alive(struct rs *rs);
/* Handle what has come. */
void pier__rs_progress(struct rs *rs);

/* rs_wait.c.  A thread sleeps: what changes wakes it. */
void pier__rs_changed(struct rs *rs);
/* How long to wait until @end, a time of pier__now(), in one piece, in ms. */
int pier__rs_wait_ms(uint64_t end);
/* Before a thread waits for rs->fd, without the lock; and after that, with */
/* the round that was returned. */
unsigned int pier__rs_sleep(struct rs *rs);
void pier__rs_awake(struct rs *rs, unsigned int round);
/*
 * Wait until @is is true.  Returns -1 with errno: EAGAIN, it is not and @now or
 * the socket is non-blocking; EINTR.
 */
int pier__rs_wait(struct rs *rs, bool (*is)(const struct rs *rs), bool now);
/* The same of any socket; EAGAIN at @end, a time of pier__now(); 0: at once. */
int pier__rs_wait_until(struct rs *rs, bool (*is)(const struct rs *rs),
			uint64_t end);

/* rs_send.c, rs_recv.c. */
#define RS_SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | \
		       MSG_WAITALL)	/* which rstream has */
#define RS_RECV_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_PEEK | \
		       MSG_WAITALL | MSG_CMSG_CLOEXEC)
bool pier__rs_can_send(const struct rs *rs);
/* The errno of why not, for ever. */
int pier__rs_cannot_send(const struct rs *rs);
bool pier__rs_can_recv(const struct rs *rs);
bool pier__rs_all_sent(const struct rs *rs);
void pier__rs_grant(struct rs *rs);
/* Up to @len bytes into the send ring, in one piece.  Returns how many. */
uint32_t pier__rs_stage(struct rs *rs, const void *src, size_t len,
			uint8_t **ret);

/* rs_option.c: give the id, which is new, the options of @rs. */
int pier__rs_set_id(struct rs *rs);

/* rs_iomap.c: send the peer what it does not have yet. */
int pier__rs_send_iomaps(struct rs *rs);

#endif
