/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/*
 * The memory of either end begins with a note, a line of text with the
 * responder's options and its processor, which the requester reads and
 * compares.
 */
#define NOTE_SIZE PERF_NOTE_SIZE
#define NOTE_FORMAT "pier-perf 2 %s %s %" PRIu64 " %s"
#define NOTE_MAX 128

/* A server's tasks, of a connection and of all. */
#define SERVER_SENDS 256
#define SERVER_ALL_SENDS 4096
#define RNR_MS 10000		/* a peer without a receive has so long */

/*
 * Of soft devices, 4.096 us * 2^17: a peer that is not scheduled on a loaded
 * machine is given up after seven times 537 ms.  Soft devices resend as early
 * as with less, which adapters do not.
 */
#define SOFT_ACK_TIMEOUT 17

/* Connections beside those that remain. */
static int made_at_a_time(const struct perf *perf)
{
	if (perf->opts.operation != PERF_CONNECT)
		return 0;
	return perf->opts.measure == PERF_LAT ? 1 : perf->opts.outstanding;
}

/* The device, or all those of a server on its host. */
static bool is_soft(const struct perf *perf)
{
	const struct pier_devinfo *info;
	struct pier_devlist *list;
	bool soft = true;

	if (perf->dev)
		return !strcmp(pier_devinfo_kind(pier_dev_info(perf->dev)),
			       "soft");
	if (pier_devlist_create(&list))
		return false;
	for (size_t i = 0; (info = pier_devlist_get(list, i)); i++)
		soft = soft && !strcmp(pier_devinfo_kind(info), "soft");
	pier_devlist_destroy(list);
	return soft;
}

uint32_t perf_ack_timeout(const struct perf *perf)
{
	return is_soft(perf) ? SOFT_ACK_TIMEOUT : 0;
}

/* One task more is for the note. */
void perf_config(const struct perf *perf, struct pier_rdma_config *ret)
{
	bool server = perf_is_server(perf);	/* the client is not known */

	*ret = (struct pier_rdma_config){
		.size = sizeof(*ret),
		.max_conns = PERF_CONNS_MAX + PERF_CONNS_OTHERS,
		.send_queue = server ? SERVER_ALL_SENDS :
				       (uint32_t)perf->send_count + 1,
		.conn_send_queue = server ? SERVER_SENDS :
					    (uint32_t)perf->conn_sends + 1,
		.recv_queue = server ? PERF_RECVS : (uint32_t)perf->recv_count,
		.inline_size = (uint32_t)perf->opts.inline_size,
		.rnr_timeout_ms = RNR_MS,
		.ack_timeout = perf_ack_timeout(perf),
	};
	if (!server)
		ret->max_conns = (uint32_t)(perf->conn_count +
					    made_at_a_time(perf));
	ret->send_tasks = 2 * ret->send_queue;	/* to read back, too */
	ret->send_chain = (uint32_t)perf->opts.sge;
	if (!perf->opts.verify && !server)
		ret->send_tasks = ret->send_queue;
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
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };

	pier_rdma_get_config(perf->rdma, &cfg);
	if (cfg.max_conns < (uint32_t)perf->conn_count)
		return perf_err(perf, -ERANGE, "-q %d: this device has up to "
				"%" PRIu32 " connections", perf->conn_count,
				cfg.max_conns);
	if (cfg.send_chain < (uint32_t)perf->opts.sge)
		return perf_err(perf, -ERANGE, "--sge %d: this device takes "
				"up to %" PRIu32, perf->opts.sge,
				cfg.send_chain);
	if (cfg.conn_send_queue <= (uint32_t)perf->conn_sends)
		return perf_err(perf, -ERANGE, "--outstanding %d: this device "
				"takes up to %" PRIu32,
				perf->opts.outstanding,
				cfg.conn_send_queue - 1);
	if (cfg.send_queue <= (uint32_t)perf->send_count)
		return perf_err(perf, -ERANGE, "-q %d of --outstanding %d: "
				"this device takes up to %" PRIu32 " in all",
				perf->conn_count, perf->opts.outstanding,
				cfg.send_queue - 1);
	if ((uint32_t)perf->recv_count > cfg.recv_queue)
		perf->recv_count = (int)cfg.recv_queue;
	return 0;
}

