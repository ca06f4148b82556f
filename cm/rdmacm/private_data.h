/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RDMACM_PRIVATE_DATA_H
#define PIER_CM_RDMACM_PRIVATE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What pier puts into the private data of a CM message, before the user's.
 * Of REQ and REP, numbers in network order:
 *
 *	0  "pier"	4  version	5  message limit's log2 * 8 + access
 *	6  0x8000: blob; user's length	8  device	16  control word
 *	22 its key	26 nonce	30 user's data
 *
 * Addresses have 48 bits.  Data that does not fit is a blob in the sender's
 * memory: at 30 its address, at 36 its key, at 40 as much of the data as fits.
 * Of REJ:
 *
 *	0  "pier"	4  version	5  enum pier__reject_reason
 *	6  user's length		8  user's data
 */
#define PIER__CM_FRAME_VERSION 1
#define PIER__CM_FRAME_HEAD 30
#define PIER__CM_FRAME_BLOB 10
#define PIER__CM_FRAME_REJ 8
#define PIER__CM_FRAME_DATA_MAX 4096

struct pier__cm_frame {
	uint8_t dev_id[8];
	uint64_t ctl_addr;
	uint32_t ctl_rkey;
	uint32_t nonce;		/* never 0 */
	uint32_t access;	/* PIER_REMOTE_* */
	uint64_t message;	/* bytes, a power of two */
	size_t len;		/* of the user's data */
	bool blob;		/* read it from there: */
	uint64_t blob_addr;
	uint32_t blob_rkey;
	const uint8_t *data;	/* as much of it as the message has */
	size_t data_len;
};

/* Why pier has rejected a request. */
enum pier__reject_reason {
	PIER__REJECT_BY_PROGRAM = 1,
	PIER__REJECT_FULL,	/* max_conns are in use */
	PIER__REJECT_LATE,	/* the program did not decide in time */
	PIER__REJECT_VERSION,	/* another version of the frame */
	PIER__REJECT_MALFORMED,
	PIER__REJECT_CLOSING,	/* it has just stopped listening */
	PIER__REJECT_BUSY,	/* more are pending than its backlog, or */
				/* this one for too long */
	PIER__REJECT_ELSEWHERE,	/* it listens at another address: the data */
				/* is the GID, by the device: elsewhere of */
				/* struct pier__cm */
};

struct pier__cm_reject {
	enum pier__reject_reason reason;
	const uint8_t *data;
	size_t len;
};

/* What a peer knows of a limit of @message bytes: a power of two. */
uint64_t pier__cm_message_limit(uint64_t message);

/* Does a field of @size bytes hold @len bytes of data without a blob? */
bool pier__cm_frame_fits(size_t size, size_t len);

/*
 * Write @frame, of whose data all @frame->len bytes are at @frame->data, into
 * a field of @size bytes.  Returns the length.  Errors: -EOVERFLOW, an
 * address that does not fit.
 */
int pier__cm_frame_encode(const struct pier__cm_frame *frame, void *buf,
			  size_t size);

/*
 * Read the whole field of a message.  ret->data points into it.
 * Errors: -ENOENT, it has none; -PIER_EVERSION; -PIER_EDESC, malformed.
 */
int pier__cm_frame_decode(const void *field, size_t size,
			  struct pier__cm_frame *ret);

/* The same for REJ. */
int pier__cm_reject_encode(const struct pier__cm_reject *reject, void *buf,
			   size_t size);
int pier__cm_reject_decode(const void *field, size_t size,
			   struct pier__cm_reject *ret);

#endif
