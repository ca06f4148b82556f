/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_CHAN_H
#define PIER_FABRIC_SOFT_IO_CHAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "fabric/fabric.h"
#include "fabric/soft/rc/ep.h"
#include "fabric/soft/wire/packet.h"

/*
 * A channel: an endpoint, its socket, and what wakes a thread that waits for
 * it.  It may have further sockets: on its port, but bound to an address that
 * its connections use; and on further ports, 4791, where RoCE devices send to,
 * and those of its listeners.  "The socket" below stands for all of them.
 *
 * WHO DRIVES the endpoint is the program's thread or the helper (helper.h),
 * never both: each holds the endpoint's lock meanwhile.  The state below is
 * changed under that lock, but for @calls, @recall and @checking, which are
 * atomic, and the helper's own, which belongs to the helper's lock.
 *
 *   PROGRAM            The program has called within the last checks.  It
 *                      drives in its calls.
 *   PROGRAM_WOKEN      The program armed the channel, and something came,
 *                      which has made chan.fd readable.  It has 2 ms to
 *                      make a call.
 *   HELPER             The program makes no calls: the helper drives on every
 *                      packet and deadline.
 *
 *   armed              From arm to clear: the program may wait for chan.fd.
 *                      The socket and the timer make it readable, and if the
 *                      helper produces completions, the eventfd does.  Only
 *                      then is the socket in chan.fd: each packet to a socket
 *                      in an epoll set costs its sender time.
 *
 * The helper notices a change in one of two ways, and one of them is in force
 * at any time:
 *
 *   checking           It checks every 2 ms whether @calls grew.
 *   watching           Its epoll set has the socket and the timer, for one
 *                      event.  Who drives must keep the timer on the
 *                      endpoint's deadline.  If memory fails it checks
 *                      instead.  An event that was reported stays in the set,
 *                      disabled, which costs senders nothing.
 *
 *   check: @calls grew                 -> checking
 *   check: not, armed, PROGRAM         -> watching
 *   check: not, otherwise              -> HELPER, drive, watching
 *   event: @calls grew                 -> checking
 *   event: not, HELPER                 drive, -> watching
 *   event: not, otherwise              -> PROGRAM_WOKEN, checking
 *   call                               -> PROGRAM; if it was HELPER, @recall
 *                                      wakes the helper, which is -> checking
 *
 * Nothing is lost at a change.  Socket and timer are level triggered; what was
 * there before epoll_ctl(2) is reported as well.  Packets that were taken from
 * the socket and not yet handled count as work: a thread that stops driving,
 * while the helper is not checking, goes on until nothing is left, or sets the
 * timer to now.  A program that polls may be given completions before their
 * acknowledgements are sent (@held): at the next call, or the helper's check.
 *
 * always             Programs written for libibverbs poll memory, or make no
 *                    calls for long.  The helper is always watching, as it
 *                    drives at every event, whether the program calls or not;
 *                    that drives in its calls, too.  No call wakes the helper.
 *                    A program that has found queues empty SOFT_EMPTY_POLLS
 *                    times, since it armed one or made no call, drives, so that
 *                    the helper stays away, as for others, until it finds no
 *                    poll, as other calls receive nothing: but not if a peer
 *                    has used memory by itself, which needs no call to be seen.
 *                    The helper that finds the program in a call does not wait
 *                    for its end, which would cost both a switch: the program
 *                    does the helper's work then (@due).  While the program
 *                    finds a queue empty again and again, the helper does not
 *                    watch the socket that packets come by (@unwatched), but
 *                    the timer, which is set to the next check.
 *                    While it is watched only for its memory, acknowledgements
 *                    wait for its answer, with which they leave
 *                    (rc/ack_coalesce.c): a peer that polls for its completion
 *                    receives both itself, and its helper sleeps on.
 *
 * A call counts in @calls before it waits for the lock, and the helper stops
 * driving when it sees that: the program waits for at most one round.
 */
#define SOFT_EMPTY_POLLS 64

enum soft_driver {
	SOFT_PROGRAM,
	SOFT_PROGRAM_WOKEN,
	SOFT_HELPER,
};

/* The losses of a socket that are counted already. */
struct soft_sock_seen {
	uint64_t refused, bad;
	uint64_t lost, corrupted;	/* by PIER_FAULTS */
	uint32_t overflows;
};

/* A further socket. */
struct soft_chan_sock {
	struct soft_sock_seen seen;
	struct in6_addr ip;		/* that it is bound to, or none */
	struct soft_io *io;		/* owned; NULL: the place is free */
	int fd;				/* io's */
};

