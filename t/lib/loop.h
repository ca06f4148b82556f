/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LOOP_H
#define PIER_T_LIB_LOOP_H

#include "fabric/fabric.h"

/*
 * Two channels of one device, with a connected queue pair each, for tests of
 * the fabric.  Calls that fail are a failed check.
 */
#define LOOP_BUF 65536
#define LOOP_CQE 1024
#define LOOP_SRQ 64

struct loop_end {
	struct pier__chan *chan;
	struct pier__cq *cq;
	struct pier__srq *srq;
	struct pier__qp *qp;
	struct pier__mr *mr;		/* of buf, all rights */
	uint8_t *buf;			/* LOOP_BUF */
	struct ibv_wc wc[LOOP_CQE];	/* polled by loop_poll(), not taken */
	int count;
};

struct loop {
	struct pier__fdev *fdev;
	const struct pier__fabric_qp *ops;
	struct loop_end a, b;
};

/*
 * Open the device that PIER_DEVICE names, else the first active one.
 * Returns 0, or a negative error with its message in pier_last_error().
 */
int loop_device(struct pier__fdev **ret);

/* Both ends up to RTS, with send queues of @send_wr; 0: false on failure. */
bool loop_open(struct pier__fdev *fdev, uint32_t send_wr, struct loop *ret);
void loop_close(struct loop *loop);

/* One end's channel, queues, buffer and queue pair in RESET, and their end. */
bool loop_end_open(struct pier__fdev *fdev, uint32_t send_wr,
		   struct loop_end *ret);
void loop_end_close(struct loop_end *end);

/* Move @end's QP from RESET to RTS, talking to @qpn on @udp_port. */
bool loop_connect(struct loop_end *end, uint32_t qpn, uint16_t udp_port);

/* The same, but a failure is the caller's: returns 0 or the error. */
int loop_try(struct loop_end *end, uint32_t qpn, uint16_t udp_port);

/* Both queue pairs anew, connected. */
bool loop_again(struct loop *loop);

/* Poll @end once into its wc.  Returns false if the queue is dead. */
bool loop_poll(struct loop_end *end);

/* Poll both ends until @end has a completion; false: none for 10 s. */
bool loop_wait(struct loop *loop, struct loop_end *end, struct ibv_wc *ret);

/* The same, but the other end is left alone. */
bool loop_wait_alone(struct loop_end *end, struct ibv_wc *ret);

/* Take what @end has, one completion; false: none. */
bool loop_take(struct loop_end *end, struct ibv_wc *ret);

/* Post one signalled request with the piece at @at of @end's buffer. */
bool loop_post(struct loop_end *end, struct ibv_send_wr *wr, size_t at,
	       uint32_t len);

/* A receive into the piece at @at of @end's buffer. */
bool loop_recv(struct loop_end *end, uint64_t wr_id, size_t at, uint32_t len);

#endif
