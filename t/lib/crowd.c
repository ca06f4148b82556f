/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/cable.h"
#include "t/lib/caller.h"
#include "t/lib/crowd.h"
#include "t/lib/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MANY 1024
#else
#define MANY 4096
#endif
#define MANY_VERBS 64		/* each is a QP of the device's */
#define NUMBERS 65536
#define RECEIVES 96		/* receives posted */
#define WINDOW 32		/* messages not answered yet */
#define LEN 64			/* of a message */
#define HEAP_GROWTH (64 << 10)	/* bytes, by the caches of libraries */
#define WAIT_MS 20000

struct message {
	uint32_t conn, slot;
	uint8_t fill[LEN - 2 * sizeof(uint32_t)];
};

struct crowd crowd;

static struct pier_dev *dev;
static struct peer me;
static struct pier_listener *listener;
static struct pier_conn *conns[NUMBERS];
static uint8_t fates[NUMBERS];		/* enum fate */
static int numbers[NUMBERS];		/* what user data points to */
static int callbacks;			/* callbacks */
static int missing[WINDOW];		/* of an exchange */
static struct pier_buf *sources[WINDOW], *tails[RECEIVES];
static size_t heap_before;

int crowd_size(void)
{
	const char *set = getenv("PIER_TEST_CONNS");
	int n = set ? atoi(set) : 0;

	if (n > 0 && n < NUMBERS / 2)
		return n;
	if (pier_dev_open(NULL, &dev))
		return 0;
	n = strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft") ?
		    MANY_VERBS : MANY;
	pier_dev_close(dev);
	dev = NULL;
	return n;
}

static void fill(struct message *message, int number, int slot, bool back)
{
	unsigned int i;

	message->conn = (uint32_t)number;
	message->slot = (uint32_t)slot;
	for (i = 0; i < sizeof(message->fill); i++)
		message->fill[i] = peer_byte(2 * (unsigned int)number + back,
					     i);
}

static bool is_right(struct pier_buf *buf, bool back)
{
	const struct message *got = pier_buf_data(buf);
	struct message want;

	if (pier_buf_data_len(buf) != LEN || got->conn >= NUMBERS ||
	    got->slot >= WINDOW)
		return false;
	fill(&want, (int)got->conn, (int)got->slot, back);
	return !memcmp(got, &want, LEN);
}

static void end(struct pier_conn *conn, enum fate fate)
{
	int *number = pier_conn_user_data(conn);

	callbacks++;
	if (number) {
		fates[*number] = (uint8_t)fate;
		conns[*number] = NULL;
	}
	pier_conn_destroy(conn);
}

static void requested(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	callbacks++;
	crowd.last_ns = pier__now();
	if (!crowd.requests++)
		crowd.first_ns = crowd.last_ns;
	if (pier_conn_accept(conn, NULL, 0)) {
		crowd.wrong++;
		tap_note("%s", pier_last_error());
	}
}

static void established(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)conn;
	(void)ctx_data;
	callbacks++;
	if (data)
		fates[*(int *)data] = UP;
	if (!crowd.up++)
		crowd.one_fds = cable_fds();
}

static void failed(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	if (!crowd.failures++)
		tap_note("%s", pier_conn_error_text(conn));
	end(conn, FAILED);
}

static void disconnected(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data;
	(void)ctx_data;
	crowd.over++;
	end(conn, OVER);
}

static void receive(struct pier_buf *tail, pier_task_fn *fn)
{
	pier_buf_reset(tail);
	if (pier_rdma_receive(me.rdma, tail, fn, tail))
		crowd.wrong++;
}

static void server_received(struct pier_task *task, void *arg);

static void server_answered(struct pier_task *task, void *arg)
{
	callbacks++;
	crowd.answered++;
	crowd.wrong += pier_task_status(task) != 0;
	receive(arg, server_received);
}

/* A connection has its number by its first message. */
static bool number_is(struct pier_conn *conn, int number)
{
	const int *known = pier_conn_user_data(conn);

	if (known)
		return *known == number;
	numbers[number] = number;
	fates[number] = UP;
	conns[number] = conn;
	pier_conn_set_user_data(conn, &numbers[number]);
	return true;
}

static void server_received(struct pier_task *task, void *arg)
{
	struct pier_conn *conn = pier_task_conn(task);
	struct message *message = pier_buf_data(arg);
	int number;

	callbacks++;
	if (pier_task_status(task))
		return;		/* the context stops */
	crowd.received++;
	number = is_right(arg, false) ? (int)message->conn : -1;
	if (number < 0 || !number_is(conn, number)) {
		crowd.wrong++;
		return;
	}
	fill(message, number, (int)message->slot, true);
	if (pier_rdma_send(conn, arg, server_answered, arg))
		crowd.wrong++;
}

static void client_sent(struct pier_task *task, void *arg)
{
	callbacks++;
	crowd.wrong += pier_task_status(task) != 0;
	--*(int *)arg;
}

static void client_received(struct pier_task *task, void *arg)
{
	const struct message *message = pier_buf_data(arg);

	callbacks++;
	if (pier_task_status(task))
		return;		/* the context stops */
	crowd.received++;
	if (is_right(arg, true) &&
	    number_is(pier_task_conn(task), (int)message->conn))
		missing[message->slot]--;
	else
		crowd.wrong++;
	receive(arg, client_received);
}

static bool bufs_open(pier_task_fn *on_receive)
{
	int i;

	for (i = 0; i < RECEIVES; i++) {
		tails[i] = peer_tail(&me, (size_t)i * LEN, LEN);
		receive(tails[i], on_receive);
	}
	for (i = 0; i < WINDOW; i++)
		sources[i] = peer_data(&me, (size_t)(RECEIVES + i) * LEN, LEN);
	return IS(crowd.wrong, 0);
}

