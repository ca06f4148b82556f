/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Memory that pier allocates: its pages, its NUMA node, its memfd. */

#define LEN 100000
#define TEXT "written by RDMA"

static struct pier_dev *dev;
static struct pair mate;	/* maps what is shared with it */

/* Start memory of pier's own; the caller destroys *@ret in any case. */
static int start(size_t len, uint32_t flags, uint32_t node,
		 struct pier_mmap **ret)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .len = len,
					.access = PEER_ACCESS, .flags = flags,
					.numa_node = node };
	int err;

	*ret = NULL;
	if (!IS(pier_mmap_create(ret), 0))
		return -ENOMEM;
	err = pier_mmap_configure(*ret, &cfg);
	if (!err)
		err = pier_mmap_add_dev(*ret, dev);
	return err ? err : pier_mmap_start(*ret);
}

/* Some containers may not use mbind(2). */
static bool places_memory(void)
{
	struct pier_mmap *mmap;
	int err = start(LEN, PIER_MMAP_NODE, 0, &mmap);

	pier_mmap_destroy(mmap);
	if (err != -EPERM)
		return true;
	LIKE(pier_last_error(), "NUMA node 0: mbind: ");
	tap_note("%s", "this process may not place memory on a NUMA node");
	return false;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_zeroed(const struct pier_mmap *mmap)
{
	const char *at = pier_mmap_addr(mmap);
	size_t i = 0;

	while (i < pier_mmap_len(mmap) && !at[i])
		i++;
	return IS(i, pier_mmap_len(mmap));
}

/* A number of /proc/meminfo; 0: there is no such line. */
static size_t meminfo(const char *format)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	size_t n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, format, &n) == 1)
			break;
	}
	if (file)
		fclose(file);
	return n;
}

/* Of the pages that a few bytes in huge pages get. */
static size_t expected_size(void)
{
	return meminfo("HugePages_Free: %zu") ?
		       meminfo("Hugepagesize: %zu") * 1024 : page_size();
}

static void memory_is_allocated_in_one_step(void)
{
	struct pier_mmap_config cfg;
	struct pier_mmap *mmap = NULL;

	IS(pier_mmap_alloc(dev, 0, NULL, &mmap), -EINVAL);
	OK(!mmap);
	if (!IS(pier_mmap_alloc(dev, LEN, NULL, &mmap), 0))
		return;
	IS(pier_mmap_len(mmap), LEN);
	pier_mmap_get_config(mmap, &cfg);
	IS(cfg.access, PIER_LOCAL_WRITE);
	IS(pier_mmap_page_size(mmap), page_size());
	is_zeroed(mmap);
	memset(pier_mmap_addr(mmap), 1, LEN);
	IS(pier_mmap_fd(mmap), -EINVAL);
	LIKE(pier_last_error(), "PIER_MMAP_SHARED");
	pier_mmap_destroy(mmap);
}

static void count_release(void *addr, size_t len, void *arg)
{
	OK(addr && len == LEN);
	++*(int *)arg;
}

/* What the kernel prefers for the memory; -1: any node. */
static int node_of(const struct pier_mmap *mmap)
{
	unsigned long nodes[16] = { 0 };
	int policy = -1;

	IS(syscall(SYS_get_mempolicy, &policy, nodes, 1024ul,
		   pier_mmap_addr(mmap), MPOL_F_ADDR), 0);
	return policy == MPOL_PREFERRED && nodes[0] ?
		       __builtin_ctzl(nodes[0]) : -1;
}

