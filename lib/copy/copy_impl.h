/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_COPY_COPY_IMPL_H
#define PIER_COPY_COPY_IMPL_H

#include <stdatomic.h>

#include <pier/comch.h>
#include <pier/copy.h>
#include <pier/dev.h>
#include <pier/dma.h>
#include <pier/dma_export.h>
#include <pier/pe.h>

#include "copy/copy_msg.h"
#include "copy/copy_receiver.h"
#include "copy/copy_sender.h"
#include "core/list.h"

#define PIER__COPY_SLOT_SIZE (1u << 20)		/* of a client of ours */
#define PIER__COPY_SLOT_COUNT 6
#define PIER__COPY_SLOT_MIN 16384		/* of any client */
#define PIER__COPY_MEMORY_MAX (8u << 20)	/* of a session */
#define PIER__COPY_SOURCES_MAX 65536		/* of a session */
#define PIER__COPY_SOURCES_BYTES (1u << 20)
#define PIER__COPY_CLIENTS_MAX 64
#define PIER__COPY_TIMEOUT_MIN 100		/* milliseconds */
#define PIER__COPY_TIMEOUT_MAX 86400000
#define PIER__COPY_FLAGS \
	(PIER_COPY_RECURSIVE | PIER_COPY_PRESERVE | PIER_COPY_RESUME)
#define PIER__COPY_SERVER_FLAGS (PIER_COPY_ONCE | PIER_COPY_ANYWHERE)

struct pier_copy {
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_comch *comch;
	struct pier_dma *dma;		/* a server's; else NULL */
	struct pier_buf_inventory *inv;
	struct pier_copy_config cfg;
	struct pier_copy_result result;
	pier_copy_failed_fn *failed;
	pier_copy_progress_fn *progress;
	void *arg;
	atomic_bool stopped;

	/* of a server */
	struct pier__copy_tree root;
	const char *file;		/* the only one; NULL: any below root */
	struct pier__list sessions;
	bool served;			/* a client that made a request */
	int error;			/* of the last client */
	char error_text[PIER__RECORD_TEXT + 1];
};

enum pier__copy_state {
	PIER__COPY_OPENING,	/* HELLO, sources and WELCOME are due */
	PIER__COPY_RUNNING,	/* records pass */
	PIER__COPY_ENDING,	/* END was sent or received */
};

/* A slot that is moved to or from the client by DMA. */
struct pier__copy_move {
	struct pier__copy_session *session;
	struct pier_buf *local, *far;
	struct pier__copy_slot slot;
	bool moving;
};

/* One copy between a client and a server: an end of it. */
struct pier__copy_session {
	struct pier__list link;		/* of the server's */
	struct pier_copy *copy;
	struct pier_comch_conn *conn;	/* NULL: not connected, or ended */
	enum pier__copy_state state;
	enum pier__copy_mode mode;
	bool is_server, sends;		/* this end has the sources */
	uint32_t slots, slot_size;
	struct pier_mmap *memory;
	struct pier_dma_export *exported;	/* the client's */
	struct pier_mmap *remote;		/* the client's memory */
	struct pier__copy_move move[PIER__COPY_SLOTS];	/* the server's */
	struct pier__copy_ring moves;	/* in their order */
	bool away[PIER__COPY_SLOTS];	/* it is the peer's turn */
	struct pier__copy_ring pending;	/* FILLED or FREE to send */

	char **source;
	size_t source_count, source_bytes, sources_due;
	char target[PIER__RECORD_PATH + 1];
	bool greeted;			/* HELLO or WELCOME was sent */
	bool requested;			/* all of the client's request came */
	bool end_received, end_sent;
	int dir;			/* of the tree, which is this one's */