static int map(struct perf *perf)
{
	int err = perf_memory_map(perf);
	char cpu[PERF_CPU_SIZE];

	perf_cpu_print(cpu);
	if (!err)
		snprintf(pier_mmap_addr(perf->local), NOTE_MAX, NOTE_FORMAT,
			 perf_measure_name(perf), perf_operation_name(perf),
			 perf_shared_size(perf), cpu);
	return err;
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
		err = pier_rdma_read(perf->conns[0].conn, src, dst, note_done,
				     perf);
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
	int err, end = 0;

	if (pier_mmap_len(perf->remote) < NOTE_SIZE)
		return perf_err(perf, -EPROTO, "the peer is not pier perf "
				"--listen or --respond");
	err = fetch_note(perf);
	if (err)
		return err;
	note[NOTE_MAX - 1] = '\0';
	if (sscanf(note, "pier-perf 2 %7s %15s %19" SCNu64 " %n", measure,
		   operation, &size, &end) != 3)
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
	perf_cpu_compare(note + end);
	return 0;
}

int perf_prepare_device(struct perf *perf)
{
	int err;

	perf_slots_count(perf);
	err = perf->rdma ? check_limits(perf) : 0;
	if (!err)
		err = perf_slots_create(perf);
	if (!err)
		err = map(perf);
	return err ? err : perf_slots_make_recvs(perf);
}

/* Only soft devices have faults. */
static int check_faults(struct perf *perf)
{
	const struct pier_devinfo *info = pier_dev_info(perf->dev);
	const struct tool_faults *faults = &perf->opts.faults;

	if (!strcmp(pier_devinfo_kind(info), "soft") ||
	    !(faults->loss || faults->corrupt || faults->late))
		return 0;
	return perf_err(perf, -EOPNOTSUPP, "--loss, --corrupt and --delay are "
			"of soft devices, and %s is not one: tc-netem(8) has "
			"them for its network", pier_devinfo_name(info));
}

static int open_device(struct perf *perf)
{
	int err = pier_dev_open(perf->args.device, &perf->dev);

	if (!err && check_faults(perf))
		return perf->err;
	if (!err)
		err = pier_rdma_create(perf->dev, &perf->rdma);
	if (err)
		return perf_fail(perf, err);
	err = perf_own_address(perf);
	perf_slots_count(perf);
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

	if (perf_is_server(perf)) {
		err = perf_host_meet(perf);
		return !err && perf->opts.both ? perf_both_import(perf) : err;
	}
	if (!respond && perf->args.server_addr)
		return perf_meet_server(perf);
	err = pier_rendezvous(perf->rdma, &perf->args,
			      respond ? perf->local : NULL,
			      &perf->conns[0].conn,
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
	if (err)
		return err;
	perf_conns_watch(perf);
	perf->size = perf->opts.size;
	if (perf_is_channel(perf) && !perf->opts.respond)
		err = perf_comch_meet(perf);
	else if (perf_is_channel(perf) && perf->opts.both)
		err = perf_comch_await(perf);
	return err ? err : perf_slots_make_sends(perf);
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
	perf->size = perf->opts.size;
	err = perf_prepare_device(perf);
	return err ? err : perf_slots_make_sends(perf);
}

void perf_release_device(struct perf *perf)
{
	perf_slots_destroy(perf);
	pier_mmap_destroy(perf->local);
	perf->local = NULL;
}

void perf_teardown(struct perf *perf)
{
	perf_comch_stop(perf);
	perf_conns_disconnect(perf);
	if (perf->rdma)	/* what is in flight holds its buffers until then */
		pier_ctx_stop_wait(pier_rdma_ctx(perf->rdma),
				   perf->args.timeout_ms);
	if (perf->dma)
		pier_ctx_stop_wait(pier_dma_ctx(perf->dma),
				   perf->args.timeout_ms);
	perf_release_device(perf);
	perf_comch_destroy(perf);
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
