/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_reply_server - clients meet in pairs: each sends a text as a request,
 * and the text of the other is its reply, as soon as there is another.
 *
 *	request_reply_server -d soft_lo &
 *	request_reply_client -d soft_lo -t Alice &
 *	request_reply_client -d soft_lo -t Bob
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include <pier/pier.h>

static struct pier_pe *pe;
static struct pier_comch *comch;
static struct pier_mmap *mmap;		/* of meetings */
static struct pier_buf_inventory *inv;
static char meetings[1 << 20];		/* a line each */
static size_t used;			/* bytes of it */
static uint64_t first;	/* the request that waits for another; 0: none */
static const char *first_text;	/* pier's, until that has its reply, or ends */
static size_t first_len;
static volatile sig_atomic_t stopped;

/* More than fits into a message is written into the memory of the client. */
static int reply(uint64_t request, char *part, size_t len)
{
	struct pier_buf *buf = NULL;
	int err = pier_buf_by_data(inv, mmap, part, len, &buf);

	err = err ? err : pier_comch_reply_buf(comch, request, buf);
	pier_buf_put(buf);	/* pier has it until the reply is sent */
	return err;
}

/* The texts are copied: they are pier's again when they are replied to. */
static int meet(uint64_t request, const char *text, size_t len)
{
	char *line = meetings + used, *copy = line + first_len + 5;

	if (first_len + len + 7 > sizeof(meetings) - used)
		return -ENOSPC;
	used += (size_t)sprintf(line, "%.*s met %.*s\n", (int)first_len,
				first_text, (int)len, text);
	if (reply(first, copy, len))	/* else it waits for ever */
		pier_comch_refuse(comch, first);
	first = 0;
	return reply(request, line, first_len);
}

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *data)
{
	int err = 0;

	(void)conn, (void)data;
	if (!len)
		err = used ? reply(request, meetings, used) :
		      pier_comch_reply(comch, request, "none\n", 5);
	else if (first)
		err = meet(request, msg, len);
	else	/* reply later */
		first = request, first_text = msg, first_len = len;
	if (err)
		pier_comch_refuse(comch, request);
}

/* Of every request: the reply was sent, or its client has given up or died. */
static void ended(struct pier_comch *server, uint64_t request, int status,
		  void *data)
{
	(void)server, (void)data;
	if (status)
		fprintf(stderr, "a request ended: %s\n", pier_strerror(status));
	if (request == first)
		first = 0;
}

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
	pier_pe_wake(pe);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_DEVICE,
				  .about = "Clients meet in pairs." };
	struct pier_dev *dev = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_mmap_map(dev, meetings, sizeof(meetings),
					PIER_LOCAL_READ, &mmap);
	err = err ? err : pier_buf_inventory_create(1024, &inv);
	err = err ? err : pier_comch_create_server(dev, NULL, "request_reply",
						   &comch);
	err = err ? err : pier_comch_set_request_callbacks(comch, requested,
							   ended);
	signal(SIGINT, stop);
	err = err ? err : pier_ctx_start(pier_comch_ctx(comch), pe);
	while (!err && !stopped)
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "request_reply_server: %s\n",
			pier_last_error());
	signal(SIGINT, SIG_DFL);	/* stop() uses the engine */
	pier_comch_destroy(comch);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
