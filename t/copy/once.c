/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* A server of one client, where others connect too. */

#define NAME "pier copy once"

static struct pier_dev *dev, *far_dev;
static char root[] = "/tmp/pier-copy.XXXXXX", file[64];
static struct copyliar liar;
static struct copythread server;

static bool serve_once(enum copythread_call call, uint32_t timeout_ms)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg),
		.name = NAME,
		.root = root,
		.flags = PIER_COPY_ONCE,
		.timeout_ms = timeout_ms,
	};

	return copythread_start(&server, far_dev, &cfg, call, file, NULL);
}

static void good_client(void)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };
	struct copythread client;

	if (!copythread_start(&client, dev, &cfg, COPYTHREAD_SEND,
			      "/proc/self/exe", "file"))
		return;
	IS(copythread_join(&client), 0);
	IS(client.result.files, 1);
}

/* It has sent garbage, and is refused. */
static void broken_client(void)
{
	struct copyliar broken;

	if (!OK(copyliar_connect(&broken, dev, NAME)))
		return;
	copyliar_send_bytes(&broken, "garbage", 7);
	IS(copyliar_end(&broken), -EPROTO);
	copyliar_close(&broken);
}

static void strangers_do_not_end_it(void)
{
	if (!serve_once(COPYTHREAD_SERVE, 20000) ||
	    !OK(copyliar_connect(&liar, dev, NAME)))
		return;
	broken_client();
	OK(!copythread_has_ended(&server));
	good_client();		/* the silent one is still there */
	IS(copythread_join(&server), 0);
	IS(server.result.files, 1);
	IS(copyliar_end(&liar), -ECANCELED);
	copyliar_close(&liar);
	IS(unlink(file), 0);
}

/* One that asks for files, but does not say which, has requested nothing. */
static void an_incomplete_request_does_not_end_it(void)
{
	struct pier__copy_msg msg;

	if (!serve_once(COPYTHREAD_SERVE, 20000) ||
	    !OK(copyliar_connect(&liar, dev, NAME)))
		return;
	msg = copyliar_hello(&liar, PIER__COPY_GET, 0);
	copyliar_send(&liar, &msg);
	copyliar_close(&liar);
	good_client();
	IS(copythread_join(&server), 0);
	IS(server.result.files, 1);
	IS(unlink(file), 0);
}

/* Some stranger is there at any time, until it has waited for long enough. */
static void end_in_time(enum copythread_call call)
{
	long long limit = limit_from_now();

	if (!serve_once(call, 300))
		return;
	while (!copythread_has_ended(&server) && limit_holds(limit)) {
		if (!copyliar_connect(&liar, dev, NAME)) {
			copyliar_close(&liar);
			break;
		}
		while (!liar.ended && copyliar_step(&liar, limit))
			;
		copyliar_close(&liar);
	}
	IS(copythread_join(&server), -ETIMEDOUT);
	LIKE(server.text, "no client came within 300 ms");
}

static void strangers_do_not_prolong_it(void)
{
	end_in_time(COPYTHREAD_SERVE);
}

static void strangers_do_not_prolong_that_of_a_file(void)
{
	end_in_time(COPYTHREAD_SERVE_FILE);
}

/* A client that may not do what it requests is the one that was served. */
static void a_request_that_fails_ends_it(void)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };
	struct copythread client;

	if (!serve_once(COPYTHREAD_SERVE, 20000) ||
	    !copythread_start(&client, dev, &cfg, COPYTHREAD_SEND,
			      "/proc/self/exe", "none/"))
		return;
	IS(copythread_join(&client), -ENOTDIR);
	IS(copythread_join(&server), 0);
	IS(server.result.broken, 1);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev))
		return tap_skip_all(pier_last_error());
	if (!mkdtemp(root))
		return tap_skip_all("there is no directory");
	snprintf(file, sizeof(file), "%s/file", root);
	TEST(strangers_do_not_end_it);
	TEST(an_incomplete_request_does_not_end_it);
	TEST(strangers_do_not_prolong_it);
	TEST(strangers_do_not_prolong_that_of_a_file);
	TEST(a_request_that_fails_ends_it);
	rmdir(root);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