struct soft_chan_cm;
struct soft_shm;

struct soft_chan {
	struct pier__chan chan;		/* first; fd is an epoll set */
	struct soft_io *io;		/* owned */
	struct soft_ep *ep;		/* owned */
	struct soft_row *row;		/* of the counters file, or NULL */
	struct soft_shm *shm;		/* owned; NULL: off */
	int sock;			/* io's */
	struct soft_sock_seen seen;	/* of it */
	struct soft_chan_sock extra[SOFT_EXTRA_SOCKS];
	int extra_end;			/* behind the last one ever in use */
	struct soft_chan_sock *roce_sock;	/* of port 4791, or NULL */
	struct soft_chan_sock *group_sock;	/* of multicast, or NULL */
	unsigned int roce_port_users;	/* counted, temporary */
	bool roce_port_held;		/* until the channel's end */
	bool group_port_used;		/* port 4791, by the groups */
	struct soft_chan_cm *cm;	/* owned, or NULL */
	void (*cm_free)(struct soft_chan_cm *cm);	/* set with it */
	int timer, wake_fd;		/* owned */
	bool verbs;			/* of a program for libibverbs */
	unsigned int empties;		/* SOFT_EMPTY_POLLS at most */
	bool empty;			/* a queue is, in this call */
	bool ending;			/* the process is */
	int unwatched;			/* a socket, for now; -1: none */
	atomic_bool always;		/* the helper is always watching */

	atomic_uint calls;		/* of the program; it alone writes */
	atomic_uint polls;		/* the same, of those: verbs */
	atomic_bool recall;		/* the helper is to check at once */
	atomic_bool checking;		/* the helper alone writes */
	atomic_bool due;		/* the program drives for the helper */

	/* Under the endpoint's lock. */
	struct pier__list cqs;		/* of struct soft_chan_cq */
	enum soft_driver driver;
	bool armed;
	bool woken;			/* wake_fd is readable */
	unsigned int posts;		/* since the last poll */
	unsigned int held;		/* the last polls sent nothing */
	unsigned int direct_polls;	/* the last ones received nothing */
	uint64_t timer_at;		/* PIER__NEVER: off */

	/* The helper's. */
	struct pier__list link;
	void (*port_event)(struct pier__chan *chan);	/* or NULL */
	uint64_t id;			/* never 0, never used again */
	uint64_t check_at;		/* PIER__NEVER: not checking */
	unsigned int calls_seen;
};

struct soft_chan_cq {
	struct pier__cq cq;		/* first */
	struct soft_cq *queue;		/* owned */
	bool armed;			/* the next completion wakes: */
	void (*wake)(struct soft_chan_cq *cq);	/* NULL: by chan.fd */
	struct pier__list link;
};

static inline struct soft_chan *chan_of(struct pier__chan *chan)
{
	return (struct soft_chan *)chan;
}

int pier__soft_chan_create(struct pier__fdev *fdev, uint32_t shm,
			   struct pier__chan **ret);

/*
 * The same for a program written for libibverbs, which may poll memory for what
 * its peer writes, and have several threads.  The helper watches always.
 * Errors also: -EADDRINUSE, all ports that QPNs can carry are taken.
 */
int pier__soft_chan_create_verbs(struct pier__fdev *fdev,
				 struct pier__chan **ret);
void pier__soft_chan_destroy(struct pier__chan *chan);

/* The flight recorder on or off: enum pier_events; 0: the environment's. */
void pier__soft_chan_record(struct pier__chan *pchan, uint32_t events);

/* The fabric's members of the same names. */
void pier__soft_chan_clear(struct pier__chan *chan);
int pier__soft_chan_arm(struct pier__cq *cq);

/*
 * Around everything that the program's thread does to the endpoint.  @did:
 * non-zero if the endpoint may have more to do.
 */
void pier__soft_chan_begin(struct soft_chan *chan);
void pier__soft_chan_end(struct soft_chan *chan, int did);

/*
 * Send what there is, after a poll that has given the program @n completions.
 * Returns non-zero if something was sent.  Between begin and end.
 */
int pier__soft_chan_send(struct soft_chan *chan, int n);

/*
 * A program written for libibverbs has received, in a poll of a queue that gave
 * @n completions; it has armed a queue.  Between begin and end.
 */
void pier__soft_chan_polled(struct soft_chan *chan, int n);
void pier__soft_chan_events(struct soft_chan *chan);

/* Between begin and end; or the helper, holding the endpoint. */

