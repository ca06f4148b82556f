/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* What the two ends of a copy agree upon: the release, and how long to wait. */

#define NAME "pier copy greeting"

static struct pier_dev *dev, *far_dev;
static char root[] = "/tmp/pier-copy.XXXXXX";
static struct copyliar liar;
static struct copythread real;

/* This many fsync(2) of this process return, others wait. */
static atomic_int fsyncs = INT_MAX, fsyncs_begun;

int fsync(int fd)
{
	int (*next)(int fd) = dlsym(RTLD_NEXT, "fsync");
	int number = atomic_fetch_add(&fsyncs_begun, 1);
	long long limit = limit_from_now();

	while (number >= atomic_load(&fsyncs) && limit_nap(limit))
		;
	return next(fd);
}

/* With this, the connection of @real is being closed when it sends. */
static atomic_bool closes;

int __real_pier_comch_send(struct pier_comch_conn *conn, const void *msg,
			   size_t len, pier_task_fn *fn, void *arg);
int __wrap_pier_comch_send(struct pier_comch_conn *conn, const void *msg,
			   size_t len, pier_task_fn *fn, void *arg);

int __wrap_pier_comch_send(struct pier_comch_conn *conn, const void *msg,
			   size_t len, pier_task_fn *fn, void *arg)
{
	if (atomic_load(&closes) && pthread_equal(pthread_self(), real.thread))
		pier_comch_disconnect(conn);
	return __real_pier_comch_send(conn, msg, len, fn, arg);
}

static struct pier_copy_config config(uint32_t timeout_ms)
{
	return (struct pier_copy_config){
		.size = sizeof(struct pier_copy_config),
		.name = NAME,
		.root = root,
		.timeout_ms = timeout_ms,
	};
}

/* A server, and a client by hand. */
static bool meet_server(uint32_t timeout_ms)
{
	struct pier_copy_config cfg = config(timeout_ms);

	return copythread_start(&real, far_dev, &cfg, COPYTHREAD_SERVE, NULL,
				NULL) &&
	       OK(copyliar_connect(&liar, dev, NAME));
}

static void leave_server(void)
{
	copyliar_close(&liar);
	copythread_stop(&real);
	IS(copythread_join(&real), 0);
}

/* A server by hand, and a client; HELLO has come. */
static bool meet(enum copythread_call call, const char *source,
		 const char *target, uint32_t timeout_ms, uint32_t flags)
{
	struct pier_copy_config cfg = config(timeout_ms);

	cfg.flags = flags;
	return copyliar_listen(&liar, far_dev, NAME) &&
	       copythread_start(&real, dev, &cfg, call, source, target) &&
	       OK(copyliar_until(&liar, PIER__COPY_HELLO, 1));
}

static bool meet_client(const char *path, uint32_t timeout_ms, uint32_t flags)
{
	return meet(COPYTHREAD_SEND, path, "x", timeout_ms, flags);
}

static int leave_client(void)
{
	int err;

	while (!copythread_has_ended(&real))
		pier_pe_wait(liar.pe, 20);
	err = copythread_join(&real);
	copyliar_close(&liar);
	return err;
}

/* The HELLO of version 1, which had no time. */
static void a_client_of_an_older_release_is_refused(void)
{
	static const uint8_t hello[8 + 5 * 8 + 2 * 4] = {
		'p', 'c', 'p', 1, 0, 0, 0, 1,
		0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 1,
	};

	if (!meet_server(20000))
		return;
	copyliar_send_bytes(&liar, hello, sizeof(hello));
	IS(copyliar_end(&liar), -PIER_EVERSION);
	LIKE(liar.text, "the peer has version 1 of the protocol, this end 2");
	LIKE(liar.text, "use the same release on both");
	leave_server();
	IS(real.result.broken, 1);
}

