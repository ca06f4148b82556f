/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_VERBSCHAN_H
#define PIER_T_LIB_VERBSCHAN_H

#include "fabric/soft/io/chan.h"
#include "fabric/soft/rc/qp.h"

/*
 * Queue pairs on channels for programs written for libibverbs, on the loopback
 * interface, by UDP.  What fails ends the program.
 */
#define VERBSCHAN_ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct verbschan {
	struct soft_chan *chan;
	struct soft_chan_cq cq;		/* of the queue pair alone */
	struct soft_qp *qp;
};

/* Open soft_lo. */
struct pier__fdev *verbschan_device(void);

/* A channel; what is on it is closed before it. */
struct pier__chan *verbschan_create(struct pier__fdev *fdev);

/* @len bytes at @addr with all rights. */
struct pier__mr *verbschan_reg(struct pier__fdev *fdev, void *addr, size_t len);

/*
 * A queue pair on @chan, with @depth requests, @cqe completions and receives of
 * @srq, or NULL; and its end.
 */
void verbschan_open(struct soft_chan *chan, uint32_t depth, uint32_t cqe,
		    struct soft_srq *srq, struct verbschan *ret);
void verbschan_close(struct verbschan *end);

/* Take @end's queue pair to RTS, with that of @peer. */
void verbschan_connect(struct verbschan *end, const struct verbschan *peer);

/* As ibv_post_send() and ibv_poll_cq() do it.  Any thread. */
int verbschan_post(struct verbschan *end, struct ibv_send_wr *wr);
int verbschan_poll(struct verbschan *end, struct ibv_wc *wc, int max);

#endif
