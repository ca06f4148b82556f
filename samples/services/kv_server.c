/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kv_server - keys and values that clients read from its memory.  It accepts
 * them in an event loop of the program's own, of epoll(7).
 *
 *	kv_server -d soft_lo apple=red plum=blue &
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <pier/pier.h>

#define SLOTS 1024
#define PROBES 8	/* a key is in one of so many slots, from its hash on */

static struct {		/* as in kv_client; values do not change under them */
	uint64_t gets;	/* clients add to it, and could change slots so, too */
	struct slot { char key[24], value[104]; } slots[SLOTS + PROBES];
} table;
static struct { const void *at; size_t len; } desc;	/* for clients */

static int put(const char *pair)
{
	struct slot new = { 0 }, *slot;
	unsigned int hash = 2166136261;	/* FNV-1a */
	int i, len = 0;

	sscanf(pair, "%23[^=]=%103[^\n]%n", new.key, new.value, &len);
	for (i = 0; new.key[i]; i++)
		hash = (hash ^ (unsigned char)new.key[i]) * 16777619;
	slot = &table.slots[hash % SLOTS];
	for (i = 0; i < PROBES && *slot->key && strcmp(slot->key, new.key); i++)
		slot++;
	if (!len || pair[len] || i == PROBES)
		return fprintf(stderr, "kv_server: \"%s\": not KEY=VALUE of at "
			       "most 23 and 103 bytes, or too many\n", pair);
	*slot = new;
	return 0;
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data, (void)ctx_data;
	if (pier_conn_accept(conn, desc.at, desc.len))
		pier_conn_destroy(conn);
}

static void over(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data, (void)ctx_data;
	if (pier_conn_error(conn))	/* others do not notice it */
		fprintf(stderr, "kv_server: %s\n", pier_conn_error_text(conn));
	pier_conn_destroy(conn);
}

/* Until @stop is readable.  The engine's fd is armed only while this sleeps. */
static int serve(struct pier_pe *pe, int stop, int ep)
{
	struct epoll_event event = { EPOLLIN, { .fd = stop } };
	int busy, err = epoll_ctl(ep, EPOLL_CTL_ADD, stop, &event);

	event.data.fd = pier_pe_fd(pe);
	err = err ? err : epoll_ctl(ep, EPOLL_CTL_ADD, event.data.fd, &event);
	while (err >= 0 && event.data.fd != stop) {
		err = pier_pe_progress(pe, 0);
		busy = err || pier_pe_arm(pe);
		epoll_wait(ep, &event, 1, busy ? 0 : -1);
		if (!busy)
			pier_pe_clear(pe);
	}
	return err < 0;
}

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_listen_config listen = { .size = sizeof(listen) };
	struct pier_dev *dev = NULL;	/* atomics of two are not atomic */
	struct pier_pe *pe = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	struct pier_listener *listener;
	sigset_t set;
	int i, err;

	args.about = "Have keys and values, which clients read.";
	args.operands = "KEY=VALUE...";
	args.groups = PIER_ARGS_NAME | PIER_ARGS_PORT;
	err = pier_args_parse(&args, argc, argv);
	if (err)
		return pier_args_exit(err);	/* help, or a usage error */
	for (i = 0; i < args.argc; i++)
		if (put(args.argv[i]))
			return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);	/* in pier's threads, too */
	listen.port = (uint32_t)args.listen_port;
	err = pier_dev_open(args.device, &dev) ?: pier_pe_create(&pe) ?:
	      pier_rdma_create(dev, &rdma) ?:
	      pier_ctx_start(pier_rdma_ctx(rdma), pe) ?:
	      pier_mmap_map(dev, &table, sizeof(table),
			    PIER_REMOTE_READ | PIER_REMOTE_ATOMIC, &mmap) ?:
	      pier_mmap_export(mmap, &desc.at, &desc.len) ?:
	      pier_rdma_set_conn_callbacks(rdma, requested, NULL, over, over) ?:
	      pier_rdma_listen(rdma, &listen, &listener);
	if (err)
		fprintf(stderr, "kv_server: %s\n", pier_last_error());
	else if (serve(pe, signalfd(-1, &set, 0), epoll_create1(0)))
		perror("kv_server: epoll"), err = -1;
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err || printf("%" PRIu64 " gets\n", table.gets) < 0;
}
