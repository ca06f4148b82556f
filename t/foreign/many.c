/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/foreign/foreign.h"

/*
 * Connections made and ended, several at a time, over a network that loses
 * packets: each is reported once, and one that fails has a status.
 */
#define UNDER_WAY 8

static int begun, up, down, failed;
static volatile sig_atomic_t enough;
static bool is_client;

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	up++;
	if (is_client)
		pier_conn_disconnect(conn);
}

static void disconnected(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	down++;
	pier_conn_destroy(conn);
}

static void did_not_stand(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	failed++;
	printf("failed: %d: %s\n", pier_conn_error(conn),
	       pier_conn_error_text(conn));
	if (pier_conn_error(conn) >= 0 ||
	    !strstr(pier_conn_error_text(conn), "cannot connect "))
		exit(1);
	pier_conn_destroy(conn);
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	begun++;
	if (pier_conn_accept(conn, NULL, 0))
		printf("accept: %s\n", pier_last_error());
}

static void turn(struct foreign *f)
{
	int err = pier_pe_wait(f->pe, 100);

	if (err != -ETIMEDOUT)
		foreign_check(err, "progress");
}

static void print_count(void)
{
	printf("%d begun, %d up, %d down, %d failed\n", begun, up, down,
	       failed);
	if (begun != down + failed || up != down)
		exit(1);
}

static void connect_one(struct foreign *f, const struct foreign_args *args)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = args->peer,
		.port = args->port,
		.source = args->source,
		.raw = !args->pier,
		.timeout_ms = 60000,
	};
	struct pier_conn *conn;

	foreign_check(pier_rdma_connect_to(f->rdma, &cfg, &conn), "connect");
	begun++;
}

void foreign_many_client(struct foreign *f, const struct foreign_args *args)
{
	is_client = true;
	pier_rdma_set_conn_callbacks(f->rdma, NULL, established, did_not_stand,
				     disconnected);
	while (down + failed < args->count) {
		while (begun < args->count &&
		       begun - down - failed < UNDER_WAY)
			connect_one(f, args);
		turn(f);
	}
	print_count();
}

static void on_term(int sig)
{
	(void)sig;
	enough = 1;
}

/* Until a signal ends it; then the remaining connections end too. */
void foreign_many_server(struct foreign *f, const struct foreign_args *args)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.address = args->source,
		.port = args->port,
	};

	signal(SIGTERM, on_term);
	pier_rdma_set_conn_callbacks(f->rdma, requested, established,
				     did_not_stand, disconnected);
	foreign_check(pier_rdma_listen(f->rdma, &cfg, &f->listener), "listen");
	puts("listening");
	fflush(stdout);
	while (!enough || down + failed < begun)
		turn(f);
	print_count();
}
