/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_ctrl_path_client - send a text to a server of a Comm Channel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT, *device, *address, *rep;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "t", "text", "TEXT", "the text to send", PIER_OPTION_STRING, 0, 1,
	  4080, &text },
	{ "sa", "server-addr", "HOST", "the server's host; default this one",
	  PIER_OPTION_STRING, 0, 0, 0, &address },
	{ "r", "rep-pci", "REP", "ignored: of the server",
	  PIER_OPTION_STRING, 0, 0, 0, &rep },
	{ 0 },
};
static char shown[4 * 4080 + 1];
static int answered;

static void sent(struct pier_task *task, void *arg)
{
	(void)task, (void)arg;
}

static void connected(struct pier_comch_conn *conn, void *data)
{
	(void)data;
	if (pier_comch_send(conn, text, strlen(text), sent, NULL))
		pier_comch_disconnect(conn);
}

static void received(struct pier_comch_conn *conn, const void *msg, size_t len,
		     void *data)
{
	(void)data;
	printf("sent \"%s\", received \"%s\"\n", text,
	       pier_text_escape(msg, len, shown, sizeof(shown)));
	answered = 1;
	pier_comch_disconnect(conn);	/* and the context stops */
}

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args) };
	const char *error;
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	struct pier_comch *comch = NULL;
	int err;

	args.about = "Send a message to comch_ctrl_path_server.";
	args.options = options;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_comch_create_client(
		dev, "comch_ctrl_path_sample_server", address, &comch);
	err = err ? err : pier_comch_set_callbacks(comch, connected, NULL,
						   received, NULL);
	err = err ? err : pier_ctx_start(pier_comch_ctx(comch), pe);
	err = err == -EINPROGRESS ? 0 : err;	/* it connects */
	while (!err && pier_ctx_state(pier_comch_ctx(comch)) != PIER_CTX_IDLE)
		err = pier_pe_wait(pe, -1);
	error = pier_last_error();
	if (!err)
		err = pier_comch_error(comch, &error);
	if (!answered)
		fprintf(stderr, "comch_ctrl_path_client: %s\n",
			err ? error : "the server sent no answer");
	pier_comch_destroy(comch);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return answered ? 0 : 1;
}
