/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_reply_client - send requests with deadlines, and print the replies.
 *
 *	request_reply_client -d soft_lo -t Alice -c 2 --timeout 5
 *	request_reply_client -d soft_lo --meetings
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

enum { MAX = 16, LEN = 1 << 16 };	/* credits of a client; of a reply */

static const char *text = PIER_ARGS_TEXT, *address;
static int count = 1, meetings, failed;
static const struct pier_option options[] = {
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  4080, &text },
	{ "c", "count", "N", "send it N times, 1 to 16; default 1",
	  PIER_OPTION_INT, 0, 1, MAX, &count },
	{ "m", "meetings", NULL, "print who has met so far", PIER_OPTION_FLAG,
	  0, 0, 0, &meetings },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 1, 255, &address },
	{ 0 },
};
static struct pier_args args = PIER_ARGS_RENDEZVOUS;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static char replies[MAX][LEN];	/* servers may write here: nothing else is */
static char shown[4 * LEN + 1];

/* Two texts, or a list of such in lines. */
static void print(const char *reply, size_t len)
{
	for (size_t n; len; reply += n, len -= n) {
		const char *end = meetings ? memchr(reply, '\n', len) : NULL;

		n = end ? (size_t)(end - reply) + 1 : len;
		printf("%s%s\n", meetings ? "" : "met ", pier_text_escape(
		       reply, n - !!end, shown, sizeof(shown)));
	}
	fflush(stdout);
}

static void replied(struct pier_task *task, void *arg)
{
	failed |= !!pier_task_status(task);
	if (pier_task_status(task))
		fprintf(stderr, "request_reply_client: %s\n",
			pier_task_error_text(task));
	else
		print(pier_buf_data(arg), pier_buf_data_len(arg));
	pier_task_free(task);
	pier_buf_put(arg);
}

/* As the reply has a buffer, the server is informed when its time is over. */
static int request(struct pier_comch_conn *conn, char *memory)
{
	struct pier_task *task = NULL;
	struct pier_buf *reply = NULL;
	int err = pier_buf_by_addr(inv, mmap, memory, LEN, &reply) ?:
		  pier_comch_task_request(conn, text, meetings ? 0 :
					  strlen(text), NULL, 0, &task) ?:
		  pier_comch_task_set_reply_buf(task, reply) ?:
		  pier_task_set_timeout_ms(task, args.timeout_ms);

	if (!err)
		pier_task_set_done(task, replied, reply);
	err = err ? err : pier_task_submit(task, 0);
	if (err) {
		pier_task_free(task);
		pier_buf_put(reply);
	}
	return err;
}

int main(int argc, char *argv[])
{
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_comch *comch = NULL;
	const char *error = NULL;
	int i, err;

	args.about = "Send a text to request_reply_server; print the reply.";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_TIMEOUT;
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_mmap_map(dev, replies, sizeof(replies), PIER_REMOTE_WRITE,
			    &mmap) ?: pier_buf_inventory_create(MAX, &inv) ?:
	      pier_comch_create_client(dev, "request_reply", address, &comch) ?:
	      pier_ctx_start(pier_comch_ctx(comch), pe);
	if (err == -EINPROGRESS)	/* it connects */
		err = fputs("waiting for the server; Ctrl-C ends it\n",
			    stderr) < 0;
	while (!err && pier_ctx_state(pier_comch_ctx(comch)) ==
		       PIER_CTX_STARTING)
		err = pier_pe_wait(pe, -1);
	err = err ? err : pier_comch_error(comch, &error);
	for (i = 0; !err && i < count; i++)
		err = request(pier_comch_conn(comch), replies[i]);
	while (!err && pier_pe_inflight(pe))
		err = pier_pe_wait(pe, -1);
	if (err)
		fprintf(stderr, "request_reply_client: %s\n",
			error ? error : pier_last_error());
	pier_comch_destroy(comch);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || failed ? 1 : 0;
}