static void the_one_step_takes_every_field(void)
{
	int released = 0;
	struct pier_mmap_config got, cfg = {
		.size = sizeof(cfg), .len = LEN, .access = PIER_REMOTE_READ,
		.release = count_release, .release_arg = &released,
		.flags = PIER_MMAP_SHARED | PIER_MMAP_HUGE,
	};
	struct pier_mmap *mmap;

	if (places_memory())
		cfg.flags |= PIER_MMAP_NODE;
	if (!IS(pier_mmap_alloc(dev, LEN, &cfg, &mmap), 0))
		return;
	pier_mmap_get_config(mmap, &got);
	IS(got.flags, cfg.flags);
	IS(got.access, PIER_REMOTE_READ);
	IS(got.len, LEN);
	OK(fcntl(pier_mmap_fd(mmap), F_GETFD) & FD_CLOEXEC);
	IS(pier_mmap_page_size(mmap), expected_size());
	IS(node_of(mmap), cfg.flags & PIER_MMAP_NODE ? 0 : -1);
	is_zeroed(mmap);
	pier_mmap_destroy(mmap);
	IS(released, 1);
}

static void the_one_step_refuses_what_is_not_allocated(void)
{
	static const struct {
		struct pier_mmap_config cfg;
		int err;
		const char *text;
	} rows[] = {
		{ { .addr = &dev }, -EINVAL, "it must be NULL" },
		{ { .len = LEN + 1 }, -EINVAL, "configuration has 100001" },
		{ { .access = 1 << 20 }, -EINVAL, "0x100000" },
		{ { .flags = 1u << 31 }, -EINVAL, "0x80000000" },
		{ { .flags = PIER_MMAP_DMABUF }, -EINVAL, "PIER_MMAP_DMABUF" },
		{ { .dmabuf_fd = 3 }, -EINVAL, "dmabuf_fd" },
		{ { .numa_node = 1 }, -EINVAL, "numa_node without" },
		{ { .flags = PIER_MMAP_NODE, .numa_node = 1024 }, -ERANGE,
		  "NUMA node 1024" },
	};
	struct pier_mmap *mmap = NULL;
	struct pier_mmap_config cfg;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cfg = rows[i].cfg;
		cfg.size = sizeof(cfg);
		IS(pier_mmap_alloc(dev, LEN, &cfg, &mmap), rows[i].err);
		LIKE(pier_last_error(), rows[i].text);
	}
	cfg.size = 0;
	IS(pier_mmap_alloc(dev, LEN, &cfg, &mmap), -EINVAL);
	LIKE(pier_last_error(), "of size 0");
	OK(!mmap);
}

static void lengths_beyond_any_memory_are_refused(void)
{
	static const uint32_t flags[] = {
		0, PIER_MMAP_SHARED, PIER_MMAP_HUGE,
		PIER_MMAP_SHARED | PIER_MMAP_HUGE,
	};
	static const size_t lens[] = {
		SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX / 2 + 2, SIZE_MAX / 2,
	};
	struct pier_mmap *mmap;

	for (size_t i = 0; i < 4 * 4; i++) {
		OK(start(lens[i / 4], flags[i % 4], 0, &mmap) < 0);
		LIKE(pier_last_error(), "mmap: no ");
		IS(pier_mmap_page_size(mmap), 0);
		OK(!pier_mmap_addr(mmap));
		pier_mmap_destroy(mmap);
	}
}

static void huge(uint32_t flags, size_t len, size_t expected)
{
	struct pier_mmap *mmap;

	if (IS(start(len, PIER_MMAP_HUGE | flags, 0, &mmap), 0)) {
		IS(pier_mmap_page_size(mmap), expected);
		IS((uintptr_t)pier_mmap_addr(mmap) % expected, 0);
		IS(pier_mmap_len(mmap), len);
		is_zeroed(mmap);
		memset(pier_mmap_addr(mmap), 1, len);
		IS(pier_mmap_stop(mmap), 0);
		IS(pier_mmap_start(mmap), 0);
	}
	pier_mmap_destroy(mmap);
}

static void huge_pages_are_taken_where_there_are(void)
{
	size_t size = expected_size();

	huge(0, LEN, size);
	huge(PIER_MMAP_SHARED, LEN, size);
	if (places_memory())
		huge(PIER_MMAP_NODE, LEN, size);
	if (size == page_size())
		tap_note("%s", "this kernel has no free huge page");
}

