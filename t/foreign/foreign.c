/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pier/verbs.h>

#include "t/foreign/foreign.h"

#define PATIENCE 90	/* seconds that anything may take */
#define RECEIVES 16

/* Receives that are posted, and messages that came. */
static struct pier_buf *receives[RECEIVES];
static struct foreign_message inbox[RECEIVES];
static int inbox_count;
static time_t last_progress;

void foreign_check(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "foreign: %s: %s\n", what, pier_last_error());
	exit(1);
}

static void stamp(void)
{
	last_progress = time(NULL);
}

void foreign_turn(struct foreign *f)
{
	int err = pier_pe_wait(f->pe, 100);

	if (err != -ETIMEDOUT)
		foreign_check(err, "progress");
	if (time(NULL) - last_progress > PATIENCE) {
		fprintf(stderr, "foreign: nothing for %d s\n", PATIENCE);
		exit(1);
	}
}

static void received(struct pier_task *task, void *arg);

static void post(struct pier_rdma *rdma, int i)
{
	pier_buf_reset(receives[i]);
	foreign_check(pier_rdma_receive(rdma, receives[i], received,
					&receives[i]), "receive");
}

static void received(struct pier_task *task, void *arg)
{
	struct pier_buf **slot = arg;
	struct foreign_message *message = &inbox[inbox_count];
	struct pier_conn *conn = pier_task_conn(task);

	if (pier_task_status(task))
		return;		/* at the end all are cancelled */
	if (inbox_count == RECEIVES) {
		fprintf(stderr, "foreign: more messages than expected\n");
		exit(1);
	}
	message->conn = conn;
	message->len = pier_recv_len(task);
	memcpy(message->data, pier_buf_data(*slot), message->len);
	inbox_count++;
	post(pier_conn_rdma(conn), (int)(slot - receives));
}

static void post_receives(struct foreign *f)
{
	struct pier_mmap *mmap;
	uint8_t *mem;

	mem = aligned_alloc(4096, RECEIVES * FOREIGN_MSG);
	if (!mem)
		exit(1);
	foreign_check(pier_mmap_map(f->dev, mem, RECEIVES * FOREIGN_MSG,
				    PIER_LOCAL_WRITE, &mmap), "memory");
	for (int i = 0; i < RECEIVES; i++) {
		foreign_check(pier_buf_by_addr(f->inv, mmap,
					       mem + i * FOREIGN_MSG,
					       FOREIGN_MSG, &receives[i]),
			      "buffer");
		post(f->rdma, i);
	}
}

static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	struct foreign *f = ctx_user_data;

	(void)user_data;
	if (f->request) {
		pier_conn_reject(conn, NULL, 0);
		return;
	}
	f->request = conn;
}

void foreign_open(struct foreign *f, const char *device)
{
	memset(f, 0, sizeof(*f));
	stamp();
	f->mem = aligned_alloc(4096, 2 * FOREIGN_MEM);
	if (!f->mem)
		exit(1);
	memset(f->mem, 0, 2 * FOREIGN_MEM);
	foreign_check(pier_dev_open(device, &f->dev), "device");
	foreign_check(pier_pe_create(&f->pe), "engine");
	foreign_check(pier_rdma_create(f->dev, &f->rdma), "context");
	pier_ctx_set_user_data(pier_rdma_ctx(f->rdma), f);
	pier_rdma_set_conn_callbacks(f->rdma, requested, NULL, NULL, NULL);
	foreign_check(pier_ctx_start(pier_rdma_ctx(f->rdma), f->pe), "start");
	foreign_check(pier_mmap_map(f->dev, f->mem, 2 * FOREIGN_MEM,
				    PIER_LOCAL_WRITE | PIER_REMOTE_READ |
				    PIER_REMOTE_WRITE, &f->mmap), "memory");
	foreign_check(pier_buf_inventory_create(64, &f->inv), "inventory");
	post_receives(f);
}

/* What is left ends with the process. */
void foreign_close(struct foreign *f)
{
	pier_listener_destroy(f->listener);
	pier_rdma_destroy(f->rdma);
	pier_pe_destroy(f->pe);
}

int foreign_await(struct foreign *f, struct pier_conn *conn)
{
	stamp();
	while (pier_conn_state(conn) == PIER_CONN_INIT)
		foreign_turn(f);
	if (pier_conn_state(conn) == PIER_CONN_CONNECTED)
		return 0;
	return pier_conn_error(conn) ? pier_conn_error(conn) : -ENOTCONN;
}

struct pier_conn *foreign_connect(struct foreign *f,
				  const struct foreign_args *args)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = args->peer,
		.port = args->port,
		.source = args->source,
		.raw = 1,
	};
	struct timespec pause = { .tv_nsec = 100000000 };
	struct pier_conn *conn;
	time_t until = time(NULL) + PATIENCE;

	for (;;) {
		foreign_check(pier_rdma_connect_to(f->rdma, &cfg, &conn),
			      "connect");
		if (!foreign_await(f, conn))
			break;
		if (!pier_conn_reject_reason(conn) || time(NULL) > until) {
			fprintf(stderr, "foreign: connect: %s\n",
				pier_conn_error_text(conn));
			exit(1);
		}
		pier_conn_destroy(conn);
		nanosleep(&pause, NULL);	/* its listener is on its way */
	}
	if (pier_conn_peer_is_pier(conn))
		fprintf(stderr, "foreign: the peer says it is pier\n");
	return conn;
}

