/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs_client PORT NAME MS WORD...: wait for the result of each word, for at
 * most MS milliseconds.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pier/pier.h>
#include "jobs.h"

struct job_work {
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_buf_inventory *inv;
	struct pier_conn *conn;
	struct pier_mmap *mmap, *remote;
	struct pier_task *reply;
	char *memory;			/* of mmap: word, count, slot */
};

#define AT_COUNT 64
#define AT_SLOT 128

/* Read the slot that the reply names, and print the result. */
static int fetch(struct job_work *work, const char *word)
{
	struct job_slot *slot = (struct job_slot *)(work->memory + AT_SLOT);
	uint32_t i = ntohl(pier_recv_imm(work->reply));
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_task *task;
	int err;

	if (pier_recv_opcode(work->reply) != PIER_RECV_SEND_IMM || i >= CLIENTS)
		return -EPROTO;
	err = pier_buf_by_data(work->inv, work->remote,
			       (char *)pier_mmap_addr(work->remote) +
			       offsetof(struct job_table, slot[i]),
			       sizeof(*slot), &src) ?:
	      pier_buf_by_addr(work->inv, work->mmap, slot, sizeof(*slot),
			       &dst) ?:
	      pier_rdma_task_read(work->conn, src, dst, &task) ?:
	      pier_task_once(task, 10000);
	pier_buf_put(src);
	pier_buf_put(dst);
	if (!err && slot->len > WORD_MAX)
		err = -EPROTO;
	if (!err)
		printf("%s -> %s\n", word, shown(slot->text, slot->len));
	return err;
}

/* 1: it has its result; 0: it had none in time. */
static int run_job(struct job_work *work, const char *word, int ms)
{
	struct pier_buf *src = NULL;
	struct pier_task *send;
	int err;

	memcpy(work->memory, word, strlen(word));
	err = pier_task_submit(work->reply, 0) ?:
	      pier_buf_by_data(work->inv, work->mmap, work->memory,
			       strlen(word), &src) ?:
	      pier_rdma_task_send(work->conn, src, &send) ?:
	      pier_task_once(send, 10000) ?:
	      pier_task_wait_conn(work->reply, work->conn, ms);
	pier_buf_put(src);
	if (err == -ETIMEDOUT &&
	    pier_conn_state(work->conn) == PIER_CONN_CONNECTED) {
		printf("%s: no result in %d ms\n", word, ms);
		return 0;
	}
	return err ? err : fetch(work, word) ?: 1;
}

static int run_jobs(struct job_work *work, int ms, char **words)
{
	int err = 0, done = 0;

	for (; err >= 0 && *words; words++) {
		err = strlen(*words) > WORD_MAX ? -EMSGSIZE :
		      run_job(work, *words, ms);
		done += err > 0;
	}
	return err < 0 ? err : done;
}

/* Add to the count in the server's memory. */
static int count(struct job_work *work, int done)
{
	struct pier_buf *there = NULL, *before = NULL;
	struct pier_task *add;
	int err;

	err = pier_buf_by_data(work->inv, work->remote,
			       pier_mmap_addr(work->remote), 8, &there) ?:
	      pier_buf_by_addr(work->inv, work->mmap, work->memory + AT_COUNT,
			       8, &before) ?:
	      pier_rdma_task_fetch_add(work->conn, there, before,
				       (uint64_t)done, &add) ?:
	      pier_task_once(add, 10000);
	pier_buf_put(there);
	pier_buf_put(before);
	return err;
}

static int join(struct job_work *work, int port, const char *name)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = "127.0.0.1",
		.port = (uint16_t)port, .data = name,
		.data_len = strlen(name), .retry_ms = 5000,
	};
	const void *data;
	size_t len;
	int err;

	err = pier_rdma_connect_to(work->rdma, &cfg, &work->conn);
	if (err)
		return err;
	work->memory = pier_mmap_addr(work->mmap);
	err = pier_conn_wait(work->conn, 20000);
	if (err == -ECONNREFUSED &&
	    !pier_conn_private_data(work->conn, &data, &len))
		printf("rejected: %s\n", shown(data, len));
	return err ?: pier_conn_private_data(work->conn, &data, &len) ?:
	       pier_mmap_create_from_export(work->dev, data, len,
					    &work->remote);
}

static int start(struct job_work *work)
{
	return pier_dev_open(NULL, &work->dev) ?:
	       pier_pe_create(&work->pe) ?:
	       pier_rdma_create(work->dev, &work->rdma) ?:
	       pier_ctx_start(pier_rdma_ctx(work->rdma), work->pe) ?:
	       pier_mmap_alloc(work->dev, 4096, NULL, &work->mmap) ?:
	       pier_buf_inventory_create(2, &work->inv) ?:
	       pier_rdma_task_receive(work->rdma, NULL, &work->reply);
}

int main(int argc, char *argv[])
{
	struct job_work work = { NULL };
	int done, err;

	if (argc < 5) {
		fputs("usage: jobs_client PORT NAME MS WORD...\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = start(&work) ?: join(&work, atoi(argv[1]), argv[2]);
	if (!err) {
		done = run_jobs(&work, atoi(argv[3]), argv + 4);
		err = done < 0 ? done : count(&work, done);
	}
	if (err) {
		printf("%s: %s\n", argv[2], pier_error_name(err));
		fprintf(stderr, "%s\n", pier_last_error());
	}
	if (work.rdma)			/* a failed send leaves the receive */
		pier_ctx_stop_wait(pier_rdma_ctx(work.rdma), 10000);
	pier_task_free(work.reply);
	pier_rdma_destroy(work.rdma);
	pier_buf_inventory_destroy(work.inv);
	pier_mmap_destroy(work.remote);
	pier_mmap_destroy(work.mmap);
	pier_pe_destroy(work.pe);
	pier_dev_close(work.dev);
	return err ? 1 : 0;
}
