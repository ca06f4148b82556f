/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/freight.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

#define BUFS 1024

static void state_changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
			  enum pier_ctx_state next, void *data)
{
	struct freight *freight = data;

	(void)prev;
	IS(pier_ctx_state(ctx), next);
	if (freight->state_count < TALKER_STATES)
		freight->states[freight->state_count++] = next;
}

static bool prepare(struct freight *freight, struct pier_dev *dev, size_t len,
		    struct talker *shared)
{
	memset(freight, 0, sizeof(*freight));
	freight->len = len ? len : 1;
	if (!shared && !talker_engine(&freight->engine))
		return false;
	freight->pe = shared ? shared->pe : freight->engine.pe;
	if (!IS(pier_mmap_alloc(dev, freight->len, NULL, &freight->mmap), 0) ||
	    !IS(pier_buf_inventory_create(BUFS, &freight->inv), 0))
		return false;
	freight->mem = pier_mmap_addr(freight->mmap);
	return true;
}

static void watch(struct freight *freight, struct pier_ctx *ctx)
{
	freight->ctx = ctx;
	pier_ctx_set_user_data(ctx, freight);
	pier_ctx_set_state_changed(ctx, state_changed);
}

static bool worked(int err)
{
	if (err)
		tap_note("%s", pier_last_error());
	return IS(err, 0);
}

bool freight_consumer(struct freight *freight, struct pier_dev *dev,
		      struct pier_comch_conn *conn, size_t len,
		      const struct pier_comch_data_config *cfg,
		      struct talker *shared)
{
	if (!prepare(freight, dev, len, shared) ||
	    !worked(pier_comch_consumer_create(conn, freight->mmap,
					       &freight->consumer)))
		return false;
	watch(freight, pier_comch_consumer_ctx(freight->consumer));
	return !cfg ||
	       worked(pier_comch_consumer_configure(freight->consumer, cfg));
}

bool freight_producer(struct freight *freight, struct pier_dev *dev,
		      struct pier_comch_conn *conn, size_t len,
		      const struct pier_comch_data_config *cfg,
		      struct talker *shared)
{
	if (!prepare(freight, dev, len, shared) ||
	    !worked(pier_comch_producer_create(conn, &freight->producer)))
		return false;
	watch(freight, pier_comch_producer_ctx(freight->producer));
	return !cfg ||
	       worked(pier_comch_producer_configure(freight->producer, cfg));
}

void freight_close(struct freight *freight)
{
	pier_comch_consumer_destroy(freight->consumer);
	pier_comch_producer_destroy(freight->producer);
	pier_mmap_destroy(freight->mmap);
	pier_buf_inventory_destroy(freight->inv);
	talker_close(&freight->engine);
	freight->consumer = NULL;
	freight->producer = NULL;
	freight->mmap = NULL;
	freight->inv = NULL;
}

bool freight_state(const struct freight *freight, enum pier_ctx_state state)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(freight->ctx) != state && talker_step(limit))
		if (pier_ctx_state(freight->ctx) == PIER_CTX_IDLE &&
		    state != PIER_CTX_IDLE)
			break;
	return IS(pier_ctx_state(freight->ctx), state);
}

bool freight_start(struct freight *freight)
{
	int err = pier_ctx_start(freight->ctx, freight->pe);

	if (!freight->consumer)
		return worked(err);
	return IS(err, -EINPROGRESS) &&
	       freight_state(freight, PIER_CTX_RUNNING);
}

bool freight_pair(struct freight *producer, struct talker *sender,
		  struct freight *consumer, struct talker *receiver,
		  struct pier_dev *dev, size_t len,
		  const struct pier_comch_data_config *cfg)
{
	memset(consumer, 0, sizeof(*consumer));
	memset(producer, 0, sizeof(*producer));
	return freight_consumer(consumer, dev, receiver->conn, len, cfg,
				NULL) &&
	       freight_producer(producer, dev, sender->conn, len, cfg, NULL) &&
	       freight_start(producer) && freight_start(consumer) &&
	       talker_count(&sender->consumers, 1);
}

void freight_unpair(struct freight *producer, struct talker *sender,
		    struct freight *consumer, struct talker *receiver)
{
	freight_close(producer);
	freight_close(consumer);
	talker_unpair(sender, receiver);
}

static void count(struct pier_task *task, struct freight *freight)
{
	freight->status = pier_task_status(task);
	if (!freight->status) {
		freight->done++;
		return;
	}
	freight->failed++;
	snprintf(freight->text, sizeof(freight->text), "%s",
		 pier_task_error_text(task));
}

static void received(struct pier_task *task, void *arg)
{
	struct freight *freight = pier_ctx_user_data(pier_task_ctx(task));

	freight->last_mem = arg ? pier_buf_data(arg) : NULL;
	if (!pier_task_status(task)) {
		freight->last_len = pier_comch_task_len(task);
		memcpy(freight->imm,
		       pier_comch_task_imm(task, &freight->imm_len),
		       sizeof(freight->imm));
		freight->from = pier_comch_task_producer(task);
		if (arg)
			IS(pier_buf_data_len(arg), freight->last_len);
	}
	count(task, freight);
	pier_buf_put(arg);
	if (freight->on_done)
		freight->on_done(freight, task);
}

static void produced(struct pier_task *task, void *arg)
{
	struct freight *freight = pier_ctx_user_data(pier_task_ctx(task));

	count(task, freight);
	pier_buf_put(arg);
	if (freight->on_done)
		freight->on_done(freight, task);
}

int freight_receive(struct freight *freight, size_t at, size_t len)
{
	struct pier_buf *buf = NULL;
	int err;

	if (len && !IS(pier_buf_by_addr(freight->inv, freight->mmap,
					freight->mem + at, len, &buf), 0))
		return -ENOBUFS;
	err = pier_comch_receive(freight->consumer, buf, received, buf);
	if (err)
		pier_buf_put(buf);
	return err;
}

static void fill(uint8_t *mem, unsigned int seed, size_t len)
{
	for (size_t i = 0; i < len; i++)
		mem[i] = peer_byte(seed, i);
}

int freight_produce(struct freight *freight, uint32_t id, unsigned int seed,
		    size_t at, size_t len, size_t imm_len)
{
	uint8_t imm[2 * PIER_COMCH_IMM_MAX];
	struct pier_buf *buf = NULL;
	int err;

	fill(imm, seed, sizeof(imm));
	fill(freight->mem + at, seed, len);
	if (len && !IS(pier_buf_by_data(freight->inv, freight->mmap,
					freight->mem + at, len, &buf), 0))
		return -ENOBUFS;
	err = pier_comch_produce(freight->producer, buf, imm_len ? imm : NULL,
				 imm_len, id, produced, buf);
	if (err)
		pier_buf_put(buf);
	return err;
}

static bool has_pattern(const uint8_t *mem, unsigned int seed, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (mem[i] != peer_byte(seed, i))
			return IS(mem[i], peer_byte(seed, i));
	return true;
}

bool freight_holds(const struct freight *freight, unsigned int seed, size_t at,
		   size_t len, size_t imm_len)
{
	return IS(freight->last_len, len) && IS(freight->imm_len, imm_len) &&
	       OK(!len || freight->last_mem == freight->mem + at) &&
	       has_pattern(freight->imm, seed, imm_len) &&
	       has_pattern(freight->mem + at, seed, len);
}