static void too_few_huge_pages_become_ordinary_ones(void)
{
	size_t size = meminfo("Hugepagesize: %zu") * 1024;
	size_t count = meminfo("HugePages_Free: %zu") + 1;

	if (size * count > 256u << 20)
		count = 0;		/* too much for a test */
	if (count)
		huge(0, size * count, page_size());
	if (count)
		huge(PIER_MMAP_SHARED, size * count, page_size());
}

static void memory_is_placed_on_a_numa_node(void)
{
	struct pier_mmap *mmap;

	if (!places_memory())
		return;
	if (IS(start(LEN, PIER_MMAP_NODE, 0, &mmap), 0))
		IS(node_of(mmap), 0);
	pier_mmap_destroy(mmap);
}

static void a_numa_node_that_is_not_there_is_refused(void)
{
	static const uint32_t missing[] = { 1023, 1024, UINT32_MAX };
	struct pier_mmap *mmap;
	char text[40];

	if (!places_memory())
		return;
	for (int i = 0; i < 3; i++) {
		IS(start(LEN, PIER_MMAP_NODE, missing[i], &mmap), -ERANGE);
		snprintf(text, sizeof(text), "NUMA node %u ", missing[i]);
		LIKE(pier_last_error(), text);
		LIKE(pier_last_error(), "the kernel has 0");
		OK(!pier_mmap_addr(mmap));
		pier_mmap_destroy(mmap);
	}
}

/* Of one mmap without a device, since nothing starts. */
static int configure(const struct pier_mmap_config *cfg)
{
	struct pier_mmap *mmap;
	int err;

	if (!IS(pier_mmap_create(&mmap), 0))
		return 0;
	err = pier_mmap_configure(mmap, cfg);
	pier_mmap_destroy(mmap);
	return err;
}

static void fields_that_exclude_each_other_are_refused(void)
{
	static char memory[64];
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .addr = memory,
					.len = sizeof(memory) };

	for (uint32_t flag = 1; flag <= PIER_MMAP_SHARED; flag *= 2) {
		cfg.flags = flag;
		IS(configure(&cfg), -EINVAL);
		LIKE(pier_last_error(), "memory of the program");
	}
	cfg.flags = 1u << 31;
	IS(configure(&cfg), -EINVAL);
	LIKE(pier_last_error(), "0x80000000");
	cfg.flags = 0;
	cfg.numa_node = 3;
	IS(configure(&cfg), -EINVAL);
	LIKE(pier_last_error(), "numa_node without the flag PIER_MMAP_NODE");
	cfg.numa_node = 0;
	IS(configure(&cfg), 0);
}

static void a_shorter_configuration_has_no_flags(void)
{
	struct pier_mmap_config cfg = { .len = LEN, .flags = UINT32_MAX,
					.numa_node = UINT32_MAX };

	cfg.size = offsetof(struct pier_mmap_config, flags);
	IS(configure(&cfg), 0);
	cfg.size = sizeof(cfg);
	IS(configure(&cfg), -EINVAL);
}

/* Pass @fd to the other process. */
static void pass_fd(int sock, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET,
				SCM_RIGHTS } };
	struct iovec byte = { "", 1 };
	struct msghdr msg = { .msg_iov = &byte, .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	IS(sendmsg(sock, &msg, 0), 1);
}

static int take_fd(int sock)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char c;
	struct iovec byte = { &c, 1 };
	struct msghdr msg = { .msg_iov = &byte, .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(sock, &msg, 0) == 1 && msg.msg_controllen)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* In the other process: what is at the beginning and the end of the memory. */