	struct pier__copy_io io;
	struct pier__copy_sender sender;
	struct pier__copy_receiver receiver;
	struct pier__copy_report report;	/* that is sent */
	bool has_report;
	struct pier__copy_offset offset;	/* that is sent */
	bool offset_due;
	uint32_t peer_timeout_ms;	/* how long it waits; 0: not known */
	uint64_t peer_progress;		/* in its last PING */
	uint64_t sent_at, received_at, progress_at, shown_at;
	struct pier_copy_result result;
	int error;			/* the first one */
	char error_text[PIER__RECORD_TEXT + 1];
};

/*
 * copy_session.c: an end, on @conn or still without one.  Destroy it when it
 * is over.  Errors: -ENOMEM.
 */
int pier__copy_session_create(struct pier_copy *copy, bool is_server,
			      struct pier__copy_session **ret);
void pier__copy_session_destroy(struct pier__copy_session *session);

/* Nothing of it is in progress, and no connection exists. */
bool pier__copy_session_is_over(struct pier__copy_session *session);

/* Begin: the role is chosen, the memory there.  Errors: of the thread. */
int pier__copy_session_run(struct pier__copy_session *session);

/* Do what can be done now: send, pass slots on, look at the time. */
void pier__copy_session_step(struct pier__copy_session *session);

/* At most how long to wait for events before the next step. */
int pier__copy_session_round_ms(const struct pier__copy_session *session);

/* Is it a time that an end may wait?  Errors: -EPROTO. */
int pier__copy_session_check_timeout(uint64_t timeout_ms);

/* End it with @err, whose message is the thread's last one. */
void pier__copy_session_fail(struct pier__copy_session *session, int err);

/* A message of the peer, FILLED and those that follow; the connection ended. */
void pier__copy_session_message(struct pier__copy_session *session,
				const struct pier__copy_msg *msg);
void pier__copy_session_disconnected(struct pier__copy_session *session);

/* copy_link.c: send @msg.  Errors: -EAGAIN, later; those of the connection. */
int pier__copy_session_send(struct pier__copy_session *session,
			    const struct pier__copy_msg *msg);

/* Send what is pending, as far as the peer receives it. */
void pier__copy_session_pump(struct pier__copy_session *session);

/* copy_move.c: allocate the memory; export it; import the client's. */
int pier__copy_session_alloc(struct pier__copy_session *session);
int pier__copy_session_export(struct pier__copy_session *session);
int pier__copy_session_import(struct pier__copy_session *session,
			      const struct pier__copy_string *desc);
void pier__copy_session_free(struct pier__copy_session *session);

/* Move a slot that this end has filled, or that the peer has. */
void pier__copy_session_move(struct pier__copy_session *session,
			     struct pier__copy_slot slot);

/* copy_session.c: it was moved. */
void pier__copy_session_moved(struct pier__copy_session *session,
			      struct pier__copy_slot slot);

/* Add the source @path.  Errors: -E2BIG; -ENOMEM. */
int pier__copy_session_add(struct pier__copy_session *session,
			   const void *path, size_t len);

/* copy_hello.c: the server's first messages. */
void pier__copy_session_hello(struct pier__copy_session *session,
			      const struct pier__copy_msg *msg);

/* copy_file.c: whether the regular file @path exists: 1, 0, or -errno. */
int pier__copy_file_exists(const char *path);

/*
 * Open the directory of @path, the target of this host, as a tree of the
 * session, and receive there.  Errors: as pier__copy_receiver_open().
 */
int pier__copy_session_receive_at(struct pier__copy_session *session,
				  const char *path, bool exact, bool many);

/* The Comm Channel's configuration; a client tries @timeout_ms to connect. */
int pier__copy_configure_comch(struct pier_copy *copy, uint32_t timeout_ms);

/*
 * Progress, or sleep at most @timeout_ms until there may be some.  It does not
 * poll before it sleeps, as pier_pe_wait() does: the other threads of a copy
 * and its peer have work for the processor.
 */
int pier__copy_wait(struct pier_copy *copy, int timeout_ms);

/* @text without control characters. */
void pier__copy_printable(const char *text, char *ret, size_t size);

#endif
