/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_FAR_H
#define PIER_T_LIB_FAR_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/pier.h>

#include "t/lib/pair.h"

/*
 * A sync event that another process owns.  Between two orders the owner sleeps;
 * it never has an engine.  What fails is a failed check.
 */
enum far_verb {
	FAR_EXPORT,	/* a new event; far_describe() gives this order */
	FAR_ANSWER,	/* wait for a value, and set one more */
	FAR_TAKE_BACK,	/* stop the event */
	FAR_QUIT,
};

extern struct pier_dev *far_dev;	/* the importer's */
extern struct pier_pe *far_pe;		/* for context mode */
extern struct pair far_owner;
extern uint64_t *far_word;		/* the value, seen by both */
extern struct pier_sync_event *theirs;	/* imported */

/* Is there a device?  Before the first far_begin(). */
bool far_supported(void);

/* The owner has exported, and theirs is imported; started in either mode. */
bool far_begin(void);
bool far_start(void);
bool far_start_ctx(void);

/* The end of what there is; @quit: the owner lives, and ends now. */
void far_end(bool quit);

/* Give an order; wait until it was followed, but of FAR_EXPORT and QUIT. */
bool far_tell(enum far_verb verb, uint64_t value);
bool far_answered(void);

/* Have it export another event, after FAR_TAKE_BACK.  The length. */
int far_describe(uint8_t desc[PIER_DESC_MAX]);

/* Create and start an event on @dev at @word, NULL: its own; NULL: failed. */
struct pier_sync_event *far_create(struct pier_dev *dev, uint32_t publisher,
				   uint64_t *word);

#endif
