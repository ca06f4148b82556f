/* SPDX-License-Identifier: BSD-2-Clause */
/* Round trips of requests on a Comm Channel, and their replies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/comch_ways.h"
#include "bench/procs.h"
#include "bench/target.h"

#define WAIT_MS 10000

static char message[MESSAGE], reply[MESSAGE];

static struct pier_pe *pe;
static struct pier_comch *comch;
static struct pier_task *task;
static unsigned long done;
static bool is_connected;

static void connected(struct pier_comch_conn *conn, void *arg)
{
	(void)conn;
	(void)arg;
	is_connected = true;
}

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *arg)
{
	(void)conn;
	(void)arg;
	must(pier_comch_reply(comch, request, msg, len));
}

static void replied(struct pier_task *request, void *arg)
{
	(void)arg;
	must(pier_task_status(request));
	if (pier_comch_reply_len(request) != MESSAGE)
		proc_die("comch: a reply of %zu bytes",
			 pier_comch_reply_len(request));
	done++;
}

static void serve(struct pier_dev *dev, int wire)
{
	char name[64] = "";

	snprintf(name, sizeof(name), "bench-request-%d", (int)getpid());
	must(pier_pe_create(&pe));
	must(pier_comch_create_server(dev, NULL, name, &comch));
	must(pier_comch_set_callbacks(comch, connected, NULL, NULL, NULL));
	must(pier_comch_set_request_callbacks(comch, requested, NULL));
	must(pier_ctx_start(pier_comch_ctx(comch), pe));
	proc_put(wire, name, sizeof(name));
	while (!is_connected)
		must(pier_pe_wait(pe, WAIT_MS));
}

static void step(void)
{
	must(pier_pe_progress(pe, 0));
}

static void meet(struct pier_dev *dev, int wire)
{
	const char *text;
	char name[64];
	int err;

	proc_get(wire, name, sizeof(name));
	must(pier_pe_create(&pe));
	must(pier_comch_create_client(dev, name, getenv("BENCH_IP_B"),
				      &comch));
	err = pier_ctx_start(pier_comch_ctx(comch), pe);
	if (err != -EINPROGRESS)
		must(err);
	while (!pier_comch_conn(comch) && !pier_comch_error(comch, &text))
		must(pier_pe_wait(pe, WAIT_MS));
	if (!pier_comch_conn(comch))
		proc_die("comch: %s", text);
	must(pier_comch_task_request(pier_comch_conn(comch), message, MESSAGE,
				     reply, MESSAGE, &task));
	pier_task_set_done(task, replied, NULL);
}

static double run(int count, int depth)
{
	double start = proc_now();

	(void)depth;
	for (int i = 0; i < count; i++) {
		unsigned long want = done + 1;

		must(pier_task_submit(task, 0));
		while (done < want)
			must(pier_pe_progress(pe, 0));
	}
	return proc_now() - start;
}

const struct bench_way way_request = {
	.name = "a request",
	.serve = serve,
	.step = step,
	.meet = meet,
	.run = run,
};
