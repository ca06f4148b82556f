/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_reply_server - clients meet in pairs: each sends a text as a request,
 * and the text of the other is its reply, as soon as there is another.
 *
 *	request_reply_server -d soft_lo &
 *	request_reply_client -d soft_lo -t Alice &
 *	request_reply_client -d soft_lo -t Bob
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static struct pier_pe *pe;
static struct pier_comch *comch;
static struct pier_mmap *mmap;		/* of meetings */
static struct pier_buf_inventory *inv;
#define LINE (2 * 4080 + 6)	/* of two messages, unless configured */
static char meetings[1 << 20];		/* a line each */
static size_t used, first_len;		/* bytes of it, and of first_text */
static uint64_t first;	/* the request that waits for another; 0: none */
static const char *first_text;	/* pier's, until that has its reply, or ends */
static volatile sig_atomic_t stopped;

/* More than fits into a message is written into the memory of the client. */
static void reply(uint64_t request, char *part, size_t len)
{
	struct pier_buf *buf = NULL;

	if (pier_buf_by_data(inv, mmap, part, len, &buf) ?:
	    pier_comch_reply_buf(comch, request, buf))
		pier_comch_refuse(comch, request);  /* else it waits for ever */
	pier_buf_put(buf);	/* pier has it until the reply is sent */
}

/* As many of the last lines as the client has memory for. */
static void list(uint64_t request)
{
	size_t max = pier_comch_reply_buf_max(comch, request);
	char *part = max >= used ? meetings : (char *)memchr(
		meetings + used - max - 1, '\n', max + 1) + 1;

	reply(request, part, used - (size_t)(part - meetings));
}

/* The texts, of any bytes, are copied: after the replies they are pier's. */
static void meet(uint64_t request, const char *text, size_t len)
{
	char *line = meetings + used, *copy = line + first_len + 5;

	memcpy(line, first_text, first_len);
	memcpy(line + first_len, " met ", 5);
	memcpy(copy, text, len);
	copy[len] = '\n';
	used += first_len + len + 6;
	reply(first, copy, len);
	reply(request, line, first_len);
	first = 0;
}

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *data)
{
	(void)conn, (void)data;
	if (!len)
		list(request);
	else if (used > sizeof(meetings) - LINE)
		pier_comch_refuse(comch, request);
	else if (first)
		meet(request, msg, len);
	else	/* reply later */
		first = request, first_text = msg, first_len = len;
}

/* Of every request: the reply was sent, or its client has given up or died. */
static void ended(struct pier_comch *server, uint64_t request, int status,
		  void *data)
{
	(void)server, (void)data;
	if (status)
		fprintf(stderr, "a request ended: %s\n", pier_strerror(status));
	first = request == first ? 0 : first;
}

static void stop(int signal)
{
	stopped = signal;
	pier_pe_wake(pe);
}

int main(int argc, char *argv[])
{
	struct pier_args args = { sizeof(args), PIER_ARGS_NAME,
				  .about = "Clients meet in pairs." };
	struct pier_dev *dev = NULL;
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_mmap_map(dev, meetings, sizeof(meetings), PIER_LOCAL_READ,
			    &mmap) ?: pier_buf_inventory_create(1024, &inv) ?:
	      pier_comch_create_server(dev, NULL, "request_reply", &comch) ?:
	      pier_comch_set_request_callbacks(comch, requested, ended) ?:
	      (signal(SIGINT, stop) == SIG_ERR ? -1 : 0) ?:
	      pier_ctx_start(pier_comch_ctx(comch), pe);
	while (!err && !stopped)
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "%s: %s\n", argv[0], pier_last_error());
	signal(SIGINT, SIG_DFL);	/* stop() uses the engine */
	pier_comch_destroy(comch);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
