/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <liburing.h>

#include "copy/copy_flight.h"
#include "t/lib/copythread.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/*
 * Several reads and writes of a file at a time: by io_uring, and on a kernel
 * that does not permit it, as many do for containers.
 */
#define LEN 300000
#define FILE_LEN (9u << 20)
#define NAME "pier copy flight"

static struct pier_dev *dev, *far_dev;
static char dir[] = "/tmp/pier-copy.XXXXXX", path[64], source[64];
static uint8_t out[PIER__COPY_FLIGHT * LEN], in[PIER__COPY_FLIGHT * LEN];
static bool is_forbidden;

static bool is_old;	/* the kernel has io_uring, but no reads and writes */
static atomic_int submits;

int io_uring_submit(struct io_uring *ring)
{
	int (*real)(struct io_uring *) = dlsym(RTLD_NEXT, "io_uring_submit");
	unsigned int last = (ring->sq.sqe_tail - 1) & ring->sq.ring_mask;

	submits++;
	if (is_old)
		ring->sq.sqes[last].opcode = UINT8_MAX;
	return real(ring);
}

/* Writes that wait for others: how many of them return together. */
static atomic_int company, writes_begun;

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	ssize_t (*next)(int, const void *, size_t, off_t) =
		dlsym(RTLD_NEXT, "pwrite");
	long long limit = limit_from_now();

	atomic_fetch_add(&writes_begun, 1);
	while (atomic_load(&writes_begun) < atomic_load(&company) &&
	       limit_nap(limit))
		;
	return next(fd, data, len, offset);
}

static bool has_no_threads;

int pthread_create(pthread_t *ret, const pthread_attr_t *attr,
		   void *(*run)(void *arg), void *arg)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		    void *) = dlsym(RTLD_NEXT, "pthread_create");

	return has_no_threads ? EAGAIN : next(ret, attr, run, arg);
}

/* From now on, in this thread and those that it starts. */
static bool forbid_io_uring(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	is_forbidden = true;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static struct pier__copy_op op(bool writes, int fd, uint64_t i)
{
	return (struct pier__copy_op){
		.writes = writes,
		.fd = fd,
		.at = (writes ? out : in) + i * LEN,
		.len = LEN,
		.offset = i * LEN,
		.slot.index = (uint32_t)i,
	};
}

/* Begin as many as there may be, and end them in their order. */
static void all(struct pier__copy_flight *flight, bool writes, int fd)
{
	struct pier__copy_op ended, begun;

	for (uint64_t i = 0; i < PIER__COPY_FLIGHT; i++) {
		begun = op(writes, fd, i);
		pier__copy_flight_begin(flight, &begun);
		IS(pier__copy_flight_count(flight), i + 1);
		IS(pier__copy_flight_last(flight)->offset, i * LEN);
	}
	for (uint32_t i = 0; i < PIER__COPY_FLIGHT; i++) {
		pier__copy_flight_end(flight, &ended);
		IS(ended.slot.index, i);
		IS(ended.result, LEN);
	}
	IS(pier__copy_flight_count(flight), 0);
	OK(!pier__copy_flight_last(flight));
}

static int open_file(int flags)
{
	return open(path, O_CREAT | O_CLOEXEC | flags, 0600);
}

static struct pier__copy_flight *create(void)
{
	struct pier__copy_flight *flight = NULL;

	IS(pier__copy_flight_create(&flight), 0);
	if (is_forbidden)
		OK(!pier__copy_flight_is_async(flight));
	return flight;
}

static void what_is_written_is_read_in_order(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDWR | O_TRUNC);

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i / 7);
	memset(in, 0, sizeof(in));
	all(flight, true, fd);
	all(flight, false, fd);
	OK(!memcmp(in, out, sizeof(in)));
	pier__copy_flight_destroy(flight);
	close(fd);
}

/* Of a file that became shorter: what there is of the last one, then none. */
static void a_read_beyond_the_end_is_short(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDWR | O_TRUNC);
	struct pier__copy_op begun, ended;

	IS(ftruncate(fd, LEN + 10), 0);
	for (uint64_t i = 0; i < PIER__COPY_FLIGHT; i++) {
		begun = op(false, fd, i);
		pier__copy_flight_begin(flight, &begun);
	}
	pier__copy_flight_end(flight, &ended);
	IS(ended.result, LEN);
	pier__copy_flight_end(flight, &ended);
	IS(ended.result, 10);
	pier__copy_flight_end(flight, &ended);
	IS(ended.result, 0);
	pier__copy_flight_destroy(flight);
	close(fd);
}

static void an_error_is_that_of_its_operation(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDONLY), other = open_file(O_RDWR);
	struct pier__copy_op begun = op(true, fd, 0), ended;

	pier__copy_flight_begin(flight, &begun);
	begun = op(true, other, 1);
	pier__copy_flight_begin(flight, &begun);
	pier__copy_flight_end(flight, &ended);
	IS(ended.result, -EBADF);
	pier__copy_flight_end(flight, &ended);
	IS(ended.result, LEN);
	pier__copy_flight_destroy(flight);
	close(fd);
	close(other);
}

