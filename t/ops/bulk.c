/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pier/pier.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Messages of many sizes by write, read and send, of which every byte is
 * compared.  Without options a test: both ends on one device.  With options
 * one end of them, the passive one with --respond, for t/verbs/interop.sh.
 * With --vain the other ends while sends wait, for which there is no receive.
 */
#define LARGEST ((1 << 20) + 5)
#define SENDS 2		/* of each size: the second one finds no receive */
#define ADDED 5
#define IN_VAIN 3
#define VAIN_LEN 20000	/* several packets */
#define WHOLE ((size_t)1 << 31)	/* one message, and the memory for two */
#define WHOLE_LIMITS 4	/* of time, for one of them */
#ifdef __SANITIZE_THREAD__
#define WHOLE_NEEDS (16 * WHOLE)	/* with its shadow memory */
#else
#define WHOLE_NEEDS (3 * WHOLE)
#endif

static const size_t sizes[] = {
	1, 255, 256, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 12288, 65537,
	LARGEST,
};

#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* What leaves and what arrives; of the responder the peer's, and receives. */
static _Alignas(8) uint8_t mine[LARGEST], got[LARGEST];

static int vain;	/* option */

struct bulk_end {
	const struct pier_args *args;
	struct pier_dev *dev;
	struct pier_pe *pe;
	struct pier_rdma *rdma;
	struct pier_mmap *mine, *got, *remote;
	struct pier_buf_inventory *inv;
	struct pier_conn *conn;
};

struct bulk_result {
	int status;
	size_t len;		/* of a receive */
};

/* Differs from byte to byte, from packet to packet and from size to size. */
static uint8_t pattern(size_t size, size_t at)
{
	uint32_t v = (uint32_t)(at * 2654435761u + size * 40503u);

	return (uint8_t)(v >> 24);
}

static int check(const char *what, size_t size)
{
	size_t i;

	for (i = 0; i < size && got[i] == pattern(size, i);)
		i++;
	if (i == size)
		return 0;
	printf("# %s of %zu bytes: byte %zu is %u, not %u\n", what, size, i,
	       got[i], pattern(size, i));
	return -EBADMSG;
}

static void done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
}

static int finish(struct bulk_end *end, int err, const int *status)
{
	while (!err && *status == -EINPROGRESS)
		err = pier_pe_wait(end->pe, end->args->timeout_ms);
	return err ? err : *status;
}

/* Bytes of @mmap, as data or as room. */
static struct pier_buf *full(struct bulk_end *end, struct pier_mmap *mmap,
			     size_t len)
{
	struct pier_buf *buf = NULL;

	pier_buf_by_data(end->inv, mmap, pier_mmap_addr(mmap), len, &buf);
	return buf;
}

static struct pier_buf *tail(struct bulk_end *end, struct pier_mmap *mmap,
			     size_t len)
{
	struct pier_buf *buf = NULL;

	pier_buf_by_addr(end->inv, mmap, pier_mmap_addr(mmap), len, &buf);
	return buf;
}

/* Write to the peer's memory, and read it back. */
static int there_and_back(struct bulk_end *end, size_t size)
{
	struct pier_buf *from = full(end, end->mine, size);
	struct pier_buf *to = tail(end, end->remote, size);
	struct pier_buf *back = full(end, end->remote, size);
	struct pier_buf *in = tail(end, end->got, size);
	int status = -EINPROGRESS, err;

	memset(got, 0, size);
	err = pier_rdma_write(end->conn, from, to, done, &status);
	err = finish(end, err, &status);
	status = -EINPROGRESS;
	if (!err)
		err = pier_rdma_read(end->conn, back, in, done, &status);
	err = finish(end, err, &status);
	pier_buf_put(from);
	pier_buf_put(to);
	pier_buf_put(back);
	pier_buf_put(in);
	return err ? err : check("write and read", size);
}

static int send_all(struct bulk_end *end, size_t size)
{
	struct pier_buf *from = full(end, end->mine, size);
	int status[SENDS], err = 0, i, end_err;

	for (i = 0; i < SENDS; i++)
		status[i] = 0;
	for (i = 0; i < SENDS && !err; i++) {
		status[i] = -EINPROGRESS;
		err = pier_rdma_send(end->conn, from, done, &status[i]);
	}
	for (i = 0; i < SENDS; i++) {
		end_err = finish(end, err, &status[i]);
		err = err ? err : end_err;
	}
	pier_buf_put(from);
	return err;
}

/* Twice: the second time the word has grown by what was added. */
static int add(struct bulk_end *end)
{
	struct pier_buf *word = full(end, end->remote, sizeof(uint64_t));
	struct pier_buf *old;
	uint64_t seen[2] = { 0, 0 };
	int status, err = 0, i;

	for (i = 0; i < 2 && !err; i++) {
		old = tail(end, end->got, sizeof(uint64_t));
		status = -EINPROGRESS;
		err = pier_rdma_fetch_add(end->conn, word, old, ADDED, done,
					  &status);
		err = finish(end, err, &status);
		memcpy(&seen[i], got, sizeof(seen[i]));
		pier_buf_put(old);
	}
	pier_buf_put(word);
	if (!err && seen[1] != seen[0] + ADDED) {
		printf("# fetch-and-add added %lld, not %d\n",
		       (long long)(seen[1] - seen[0]), ADDED);
		err = -EBADMSG;
	}
	return err;
}

