/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

/*
 * The memory of either end: a note, a line of text with the responder's
 * options, which the requester reads and compares; then the memory that is sent
 * from, or that the peer reads and writes; then the memory of receives.
 */
#define NOTE_SIZE PERF_NOTE_SIZE
#define NOTE_FORMAT "pier-perf 2 %s %s %" PRIu64
#define NOTE_MAX 64

/* The least memory to export: usual sizes need no -s of the responder. */
#define SHARED_MIN (1 << 20)

/*
 * Receives for bandwidth: messages are acknowledged before they are
 * processed, so that more than are outstanding arrive while this end does not
 * run.
 */
#define RECVS 4096
#define SERVER_SENDS 256
#define RNR_MS 10000		/* a peer without a receive has so long */

static uint64_t shared_size(const struct perf *perf)
{
	return perf->opts.size > SHARED_MIN ? perf->opts.size : SHARED_MIN;
}

static void *local_at(const struct perf *perf, uint64_t offset)
{
	return (char *)pier_mmap_addr(perf->local) + NOTE_SIZE + offset;
}

/* How many tasks of each kind this end needs. */
static void count_slots(struct perf *perf)
{
	bool lat = perf->opts.measure == PERF_LAT;
	bool echo = perf_echoes(perf);

	perf->send_count = perf->recv_count = 0;
	if (!perf->opts.respond) {
		perf->send_count = lat ? 1 : perf->opts.outstanding;
		perf->recv_count = echo ? 1 : 0;
	} else if (echo) {
		/* The next echo need not wait for the ACK of the last one. */
		perf->send_count = 4;
		perf->recv_count = 4;
	} else if (perf_receives(perf)) {
		perf->recv_count = RECVS;
	}
}

void perf_config(const struct perf *perf, struct pier_rdma_config *ret)
{
	uint32_t sends = (uint32_t)perf->send_count + 1; /* one for the note */
	uint32_t recvs = (uint32_t)perf->recv_count;

	if (perf_is_server(perf)) {	/* the client is not known yet */
		sends = SERVER_SENDS;
		recvs = RECVS;
	}
	*ret = (struct pier_rdma_config){
		.size = sizeof(*ret),
		.send_queue = sends,
		.conn_send_queue = sends,
		.recv_queue = recvs,
		.inline_size = (uint32_t)perf->opts.inline_size,
		.rnr_timeout_ms = RNR_MS,
	};
}

static int start(struct perf *perf)
{
	struct pier_rdma_config cfg;
	int err;

	perf_config(perf, &cfg);
	err = pier_rdma_configure(perf->rdma, &cfg);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(perf->rdma), perf->pe);
	return err ? perf_fail(perf, err) : 0;
}

/* A device may take fewer requests than it is to. */
static int check_limits(struct perf *perf)
{
	uint32_t sends = (uint32_t)perf->send_count + 1;
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };

	pier_rdma_get_config(perf->rdma, &cfg);
	if (cfg.conn_send_queue < sends || cfg.send_queue < sends)
		return perf_err(perf, -ERANGE, "--outstanding %d: this device "
				"takes up to %" PRIu32,
				perf->opts.outstanding,
				cfg.conn_send_queue - 1);
	if ((uint32_t)perf->recv_count > cfg.recv_queue)
		perf->recv_count = (int)cfg.recv_queue;
	return 0;
}

static int map(struct perf *perf)
{
	size_t len = NOTE_SIZE + 2 * (size_t)shared_size(perf);
	struct pier_mmap_config cfg = { .size = sizeof(cfg),
					.access = PIER_LOCAL_WRITE };
	int err;

	if (perf->opts.respond)
		cfg.access |= PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			      (perf_is_atomic(perf) ? PIER_REMOTE_ATOMIC : 0);
	err = pier_mmap_alloc(perf->dev, len, &cfg, &perf->local);
	if (err)
		return perf_fail(perf, err);
	memset(local_at(perf, 0), 0x5a, len - NOTE_SIZE);	/* fault in */
	snprintf(pier_mmap_addr(perf->local), NOTE_MAX, NOTE_FORMAT,
		 perf_measure_name(perf), perf_operation_name(perf),
		 shared_size(perf));
	return 0;
}

static void note_done(struct pier_task *task, void *arg)
{
	struct perf *perf = arg;

	perf->note_status = pier_task_status(task);
}

