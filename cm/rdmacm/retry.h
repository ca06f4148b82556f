/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_RDMACM_RETRY_H
#define PIER_CM_RDMACM_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include <pier/cm.h>

/* When an attempt to connect that has failed is repeated. */
struct pier__retry {
	uint64_t until;		/* none begins later; 0: none at all */
	uint64_t at;		/* when the pause ends; 0: there is none */
	uint64_t pause, pause_max;	/* the next one, at most; and its end */
	uint64_t timeout;	/* of an attempt */
	uint32_t ms;		/* retry_ms */
	unsigned int attempts;	/* that have failed */
};

/* Fill defaults in.  Errors: -EINVAL. */
int pier__retry_settle(struct pier_connect_config *cfg);

/* As the settled @cfg has it. */
void pier__retry_init(struct pier__retry *retry,
		      const struct pier_connect_config *cfg, uint64_t now);

/* An attempt has failed: begin a pause.  False: there is no other attempt. */
bool pier__retry_pause(struct pier__retry *retry, uint64_t now);

/* The pause is over.  Returns the deadline of the attempt that follows. */
uint64_t pier__retry_resume(struct pier__retry *retry, uint64_t now);

#endif