/* Which refuses HELLO by an END of its version. */
static void a_server_of_an_older_release_is_an_error(void)
{
	static const char text[] = "use the same release on both";
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_END,
		.number = { PIER_EVERSION },
		.string[1] = { text, sizeof(text) - 1 },
	};
	uint8_t buf[PIER__COPY_MESSAGE];
	size_t len = pier__copy_msg_encode(&msg, buf);

	if (!meet_client("/proc/self/exe", 20000, 0))
		return;
	buf[3] = 1;
	copyliar_send_bytes(&liar, buf, len);
	IS(leave_client(), -PIER_EVERSION);
	LIKE(real.text, "the peer has version 1 of the protocol");
	LIKE(real.text, "use the same release on both");
}

/* It is not the message that could not be sent. */
static void the_end_of_the_connection_is_the_error_of_a_client(void)
{
	if (!meet_client("/proc/self/exe", 20000, 0))
		return;
	atomic_store(&closes, true);
	copyliar_pass(&liar, PIER__COPY_WELCOME, 0, 20000);
	IS(leave_client(), -ECONNRESET);
	LIKE(real.text, "copy: the peer has ended the connection");
	atomic_store(&closes, false);
}

static void a_server_pings_as_often_as_its_client_requires(void)
{
	struct pier__copy_msg msg;

	if (!meet_server(86400000))
		return;
	msg = copyliar_hello(&liar, PIER__COPY_PUT, 0);
	msg.number[PIER__HELLO_TIMEOUT] = 100;
	copyliar_send(&liar, &msg);
	OK(copyliar_until(&liar, PIER__COPY_PING, 5));
	IS(liar.number[PIER__COPY_WELCOME][PIER__WELCOME_TIMEOUT], 86400000);
	leave_server();
}

static void a_client_pings_as_often_as_its_server_requires(void)
{
	if (!meet_client("/proc/self/exe", 86400000, 0))
		return;
	IS(liar.number[PIER__COPY_HELLO][PIER__HELLO_TIMEOUT], 86400000);
	copyliar_pass(&liar, PIER__COPY_WELCOME, 0, 100);
	OK(copyliar_until(&liar, PIER__COPY_PING, 5));
	copythread_stop(&real);
	IS(leave_client(), -ECANCELED);
}

static void times_out_of_range_are_refused(void)
{
	static const uint64_t bad[] = { 0, 99, 86400001, UINT64_MAX };
	struct pier__copy_msg msg;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!meet_server(20000))
			return;
		msg = copyliar_hello(&liar, PIER__COPY_PUT, 0);
		msg.number[PIER__HELLO_TIMEOUT] = bad[i];
		copyliar_send(&liar, &msg);
		IS(copyliar_end(&liar), -EPROTO);
		LIKE(liar.text, "100 to 86400000 are allowed");
		leave_server();
		if (!meet_client("/proc/self/exe", 20000, 0))
			return;
		copyliar_pass(&liar, PIER__COPY_WELCOME, 0, bad[i]);
		IS(leave_client(), -EPROTO);
		LIKE(real.text, "100 to 86400000 are allowed");
	}
}

/* The server waits for the client, which digests what it has to resume. */
static bool resume_slowly(void)
{
	struct pier__copy_msg msg;
	struct pier__copy_span span;

	if (!meet_server(300))
		return false;
	msg = copyliar_hello(&liar, PIER__COPY_PUT, PIER_COPY_RESUME);
	msg.number[PIER__HELLO_TIMEOUT] = 100;
	copyliar_send(&liar, &msg);
	if (!OK(copyliar_until(&liar, PIER__COPY_WELCOME, 1)))
		return false;
	span = copyliar_slot(&liar, 0);
	copyliar_file(&span, "slow", 1 << 30);
	copyliar_fill(&liar, 0, &span);
	return OK(copyliar_until(&liar, PIER__COPY_OFFSET, 1));
}

