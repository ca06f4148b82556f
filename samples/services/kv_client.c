/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kv_client - read values in the memory of kv_server, and count that there:
 *	kv_client -d soft_lo -sa 127.0.0.1 apple plum
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <pier/pier.h>

enum { SLOTS = 1024, PROBES = 8 };
struct table {		/* as in kv_server */
	uint64_t gets;
	struct slot { char key[24], value[104]; } slots[SLOTS + PROBES];
};
static struct pier_args args = PIER_ARGS_RENDEZVOUS;
static struct slot slots[PROBES];	/* what was read */
static char shown[4 * 104 + 1];		/* a value */
static uint64_t gets;			/* the counter before this one */
static struct pier_rdma *rdma;
static struct pier_conn *conn;
static struct pier_mmap *slots_mmap, *gets_mmap, *remote;
static struct pier_buf_inventory *inv;

/* Connect; the server accepts with the descriptor of its table. */
static int join(struct pier_dev *dev)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = args.server_addr,
		.port = (uint32_t)args.listen_port,
		.retry_ms = (uint32_t)args.timeout_ms,
	};
	const void *desc;
	size_t len;

	fprintf(stderr, "waiting for %s; Ctrl-C ends it\n", args.server_addr);
	return pier_rdma_connect_to(rdma, &cfg, &conn) ?:
	       pier_conn_wait(conn, -1) ?:
	       pier_conn_private_data(conn, &desc, &len) ?:
	       pier_mmap_create_from_export(dev, desc, len, &remote);
}

/* Read all slots that may have the key, and add 1 to the counter. */
static int get(const char *key)
{
	struct table *table = pier_mmap_addr(remote);	/* an address there */
	struct pier_buf *src = NULL, *dst = NULL, *counter = NULL, *old = NULL;
	struct pier_task *task;
	unsigned int hash = 2166136261;	/* FNV-1a */
	int err;

	while (*key)
		hash = (hash ^ (unsigned char)*key++) * 16777619;
	err = pier_buf_by_data(inv, remote, &table->slots[hash % SLOTS],
			       sizeof(slots), &src) ?:
	      pier_buf_empty(inv, slots_mmap, &dst) ?:
	      pier_rdma_task_read(conn, src, dst, &task) ?:
	      pier_task_once(task, args.timeout_ms) ?:
	      pier_buf_by_addr(inv, remote, &table->gets, 8, &counter) ?:
	      pier_buf_empty(inv, gets_mmap, &old) ?:
	      pier_rdma_task_fetch_add(conn, counter, old, 1, &task) ?:
	      pier_task_once(task, args.timeout_ms);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_buf_put(counter);
	pier_buf_put(old);
	return err;
}

/* The keys and values are a peer's bytes: they may have no end. */
static int print(const char *key)
{
	for (struct slot *slot = slots; slot < slots + PROBES; slot++) {
		if (!*key || strncmp(slot->key, key, sizeof(slot->key)))
			continue;
		pier_text_escape(slot->value, strnlen(slot->value, 104), shown,
				 sizeof(shown));
		return printf("%s=%s, get %" PRIu64 "\n", key, shown, gets) < 0;
	}
	fprintf(stderr, "kv_client: no key \"%s\"\n", key);
	return 1;
}

int main(int argc, char *argv[])
{
	struct pier_dev *dev = NULL;
	struct pier_pe *pe = NULL;
	int i, missing = 0, err;

	args.about = "Get the values of keys from kv_server.";
	args.operands = "KEY...";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_SERVER | PIER_ARGS_TIMEOUT;
	args.server_addr = "127.0.0.1";
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	if (!args.argc)
		return fputs("kv_client: give at least one KEY\n", stderr), 2;
	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_rdma_create(dev, &rdma) ?:
	      pier_ctx_start(pier_rdma_ctx(rdma), pe) ?:
	      pier_mmap_map(dev, slots, sizeof(slots), 0, &slots_mmap) ?:
	      pier_mmap_map(dev, &gets, sizeof(gets), 0, &gets_mmap) ?:
	      pier_buf_inventory_create(4, &inv) ?: join(dev);
	for (i = 0; !err && i < args.argc; i++) {
		err = get(args.argv[i]);
		missing |= !err && print(args.argv[i]);
	}
	if (err)
		fprintf(stderr, "kv_client: %s\n", pier_last_error());
	pier_rdma_destroy(rdma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(gets_mmap);
	pier_mmap_destroy(slots_mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || missing ? 1 : 0;
}
