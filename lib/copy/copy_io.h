/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_IO_H
#define PIER_COPY_COPY_IO_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy/copy_record.h"

struct pier_pe;

#define PIER__COPY_SLOTS 16	/* at most */
#define PIER__COPY_PIECE_MIN 65536	/* DATA of fewer begins another slot */
#define PIER__COPY_REPORTS 8	/* that wait for the engine */

/* A part of the memory, and how many bytes of it are records. */
struct pier__copy_slot {
	uint32_t index;
	uint32_t len;
};

struct pier__copy_ring {
	struct pier__copy_slot slot[PIER__COPY_SLOTS];
	uint32_t first, count;
};

/* A file that has failed. */
struct pier__copy_report {
	uint64_t number;	/* 0: of no file */
	bool foreign;		/* the peer has reported it */
	struct pier__copy_error error;
};

/* There are no more slots than a ring has places.  false: it is empty. */
void pier__copy_ring_add(struct pier__copy_ring *ring,
			 struct pier__copy_slot slot);
bool pier__copy_ring_take(struct pier__copy_ring *ring,
			  struct pier__copy_slot *ret);

/* What the receiver has of a file, and the digest of it. */
struct pier__copy_offset {
	uint64_t number, bytes;
	struct pier__copy_digest digest;
};

/*
 * The thread that reads or writes files, beside the engine's.  Slots pass from
 * the engine to the thread and back; each has one owner at a time.
 */
struct pier__copy_io {
	pthread_t thread;
	bool started;
	struct pier_pe *pe;		/* woken for what the thread gives */
	void (*run)(void *arg);
	void *arg;
	atomic_bool cancelled;
	atomic_uint_fast64_t bytes, files;	/* so far */
	atomic_uint_fast64_t progress;	/* grows where it sends nothing */
	atomic_bool syncs;		/* it waits for fsync(2) */
	pthread_mutex_t lock;		/* of the rest */
	pthread_cond_t changed;
	struct pier__copy_ring in, out;	/* for the thread, of the thread */
	struct pier__copy_report report[PIER__COPY_REPORTS];
	uint32_t report_first, report_count;
	struct pier__copy_offset offset;	/* sent, or received */
	bool has_offset;
	bool awaits_offset;		/* the sender's thread */
	atomic_uint_fast64_t refused;	/* a file that is not received */
	char path[PIER__RECORD_PATH + 1];	/* the file in progress */
	uint64_t size;			/* its bytes */
	bool ended;
	int error;			/* of the thread: the copy ends */
	char error_text[PIER__RECORD_TEXT + 1];
};

void pier__copy_io_init(struct pier__copy_io *io, struct pier_pe *pe);

/* Run @run with @arg in the thread.  Errors: those of pthread_create(3). */
int pier__copy_io_start(struct pier__copy_io *io, void (*run)(void *arg),
			void *arg);

/* Wait for the thread, which was cancelled or has ended.  Repeatable. */
void pier__copy_io_fini(struct pier__copy_io *io);

/* The engine's: hand a slot over; take one back; false: none. */
void pier__copy_io_pass(struct pier__copy_io *io, struct pier__copy_slot slot);
bool pier__copy_io_next(struct pier__copy_io *io, struct pier__copy_slot *ret);

/* The engine's: take a report; false: none. */
bool pier__copy_io_next_report(struct pier__copy_io *io,
			       struct pier__copy_report *ret);

/* The engine's: the thread ends soon.  Has it?  And is all of it taken? */
void pier__copy_io_cancel(struct pier__copy_io *io);
bool pier__copy_io_ended(struct pier__copy_io *io);
bool pier__copy_io_drained(struct pier__copy_io *io);

/* The engine's, after the end: the error of the thread, with its message. */
int pier__copy_io_error(struct pier__copy_io *io);

/* The engine's: take an offset to send; false: none.  One was received. */
bool pier__copy_io_next_offset(struct pier__copy_io *io,
			       struct pier__copy_offset *ret);
void pier__copy_io_pass_offset(struct pier__copy_io *io,
			       const struct pier__copy_offset *offset);

/* The engine's: does the thread wait for an offset of the peer? */
bool pier__copy_io_awaits_offset(struct pier__copy_io *io);

/* The engine's: the receiver needs no more of file @number. */
void pier__copy_io_refuse(struct pier__copy_io *io, uint64_t number);

/* The engine's: the file in progress; returns its bytes. */
uint64_t pier__copy_io_current(struct pier__copy_io *io,
			       char ret[PIER__RECORD_PATH + 1]);

/* The thread's: wait for a slot.  Errors: -ECANCELED. */
int pier__copy_io_take(struct pier__copy_io *io, struct pier__copy_slot *ret);
/* The same without waiting.  false: there is none. */
bool pier__copy_io_try_take(struct pier__copy_io *io,
			    struct pier__copy_slot *ret);
void pier__copy_io_give(struct pier__copy_io *io, struct pier__copy_slot slot);

/* The thread's: pass a report on, when the engine has taken enough. */
void pier__copy_io_report(struct pier__copy_io *io,
			  const struct pier__copy_report *report);

/* The receiver's thread: send it.  There is one at a time. */
void pier__copy_io_give_offset(struct pier__copy_io *io,
			       const struct pier__copy_offset *offset);

/*
 * The sender's thread: wait for that of file @number.
 * Errors: -ECANCELED, or it is refused.
 */
int pier__copy_io_take_offset(struct pier__copy_io *io, uint64_t number,
			      struct pier__copy_offset *ret);

/* The thread's: it ends with @err, whose message is its last one. */
void pier__copy_io_fail(struct pier__copy_io *io, int err);

/* The thread's: the file that begins. */
void pier__copy_io_begin(struct pier__copy_io *io, const char *path,
			 uint64_t size);

#endif