/* One that digests counts as one that does something, as long as it does. */
static void a_client_that_digests_for_long_is_waited_for(void)
{
	unsigned int pings;

	if (!resume_slowly())
		return;
	/* 120 of 25 ms are ten times its time */
	for (pings = liar.received[PIER__COPY_PING]; pings < 160; pings++) {
		copyliar_pass(&liar, PIER__COPY_PING, pings + 1, 0);
		if (!OK(copyliar_until(&liar, PIER__COPY_PING, pings)))
			break;
	}
	OK(liar.conn != NULL);
	while (liar.conn) {
		copyliar_pass(&liar, PIER__COPY_PING, 160, 0);
		copyliar_until(&liar, PIER__COPY_PING, ++pings);
	}
	IS(liar.number[PIER__COPY_END][PIER__END_ERROR], ETIMEDOUT);
	LIKE(liar.text, "the client has done nothing for 3000 ms");
	leave_server();
}

/* The number in the client's PING grows for as long as it is looked at. */
static void progress_grows(void)
{
	const uint64_t *now = &liar.number[PIER__COPY_PING]
					  [PIER__PING_PROGRESS];
	uint64_t before = *now;

	for (int grown = 0; grown < 3; grown += *now > before) {
		before = *now;
		copyliar_pass(&liar, PIER__COPY_PING, 0, 0);
		if (!OK(copyliar_until(&liar, PIER__COPY_PING,
				       liar.received[PIER__COPY_PING] + 1)))
			break;
	}
}

static void a_client_that_digests_for_long_says_so(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/sparse", root);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	IS(ftruncate(fd, (off_t)1 << 40), 0);
	if (!meet_client(path, 86400000, PIER_COPY_RESUME))
		return;
	copyliar_pass(&liar, PIER__COPY_WELCOME, 0, 100);
	if (OK(copyliar_until(&liar, PIER__COPY_FILLED, 1)))
		copyliar_offset(&liar, 1, 1ULL << 40);
	progress_grows();
	copythread_stop(&real);
	IS(leave_client(), -ECANCELED);
	close(fd);
	IS(unlink(path), 0);
}

/* A file that is empty. */
static void send_file(void)
{
	struct pier__copy_span span = copyliar_slot(&liar, 0);
	struct pier__copy_digest digest;

	pier__copy_hash_of("", 0, &digest);
	copyliar_file(&span, "file", 0);
	pier__record_end(&span, &digest);
	pier__record_finish(&span);
	copyliar_fill(&liar, 0, &span);
}

/* First that of the file, then that of its directory. */
static void a_client_whose_fsync_lasts_says_so(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/file", root);
	if (!meet(COPYTHREAD_RECEIVE, "file", path, 86400000, 0))
		return;
	atomic_store(&fsyncs_begun, 0);
	atomic_store(&fsyncs, 0);
	copyliar_pass(&liar, PIER__COPY_WELCOME, 1, 100);
	send_file();
	for (int i = 0; i < 2; i++) {
		progress_grows();
		IS(atomic_load(&fsyncs_begun), i + 1);
		atomic_fetch_add(&fsyncs, 1);
	}
	IS(copyliar_end(&liar), 0);
	IS(leave_client(), 0);
	atomic_store(&fsyncs, INT_MAX);
	IS(unlink(path), 0);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev))
		return tap_skip_all(pier_last_error());
	if (!mkdtemp(root))
		return tap_skip_all("there is no directory");
	TEST(a_client_of_an_older_release_is_refused);
	TEST(a_server_of_an_older_release_is_an_error);
	TEST(the_end_of_the_connection_is_the_error_of_a_client);
	TEST(a_server_pings_as_often_as_its_client_requires);
	TEST(a_client_pings_as_often_as_its_server_requires);
	TEST(times_out_of_range_are_refused);
	TEST(a_client_that_digests_for_long_is_waited_for);
	TEST(a_client_that_digests_for_long_says_so);
	TEST(a_client_whose_fsync_lasts_says_so);
	rmdir(root);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