/* Read the responder's note into the requester's memory, over its own. */
static int fetch_note(struct perf *perf)
{
	struct pier_buf *src = NULL, *dst = NULL;
	int err;

	perf->note_status = -EINPROGRESS;
	err = pier_buf_by_data(perf->inv, perf->remote,
			       pier_mmap_addr(perf->remote), NOTE_MAX, &src);
	if (!err)
		err = pier_buf_by_addr(perf->inv, perf->local,
				       pier_mmap_addr(perf->local), NOTE_MAX,
				       &dst);
	if (!err)
		err = pier_rdma_read(perf->conn, src, dst, note_done, perf);
	while (!err && perf->note_status == -EINPROGRESS)
		err = pier_pe_wait(perf->pe, perf->args.timeout_ms);
	if (!err)
		err = perf->note_status;
	if (err)
		perf_fail(perf, err);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

/* Which of the peer's words are not those of this end?  Either may be wrong. */
static int compare_words(struct perf *perf, const char *measure,
			 const char *operation)
{
	int own = (int)perf->opts.operation;
	int peer = perf_operation_of(operation);

	if (peer >= 0 && perf_is_plain((enum perf_operation)peer) &&
	    perf_is_plain(perf->opts.operation))
		return 0;
	if (peer == own && !strcmp(measure, perf_measure_name(perf)))
		return 0;
	return perf_err(perf, -EPROTO, "the responder has \"%s %s\", this "
			"end \"%s %s\"", measure, operation,
			perf_measure_name(perf), perf_operation_name(perf));
}

/* Both ends must have the same options, as far as they matter. */
static int agree(struct perf *perf)
{
	char measure[8], operation[16];
	char *note = pier_mmap_addr(perf->local);
	uint64_t size;
	int err;

	if (pier_mmap_len(perf->remote) < NOTE_SIZE)
		return perf_err(perf, -EPROTO, "the peer is not pier perf "
				"--listen or --respond");
	err = fetch_note(perf);
	if (err)
		return err;
	note[NOTE_MAX - 1] = '\0';
	if (sscanf(note, "pier-perf 2 %7s %15s %19" SCNu64, measure, operation,
		   &size) != 3)
		return perf_err(perf, -EPROTO, "the peer is not pier perf "
				"--listen or --respond of this version");
	err = compare_words(perf, measure, operation);
	if (err)
		return err;
	if (size < perf->opts.size ||
	    pier_mmap_len(perf->remote) - NOTE_SIZE < perf->opts.size)
		return perf_err(perf, -EMSGSIZE, "the responder's memory has "
				"%" PRIu64 " bytes, -s %" PRIu64 " needs more: "
				"give it the same -s", size, perf->opts.size);
	return 0;
}

/* The memory of the other end of a message: the peer's, or of a copy. */
static char *far_memory(const struct perf *perf)
{
	if (perf->dma)
		return local_at(perf, shared_size(perf));
	return (char *)pier_mmap_addr(perf->remote) + NOTE_SIZE;
}

/* The buffers of a message, of the largest size. */
static int make_bufs(struct perf *perf, struct perf_slot *slot)
{
	struct pier_mmap *far = perf->dma ? perf->local : perf->remote;
	char *near = local_at(perf, 0);
	uint64_t size = perf->opts.size;
	int err;

	if (perf->opts.operation == PERF_SEND ||
	    perf->opts.operation == PERF_SEND_IMM)
		return pier_buf_by_data(perf->inv, perf->local, near,
					shared_size(perf), &slot->src);
	if (perf_is_fetched(perf)) {
		err = pier_buf_by_data(perf->inv, far, far_memory(perf), size,
				       &slot->src);
		if (!err)
			err = pier_buf_by_addr(perf->inv, perf->local, near,
					       size, &slot->dst);
		return err;
	}
	err = pier_buf_by_data(perf->inv, perf->local, near, size, &slot->src);
	if (!err)
		err = pier_buf_by_addr(perf->inv, far, far_memory(perf), size,
				       &slot->dst);
	return err;
}

static int make_send(struct perf *perf, struct perf_slot *slot)
{
	int err = make_bufs(perf, slot);

	return err ? err : perf_take_task(perf, slot);
}

int perf_set_size(struct perf *perf, uint64_t size)
{
	int err = 0;

	for (int i = 0; i < perf->send_count && !err; i++) {
		struct pier_buf *src = perf->sends[i].src;

		err = pier_buf_set_data(src, pier_buf_head(src), size);
	}
	perf->size = size;
	return err ? perf_fail(perf, err) : 0;
}

static int make_recv(struct perf *perf, struct perf_slot *slot)
{
	int err;

	err = pier_buf_by_addr(perf->inv, perf->local,
			       local_at(perf, shared_size(perf)),
			       shared_size(perf), &slot->dst);
	if (!err)
		err = pier_rdma_task_receive(perf->rdma, slot->dst,
					     &slot->task);
	return err;
}

static int make_slots(struct perf *perf, int count,
		      int (*make)(struct perf *perf, struct perf_slot *slot),
		      struct perf_slot *slots)
{
	int i, err;

	for (i = 0; i < count; i++) {
		slots[i].perf = perf;
		err = make(perf, &slots[i]);
		if (err)
			return perf_fail(perf, err);
	}
	return 0;
}

static int allocate(struct perf *perf)
{
	size_t sends = (size_t)perf->send_count + 1;
	size_t recvs = (size_t)perf->recv_count + 1;

	perf->sends = calloc(sends, sizeof(*perf->sends));
	perf->recvs = calloc(recvs, sizeof(*perf->recvs));
	perf->free = calloc(sends, sizeof(struct perf_slot *));
	if (!perf->sends || !perf->recvs || !perf->free)
		return perf_err(perf, -ENOMEM, "out of memory");
	return 0;
}

int perf_prepare_device(struct perf *perf)
{
	size_t bufs;
	int err;

	count_slots(perf);
	err = perf->rdma ? check_limits(perf) : 0;
	if (!err)
		err = allocate(perf);
	if (err)
		return err;
	bufs = 2 * (size_t)(perf->send_count + perf->recv_count + 1);
	err = pier_buf_inventory_create(bufs, &perf->inv);
	if (err)
		return perf_fail(perf, err);
	err = map(perf);
	if (!err)
		err = make_slots(perf, perf->recv_count, make_recv,
				 perf->recvs);
	return err;
}

static int open_device(struct perf *perf)
{
	int err = pier_dev_open(perf->args.device, &perf->dev);

	if (!err)
		err = pier_rdma_create(perf->dev, &perf->rdma);
	if (err)
		return perf_fail(perf, err);
	err = perf_own_address(perf);
	count_slots(perf);
	return err ? err : start(perf);
}

/* Create what is needed before there is a peer. */
static int prepare(struct perf *perf)
{
	int err = pier_pe_create(&perf->pe);

	if (err)
		return perf_fail(perf, err);
	if (!perf_on_host(perf))
		err = open_device(perf);
	if (err)
		return err;
	return perf_is_server(perf) ? perf_host_start(perf) :
				      perf_prepare_device(perf);
}

static int meet(struct perf *perf)
{
	bool respond = perf->opts.respond;
	int err;

	if (perf_is_server(perf))
		return perf_host_meet(perf);
	if (!respond && perf->args.server_addr)
		return perf_meet_server(perf);
	err = pier_rendezvous(perf->rdma, &perf->args,
			      respond ? perf->local : NULL, &perf->conn,
			      respond ? NULL : &perf->remote);
	if (!err && !respond)
		return agree(perf);
	return err ? perf_fail(perf, err) : 0;
}

int perf_setup(struct perf *perf)
{
	int err = prepare(perf);

	if (err)
		return err;
	perf_print_waiting(perf);
	err = meet(perf);
	if (!err)
		err = make_slots(perf, perf->send_count, make_send,
				 perf->sends);
	return err;
}

int perf_setup_copy(struct perf *perf)
{
	struct pier_dma_config cfg = {
		.size = sizeof(cfg),
		.tasks = (uint32_t)perf->opts.outstanding,
	};
	int err = pier_pe_create(&perf->pe);

	if (!err)
		err = pier_dev_open(perf->args.device, &perf->dev);
	if (!err)
		err = pier_dma_create(perf->dev, &perf->dma);
	if (!err)
		err = pier_dma_configure(perf->dma, &cfg);
	if (!err)
		err = pier_ctx_start(pier_dma_ctx(perf->dma), perf->pe);
	if (err)
		return perf_fail(perf, err);
	err = perf_prepare_device(perf);
	if (!err)
		err = make_slots(perf, perf->send_count, make_send,
				 perf->sends);
	return err;
}

static void free_slots(struct perf_slot *slots, int count)
{
	while (slots && count-- > 0) {
		pier_task_free(slots[count].task);
		pier_buf_put(slots[count].src);
		pier_buf_put(slots[count].dst);
		slots[count] = (struct perf_slot){ 0 };
	}
}

void perf_release_device(struct perf *perf)
{
	free_slots(perf->sends, perf->send_count);
	free_slots(perf->recvs, perf->recv_count);
	pier_mmap_destroy(perf->local);
	pier_buf_inventory_destroy(perf->inv);
	free(perf->sends);
	free(perf->recvs);
	free(perf->free);
	perf->local = NULL;
	perf->inv = NULL;
	perf->sends = perf->recvs = NULL;
	perf->free = NULL;
	perf->send_count = perf->recv_count = 0;
}

void perf_teardown(struct perf *perf)
{
	pier_conn_disconnect(perf->conn);
	if (perf->rdma)	/* what is in flight holds its buffers until then */
		pier_ctx_stop_wait(pier_rdma_ctx(perf->rdma),
				   perf->args.timeout_ms);
	if (perf->dma)
		pier_ctx_stop_wait(pier_dma_ctx(perf->dma),
				   perf->args.timeout_ms);
	perf_release_device(perf);
	pier_dma_destroy(perf->dma);
	pier_mmap_destroy(perf->remote);
	pier_host_destroy(perf->host);
	if (!perf->host)
		pier_rdma_destroy(perf->rdma);
	pier_pe_destroy(perf->pe);
	if (!perf->host)
		pier_dev_close(perf->dev);
	json_decref(perf->results);
}
