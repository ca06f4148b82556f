/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_FREIGHT_H
#define PIER_T_LIB_FREIGHT_H

#include "t/lib/talker.h"

/*
 * A consumer or a producer of a Comm Channel, on an engine of its own unless it
 * shares one, with memory that its messages are in.  It counts its tasks.
 */
struct freight {
	struct talker engine;		/* only its engine is used */
	struct pier_comch_consumer *consumer;
	struct pier_comch_producer *producer;
	struct pier_ctx *ctx;
	struct pier_mmap *mmap;
	struct pier_buf_inventory *inv;
	struct pier_pe *pe;		/* where it is started */
	uint8_t *mem;
	size_t len;			/* of mem */
	enum pier_ctx_state states[TALKER_STATES];	/* that were reported */
	int state_count;
	int done, failed;		/* tasks */
	int status;			/* of the last one that failed */
	char text[256];			/* its message */
	uint32_t last_len;		/* of the last message received */
	uint8_t imm[PIER_COMCH_IMM_MAX];	/* and its immediate */
	size_t imm_len;
	uint32_t from;			/* the producer's id */
	void *last_mem;			/* the buffer's data */
	/* called for each task, after it was counted; NULL: nothing */
	void (*on_done)(struct freight *freight, struct pier_task *task);
};

/*
 * Make a consumer or a producer of @conn of @dev, with @len bytes of memory,
 * @cfg or, NULL, the defaults, on an engine of its own, or that of @shared.
 */
bool freight_consumer(struct freight *freight, struct pier_dev *dev,
		      struct pier_comch_conn *conn, size_t len,
		      const struct pier_comch_data_config *cfg,
		      struct talker *shared);
bool freight_producer(struct freight *freight, struct pier_dev *dev,
		      struct pier_comch_conn *conn, size_t len,
		      const struct pier_comch_data_config *cfg,
		      struct talker *shared);
void freight_close(struct freight *freight);

/* Start it; a consumer: until it runs. */
bool freight_start(struct freight *freight);

/*
 * Make and start both on two that are connected, the producer at @sender, which
 * knows the consumer then.  freight_unpair() closes both, and the two talkers.
 */
bool freight_pair(struct freight *producer, struct talker *sender,
		  struct freight *consumer, struct talker *receiver,
		  struct pier_dev *dev, size_t len,
		  const struct pier_comch_data_config *cfg);
void freight_unpair(struct freight *producer, struct talker *sender,
		    struct freight *consumer, struct talker *receiver);
bool freight_state(const struct freight *freight, enum pier_ctx_state state);

/*
 * Submit a receive of the @len bytes at @at of the memory; 0: without a buffer.
 * Returns what submit does.
 */
int freight_receive(struct freight *freight, size_t at, size_t len);

/*
 * Submit @len bytes of pattern @seed at @at, and an immediate of @imm_len bytes
 * of the same pattern, to consumer @id.  Returns what submit does.
 */
int freight_produce(struct freight *freight, uint32_t id, unsigned int seed,
		    size_t at, size_t len, size_t imm_len);

/* Is the last message at @at, of such a pattern? */
bool freight_holds(const struct freight *freight, unsigned int seed, size_t at,
		   size_t len, size_t imm_len);

#endif
