/* SPDX-License-Identifier: BSD-2-Clause */
/* comch_ctrl_path_server - answer a client on a Comm Channel. */
#include <stdio.h>
#include <string.h>
#include <pier/pier.h>

static const char *text = PIER_ARGS_TEXT, *device, *rep_name;
static const struct pier_option options[] = {
	{ "p", "pci-addr", "DEV", "the device, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &device },
	{ "r", "rep-pci", "REP", "the representor, by PCI address or name",
	  PIER_OPTION_STRING, 0, 0, 0, &rep_name },
	{ "t", "text", "TEXT", "the text to answer with", PIER_OPTION_STRING,
	  0, 1, 4080, &text },
	{ 0 },
};
static char shown[4 * 4080 + 1];
static int status = -1;		/* of the answer */

static void sent(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static void received(struct pier_comch_conn *conn, const void *msg, size_t len,
		     void *data)
{
	(void)data;
	printf("received \"%s\"\n",
	       pier_text_escape(msg, len, shown, sizeof(shown)));
	pier_comch_send(conn, text, strlen(text), sent, &status);
}

static void disconnected(struct pier_comch_conn *conn, void *data)
{
	(void)data;
	pier_ctx_stop(pier_comch_ctx(pier_comch_conn_comch(conn)));
}

int main(int argc, char *argv[])
{
	struct pier_args args = { .size = sizeof(args), .options = options };
	struct pier_dev *dev = NULL;
	struct pier_rep *rep = NULL;
	struct pier_pe *pe = NULL;
	struct pier_comch *comch = NULL;
	int err;

	args.about = "Answer a message of comch_ctrl_path_client.";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	err = pier_dev_open(device, &dev);
	if (!err && rep_name)
		err = pier_rep_open_by_name(dev, rep_name, &rep);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_comch_create_server(
		dev, rep, "comch_ctrl_path_sample_server", &comch);
	err = err ? err : pier_comch_set_callbacks(comch, NULL, disconnected,
						   received, NULL);
	err = err ? err : pier_ctx_start(pier_comch_ctx(comch), pe);
	while (!err && pier_ctx_state(pier_comch_ctx(comch)) != PIER_CTX_IDLE)
		err = pier_pe_wait(pe, -1);
	if (err || status)
		fprintf(stderr, "comch_ctrl_path_server: %s\n",
			pier_last_error());
	else
		printf("sent \"%s\"\n", text);
	pier_comch_destroy(comch);
	pier_pe_destroy(pe);
	pier_rep_close(rep);
	pier_dev_close(dev);
	return err || status ? 1 : 0;
}