bool crowd_open(int count, bool is_server)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg),
		.max_conns = (uint32_t)count,
		.conn_send_queue = 4,
		.keepalive_ms = 1000,
	};

	memset(&crowd, 0, sizeof(crowd));
	memset(fates, NONE, sizeof(fates));
	memset(missing, 0, sizeof(missing));
	heap_before = cable_heap();
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, &cfg, (RECEIVES + WINDOW) * LEN) &&
	       IS(pier_rdma_set_conn_callbacks(me.rdma, requested, established,
					       failed, disconnected), 0) &&
	       bufs_open(is_server ? server_received : client_received);
}

void crowd_close(void)
{
	int i;

	IS(crowd.wrong, 0);
	IS(crowd.failures, 0);
	/* a first message may bring with it that it is connected */
	OK(crowd.most <= 2 * CROWD_BUDGET);
	pier_listener_destroy(listener);
	listener = NULL;
	if (me.rdma)
		IS(pier_ctx_stop_wait(pier_rdma_ctx(me.rdma), WAIT_MS), 0);
	for (i = 0; i < RECEIVES; i++)
		pier_buf_put(tails[i]);
	for (i = 0; i < WINDOW; i++)
		pier_buf_put(sources[i]);
	memset(tails, 0, sizeof(tails));
	memset(sources, 0, sizeof(sources));
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
	if (!OK(cable_heap() < heap_before + HEAP_GROWTH))
		tap_note("%zu bytes, and %zu before", cable_heap(),
			 heap_before);
}

bool crowd_listen(uint32_t backlog, uint32_t rate)
{
	struct pier_listen_config cfg = {
		.size = sizeof(cfg),
		.backlog = backlog,
		.rate = rate,
	};

	return IS(pier_rdma_listen(me.rdma, &cfg, &listener), 0);
}

bool crowd_send_port(struct pair *pair)
{
	uint16_t port = pier_listener_port(listener);

	return OK(pair_send(pair, &port, sizeof(port)));
}

uint16_t crowd_recv_port(struct pair *pair)
{
	uint16_t port = 0;

	IS(pair_recv(pair, &port, sizeof(port)), sizeof(port));
	return port;
}

void crowd_turn(void)
{
	struct pollfd fd = { .fd = pier_pe_fd(me.pe), .events = POLLIN };
	int before = callbacks;

	if (!pier_pe_progress(me.pe, CROWD_BUDGET) && callbacks == before &&
	    !pier_pe_arm(me.pe)) {
		poll(&fd, 1, 100);
		pier_pe_clear(me.pe);
	}
	if (callbacks - before > crowd.most)
		crowd.most = callbacks - before;
}

/* One more turn, if nothing is wrong and it is not too late. */
static bool goes_on(uint64_t since)
{
	if (crowd.wrong || crowd.failures ||
	    pier__now() > since + WAIT_MS * PIER__MS)
		return false;
	crowd_turn();
	return true;
}

bool crowd_until(const int *count, int want)
{
	uint64_t now = pier__now();

	while (*count < want && goes_on(now))
		;
	return IS(*count, want);
}

int crowd_count(int from, int count, enum fate fate)
{
	int i, n = 0;

	for (i = from; i < from + count; i++)
		n += fates[i] == fate;
	return n;
}

bool crowd_await(int from, int count, enum fate fate)
{
	uint64_t now = pier__now();

	while (crowd_count(from, count, fate) < count && goes_on(now))
		;
	return IS(crowd_count(from, count, fate), count);
}

bool crowd_call(int i, uint16_t port)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg),
		.peer = caller_address(dev),
		.port = port,
		.user_data = &numbers[i],
	};

	numbers[i] = i;
	fates[i] = BEGUN;
	if (!pier_rdma_connect_to(me.rdma, &cfg, &conns[i]))
		return true;
	tap_note("connection %d: %s", i, pier_last_error());
	return OK(false);
}

bool crowd_call_all(int from, int count, int under_way, uint16_t port)
{
	int i, base = crowd.up;
	uint64_t now = pier__now();

	for (i = 0; i < count; i++) {
		while (i - (crowd.up - base) >= under_way && goes_on(now))
			;
		if (crowd.failures || !crowd_call(from + i, port))
			return false;
	}
	return crowd_await(from, count, UP);
}

/* @slot is free for a message on connection @i. */
static bool send_number(int slot, int i)
{
	fill(pier_buf_data(sources[slot]), i, slot, false);
	missing[slot] = 2;
	if (!pier_rdma_send(conns[i], sources[slot], client_sent,
			    &missing[slot]))
		return true;
	tap_note("connection %d: %s", i, pier_last_error());
	return OK(false);
}

bool crowd_exchange(int from, int count)
{
	uint64_t now = pier__now();
	int i = 0, slot, before = crowd.received;

	do {
		for (slot = 0; slot < WINDOW && i < count; slot++) {
			if (missing[slot])
				continue;
			if (!send_number(slot, from + i++))
				return false;
		}
	} while (i < count && goes_on(now));
	return crowd_until(&crowd.received, before + count);
}

void crowd_hang_up(int from, int count, int step)
{
	int i;

	for (i = from; i < from + count; i += step)
		if (fates[i] == UP)
			IS(pier_conn_disconnect(conns[i]), 0);
}

bool crowd_fds_few(void)
{
	return OK(cable_fds() <= crowd.one_fds + 5);
}