struct pier_conn *foreign_listen(struct foreign *f,
				 const struct foreign_args *args)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.address = args->source,
		.port = args->port,
	};
	struct pier_conn *conn;

	if (!f->listener) {
		foreign_check(pier_rdma_listen(f->rdma, &cfg, &f->listener),
			      "listen");
		printf("listening on port %u\n",
		       pier_listener_port(f->listener));
		fflush(stdout);
	}
	stamp();
	while (!f->request)
		foreign_turn(f);
	conn = f->request;
	f->request = NULL;
	return conn;
}

struct pier_conn *foreign_accept(struct foreign *f,
				 const struct foreign_args *args)
{
	struct pier_conn *conn = foreign_listen(f, args);

	foreign_check(pier_conn_accept(conn, NULL, 0), "accept");
	foreign_check(foreign_await(f, conn), "establish");
	return conn;
}

void foreign_recv(struct foreign *f, struct pier_conn *conn, void *data,
		  size_t len)
{
	int i;

	stamp();
	for (;;) {
		for (i = 0; i < inbox_count; i++)
			if (inbox[i].conn == conn)
				break;
		if (i < inbox_count)
			break;
		if (pier_conn_state(conn) != PIER_CONN_CONNECTED) {
			fprintf(stderr, "foreign: the peer is gone: %s\n",
				pier_conn_error_text(conn));
			exit(1);
		}
		foreign_turn(f);
	}
	if (inbox[i].len != len) {
		fprintf(stderr, "foreign: a message of %zu bytes, not %zu\n",
			inbox[i].len, len);
		exit(1);
	}
	memcpy(data, inbox[i].data, len);
	inbox_count--;
	memmove(&inbox[i], &inbox[i + 1],
		(size_t)(inbox_count - i) * sizeof(inbox[0]));
}

static void done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static void await(struct foreign *f, int err, int *status, const char *what)
{
	foreign_check(err, what);
	stamp();
	while (*status == -EINPROGRESS)
		foreign_turn(f);
	if (*status)
		fprintf(stderr, "foreign: %s: %s\n", what,
			pier_strerror(*status));
	foreign_check(*status, what);
}

void foreign_send(struct foreign *f, struct pier_conn *conn, const void *data,
		  size_t len)
{
	int status = -EINPROGRESS;
	struct pier_buf *buf;
	uint8_t *at = f->mem + 2 * FOREIGN_MEM - FOREIGN_MSG;

	memcpy(at, data, len);
	foreign_check(pier_buf_by_data(f->inv, f->mmap, at, len, &buf),
		      "buffer");
	await(f, pier_rdma_send(conn, buf, done, &status), &status, "send");
	pier_buf_put(buf);
}

void foreign_read(struct foreign *f, struct pier_conn *conn, size_t at,
		  uint64_t addr, uint32_t rkey, size_t len)
{
	int status = -EINPROGRESS;
	struct pier_mmap *remote;
	struct pier_buf *src, *dst;

	foreign_check(pier_mmap_create_remote(addr, len, rkey,
					      PIER_REMOTE_READ, &remote),
		      "range");
	foreign_check(pier_buf_whole(f->inv, remote, &src), "buffer");
	foreign_check(pier_buf_by_addr(f->inv, f->mmap, f->mem + at, len,
				       &dst), "buffer");
	await(f, pier_rdma_read(conn, src, dst, done, &status), &status,
	      "read");
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_mmap_destroy(remote);
}

void foreign_write(struct foreign *f, struct pier_conn *conn, size_t at,
		   uint64_t addr, uint32_t rkey, size_t len)
{
	int status = -EINPROGRESS;
	struct pier_mmap *remote;
	struct pier_buf *src, *dst;

	foreign_check(pier_mmap_create_remote(addr, len, rkey,
					      PIER_REMOTE_WRITE, &remote),
		      "range");
	foreign_check(pier_buf_empty(f->inv, remote, &dst), "buffer");
	foreign_check(pier_buf_by_data(f->inv, f->mmap, f->mem + at, len,
				       &src), "buffer");
	await(f, pier_rdma_write(conn, src, dst, done, &status), &status,
	      "write");
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_mmap_destroy(remote);
}

uint32_t foreign_key(struct foreign *f)
{
	struct pier_buf *buf;
	uint32_t key = 0;

	foreign_check(pier_buf_whole(f->inv, f->mmap, &buf), "buffer");
	foreign_check(pier_buf_rkey(buf, f->dev, &key), "key");
	pier_buf_put(buf);
	return key;
}

void foreign_await_end(struct foreign *f, struct pier_conn *conn)
{
	stamp();
	while (pier_conn_state(conn) == PIER_CONN_CONNECTED)
		foreign_turn(f);
	if (pier_conn_error(conn))
		printf("ended: %s\n", pier_conn_error_text(conn));
}