/*
 * They are cancelled: the goodbye takes their place.  Without the drain time:
 * to a soft device rxe does not wait as long.
 */
static int send_in_vain(struct bulk_end *end)
{
	static int status[IN_VAIN];
	struct pier_buf *from = full(end, end->mine, VAIN_LEN);
	struct pier_buf *back = full(end, end->remote, VAIN_LEN);
	struct pier_buf *in = tail(end, end->got, VAIN_LEN);
	int err = 0;

	for (int i = 0; i < IN_VAIN && !err; i++)
		err = i == 1 ? pier_rdma_read(end->conn, back, in, done,
					      &status[i]) :
			       pier_rdma_send(end->conn, from, done,
					      &status[i]);
	pier_buf_put(from);
	pier_buf_put(back);
	pier_buf_put(in);
	pier_conn_destroy(end->conn);
	end->conn = NULL;
	return err;
}

static int request(struct bulk_end *end)
{
	size_t i, at;
	int err;

	err = pier_rendezvous(end->rdma, end->args, NULL, &end->conn,
			      &end->remote);
	for (i = 0; i < SIZES && !err; i++) {
		for (at = 0; at < sizes[i]; at++)
			mine[at] = pattern(sizes[i], at);
		err = there_and_back(end, sizes[i]);
		if (!err)
			err = send_all(end, sizes[i]);
	}
	if (!err)
		err = add(end);
	return err || !vain ? err : send_in_vain(end);
}

static void received(struct pier_task *task, void *arg)
{
	struct bulk_result *result = arg;

	result->status = pier_task_status(task);
	result->len = result->status ? 0 : pier_recv_len(task);
}

static int respond(struct bulk_end *end)
{
	size_t i, size;
	int err;

	err = pier_rendezvous(end->rdma, end->args, end->mine, &end->conn,
			      NULL);
	for (i = 0; i < SENDS * SIZES && !err; i++) {
		struct bulk_result result = { .status = -EINPROGRESS };
		struct pier_buf *to = tail(end, end->got, LARGEST);

		size = sizes[i / SENDS];
		memset(got, 0, size);
		err = pier_rdma_receive(end->rdma, to, received, &result);
		err = finish(end, err, &result.status);
		if (!err && !IS(result.len, size))
			err = -EBADMSG;
		if (!err)
			err = check("send", size);
		pier_buf_put(to);
	}
	return err ? err : pier_rendezvous_serve(end->conn);
}

static int open_end(struct bulk_end *end)
{
	const uint32_t all = PIER_REMOTE_READ | PIER_REMOTE_WRITE |
			     PIER_REMOTE_ATOMIC;
	int err;

	err = pier_dev_open(end->args->device, &end->dev);
	if (!err)
		err = pier_pe_create(&end->pe);
	if (!err)
		err = pier_rdma_create(end->dev, &end->rdma);
	if (!err)
		err = pier_ctx_start(pier_rdma_ctx(end->rdma), end->pe);
	if (!err)
		err = pier_mmap_map(end->dev, mine, LARGEST, all, &end->mine);
	if (!err)
		err = pier_mmap_map(end->dev, got, LARGEST, PIER_LOCAL_WRITE,
				    &end->got);
	if (!err)
		err = pier_buf_inventory_create(8, &end->inv);
	return err;
}

/* Returns an exit status. */
static int run(const struct pier_args *args, int responds)
{
	struct bulk_end end = { .args = args };
	int err;

	err = open_end(&end);
	if (!err)
		err = responds ? respond(&end) : request(&end);
	if (err)
		printf("# %s: %s: %s\n", responds ? "responder" : "requester",
		       pier_strerror(err), pier_last_error());
	pier_conn_disconnect(end.conn);
	pier_rdma_destroy(end.rdma);
	pier_buf_inventory_destroy(end.inv);
	pier_mmap_destroy(end.remote);
	pier_mmap_destroy(end.got);
	pier_mmap_destroy(end.mine);
	pier_pe_destroy(end.pe);
	pier_dev_close(end.dev);
	return err ? 1 : 0;
}

static char names[3][64];

static int responder(struct pair *pair, void *arg)
{
	struct pier_args args = *(struct pier_args *)arg;

	(void)pair;
	args.local_descriptor = names[1];
	args.remote_descriptor = names[0];
	return run(&args, 1);
}

static void every_byte_arrives(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	char dir[] = "/tmp/pier-bulk.XXXXXX";
	struct pair pair;
	int i;

	if (!OK(mkdtemp(dir)))
		return;
	for (i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%s/%d", dir, i);
	args.device = getenv("PIER_DEVICE");
	args.local_descriptor = names[0];
	args.remote_descriptor = names[1];
	args.memory_descriptor = names[2];
	args.timeout_ms = 20000;
	pair_start(&pair, responder, &args);
	IS(run(&args, 0), 0);
	IS(pair_wait(&pair), 0);
	for (i = 0; i < 3; i++)
		unlink(names[i]);
	rmdir(dir);
}

/* Bytes that can be had without swapping, as the kernel reckons; 0: unknown. */
static unsigned long long memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib << 10;
}

