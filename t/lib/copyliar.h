/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_COPYLIAR_H
#define PIER_T_LIB_COPYLIAR_H

#include <stdbool.h>

#include <pier/pier.h>

#include "copy/copy_msg.h"
#include "copy/copy_record.h"
#include "t/lib/copier.h"

/*
 * An end of a copy that sends by hand what pier_copy never would.  The other
 * end is a real one, in another thread.
 */
#define COPYLIAR_SLOTS 2
#define COPYLIAR_SLOT 65536	/* bytes of one */

struct copyliar {
	struct pier_pe *pe;
	struct pier_comch *comch;
	struct pier_comch_conn *conn;	/* NULL: not connected, or ended */
	bool ended;			/* it was connected */
	struct copier copier;		/* its source: the slots */
	struct pier_mmap *memory;	/* a client's, with its slots */
	struct pier_dma_export *exported;
	struct pier_mmap *remote;	/* a server's: of the real client */
	unsigned int received[PIER__COPY_KINDS];
	uint64_t number[PIER__COPY_KINDS][PIER__COPY_NUMBERS];	/* last ones */
	uint8_t version;		/* of the last message */
	char text[PIER__COPY_STRING + 1];	/* of END */
};

/* What an end does, and what the other one's error message has. */
struct copyliar_lie {
	void (*send)(void);
	const char *text;
};

/* A client of server @name that is connected; a server; the end of both. */
bool copyliar_connect(struct copyliar *liar, struct pier_dev *dev,
		      const char *name);
bool copyliar_listen(struct copyliar *liar, struct pier_dev *dev,
		     const char *name);
void copyliar_close(struct copyliar *liar);

/* Drive the engine for a moment.  False: for longer than a test waits. */
bool copyliar_step(struct copyliar *liar, long long limit);

/* Send it, later if the peer does not receive now. */
void copyliar_send(struct copyliar *liar, const struct pier__copy_msg *msg);
void copyliar_send_bytes(struct copyliar *liar, const void *data, size_t len);

/* A message of @kind with two numbers. */
void copyliar_pass(struct copyliar *liar, enum pier__copy_kind kind,
		   uint64_t first, uint64_t second);

/* The offset of file @number, with any digest. */
void copyliar_offset(struct copyliar *liar, uint64_t number, uint64_t bytes);

/* Until @count messages of @kind came.  False: the peer has ended it. */
bool copyliar_until(struct copyliar *liar, enum pier__copy_kind kind,
		    unsigned int count);

/* Wait until the peer ends.  Returns the error of its END, or 0. */
int copyliar_end(struct copyliar *liar);

/* A client's good HELLO in @mode, with @flags; what it has to be changed. */
struct pier__copy_msg copyliar_hello(struct copyliar *liar,
				     enum pier__copy_mode mode, uint32_t flags);

/* The span of slot @i, to be filled with records; pass what was filled. */
struct pier__copy_span copyliar_slot(struct copyliar *liar, unsigned int i);
void copyliar_fill(struct copyliar *liar, unsigned int i,
		   const struct pier__copy_span *span);

/* The record of a file at @path. */
void copyliar_file(struct pier__copy_span *span, const char *path,
		   uint64_t size);

/* The record of @len bytes of data. */
void copyliar_data(struct pier__copy_span *span, size_t len);

#endif
