/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pier/verbs.h>

#include "mem/mmap_impl.h"
#include "t/lib/copier.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * Memory of a dma-buf: what the device says of it, and what may use it.  No
 * device here registers one, so there is a stand-in for libibverbs' call, which
 * takes a memfd for a dma-buf.
 */
#define OFFSET 4096
#define LEN 8192
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static struct pier_dev *dev;
static int memfd;
static uint8_t *bytes;		/* of the memfd, from OFFSET on */

/* What the stand-in was passed last. */
static bool stands_in;
static struct {
	uint64_t offset, iova;
	size_t len;
	int fd, access;
} passed;

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *in, uint64_t offset, size_t len,
				 uint64_t iova, int fd, int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, uint64_t, size_t, uint64_t,
			       int, int) = dlsym(RTLD_NEXT,
						 "ibv_reg_dmabuf_mr");

	if (!stands_in)
		return real(in, offset, len, iova, fd, access);
	if (fd < 0) {
		errno = EBADF;
		return NULL;
	}
	passed.offset = offset;
	passed.len = len;
	passed.iova = iova;
	passed.fd = fd;
	passed.access = access;
	return ibv_reg_mr_iova2(in, bytes + (offset - OFFSET), len, iova,
				(unsigned int)access);
}

static struct pier_mmap_config config(void)
{
	return (struct pier_mmap_config){
		.size = sizeof(struct pier_mmap_config), .len = LEN,
		.access = PEER_ACCESS, .flags = PIER_MMAP_DMABUF,
		.dmabuf_fd = memfd, .dmabuf_offset = OFFSET,
	};
}

/* Not started; the caller destroys it. */
static struct pier_mmap *make(const struct pier_mmap_config *cfg)
{
	struct pier_mmap *mmap = NULL;

	IS(pier_mmap_create(&mmap), 0);
	IS(pier_mmap_configure(mmap, cfg), 0);
	IS(pier_mmap_add_dev(mmap, dev), 0);
	return mmap;
}

static bool is_verbs(void)
{
	return !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "verbs");
}

static int registers(void)
{
	return pier_devinfo_has(pier_dev_info(dev), PIER_FEATURE_DMABUF);
}

static void a_device_that_registers_none_names_the_reason(void)
{
	struct pier_mmap_config cfg = config();
	struct pier_mmap *mmap;

	if (!registers()) {
		tap_note("%s", "this device registers them");
		return;
	}
	mmap = make(&cfg);
	IS(pier_mmap_start(mmap), -EOPNOTSUPP);
	LIKE(pier_last_error(), pier_devinfo_name(pier_dev_info(dev)));
	LIKE(pier_last_error(), "dma-buf ");
	LIKE(pier_last_error(), is_verbs() ? "its driver registers no" :
					     "the CPU moves the bytes");
	cfg = (struct pier_mmap_config){ .size = sizeof(cfg), .len = LEN };
	IS(pier_mmap_configure(mmap, &cfg), 0);
	IS(pier_mmap_start(mmap), 0);
	pier_mmap_destroy(mmap);
}

/* Of a configuration that nothing can be made of. */
static void refused(const struct pier_mmap_config *cfg, const char *text)
{
	struct pier_mmap *mmap;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(pier_mmap_configure(mmap, cfg), -EINVAL);
	LIKE(pier_last_error(), text);
	pier_mmap_destroy(mmap);
}

static void fields_of_a_dma_buf_are_checked(void)
{
	struct pier_mmap_config cfg = config();

	cfg.dmabuf_fd = -1;
	refused(&cfg, "file descriptor -1");
	cfg = config();
	cfg.dmabuf_offset = UINT64_MAX - LEN + 1;
	refused(&cfg, "wrap around");
	cfg = config();
	cfg.len = SIZE_MAX;
	refused(&cfg, "wrap around");
	cfg = config();
	cfg.addr = (void *)0x10010;
	refused(&cfg, "0x10010 for offset 4096");
	cfg = config();
	cfg.flags |= PIER_MMAP_SHARED;
	refused(&cfg, "not allocated by pier");
	cfg = config();
	cfg.flags = 0;
	refused(&cfg, "without the flag PIER_MMAP_DMABUF");
	cfg.dmabuf_fd = 0;
	refused(&cfg, "without the flag PIER_MMAP_DMABUF");
}

static void offsets_are_addresses_unless_there_is_one(void)
{
	struct pier_mmap_config cfg = config();
	struct pier_mmap *mmap = make(&cfg);

	OK(pier_mmap_addr(mmap) == (void *)OFFSET);
	cfg.addr = (void *)0x7000;
	IS(pier_mmap_configure(mmap, &cfg), 0);
	OK(pier_mmap_addr(mmap) == (void *)0x7000);
	pier_mmap_destroy(mmap);
}

/* Copy, or hash, from @src to @dst: its error has @text. */
static void cpu_refuses(struct copier *c, struct pier_buf *src,
			struct pier_buf *dst, const char *text)
{
	IS(copier_copy(c, src, dst), -EINVAL);
	LIKE(pier_last_error(), text);
	IS(pier_buf_chain_data_len(dst), 0);
}