static int look(struct pair *pair, void *arg)
{
	int fd = take_fd(pair->fd);
	char *at;

	(void)arg;
	if (fd < 0)
		return 0;	/* the test was skipped */
	at = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!OK(at != MAP_FAILED))
		return 1;
	OK(ftruncate(fd, 0) < 0 && errno == EPERM);
	pair_send(pair, at, sizeof(TEXT));
	strcpy(at + LEN - sizeof(TEXT), TEXT);
	pair_send(pair, "done", 4);
	return 0;
}

/* A write of @a's into @mmap of @b, from the far end. */
static void write_to(struct peer *a, struct pier_mmap *mmap)
{
	struct pier_mmap *remote = NULL;
	struct pier_buf *src, *dst = NULL;
	int status = -EINPROGRESS;
	const void *desc;
	size_t len;

	memcpy(a->mem, TEXT, sizeof(TEXT));
	src = peer_data(a, 0, sizeof(TEXT));
	if (IS(pier_mmap_export(mmap, &desc, &len), 0) &&
	    IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0) &&
	    IS(pier_buf_by_addr(a->inv, remote, pier_mmap_addr(remote),
				sizeof(TEXT), &dst), 0) &&
	    IS(pier_rdma_write(a->conn, src, dst, peer_done, &status), 0))
		IS(peer_await(&status), 0);
	pier_buf_put(src);
	pier_buf_put(dst);
	pier_mmap_destroy(remote);
}

static void another_process_sees_what_peers_write(void)
{
	struct peer a, b;
	struct pier_mmap *mmap;
	char seen[64] = "";

	if (!IS(start(LEN, PIER_MMAP_SHARED, 0, &mmap), 0) ||
	    !peer_pair(&a, &b, dev, NULL, 4096))
		return;
	IS(pier_mmap_page_size(mmap), page_size());
	OK(fcntl(pier_mmap_fd(mmap), F_GETFD) & FD_CLOEXEC);
	is_zeroed(mmap);
	write_to(&a, mmap);
	pass_fd(mate.fd, pier_mmap_fd(mmap));
	IS(pair_recv(&mate, seen, sizeof(seen)), sizeof(TEXT));
	IS_STR(seen, TEXT);
	IS(pair_recv(&mate, seen, sizeof(seen)), 4);
	IS_STR((char *)pier_mmap_addr(mmap) + LEN - sizeof(TEXT), TEXT);
	IS(pair_wait(&mate), 0);
	peer_unpair(&a, &b);
	pier_mmap_destroy(mmap);
}

static void shared_memory_has_no_descriptor_before_the_start(void)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .len = LEN,
					.flags = PIER_MMAP_SHARED };
	struct pier_mmap *mmap;
	int fd;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(pier_mmap_configure(mmap, &cfg), 0);
	IS(pier_mmap_fd(mmap), -EINVAL);
	LIKE(pier_last_error(), "before the start");
	IS(pier_mmap_add_dev(mmap, dev), 0);
	IS(pier_mmap_start(mmap), 0);
	fd = pier_mmap_fd(mmap);
	OK(fd >= 0);
	pier_mmap_stop(mmap);
	IS(pier_mmap_fd(mmap), fd);
	pier_mmap_destroy(mmap);
	OK(fcntl(fd, F_GETFD) < 0);
}

int main(void)
{
	pair_start(&mate, look, NULL);
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(memory_is_allocated_in_one_step);
	TEST(the_one_step_takes_every_field);
	TEST(the_one_step_refuses_what_is_not_allocated);
	TEST(lengths_beyond_any_memory_are_refused);
	TEST(huge_pages_are_taken_where_there_are);
	TEST(too_few_huge_pages_become_ordinary_ones);
	TEST(memory_is_placed_on_a_numa_node);
	TEST(a_numa_node_that_is_not_there_is_refused);
	TEST(fields_that_exclude_each_other_are_refused);
	TEST(a_shorter_configuration_has_no_flags);
	TEST(shared_memory_has_no_descriptor_before_the_start);
	TEST(another_process_sees_what_peers_write);
	pier_dev_close(dev);
	return tap_done();
}
