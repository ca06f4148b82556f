/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/pier.h>

#include "copy/copy_msg.h"
#include "t/lib/tap.h"

/* Clients of a copy server that break its protocol. */

#define NAME "pier copy hostile"

static struct pier_dev *dev, *far_dev;
static struct pier_pe *pe;
static struct pier_copy *copy;
static atomic_int listens;
static pthread_t thread;
static char root[] = "/tmp/pier-copy.XXXXXX";

/* What the server has sent to the client. */
static struct pier__copy_msg last;
static char last_text[PIER__COPY_STRING + 1];
static const void *to_send;
static size_t to_send_len;

static void listening(void *arg)
{
	(void)arg;
	atomic_store(&listens, 1);
}

static void *serve(void *arg)
{
	int err = pier_copy_serve(copy, listening, NULL);

	if (err)
		tap_note("%s", pier_last_error());
	atomic_store(&listens, -1);
	return arg;
}

static bool start_server(void)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg) };

	if (!mkdtemp(root) || pier_copy_create(far_dev, &copy))
		return false;
	cfg.name = NAME;
	cfg.root = root;
	cfg.timeout_ms = 2000;
	if (pier_copy_configure(copy, &cfg) ||
	    pthread_create(&thread, NULL, serve, NULL))
		return false;
	while (!atomic_load(&listens))
		sched_yield();
	return atomic_load(&listens) > 0;
}

static void sent(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
}

static void connected(struct pier_comch_conn *conn, void *arg)
{
	(void)arg;
	if (to_send_len)
		pier_comch_send(conn, to_send, to_send_len, sent, NULL);
}

static void received(struct pier_comch_conn *conn, const void *msg, size_t len,
		     void *arg)
{
	(void)conn;
	(void)arg;
	if (IS(pier__copy_msg_decode(msg, len, &last), 0)) {
		memcpy(last_text, last.string[1].data, last.string[1].len);
		last_text[last.string[1].len] = '\0';
	}
}

/* Send it, and wait until the server disconnects.  Returns its error. */
static int answer_to(const void *msg, size_t len)
{
	struct pier_comch *comch = NULL;
	int err;

	memset(&last, 0, sizeof(last));
	last_text[0] = '\0';
	to_send = msg;
	to_send_len = len;
	err = pier_comch_create_client(dev, NAME, NULL, &comch);
	if (!err)
		err = pier_comch_set_callbacks(comch, connected, NULL,
					       received, NULL);
	if (!err)
		err = pier_ctx_start(pier_comch_ctx(comch), pe);
	err = err == -EINPROGRESS ? 0 : err;
	while (!err && pier_ctx_state(pier_comch_ctx(comch)) != PIER_CTX_IDLE)
		err = pier_pe_wait(pe, 20000) < 0 ? -ETIMEDOUT : 0;
	IS(err, 0);
	pier_comch_destroy(comch);
	IS(last.kind, PIER__COPY_END);
	return -(int)last.number[PIER__END_ERROR];
}

static int answer_to_hello(const struct pier__copy_msg *msg)
{
	uint8_t buf[PIER__COPY_MESSAGE];

	return answer_to(buf, pier__copy_msg_encode(msg, buf));
}

static struct pier__copy_msg hello(void)
{
	struct pier__copy_msg msg = {
		.kind = PIER__COPY_HELLO,
		.number = { PIER__COPY_PUT, 0, 2, 65536, 1, 30000 },
	};

	return msg;
}

static void what_is_no_message_is_refused(void)
{
	IS(answer_to("garbage", 7), -EPROTO);
	IS(answer_to("pcp\1", 4), -EPROTO);
	LIKE(last_text, "none of this protocol");
}

static void another_version_is_named(void)
{
	IS(answer_to("pcp\7\0\0\0\1", 8), -PIER_EVERSION);
	LIKE(last_text, "the peer has version 7");
}

