/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_BENCH_OVERHEAD_DOCA_COMCH_H
#define PIER_T_BENCH_OVERHEAD_DOCA_COMCH_H

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "bench/overhead_peer.h"

/*
 * The measured end of a Comm Channel, a client, in a program for DOCA; the
 * first part is the caller's.  What is wrong ends the process.
 */
struct overhead_doca_comch {
	struct doca_dev *dev;
	struct doca_pe *pe;		/* whose calls are counted */
	struct doca_mmap *mmap;		/* of buffers */
	doca_task_completion_cb_t done, failed;

	struct doca_pe *channel_pe;	/* NULL: pe */
	struct doca_comch_client *client;
	struct doca_comch_connection *conn;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
};

/* Connect it to a server that does @peer; the others do so, too. */
void overhead_doca_channel(struct overhead_doca_comch *comch,
			   enum overhead_peer peer);
void overhead_doca_consumer(struct overhead_doca_comch *comch);
void overhead_doca_producer(struct overhead_doca_comch *comch);

/* Make a task. */
struct doca_task *overhead_doca_message(struct overhead_doca_comch *comch,
					const void *msg, uint32_t len);
struct doca_task *overhead_doca_post_recv(struct overhead_doca_comch *comch,
					  struct doca_buf *buf);
struct doca_task *overhead_doca_produce(struct overhead_doca_comch *comch,
					struct doca_buf *buf);

#endif