static void the_end_waits_for_what_is_in_flight(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDWR | O_TRUNC);
	struct pier__copy_op begun = op(true, fd, 0);
	struct stat st;

	pier__copy_flight_begin(flight, &begun);
	pier__copy_flight_destroy(flight);
	IS(fstat(fd, &st), 0);
	IS(st.st_size, LEN);
	close(fd);
}

static void a_kernel_can_lack_reads_and_writes_in_io_uring(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDWR | O_TRUNC);
	bool was_async = pier__copy_flight_is_async(flight);

	is_old = true;
	submits = 0;
	all(flight, true, fd);
	OK(!pier__copy_flight_is_async(flight));
	memset(in, 0, sizeof(in));
	all(flight, false, fd);
	OK(!memcmp(in, out, sizeof(in)));
	IS(atomic_load(&submits), was_async ? PIER__COPY_FLIGHT : 0);
	is_old = false;
	pier__copy_flight_destroy(flight);
	close(fd);
}

/* Data of several slots, a hole, data. */
static bool write_source(void)
{
	FILE *file = fopen(source, "w");

	for (unsigned int i = 0; file && i < FILE_LEN / 4; i++)
		fwrite(&i, 4, 1, file);
	return file && !fseek(file, 5 << 20, SEEK_CUR) &&
	       fputs("the end", file) > 0 && !fclose(file);
}

static bool are_equal(const char *one, const char *other)
{
	FILE *a = fopen(one, "r"), *b = fopen(other, "r");
	int c = 0, d = 0;

	while (a && b && c == d && c != EOF) {
		c = getc(a);
		d = getc(b);
	}
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return a && b && c == d;
}

static void copy(enum copythread_call call, const char *from, const char *to)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };
	struct copythread client;

	if (!copythread_start(&client, dev, &cfg, call, from, to))
		return;
	if (!IS(copythread_join(&client), 0))
		tap_note("%s", client.text);
	IS(client.result.files, 1);
	IS(client.result.bytes, FILE_LEN + strlen("the end"));
}

static void files_are_copied_in_both_directions(void)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg), .name = NAME, .root = dir,
	};
	struct copythread server;
	char back[80];

	if (!copythread_start(&server, far_dev, &cfg, COPYTHREAD_SERVE, NULL,
			      NULL))
		return;
	copy(COPYTHREAD_SEND, source, "there");
	snprintf(back, sizeof(back), "%s/back", dir);
	copy(COPYTHREAD_RECEIVE, "there", back);
	copythread_stop(&server);
	IS(copythread_join(&server), 0);
	OK(are_equal(source, back));
	IS(unlink(back), 0);
	snprintf(back, sizeof(back), "%s/there", dir);
	OK(are_equal(source, back));
	IS(unlink(back), 0);
}

/* What follows is the same where the kernel refuses it. */
static void a_kernel_can_forbid_io_uring(void)
{
	struct pier__copy_flight *flight;

	OK(forbid_io_uring());
	flight = create();
	pier__copy_flight_destroy(flight);
}

static void what_is_written_is_read_without_io_uring(void)
{
	what_is_written_is_read_in_order();
}

static void a_read_beyond_the_end_is_short_without_io_uring(void)
{
	a_read_beyond_the_end_is_short();
}

static void an_error_is_that_of_its_operation_without_io_uring(void)
{
	an_error_is_that_of_its_operation();
}

static void the_end_waits_for_threads(void)
{
	the_end_waits_for_what_is_in_flight();
}

static void three_writes_run_at_a_time_without_io_uring(void)
{
	struct pier__copy_flight *flight = create();
	int fd = open_file(O_RDWR | O_TRUNC);

	for (int i = 1; i < 3; i++) {
		atomic_store(&writes_begun, 0);
		atomic_store(&company, PIER__COPY_FLIGHT);
		all(flight, true, fd);
		IS(atomic_load(&writes_begun), PIER__COPY_FLIGHT);
	}
	atomic_store(&company, 0);
	pier__copy_flight_destroy(flight);
	close(fd);
}

static void what_is_written_is_read_without_threads(void)
{
	has_no_threads = true;
	what_is_written_is_read_in_order();
	a_read_beyond_the_end_is_short();
	an_error_is_that_of_its_operation();
	has_no_threads = false;
}

static void files_are_copied_without_io_uring(void)
{
	files_are_copied_in_both_directions();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev) ||
	    !mkdtemp(dir))
		return tap_skip_all(pier_last_error());
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(source, sizeof(source), "%s/source", dir);
	if (!write_source())
		return tap_skip_all("no file can be written");
	TEST(what_is_written_is_read_in_order);
	TEST(a_read_beyond_the_end_is_short);
	TEST(an_error_is_that_of_its_operation);
	TEST(the_end_waits_for_what_is_in_flight);
	TEST(a_kernel_can_lack_reads_and_writes_in_io_uring);
	TEST(files_are_copied_in_both_directions);
	TEST(a_kernel_can_forbid_io_uring);
	TEST(what_is_written_is_read_without_io_uring);
	TEST(a_read_beyond_the_end_is_short_without_io_uring);
	TEST(an_error_is_that_of_its_operation_without_io_uring);
	TEST(the_end_waits_for_threads);
	TEST(three_writes_run_at_a_time_without_io_uring);
	TEST(what_is_written_is_read_without_threads);
	TEST(files_are_copied_without_io_uring);
	unlink(path);
	unlink(source);
	rmdir(dir);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
