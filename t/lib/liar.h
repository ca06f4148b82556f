/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_LIAR_H
#define PIER_T_LIB_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A peer that uses the protocol of pier_exchange() by hand, to send in it what
 * pier_exchange() never would.  There is one, and one thread may use it.
 */
#define LIAR_FRAME_MAX (64 * 1024)

enum {	/* the types of frames */
	LIAR_HELLO = 1, LIAR_FILE = 2, LIAR_DATA = 3, LIAR_DONE = 4,
	LIAR_STORED = 5, LIAR_FAILED = 6,
};

extern struct liar {
	int sock;
	uint8_t out[8 * LIAR_FRAME_MAX];	/* what it is going to send */
	size_t len;
	uint8_t frame[LIAR_FRAME_MAX];		/* what it received last, */
	uint64_t number;			/* and that frame's number */
	char text[1024];
} liar;

/* Put one frame behind what is to be sent. */
void liar_add(int type, uint64_t value, const void *bytes, size_t len);
void liar_add_file(const char *name, uint64_t size);
void liar_add_data(size_t len);

/* Make the checksum of a frame right after a change. */
void liar_put_crc(uint8_t *data, size_t len);

/* Send it.  That the other side may be gone is no fault. */
void liar_send(void);

/* The next frame of the other side.  Returns its type; 0: it has closed. */
int liar_recv(void);

/* Receive frames up to one of type @wanted.  False: none came. */
bool liar_recv_until(int wanted);

#endif
