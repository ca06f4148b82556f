/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

/*
 * A program for DOCA: letter DEVICE TEXT.  A process reads the text out of the
 * memory of another one, and sends it back in capitals; both print what came.
 */
#define BYTES 64

static const union doca_data no_data = { .ptr = NULL };
static char memory[BYTES];
static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_mmap *mmap;
static struct doca_buf_inventory *inventory;
static struct doca_rdma *rdma;
static struct doca_rdma_connection *conn;
static int ended;		/* tasks */

static void must(doca_error_t error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "letter: %s: %s\n", what, doca_error_get_descr(error));
	exit(1);
}

static void end(struct doca_task *task)
{
	must(doca_task_get_status(task), "a task");
	doca_task_free(task);
	ended++;
}

static void read_end(struct doca_rdma_task_read *task, union doca_data data,
		     union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	end(doca_rdma_task_read_as_task(task));
}

static void send_end(struct doca_rdma_task_send *task, union doca_data data,
		     union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	end(doca_rdma_task_send_as_task(task));
}

static void receive_end(struct doca_rdma_task_receive *task,
			union doca_data data, union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	end(doca_rdma_task_receive_as_task(task));
}

static void open_device(const char *want)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count), "list of devices");
	for (uint32_t i = 0; i < count && !dev; i++) {
		if (!doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) &&
		    !strcmp(name, want))
			must(doca_dev_open(list[i], &dev), name);
	}
	doca_devinfo_destroy_list(list);
	if (!dev)
		must(DOCA_ERROR_NOT_FOUND, want);
}

static void open_memory(void)
{
	must(doca_mmap_create(&mmap), "mmap");
	must(doca_mmap_set_memrange(mmap, memory, BYTES), "memory");
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
	     "permissions");
	must(doca_mmap_add_dev(mmap, dev), "device of the mmap");
	must(doca_mmap_start(mmap), "start of the mmap");
	must(doca_buf_inventory_create(2, &inventory), "inventory");
	must(doca_buf_inventory_start(inventory), "start of the inventory");
}

static void open_rdma(void)
{
	struct doca_ctx *ctx;

	must(doca_pe_create(&pe), "engine");
	must(doca_rdma_create(dev, &rdma), "context");
	ctx = doca_rdma_as_ctx(rdma);
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ),
	     "permissions of the context");
	must(doca_rdma_task_read_set_conf(rdma, read_end, read_end, 1), "read");
	must(doca_rdma_task_send_set_conf(rdma, send_end, send_end, 1), "send");
	must(doca_rdma_task_receive_set_conf(rdma, receive_end, receive_end, 1),
	     "receive");
	must(doca_pe_connect_ctx(pe, ctx), "engine of the context");
	must(doca_ctx_start(ctx), "start of the context");
}

/* Pass @len bytes to the other process, and take some from it. */
static void pass(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, 0) != (ssize_t)len)
		must(DOCA_ERROR_IO_FAILED, "socket");
}

static size_t take(int fd, char data[4096])
{
	ssize_t len = recv(fd, data, 4096, 0);

	if (len <= 0)
		must(DOCA_ERROR_IO_FAILED, "socket");
	return (size_t)len;
}

static void connect_to_other(int fd)
{
	const void *desc;
	char peer[4096];
	size_t len;

	must(doca_rdma_export(rdma, &desc, &len, &conn), "export");
	pass(fd, desc, len);
	len = take(fd, peer);
	must(doca_rdma_connect(rdma, peer, len, conn), "connect");
	pass(fd, "connected", 9);
	take(fd, peer);
}

static struct doca_buf *buf_of(struct doca_mmap *from, size_t data_len)
{
	struct doca_buf *buf;
	void *addr;
	size_t len;

	must(doca_mmap_get_memrange(from, &addr, &len), "range");
	must(doca_buf_inventory_buf_get_by_args(inventory, from, addr, len,
						addr, data_len, &buf), "buf");
	return buf;
}

static void run(struct doca_task *task)
{
	int before = ended;

	must(doca_task_submit(task), "submit");
	while (ended == before)
		doca_pe_progress(pe);
}

static void own_text(int fd, const char *text)
{
	struct doca_rdma_task_receive *receive;
	struct doca_buf *here = buf_of(mmap, 0);
	const void *desc;
	size_t len;

	snprintf(memory, sizeof(memory), "%s", text);
	must(doca_mmap_export_rdma(mmap, dev, &desc, &len), "memory's export");
	pass(fd, desc, len);
	must(doca_rdma_task_receive_allocate_init(rdma, here, no_data,
						  &receive), "receive");
	run(doca_rdma_task_receive_as_task(receive));
	printf("received %s\n", memory);
	must(doca_buf_dec_refcount(here, NULL), "buffer");
}

static void fetch_text(int fd)
{
	struct doca_buf *here = buf_of(mmap, 0), *far;
	struct doca_rdma_task_read *read;
	struct doca_rdma_task_send *answer;
	struct doca_mmap *remote;
	char desc[4096];
	size_t len = take(fd, desc);

	must(doca_mmap_create_from_export(NULL, desc, len, dev, &remote),
	     "import");
	far = buf_of(remote, BYTES);
	must(doca_rdma_task_read_allocate_init(rdma, conn, far, here, no_data,
					       &read), "read");
	run(doca_rdma_task_read_as_task(read));
	printf("read %s\n", memory);
	for (char *p = memory; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	must(doca_rdma_task_send_allocate_init(rdma, conn, here, no_data,
					       &answer), "send");
	run(doca_rdma_task_send_as_task(answer));
	must(doca_buf_dec_refcount(far, NULL), "remote buffer");
	must(doca_buf_dec_refcount(here, NULL), "buffer");
	must(doca_mmap_destroy(remote), "end of the import");
}

static void close_all(void)
{
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma);
	enum doca_ctx_states state;

	doca_ctx_stop(ctx);
	while (!doca_ctx_get_state(ctx, &state) &&
	       state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
	must(doca_rdma_destroy(rdma), "end of the context");
	must(doca_pe_destroy(pe), "end of the engine");
	must(doca_buf_inventory_destroy(inventory), "end of the inventory");
	must(doca_mmap_destroy(mmap), "end of the mmap");
	must(doca_dev_close(dev), "end of the device");
}

int main(int argc, char **argv)
{
	int fds[2], status = 0;
	pid_t child;

	if (argc != 3 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return 2;
	child = fork();
	close(fds[!child]);
	open_device(argv[1]);
	open_memory();
	open_rdma();
	connect_to_other(fds[!!child]);
	if (child)
		own_text(fds[1], argv[2]);
	else
		fetch_text(fds[0]);
	close_all();
	if (child && waitpid(child, &status, 0) != child)
		return 1;
	return status != 0;
}