static void other_messages_than_hello_are_refused_first(void)
{
	struct pier__copy_msg msg = { 0 };
	int kind;

	for (kind = PIER__COPY_SOURCE; kind < PIER__COPY_END; kind++) {
		msg.kind = (enum pier__copy_kind)kind;
		IS(answer_to_hello(&msg), -EPROTO);
	}
}

static void slots_out_of_range_are_refused(void)
{
	static const uint64_t bad[][2] = {
		{ 0, 65536 }, { 17, 65536 }, { UINT64_MAX, 65536 }, { 2, 0 },
		{ 2, 8 }, { 2, 65537 }, { 2, 1 << 30 }, { 2, UINT64_MAX },
		{ 16, 1 << 20 }, { UINT64_MAX, UINT64_MAX },
	};
	struct pier__copy_msg msg = hello();
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		msg.number[PIER__HELLO_SLOTS] = bad[i][0];
		msg.number[PIER__HELLO_SLOT_SIZE] = bad[i][1];
		IS(answer_to_hello(&msg), -EPROTO);
	}
}

static void unknown_options_and_modes_are_refused(void)
{
	struct pier__copy_msg msg = hello();

	msg.number[PIER__HELLO_FLAGS] = 1u << 20;
	IS(answer_to_hello(&msg), -EOPNOTSUPP);
	LIKE(last_text, "options that this server lacks");
	msg = hello();
	msg.number[PIER__HELLO_MODE] = 77;
	IS(answer_to_hello(&msg), -EPROTO);
	msg.number[PIER__HELLO_MODE] = PIER__COPY_HAVE;
	IS(answer_to_hello(&msg), -EOPNOTSUPP);
	msg = hello();
	msg.number[PIER__HELLO_SOURCES] = UINT64_MAX;
	IS(answer_to_hello(&msg), -EPROTO);
}

static void memory_that_is_no_export_is_refused(void)
{
	struct pier__copy_msg msg = hello();

	IS(answer_to_hello(&msg), -PIER_EDESC);
	msg.string[0].data = "descriptor";
	msg.string[0].len = 10;
	IS(answer_to_hello(&msg), -PIER_EDESC);
}

/* One that connects and sends nothing, for timeout_ms. */
static void a_silent_client_is_disconnected(void)
{
	IS(answer_to("", 0), -ETIMEDOUT);
}

static void after_all_that_a_good_client_is_served(void)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };
	struct pier_copy_result result;
	const char *source = "/proc/self/exe";
	struct pier_copy *client;

	if (!IS(pier_copy_create(dev, &client), 0))
		return;
	IS(pier_copy_configure(client, &cfg), 0);
	IS(pier_copy_send(client, &source, 1, "copy"), 0);
	pier_copy_get_result(client, &result);
	IS(result.files, 1);
	pier_copy_destroy(client);
}

static void the_server_has_counted_them(void)
{
	struct pier_copy_result result;
	char path[64];

	pier_copy_stop(copy);
	pthread_join(thread, NULL);
	pier_copy_get_result(copy, &result);
	IS(result.files, 1);
	OK(result.broken >= 20);
	snprintf(path, sizeof(path), "%s/copy", root);
	IS(unlink(path), 0);
	IS(rmdir(root), 0);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev) ||
	    pier_pe_create(&pe))
		return tap_skip_all(pier_last_error());
	if (!start_server())
		return tap_skip_all(pier_last_error());
	TEST(what_is_no_message_is_refused);
	TEST(another_version_is_named);
	TEST(other_messages_than_hello_are_refused_first);
	TEST(slots_out_of_range_are_refused);
	TEST(unknown_options_and_modes_are_refused);
	TEST(memory_that_is_no_export_is_refused);
	TEST(a_silent_client_is_disconnected);
	TEST(after_all_that_a_good_client_is_served);
	TEST(the_server_has_counted_them);
	pier_copy_destroy(copy);
	pier_pe_destroy(pe);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