static void hash_refuses(struct copier *c, struct pier_buf *src,
			 struct pier_buf *dst, const char *text)
{
	struct pier_task *task;
	struct pier_sha *sha;

	if (!IS(pier_sha_create(&sha), 0) ||
	    !IS(pier_ctx_start(pier_sha_ctx(sha), c->pe), 0) ||
	    !IS(pier_sha_task_hash(sha, PIER_SHA_256, src, dst, &task), 0))
		return;
	IS(pier_task_submit(task, 0), 0);
	IS(copier_wait(c, task), -EINVAL);
	LIKE(pier_last_error(), text);
	pier_task_free(task);
	pier_sha_destroy(sha);
}

/* Without a registration, which the CPU does not use. */
static void the_cpu_does_not_touch_it(void)
{
	struct pier_mmap_config cfg = config();
	struct pier_mmap *mmap = make(&cfg);
	struct pier_buf *src, *dst, *far_src, *far_dst;
	struct copier c;

	mmap->started = true;
	if (!copier_open(&c, dev, NULL, 4096))
		return;
	src = copier_data(&c, 0, 64);
	dst = copier_tail(&c, 0, 64);
	IS(pier_buf_by_data(c.inv, mmap, (void *)OFFSET, 64, &far_src), 0);
	IS(pier_buf_by_addr(c.inv, mmap, (void *)OFFSET, 64, &far_dst), 0);
	cpu_refuses(&c, far_src, dst, "source is memory of a dma-buf");
	cpu_refuses(&c, src, far_dst, "destination is memory of a dma-buf");
	hash_refuses(&c, far_src, dst, "source is memory of a dma-buf");
	hash_refuses(&c, src, far_dst, "destination is memory of a dma-buf");
	IS(pier_buf_chain(src, far_src), 0);
	cpu_refuses(&c, src, dst, "source is memory of a dma-buf");
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_buf_put(far_dst);
	pier_mmap_destroy(mmap);
	copier_close(&c);
}

/* Write from @src to @dst, and wait. */
static void write_to(struct peer *a, struct pier_buf *src, struct pier_buf *dst)
{
	int status = -EINPROGRESS;

	IS(pier_rdma_write(a->conn, src, dst, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
}

/* @a writes into memory of the dma-buf, and writes from it to @b. */
static void use(struct peer *a, struct pier_mmap *mmap, uintptr_t addr)
{
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_mmap *remote;
	const void *desc;
	size_t len;

	if (!IS(pier_mmap_export(mmap, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	OK(pier_mmap_addr(remote) == (void *)addr);
	IS(pier_buf_by_addr(a->inv, remote, (void *)(addr + 100), 1000, &dst),
	   0);
	write_to(a, peer_data(a, 0, 1000), dst);
	OK(!memcmp(bytes + 100, a->mem, 1000));
	IS(pier_buf_by_data(a->inv, mmap, (void *)(addr + 110), 8, &src), 0);
	write_to(a, src, peer_far_tail(a, 2000, 8));
	pier_mmap_destroy(remote);
}

static void map_and_use(struct peer *a, struct peer *b, void *addr)
{
	struct pier_mmap_config cfg = config();
	uintptr_t first = addr ? (uintptr_t)addr : OFFSET;
	struct pier_mmap *mmap;

	cfg.addr = addr;
	mmap = make(&cfg);
	memset(bytes, 0, LEN);
	memset(b->mem, 0, b->len);
	if (IS(pier_mmap_start(mmap), 0)) {
		IS(passed.fd, memfd);
		IS(passed.offset, OFFSET);
		IS(passed.len, LEN);
		IS(passed.iova, first);
		IS(passed.access, ACCESS);
		use(a, mmap, first);
		OK(!memcmp(b->mem + 2000, a->mem + 10, 8));
		IS(pier_mmap_stop(mmap), 0);
	}
	pier_mmap_destroy(mmap);
}

static void a_device_that_registers_it_reads_and_writes_it(void)
{
	struct peer a, b;

	if (!is_verbs()) {
		tap_note("%s", "this device is not libibverbs'");
		return;
	}
	pier_dev_close(dev);
	stands_in = true;
	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !peer_pair(&a, &b, dev, NULL, 4096))
		return;
	IS(registers(), 0);
	peer_fill(&a, 1);
	map_and_use(&a, &b, NULL);
	map_and_use(&a, &b, (void *)0x7f0000001000);
	peer_unpair(&a, &b);
	stands_in = false;
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	memfd = memfd_create("dmabuf", MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, OFFSET + LEN))
		return tap_skip_all("no memfd");
	bytes = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
		     OFFSET);
	TEST(a_device_that_registers_none_names_the_reason);
	TEST(fields_of_a_dma_buf_are_checked);
	TEST(offsets_are_addresses_unless_there_is_one);
	TEST(the_cpu_does_not_touch_it);
	TEST(a_device_that_registers_it_reads_and_writes_it);
	munmap(bytes, LEN);
	close(memfd);
	pier_dev_close(dev);
	return tap_done();
}