/* Is the helper to be watching always? */
static inline bool pier__soft_chan_is_watched(const struct soft_chan *chan)
{
	return chan->verbs && (chan->empties < SOFT_EMPTY_POLLS ||
			       chan->ep->one_sided);
}

/* Count what the sockets have lost since the last call. */
void pier__soft_chan_publish(struct soft_chan *chan);

/* Set the timer to the endpoint's deadline, or earlier. */
void pier__soft_chan_set_timer(struct soft_chan *chan);

/*
 * Receive on UDP port 4791 as well, until the channel's end.
 * The program's thread, between begin and end.
 * Errors: -EADDRINUSE, the port is taken; -ENOMEM; those of socket(2).
 */
int pier__soft_chan_roce_port_hold(struct soft_chan *chan);

/*
 * The same, counted: returns false if the port is taken.  The port is closed
 * by pier__soft_chan_roce_port_close() if its count is 0.  Also the helper.
 */
bool pier__soft_chan_roce_port_use(struct soft_chan *chan, bool on);
void pier__soft_chan_roce_port_close(struct soft_chan *chan);

/*
 * The same for what can receive from RoCE devices, which are not on lo: *@used
 * is whether it has the port.  Nothing fails without that.
 */
void pier__soft_chan_roce_port_want(struct soft_chan *chan, bool *used);
void pier__soft_chan_roce_port_give(struct soft_chan *chan, bool *used);

/*
 * Receive on @port, 0 for a free one, of @ip, or of all addresses, as well.
 * Errors: -EADDRINUSE; -EMFILE, too many of them; -ENOMEM.
 */
int pier__soft_chan_sock_open(struct soft_chan *chan, const struct in6_addr *ip,
			      uint16_t port, struct soft_chan_sock **ret);
void pier__soft_chan_sock_close(struct soft_chan *chan,
				struct soft_chan_sock *sock);

/*
 * The socket to send from @ip with, which also receives for @ip.  If @ip
 * cannot have a socket of its own it is the channel's.  Between begin and end.
 * Errors: -ENOMEM.
 */
int pier__soft_chan_bound(struct soft_chan *chan, const struct in6_addr *ip,
			  struct soft_io **ret);

/*
 * Multicast: @qp, which is UD, is in @group, once; and no longer, of which one
 * that was in none returns false.  Between begin and end.
 * Errors: -EINVAL, it is no group; -ENOMEM; those of socket(2) and ip(7).
 */
int pier__soft_chan_join(struct soft_chan *chan, struct soft_qp *qp,
			 const struct in6_addr *group);
bool pier__soft_chan_leave(struct soft_chan *chan, struct soft_qp *qp,
			   const struct in6_addr *group);
/* @qp, which ends, is in no group. */
void pier__soft_chan_leave_all(struct soft_chan *chan, struct soft_qp *qp);

/* Have @fd in chan.fd.  Errors: those of epoll_ctl(2). */
int pier__soft_chan_watch(struct soft_chan *chan, int fd);

/*
 * @qp was taken to RTR: try shared memory.  Between begin and end.
 */
void pier__soft_chan_connected(struct soft_chan *chan, struct soft_qp *qp);

/*
 * Count what @qp, which is new, does in a row of the counters file, which is
 * returned, and record its events there.  After the QP has ended the caller
 * puts the row back.  NULL: none is free.
 */
struct soft_row *pier__soft_chan_show(const struct soft_chan *chan,
				      struct soft_qp *qp);
/* It was connected: @row, or NULL, has the addresses. */
void pier__soft_chan_show_peer(struct soft_row *row,
			       const struct soft_addr *src,
			       const struct ibv_qp_attr *attr,
			       uint16_t udp_port);

/*
 * The rings of shared memory are polled no more, so a peer has to ring; they
 * are polled again.  No effect without shared memory.
 */
void pier__soft_chan_sleep(struct soft_chan *chan);
void pier__soft_chan_wake(struct soft_chan *chan);

/*
 * Enter the endpoint at the end of the process.  A thread that has it is in a
 * short call, unless this is called from within one, by a signal handler that
 * ends the process: false then.
 */
bool pier__soft_chan_enter_last(struct soft_chan *chan);
/* At that end, or the channel's: send the acknowledgements that wait. */
void pier__soft_chan_acknowledge(struct pier__chan *chan);

/*
 * A round of driving, as pier__soft_ep_drive().  If the helper is always
 * watching, acknowledgements wait for the program's answer.
 */
int pier__soft_chan_drive(struct soft_chan *chan);

/* Make chan.fd readable if an armed queue has a completion. */
void pier__soft_chan_notify(struct soft_chan *chan);

#endif