/* Room for the largest message, all of it 0. */
static uint8_t *whole_memory(void)
{
	void *mem = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return OK(mem != MAP_FAILED) ? mem : NULL;
}

/* Marks where no packet begins, each another; the last byte is one. */
static void mark(uint8_t *mem, unsigned int seed)
{
	size_t at, i = 0;

	for (at = 0; at < WHOLE - 4096; at += (1 << 20) - 4096 - 7, i++)
		mem[at] = (uint8_t)(1 | peer_byte(seed, i));
	mem[WHOLE - 1] = 0xff;
}

/* A machine whose pages are slow needs several times as long as others. */
static int await_whole(const int *status)
{
	int i, err = -ETIMEDOUT;

	for (i = 0; i < WHOLE_LIMITS && err == -ETIMEDOUT; i++)
		err = peer_await(status);
	return err;
}

/*
 * Move all of @from to @to by one task of @peer.  If that takes too long, the
 * task ends later, and still has where to say so.
 */
static void move(struct peer *peer, bool reads, struct pier_mmap *from,
		 struct pier_mmap *to)
{
	struct pier_buf *src = NULL, *dst = NULL;
	static int status;

	status = -EINPROGRESS;
	IS(pier_buf_whole(peer->inv, from, &src), 0);
	IS(pier_buf_empty(peer->inv, to, &dst), 0);
	if (reads)
		IS(pier_rdma_read(peer->conn, src, dst, peer_done, &status),
		   0);
	else
		IS(pier_rdma_write(peer->conn, src, dst, peer_done, &status),
		   0);
	IS(await_whole(&status), 0);
	IS(pier_buf_data_len(dst), WHOLE);
	pier_buf_put(dst);
	pier_buf_put(src);
}

/* @mem as memory of @dev, and as its peer sees it. */
static bool share(struct pier_dev *dev, uint8_t *mem, struct pier_mmap **ret,
		  struct pier_mmap **ret_remote)
{
	const void *desc;
	size_t len;

	return IS(pier_mmap_map(dev, mem, WHOLE, PEER_ACCESS, ret), 0) &&
	       IS(pier_mmap_export(*ret, &desc, &len), 0) &&
	       IS(pier_mmap_create_from_export(NULL, desc, len, ret_remote), 0);
}

/*
 * From @src to @dst twice: @a writes it, @b reads it.  Fresh pages cost more
 * than the messages: @src has few of its own, and @dst is used again.
 */
static void move_whole(struct peer *a, struct peer *b, uint8_t *src,
		       uint8_t *dst)
{
	struct pier_mmap *from[2] = { NULL, NULL }, *to[2] = { NULL, NULL };

	if (share(a->dev, src, &from[0], &from[1]) &&
	    share(b->dev, dst, &to[0], &to[1])) {
		mark(src, 1);
		move(a, false, from[0], to[1]);
		OK(!memcmp(src, dst, WHOLE));
		mark(src, 2);
		move(b, true, from[1], to[0]);
		OK(!memcmp(src, dst, WHOLE));
	}
	pier_mmap_destroy(from[1]);
	pier_mmap_destroy(to[1]);
	pier_mmap_destroy(from[0]);
	pier_mmap_destroy(to[0]);
}

static void the_largest_message_arrives_whole(void)
{
	uint8_t *near, *far;
	struct pier_dev *dev;
	struct peer a, b;

	if (!IS(pier_dev_open(NULL, &dev), 0))
		return;
	if (strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft")) {
		tap_note("done on soft devices only");
		goto out_close;
	}
	if (memory_available() < WHOLE_NEEDS) {
		tap_skip("there is not enough memory: 6 GiB, or 32 with the "
			 "thread sanitizer");
		goto out_close;
	}
	IS(peer_limit(dev, PIER_LIMIT_MESSAGE), WHOLE);
	near = whole_memory();
	far = whole_memory();
	if (near && far && peer_pair(&a, &b, dev, NULL, 4096)) {
		move_whole(&a, &b, near, far);
		peer_unpair(&a, &b);
	}
	if (near)
		munmap(near, WHOLE);
	if (far)
		munmap(far, WHOLE);
out_close:
	pier_dev_close(dev);
}

int main(int argc, char *argv[])
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	int responds = 0, err;
	const struct pier_option options[] = {
		{ NULL, "respond", NULL, "be the passive side",
		  PIER_OPTION_FLAG, 0, 0, 0, &responds },
		{ NULL, "vain", NULL, "end while sends wait for a receive",
		  PIER_OPTION_FLAG, 0, 0, 0, &vain },
		{ 0 },
	};

	if (argc > 1) {
		args.options = options;
		err = pier_args_parse(&args, argc, argv);
		return err ? pier_args_exit(err) : run(&args, responds);
	}
	TEST(every_byte_arrives);
	TEST(the_largest_message_arrives_whole);
	return tap_done();
}
