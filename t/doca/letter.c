/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

/* letter DEVICE TEXT: a process reads the text in the memory of another. */

#define MUST(call) must(call, #call)

static char memory[64], got[4096];
static struct doca_dev *dev;
static int ended, fds[2], owner;	/* owner: of the text */

static void must(doca_error_t error, const char *call)
{
	if (error)
		fprintf(stderr, "%s: %s\n", call, doca_error_get_descr(error));
	if (error)
		exit(1);
}

static void read_end(struct doca_rdma_task_read *task, union doca_data data,
		     union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	MUST(doca_task_get_status(doca_rdma_task_read_as_task(task)));
	doca_task_free(doca_rdma_task_read_as_task(task));
	ended = 1;
}

static void open_device(const char *want)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	while (count-- && !dev)
		if (!doca_devinfo_get_ibdev_name(list[count], name, 64) &&
		    !strcmp(name, want))
			MUST(doca_dev_open(list[count], &dev));
	doca_devinfo_destroy_list(list);
	MUST(dev ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
}

/* Give the other process something of ours, and get the same of its. */
static size_t exchange(const void *data, size_t len)
{
	ssize_t n = send(fds[owner], data, len, 0) < 0 ? -1 :
		    recv(fds[owner], got, sizeof(got), 0);

	MUST(n > 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
	return (size_t)n;
}

static struct doca_mmap *map(void)
{
	struct doca_mmap *mmap;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	MUST(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_add_dev(mmap, dev));
	MUST(doca_mmap_start(mmap));
	return mmap;
}

static void fetch(struct doca_pe *pe, struct doca_rdma *rdma,
		  struct doca_rdma_connection *conn, struct doca_mmap *here,
		  struct doca_mmap *there)
{
	union doca_data none = { .ptr = NULL };
	struct doca_buf_inventory *inv;
	struct doca_rdma_task_read *task;
	struct doca_buf *src, *dst;
	size_t len;
	void *at;

	MUST(doca_buf_inventory_create(2, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_mmap_get_memrange(there, &at, &len));
	MUST(doca_buf_inventory_buf_get_by_data(inv, there, at, len, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, here, memory, len, &dst));
	MUST(doca_rdma_task_read_allocate_init(rdma, conn, src, dst, none,
					       &task));
	MUST(doca_task_submit(doca_rdma_task_read_as_task(task)));
	while (!ended)
		doca_pe_progress(pe);
	printf("read %s\n", memory);
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_buf_inventory_destroy(inv));
}

int main(int argc, char **argv)
{
	struct doca_mmap *mmap, *remote;
	struct doca_rdma_connection *conn;
	struct doca_rdma *rdma;
	struct doca_pe *pe;
	const void *desc;
	size_t len;
	int status = 0;

	if (argc != 3 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return 2;
	owner = fork() != 0;
	close(fds[!owner]);
	open_device(argv[1]);
	mmap = map();
	if (owner)
		snprintf(memory, sizeof(memory), "%s", argv[2]);
	MUST(doca_pe_create(&pe));
	MUST(doca_rdma_create(dev, &rdma));
	MUST(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	MUST(doca_rdma_task_read_set_conf(rdma, read_end, read_end, 1));
	MUST(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	MUST(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	MUST(doca_rdma_export(rdma, &desc, &len, &conn));
	len = exchange(desc, len);
	MUST(doca_rdma_connect(rdma, got, len, conn));
	MUST(doca_mmap_export_rdma(mmap, dev, &desc, &len));
	len = exchange(desc, len);
	MUST(doca_mmap_create_from_export(NULL, got, len, dev, &remote));
	if (!owner)
		fetch(pe, rdma, conn, mmap, remote);
	exchange("done", 4);
	MUST(doca_mmap_destroy(remote));
	doca_ctx_stop(doca_rdma_as_ctx(rdma));
	while (doca_rdma_destroy(rdma) == DOCA_ERROR_BAD_STATE)
		doca_pe_progress(pe);
	MUST(doca_pe_destroy(pe));
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
	return owner && (wait(&status) < 0 || status);
}
