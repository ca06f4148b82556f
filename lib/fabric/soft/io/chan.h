/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_SOFT_IO_CHAN_H
#define PIER_FABRIC_SOFT_IO_CHAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "fabric/fabric.h"
#include "fabric/soft/io/io.h"
#include "fabric/soft/rc/ep.h"

/*
 * A channel: an endpoint, its socket, and what wakes those who wait for it.
 * It may have further sockets: on its port, but bound to an address that its
 * connections use; and on further ports, 4791, where RoCE devices send to,
 * and those of its listeners.  What is said of the socket below holds for all.
 *
 * WHO DRIVES the endpoint is the program's thread or the helper (helper.h),
 * never both: each holds the endpoint's lock meanwhile.  The state below is
 * changed under that lock, but for @calls, @recall and @ask, which are atomic,
 * and the helper's own, which belongs to the helper's lock.
 *
 *   driver = PROGRAM   The program called within the last looks.  It drives
 *                      inline; the helper keeps off.
 *   driver = HELPER    The program did not: the helper drives on every packet
 *                      and deadline.  Set by the helper, ended by the
 *                      program's next call.
 *
 *   asleep             From arm to clear: the program may wait for chan.fd.
 *                      The socket and the timer make it readable, and if the
 *                      helper produces completions, the bell does.
 *
 * The helper notices a change in one of two ways, and one of them is in force
 * at any time:
 *
 *   looking            It looks every few ms whether @calls grew.
 *   watched            Its epoll set has the socket and the timer, for one
 *                      event.  Who drives must keep the timer on the
 *                      endpoint's deadline.  If memory fails it is looking
 *                      instead.
 *
 *   look, @calls grew            stay; the socket leaves the helper's set,
 *                                and if not asleep, chan.fd: packets wake
 *                                nobody, and their senders look at no set.
 *                                A program that is in a call is asked to do
 *                                that at its end: who calls again and again
 *                                might never let the helper in
 *   look, not, asleep            -> watched, PROGRAM
 *   look, not, asleep, had fired -> HELPER, drive, -> watched
 *   look, not, awake             -> HELPER, drive, -> watched
 *   watch fires, @calls grew     -> looking
 *   watch fires, PROGRAM         had fired; -> looking (a look of grace for
 *                                the program, which chan.fd has woken too)
 *   watch fires, HELPER          drive, -> watched
 *   call, HELPER                 -> PROGRAM; recall wakes the helper, which
 *                                is -> looking
 *
 * Nothing is lost at a change.  Socket and timer are level triggered and stay
 * in their sets or are put back in with epoll_ctl(2), which tells of what is
 * there already.  Packets that were taken from the socket and not yet handled
 * count as work: who stops driving, and is not sure to be back within a look,
 * goes on until nothing is left, or sets the timer to now.  A program that
 * polls may be given completions before their acknowledgements are sent
 * (@held): at the next call, or the helper's look.
 *
 * A call counts in @calls before it waits for the lock, and the helper lets
 * go when it sees that: the program never waits for more than one round.
 */
enum soft_driver {
	SOFT_PROGRAM,
	SOFT_HELPER,
};

/* What a socket had lost when it was last asked. */
struct soft_sock_seen {
	uint64_t refused, bad;
	uint32_t overflows;
};

/* A further socket. */
struct soft_chan_sock {
	struct soft_sock_seen seen;
	struct in6_addr ip;		/* that it is bound to, or none */
	struct soft_io *io;		/* owned; NULL: the place is free */
	int fd;				/* io's */
	unsigned int generation;	/* of the place, from 1 */
	unsigned int watched;		/* the helper's: generation, or 0 */
};

struct soft_chan_cm;

struct soft_chan {
	struct pier__chan chan;		/* first; fd is an epoll set */
	struct soft_io *io;		/* owned */
	struct soft_ep *ep;		/* owned */
	struct soft_row *row;		/* of the counters file, or NULL */
	int sock;			/* io's */
	struct soft_sock_seen seen;	/* of it */
	struct soft_chan_sock extra[SOFT_EXTRA_SOCKS];
	struct soft_chan_sock *roce_sock;	/* of port 4791, or NULL */
	unsigned int roce_port_users;	/* counted, temporary */
	bool roce_port_held;		/* until the channel's end */
	struct soft_chan_cm *cm;	/* owned; NULL: none was made yet */
	int timer, bell;		/* owned */

