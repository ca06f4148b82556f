/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

/* letter DEVICE TEXT: two processes read it in the memory of each other. */

static char mem[128], got[4096];
static int fd, fds[2];
static struct doca_dev *dev;
static struct doca_mmap *mmap;
static struct doca_rdma *rdma;
static struct doca_pe *pe;

static void must(doca_error_t error)
{
	if (error)
		errx(1, "%s", doca_error_get_descr(error));
}

static void read_end(struct doca_rdma_task_read *task, union doca_data data,
		     union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	must(doca_task_get_status(doca_rdma_task_read_as_task(task)));
	doca_task_free(doca_rdma_task_read_as_task(task));
}

/* Open the device, map memory, start a context. */
static void start(const char *want)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	must(doca_devinfo_create_list(&list, &count));
	while (count-- && !dev)
		if (!doca_devinfo_get_ibdev_name(list[count], name, 64) &&
		    !strcmp(name, want))
			must(doca_dev_open(list[count], &dev));
	must(doca_devinfo_destroy_list(list));
	must(doca_mmap_create(&mmap));
	must(doca_mmap_set_memrange(mmap, mem, sizeof(mem)));
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	must(doca_mmap_add_dev(mmap, dev));
	must(doca_mmap_start(mmap));
	must(doca_pe_create(&pe));
	must(doca_rdma_create(dev, &rdma));
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ));
	must(doca_rdma_task_read_set_conf(rdma, read_end, read_end, 1));
	must(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
	must(doca_ctx_start(doca_rdma_as_ctx(rdma)));
}

/* Give the other process something of ours, and get the same of its. */
static size_t exchange(const void *data, size_t len)
{
	return write(fd, data, len) < 0 ? 0 : read(fd, got, sizeof(got));
}

int main(int argc, char **argv)
{
	union doca_data none = { .ptr = NULL };
	struct doca_rdma_connection *conn;
	struct doca_buf_inventory *inv;
	struct doca_rdma_task_read *t;
	struct doca_buf *src, *dst;
	struct doca_mmap *far;
	const void *desc;
	size_t len;

	if (argc != 3 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return 2;
	fd = fds[fork() != 0];
	close(fd == fds[0] ? fds[1] : fds[0]);
	snprintf(mem, 64, "%s", argv[2]);
	start(argv[1]);
	must(doca_rdma_export(rdma, &desc, &len, &conn));
	must(doca_rdma_connect(rdma, got, exchange(desc, len), conn));
	must(doca_mmap_export_rdma(mmap, dev, &desc, &len));
	len = exchange(desc, len);
	must(doca_mmap_create_from_export(NULL, got, len, dev, &far));
	must(doca_buf_inventory_create(2, &inv));
	must(doca_buf_inventory_start(inv));
	must(doca_buf_inventory_buf_get_by_data(inv, far, mem, 64, &src));
	must(doca_buf_inventory_buf_get_by_addr(inv, mmap, mem + 64, 64, &dst));
	must(doca_rdma_task_read_allocate_init(rdma, conn, src, dst, none, &t));
	must(doca_task_submit(doca_rdma_task_read_as_task(t)));
	while (!doca_pe_progress(pe))
		;
	dprintf(STDOUT_FILENO, "read %s\n", mem + 64);
	exchange("done", 4);
	must(doca_buf_dec_refcount(src, NULL));
	must(doca_buf_dec_refcount(dst, NULL));
	must(doca_buf_inventory_destroy(inv));
	must(doca_mmap_destroy(far));
	doca_ctx_stop(doca_rdma_as_ctx(rdma));
	while (doca_rdma_destroy(rdma) == DOCA_ERROR_BAD_STATE)
		doca_pe_progress(pe);
	must(doca_pe_destroy(pe));
	must(doca_mmap_destroy(mmap));
	must(doca_dev_close(dev));
	return exchange("ended", 5) ? 0 : 1;
}
