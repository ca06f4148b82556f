/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many connections between two processes, each on its core: "SECOND BYTES",
 * how many of @CONNS a client makes a second, with up to 64 under way, and by
 * how much the larger of the two processes has grown for each, once they are
 * idle.
 *
 *	cm CONNS
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/pier.h>

#include "bench/procs.h"
#include "bench/target.h"

#define UNDER_WAY 64
#define WAIT_MS 10000

/* This process. */
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static unsigned int wanted;
static unsigned int up;

/* Bytes of memory that are this process's own. */
static double private_bytes(void)
{
	unsigned long resident = 0, shared = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*u %lu %lu", &resident, &shared) != 2)
		proc_die("cm: /proc/self/statm is not to be read");
	fclose(file);
	return (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

/*
 * The same of memory that is shared with the other process: half of each page,
 * which both have.  Rings are named so, and memory of pier's own.
 */
static double shared_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long kib, sum = 0;
	bool ours = false;
	char line[512];

	if (!file)
		proc_die("cm: /proc/self/smaps is not to be read");
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "/memfd:pier"))
			ours = true;
		if (!ours || sscanf(line, "Pss: %lu kB", &kib) != 1)
			continue;
		sum += kib;
		ours = false;
	}
	fclose(file);
	return (double)sum * 1024;
}

static double all_bytes(void)
{
	return private_bytes() + shared_bytes();
}

static void established(struct pier_conn *conn, void *user_data,
			void *ctx_user_data)
{
	(void)conn;
	(void)user_data;
	(void)ctx_user_data;
	up++;
}

static void ended(struct pier_conn *conn, void *user_data, void *ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	proc_die("cm: connection %u failed: %s", up,
		 pier_conn_error_text(conn));
}

static void requested(struct pier_conn *conn, void *user_data,
		      void *ctx_user_data)
{
	(void)user_data;
	(void)ctx_user_data;
	must(pier_conn_accept(conn, NULL, 0));
}

static void start(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = wanted,
		.keepalive_ms = PIER_ZERO,
	};

	must(pier_rdma_create(dev, &rdma));
	must(pier_rdma_configure(rdma, &cfg));
	must(pier_rdma_set_conn_callbacks(rdma, requested, established, ended,
					  ended));
	must(pier_ctx_start(pier_rdma_ctx(rdma), pe));
}

/* What @wanted connections have cost since @before, each. */
static double growth(double before)
{
	return (all_bytes() - before) / wanted;
}

/* Accept all, report what they cost, stay until the other side is done. */
static void serve(int wire, void *arg)
{
	struct pier_listen_config cfg = { .size = sizeof(cfg) };
	struct pier_listener *listener;
	double before, each;
	uint16_t port;

	(void)arg;
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	before = all_bytes();
	start();
	must(pier_rdma_listen(rdma, &cfg, &listener));
	port = pier_listener_port(listener);
	proc_put(wire, &port, sizeof(port));
	while (up < wanted)
		must(pier_pe_wait(pe, WAIT_MS));
	each = growth(before);
	proc_put(wire, &each, sizeof(each));
	proc_get(wire, &each, sizeof(each));
	_exit(0);
}

static void connect_one(const char *host, uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = host,
		.port = port,
	};
	struct pier_conn *conn;

	must(pier_rdma_connect_to(rdma, &cfg, &conn));
}

static double connect_all(const char *host, uint16_t port)
{
	unsigned int begun = 0;
	double start_us = proc_now();

	while (up < wanted) {
		while (begun < wanted && begun - up < UNDER_WAY) {
			connect_one(host, port);
			begun++;
		}
		must(pier_pe_wait(pe, WAIT_MS));
	}
	return wanted / (proc_now() - start_us) * 1e6;
}

int main(int argc, char *argv[])
{
	const char *host = getenv("BENCH_IP_B");
	double before, rate, ours, theirs;
	uint16_t port;
	int wire;

	wanted = argc == 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	if (!wanted || wanted > 65535)
		proc_die("usage: cm CONNS, 1 to 65535");
	wire = proc_fork(PROC_B, serve, NULL);
	proc_be(PROC_A);
	must(pier_dev_open(getenv("BENCH_DEVICE"), &dev));
	must(pier_pe_create(&pe));
	before = all_bytes();
	start();
	proc_get(wire, &port, sizeof(port));
	rate = connect_all(host ? host : "127.0.0.1", port);
	proc_get(wire, &theirs, sizeof(theirs));
	ours = growth(before);
	printf("%.0f %.0f\n", rate, ours > theirs ? ours : theirs);
	proc_put(wire, &ours, sizeof(ours));
	return 0;
}
