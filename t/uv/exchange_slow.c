/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>
#include <pier/exchange.h>

#include "t/lib/liar.h"
#include "t/lib/tap.h"

/* pier_exchange() in a thread, against a peer that sends little at a time. */

#define DRIPS 900	/* bytes of a file that is longer */

static char dir[] = "/tmp/pier-slow.XXXXXX";
static struct pier_exchange_config cfg;
static pthread_t thread;
static int port_pipe[2], result;
static char reason[512];

static void on_listening(unsigned int at, void *arg)
{
	(void)arg;
	OK(write(port_pipe[1], &at, sizeof(at)) == sizeof(at));
}

static void *exchange(void *arg)
{
	(void)arg;
	result = pier_exchange(&cfg);
	snprintf(reason, sizeof(reason), "%s",
		 result < 0 ? pier_last_error() : "");
	return NULL;
}

/* The honest side listens with @timeout_ms; we have connected. */
static void meet(int timeout_ms)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	unsigned int port = 0;

	cfg = (struct pier_exchange_config){
		.size = sizeof(cfg),
		.role = PIER_EXCHANGE_LISTEN,
		.address = "127.0.0.1:0",
		.receive = dir,
		.timeout_ms = timeout_ms,
		.listening = on_listening,
	};
	IS(pthread_create(&thread, NULL, exchange, NULL), 0);
	OK(read(port_pipe[0], &port, sizeof(port)) == sizeof(port));
	addr.sin_port = htons((uint16_t)port);
	liar.sock = socket(AF_INET, SOCK_STREAM, 0);
	IS(connect(liar.sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	liar.len = 0;
}

static void part(void)
{
	close(liar.sock);
	liar.sock = -1;
	IS(pthread_join(thread, NULL), 0);
}

/* Whether the file @name was there; it is removed. */
static bool take_away(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !unlink(path);
}

/* It goes on as long as its bytes are received. */
static void a_peer_that_drips_is_given_up(void)
{
	struct pollfd readable = { .events = POLLIN };
	int sent;

	meet(300);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", DRIPS + 1);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	readable.fd = liar.sock;
	for (sent = 0; sent < DRIPS && !poll(&readable, 1, 20); sent++) {
		liar_add_data(1);
		liar_send();
	}
	part();
	OK(sent < DRIPS);
	IS(result, -ETIMEDOUT);
	LIKE(reason, "at least 32768 or the end of a file is required");
	OK(!take_away("a"));
}

static void a_slow_peer_that_gets_on_is_waited_for(void)
{
	int files;

	meet(20000);
	liar_add(LIAR_HELLO, 3, NULL, 0);
	for (files = 0; files < 3; files++) {
		const char name[] = { (char)('a' + files), '\0' };

		liar_add_file(name, 3);
		liar_add_data(1);
		liar_send();
		liar_add_data(2);
	}
	liar_add(LIAR_DONE, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_DONE));
	liar_add(LIAR_STORED, 0, NULL, 0);
	liar_send();
	OK(liar_recv_until(LIAR_STORED));
	part();
	IS(result, 3);
	OK(take_away("a") && take_away("b") && take_away("c"));
}

int main(void)
{
	if (!mkdtemp(dir) || pipe(port_pipe))
		return tap_skip_all("no directory in /tmp");
	TEST(a_peer_that_drips_is_given_up);
	TEST(a_slow_peer_that_gets_on_is_waited_for);
	rmdir(dir);
	return tap_done();
}