	atomic_uint calls;		/* of the program; it alone writes */
	atomic_bool recall;		/* the helper is to look again */
	atomic_bool ask;		/* the program is to let it keep off */

	/* Under the endpoint's lock. */
	struct pier__list cqs;		/* of struct soft_chan_cq */
	enum soft_driver driver;
	bool asleep;
	bool rung;			/* the bell is */
	bool listening;			/* chan.fd has the socket */
	bool looking;
	bool socks_in;			/* the helper's set has the sockets */
	unsigned int posts;		/* since the last poll */
	bool held;			/* the last poll sent nothing */
	uint64_t timer_at;		/* PIER__NEVER: off */

	/* The helper's. */
	struct pier__list link;
	uint64_t id;			/* never 0, never used again */
	uint64_t look_at;		/* PIER__NEVER: not looking */
	unsigned int calls_seen;
	bool fired;			/* the watch, and nobody came */
	bool sock_watched, timer_watched;
};

struct soft_chan_cq {
	struct pier__cq cq;		/* first */
	struct soft_cq *queue;		/* owned */
	bool armed;			/* its next completion is to be told */
	struct pier__list link;
};

int pier__soft_chan_create(struct pier__fdev *fdev, struct pier__chan **ret);
void pier__soft_chan_destroy(struct pier__chan *chan);

/* The fabric's members of the same names. */
void pier__soft_chan_clear(struct pier__chan *chan);
int pier__soft_chan_arm(struct pier__cq *cq);

/*
 * Around everything that the program's thread does to the endpoint.  @did:
 * non-zero if the endpoint may have more to do.
 */
void pier__soft_chan_begin(struct soft_chan *chan);
void pier__soft_chan_end(struct soft_chan *chan, int did);

/* Between begin and end; or the helper, holding the endpoint. */

/* Count what the sockets have lost since this was last called. */
void pier__soft_chan_publish(struct soft_chan *chan);

/*
 * Have the socket in chan.fd, or not: whoever sends to a socket that is in any
 * set pays for it.  Errors: those of epoll_ctl(2).
 */
int pier__soft_chan_listen(struct soft_chan *chan, bool on);

/* Set the timer to the endpoint's deadline, or earlier. */
void pier__soft_chan_set_timer(struct soft_chan *chan);

/*
 * Be there for peers that send to UDP port 4791, until the channel's end.
 * The program's thread, between begin and end.
 * Errors: -EADDRINUSE, the port is taken; -ENOMEM; those of socket(2).
 */
int pier__soft_chan_roce_port_hold(struct soft_chan *chan);

/*
 * The same, counted and not for ever: returns false if the port is taken.
 * It is given up by reap, when nobody uses it any more.  Also the helper.
 */
bool pier__soft_chan_roce_port_use(struct soft_chan *chan, bool on);
void pier__soft_chan_roce_port_close(struct soft_chan *chan);

/*
 * Receive on @port, 0 for a free one, as well.
 * Errors: -EADDRINUSE; -EMFILE, too many of them; -ENOMEM.
 */
int pier__soft_chan_sock_open(struct soft_chan *chan, uint16_t port,
			      struct soft_chan_sock **ret);
void pier__soft_chan_sock_close(struct soft_chan *chan,
				struct soft_chan_sock *sock);

/*
 * What to send by from @ip, whose packets come there as well.  Where @ip
 * cannot have a socket of its own it is the channel's.  Between begin and end.
 * Errors: -ENOMEM.
 */
int pier__soft_chan_bound(struct soft_chan *chan, const struct in6_addr *ip,
			  struct soft_io **ret);

/* Have @fd in chan.fd.  Errors: those of epoll_ctl(2). */
int pier__soft_chan_watch(struct soft_chan *chan, int fd);

/* With the channel, when nothing drives it any more.  NULL is harmless. */
void pier__soft_chan_cm_free(struct soft_chan_cm *cm);

/* Make chan.fd readable if a completion waits that was asked for. */
void pier__soft_chan_tell(struct soft_chan *chan);

#endif
