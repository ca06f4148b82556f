/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads - an engine in each of several threads: servers, and their clients.
 * All use one device; what is on an engine is used by the engine's thread.
 *
 *	threads -d soft_lo -t 4
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <pier/pier.h>

#define PAIRS 64
#define REQUESTS 1000	/* of each client */

static int pairs = 4;
static const struct pier_option options[] = {
	{ "t", "threads", "N", "of servers, and of clients, 1 to 64; default 4",
	  PIER_OPTION_INT, 0, 1, PAIRS, &pairs },
	{ 0 },
};
static struct pier_dev *dev;
static struct end {
	pthread_t thread;
	struct pier_pe *pe;
	struct pier_comch *comch;
} ends[2 * PAIRS];	/* the servers, and then their clients */
static atomic_int replies, stopped, failed;

/* The text of pier_last_error() is that of the calling thread. */
static void *fail(void)
{
	fprintf(stderr, "threads: %s\n", pier_last_error());
	failed = 1;
	return NULL;
}

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *data)
{
	static _Thread_local int served;	/* of the server's thread */

	(void)msg, (void)len, (void)data;
	served++;
	if (pier_comch_reply(pier_comch_conn_comch(conn), request, &served,
			     sizeof(served)))
		fail();
}

static void *serve(void *arg)
{
	while (!stopped)
		pier_pe_wait(((struct end *)arg)->pe, -1);
	return NULL;
}

/* Wait for the connection, and then for one reply after the other. */
static void *ask(void *arg)
{
	struct end *client = arg;
	struct pier_task *task = NULL;
	int i, reply, err;

	while (pier_ctx_state(pier_comch_ctx(client->comch)) ==
	       PIER_CTX_STARTING)
		pier_pe_wait(client->pe, -1);
	err = pier_comch_error(client->comch, NULL) ?:
	      pier_comch_task_request(pier_comch_conn(client->comch), NULL, 0,
				      &reply, sizeof(reply), &task);
	for (i = 1; !err && i <= REQUESTS; i++)
		if (!(err = pier_task_run(task, 10000)))
			replies += reply == i;
	pier_task_free(task);
	return err ? fail() : NULL;
}

/* An engine may change its thread, as these do: no two use it at a time. */
static int start(struct end *end, int i)
{
	int err = pier_pe_create(&end->pe);
	char name[32];

	snprintf(name, sizeof(name), "threads %d", i % pairs);
	err = err ? err : i < pairs ?
	      pier_comch_create_server(dev, NULL, name, &end->comch) ?:
	      pier_comch_set_request_callbacks(end->comch, requested, NULL) :
	      pier_comch_create_client(dev, name, NULL, &end->comch);
	err = err ? err : pier_ctx_start(pier_comch_ctx(end->comch), end->pe);
	return err == -EINPROGRESS ? 0 : err;	/* a client is connecting */
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME,
				  "Requests in threads.", .options = options };
	int i, n = 0, err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	for (i = 0; !err && i < 2 * pairs; i++)
		err = start(&ends[i], i);
	if (err)
		fail();
	for (; !err && n < 2 * pairs; n += !err)
		err = pthread_create(&ends[n].thread, NULL,
				     n < pairs ? serve : ask, &ends[n]);
	while (n--) {	/* clients end by themselves; they come first */
		stopped = n < pairs;
		pier_pe_wake(ends[n].pe);	/* any thread may do this */
		pthread_join(ends[n].thread, NULL);
	}
	for (i = 2 * pairs; i--; pier_pe_destroy(ends[i].pe))
		pier_comch_destroy(ends[i].comch);
	pier_dev_close(dev);
	printf("%d replies\n", replies);
	return failed || replies != pairs * REQUESTS;
}
