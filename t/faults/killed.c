/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/lib/cable.h"
#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/*
 * A peer is killed, at every stage of a connection, while one context here
 * goes on: each time an error message reports it, every task ends once, and
 * the next connection works.  A victim is this program, executed again, since
 * a process that was only forked would inherit what is open here.
 */
#define LEN (1u << 20)
#define PART (LEN / 4)
#define TASKS 16
#define AHEAD 2			/* victims that get ready meanwhile */
#define TURNS 100
#define TURNS_VERBS 42		/* emulated, it is slow */
#define GROWTH 655		/* of the heap, each turn */

static struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 4,
	.keepalive_ms = 50,
	.drain_ms = 10000,	/* never over: what is dead is found first */
};

static struct pier_dev *dev;
static struct peer me;

/* What a victim does when it is killed. */
enum stage {
	EXPORTED,	/* it has only described itself */
	SENT_HELLO,	/* it took our descriptor, we not yet its */
	TOOK_HELLO,	/* it never sent its own */
	IDLE,
	RECEIVING,
	STARVING,	/* has no receive for what is sent */
	WRITTEN_TO,
	READ_FROM,
	SENDING,
	READING,
	GOODBYE,	/* our goodbye is on its way to it */
	DRAINING,	/* our goodbye is behind what it has no receive for */
	PEER_GOODBYE,	/* its goodbye is here, but was not read */
	PEER_DRAINING,	/* its goodbye is behind what we have no receive for */
	STAGES,
};

static bool report(struct pair *pair)
{
	return OK(pair_send(pair, "ok", 2));
}

static bool await_report(struct pair *pair)
{
	char word[8];

	return OK(pair_recv(pair, word, sizeof(word)) == 2);
}

static void again(struct pier_task *task, void *arg)
{
	struct pier_buf *tail = arg;

	if (pier_task_status(task))
		return;
	pier_buf_reset(tail);
	pier_rdma_receive(me.rdma, tail, again, tail);
}

/* The victim has disconnected: its goodbye has arrived, or cannot be sent. */
static void leave(struct pair *pair, enum stage stage)
{
	struct pier_buf *near = peer_data(&me, 0, PART);
	static int status;
	int i;

	for (i = 0; stage == PEER_DRAINING && i < TASKS; i++)
		pier_rdma_send(me.conn, near, peer_done, &status);
	pier_conn_disconnect(me.conn);
	if (stage == PEER_GOODBYE ? stage_goodbye_over(me.conn) :
				    stage_draining(me.conn))
		report(pair);
	pause();
}

/* The victim's side, from an established connection on. */
static void busy(struct pair *pair, enum stage stage)
{
	struct pier_buf *near = NULL, *far;
	bool reports = false;
	int i, status;

	for (i = 0; stage == RECEIVING && i < TASKS; i++) {
		near = peer_tail(&me, 0, PART);
		pier_rdma_receive(me.rdma, near, again, near);
	}
	far = peer_far_data(&me, 3 * PART, PART);
	near = stage == SENDING ? peer_data(&me, 0, PART) :
				  peer_tail(&me, 0, PART);
	while (stage == SENDING || stage == READING) {
		status = -EINPROGRESS;
		if (stage == SENDING)
			pier_rdma_send(me.conn, near, peer_done, &status);
		else
			pier_rdma_read(me.conn, far, near, peer_done, &status);
		peer_await(&status);
		if (stage != READING)
			continue;
		pier_buf_reset(near);
		if (!reports && !status)
			reports = report(pair);
	}
}

/* Run by exec; @fd leads to the test. */
static int victim(enum stage stage, int fd)
{
	struct pair pair = { .pid = getppid(), .fd = fd };
	uint8_t desc[PIER_DESC_MAX];
	const void *mem;
	size_t len;
	int got;

	if (pier_dev_open(NULL, &dev) ||
	    !peer_open(&me, dev, NULL, &config, LEN) || !peer_export(&me) ||
	    pier_mmap_export(me.mmap, &mem, &len) ||
	    !pair_send(&pair, me.desc, me.desc_len) ||
	    !pair_send(&pair, mem, len))
		return 1;
	got = pair_recv(&pair, desc, sizeof(desc));
	if (got < 0 || pier_rdma_connect(me.conn, desc, (size_t)got))
		return 1;
	if (stage == TOOK_HELLO) {
		report(&pair);	/* and never drive the engine */
		pause();
	}
	if (stage == SENT_HELLO) {
		if (stage_hello_sent(me.conn))
			report(&pair);
		pause();
	}
	got = pair_recv(&pair, desc, sizeof(desc));
	if (got < 0 ||
	    pier_mmap_create_from_export(dev, desc, (size_t)got, &me.remote) ||
	    pier_conn_wait(me.conn, PEER_LIMIT_MS))
		return 1;
	report(&pair);
	if (stage == PEER_GOODBYE || stage == PEER_DRAINING)
		leave(&pair, stage);
	busy(&pair, stage);
	for (;;)
		pier_pe_wait(me.pe, PEER_LIMIT_MS);
}

static int become_victim(struct pair *pair, void *arg)
{
	char stage[16], fd[16];

	snprintf(stage, sizeof(stage), "%d", *(int *)arg);
	snprintf(fd, sizeof(fd), "%d", pair->fd);
	fcntl(pair->fd, F_SETFD, 0);
	execl("/proc/self/exe", "killed.t", stage, fd, (char *)NULL);
	return 127;
}

/* Its descriptors, which it hands over when it is ready. */
struct suspect {
	struct pair pair;
	uint8_t conn[PIER_DESC_MAX], mem[PIER_DESC_MAX];
	int conn_len, mem_len;
};

/* The error message is @before, the address of the peer, @after. */
static void reports(const struct pier_conn *conn, const char *before,
		    const char *after)
{
	char gid[INET6_ADDRSTRLEN], want[256];
	struct pier_conn_path path;
	bool v4;

	if (!IS(pier_conn_path(conn, &path), 0))
		return;
	v4 = path.peer_gid[10] == 0xff && path.peer_gid[11] == 0xff;
	inet_ntop(v4 ? AF_INET : AF_INET6, path.peer_gid + (v4 ? 12 : 0), gid,
		  sizeof(gid));
	snprintf(want, sizeof(want), "%s %s QPN 0x%06x%s", before, gid,
		 path.peer_qpn, after);
	if (strncmp(pier_conn_error_text(conn), want, strlen(want)))
		IS_STR(pier_conn_error_text(conn), want);
}

#define SILENT " failed: the peer does not answer: it has died, or the " \
	"network is down (verbs status 12, "

/* Those that die before both are connected. */
static void die_early(struct suspect *it, enum stage stage)
{
	if (stage == EXPORTED) {
		pair_kill(&it->pair);
	} else {
		OK(pair_send(&it->pair, me.desc, me.desc_len));
		await_report(&it->pair);
		if (stage == SENT_HELLO)
			pair_kill(&it->pair);
	}
	IS(pier_rdma_connect(me.conn, it->conn, (size_t)it->conn_len), 0);
	if (stage == TOOK_HELLO) {
		OK(stage_hello_acked(me.conn));
		pair_kill(&it->pair);
	}
	peer_conn(me.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(me.conn), -PIER_ENOHELLO);
	reports(me.conn, "no hello from", stage == TOOK_HELLO ?
		": it acknowledged ours but never sent its own" :
		": it does not answer: has it ended, or is its descriptor "
		"from an earlier run?");
}

struct killed_tally {
	int calls, ok, cancelled, retry;
	char text[256];		/* of the one that failed by itself */
};

/* What is in flight when the victim is killed. */
static struct amid {
	enum stage stage;
	struct killed_tally tally;
	struct pier_buf *near[TASKS], *far[TASKS];
	int submitted;
} amid;

static void amid_done(struct pier_task *task, void *arg);

/* Does the victim complete what it gets, as long as it lives? */
static bool is_served(enum stage stage)
{
	return stage == WRITTEN_TO || stage == READ_FROM || stage == RECEIVING;
}

static int submit(int *slot)
{
	int i = *slot;
	struct pier_buf *near = amid.near[i], *far = amid.far[i];

	switch (amid.stage) {
	case WRITTEN_TO:
		pier_buf_reset(far);
		return pier_rdma_write(me.conn, near, far, amid_done, slot);
	case READ_FROM:
		pier_buf_reset(near);
		return pier_rdma_read(me.conn, far, near, amid_done, slot);
	default:
		return pier_rdma_send(me.conn, near, amid_done, slot);
	}
}

/*
 * What has succeeded is submitted again: so something is in flight when the
 * victim dies, however long it takes to be killed.
 */
static void amid_done(struct pier_task *task, void *arg)
{
	struct killed_tally *tally = &amid.tally;
	int status = pier_task_status(task);

	tally->calls++;
	tally->ok += !status;
	tally->cancelled += status == -ECANCELED;
	if (!status)
		amid.submitted += IS(submit(arg), 0);
	if (status != -PIER_ERETRY)
		return;
	tally->retry++;
	snprintf(tally->text, sizeof(tally->text), "%s", pier_last_error());
}

static void begin_amid(enum stage stage)
{
	static int slots[TASKS];

	memset(&amid, 0, sizeof(amid));
	amid.stage = stage;
	for (int i = 0; i < TASKS; i++) {
		slots[i] = i;
		amid.near[i] = stage == READ_FROM ? peer_tail(&me, 0, PART) :
						    peer_data(&me, 0, PART);
		if (stage == READ_FROM)
			amid.far[i] = peer_far_data(&me, 0, PART);
		else if (stage == WRITTEN_TO)
			amid.far[i] = peer_far_tail(&me, 0, PART);
		amid.submitted += IS(submit(&slots[i]), 0);
	}
}

static void end_amid(void)
{
	for (int i = 0; i < TASKS; i++) {
		pier_buf_put(amid.near[i]);
		pier_buf_put(amid.far[i]);
	}
}

/* The victim is busy with what we have submitted, or does not take it. */
static void reach_amid(enum stage stage)
{
	if (stage == DRAINING) {
		IS(pier_conn_disconnect(me.conn), 0);
		OK(stage_draining(me.conn));
		IS(pier_conn_state(me.conn), PIER_CONN_CONNECTED);
	} else if (is_served(stage)) {
		OK(peer_count(&amid.tally.calls, 1));
	} else {
		OK(stage_rnr(me.conn));
	}
}

/* Keep as many as there may be on their way until its end is noticed. */
static void die_amid(struct suspect *it, enum stage stage)
{
	struct killed_tally *tally = &amid.tally;
	long long limit = limit_from_now();

	begin_amid(stage);
	reach_amid(stage);
	pair_kill(&it->pair);
	peer_conn(me.conn, PIER_CONN_ERROR);
	while (tally->calls < amid.submitted && peer_step(limit))
		;
	IS(tally->calls, amid.submitted);
	IS(tally->ok + tally->cancelled + tally->retry, amid.submitted);
	IS(tally->retry, 1);
	if (!is_served(stage))
		IS(tally->ok, 0);
	IS(pier_conn_error(me.conn), -PIER_ERETRY);
	LIKE(tally->text, pier_conn_error_text(me.conn));
	reports(me.conn, stage == WRITTEN_TO ? "write to" :
		stage == READ_FROM ? "read to" : "send to", SILENT);
	end_amid();
}

static int received;	/* receives that have come back */

static void back(struct pier_task *task, void *arg)
{
	(void)task;
	(void)arg;
	received++;
}

/* No task is posted: only the keepalive can find it. */
static void die_alone(struct suspect *it, enum stage stage)
{
	struct pier_buf *tail[2] = { NULL };
	int i, before = received;

	for (i = 0; stage == SENDING && i < 2; i++) {
		tail[i] = peer_tail(&me, PART, PART);
		IS(pier_rdma_receive(me.rdma, tail[i], back, NULL), 0);
	}
	if (stage == SENDING)
		OK(peer_count(&received, before + 1));
	else if (stage == READING || stage == PEER_DRAINING)
		OK(stage_reported(&it->pair) && await_report(&it->pair));
	pair_kill(&it->pair);
	peer_conn(me.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(me.conn), -PIER_ERETRY);
	reports(me.conn, "keepalive to", SILENT);
	for (i = 0; stage == SENDING && i < 2; i++)
		pier_buf_put(tail[i]);	/* the tasks may still hold them */
}

/* Where one of the two has gone in good order, this is no failure. */
static void die_parted(struct suspect *it, enum stage stage)
{
	if (stage == GOODBYE) {
		kill(it->pair.pid, SIGSTOP);
		OK(pair_is_stopped(&it->pair, true));
		IS(pier_conn_disconnect(me.conn), 0);
		OK(stage_goodbye(me.conn));
	} else {
		await_report(&it->pair);
	}
	pair_kill(&it->pair);
	peer_conn(me.conn, PIER_CONN_RESET);
	IS(pier_conn_error(me.conn), 0);
	IS_STR(pier_conn_error_text(me.conn), "");
}

static void die_connected(struct suspect *it, enum stage stage)
{
	const void *mem;
	size_t len;

	IS(pier_mmap_export(me.mmap, &mem, &len), 0);
	if (!OK(pair_send(&it->pair, me.desc, me.desc_len)) ||
	    !OK(pair_send(&it->pair, mem, len)) ||
	    !IS(pier_rdma_connect(me.conn, it->conn, (size_t)it->conn_len),
		0) ||
	    !peer_conn(me.conn, PIER_CONN_CONNECTED) ||
	    !await_report(&it->pair)) {
		pair_kill(&it->pair);
		return;
	}
	IS(pier_mmap_create_from_export(dev, it->mem, (size_t)it->mem_len,
					&me.remote), 0);
	if (stage == GOODBYE || stage == PEER_GOODBYE)
		die_parted(it, stage);
	else if (stage == IDLE || stage == SENDING || stage == READING ||
		 stage == PEER_DRAINING)
		die_alone(it, stage);
	else
		die_amid(it, stage);
	pier_mmap_destroy(me.remote);
	me.remote = NULL;
}

static bool turn(struct suspect *it, enum stage stage)
{
	it->conn_len = pair_recv(&it->pair, it->conn, sizeof(it->conn));
	it->mem_len = pair_recv(&it->pair, it->mem, sizeof(it->mem));
	if (!OK(it->conn_len > 0 && it->mem_len > 0) || !peer_export(&me)) {
		pair_kill(&it->pair);
		return false;
	}
	if (stage <= TOOK_HELLO)
		die_early(it, stage);
	else
		die_connected(it, stage);
	pier_conn_destroy(me.conn);
	me.conn = NULL;
	IS(pier_ctx_state(pier_rdma_ctx(me.rdma)), PIER_CTX_RUNNING);
	if (!tap_holds())
		tap_note("stage %d", stage);
	return tap_holds();
}

static void one_context_outlives_many_peers(void)
{
	static struct suspect suspects[AHEAD];
	static int stages[TURNS];
	int i, turns, next = 0, fds = 0;
	size_t heap = 0;

	if (!IS(pier_dev_open(NULL, &dev), 0) ||
	    !peer_open(&me, dev, NULL, &config, LEN))
		return;
	turns = strcmp(pier_devinfo_kind(pier_dev_info(dev)), "soft") ?
		TURNS_VERBS : TURNS;
	for (i = 0; i < turns; i++) {
		for (; next < i + AHEAD && next < turns; next++) {
			stages[next] = next % STAGES;
			pair_start(&suspects[next % AHEAD].pair, become_victim,
				   &stages[next]);
		}
		if (!turn(&suspects[i % AHEAD], (enum stage)stages[i]))
			break;
		if (i != STAGES)
			continue;
		fds = cable_fds();
		heap = mallinfo2().uordblks;
	}
	IS(i, turns);
	while (++i < next)
		pair_kill(&suspects[i % AHEAD].pair);
	if (!OK(mallinfo2().uordblks < heap + (size_t)turns * GROWTH))
		tap_note("%zu bytes, %zu after the first round",
			 mallinfo2().uordblks, heap);
	OK(cable_fds() <= fds);
	i = (int)pier_ctx_inflight(pier_rdma_ctx(me.rdma));
	tap_note("%d of %d receives went no further than a message's middle",
		 i, received + i);
	i += received;
	IS(pier_ctx_stop_wait(pier_rdma_ctx(me.rdma), PEER_LIMIT_MS), 0);
	IS(received, i);
	peer_close(&me);
	pier_dev_close(dev);
}

int main(int argc, char *argv[])
{
	const char *shm = getenv("PIER_SHM");

	config.connect_timeout_ms = 300u * limit_slower();
	if (shm && !strcmp(shm, "require"))	/* both helpers attach first */
		config.connect_timeout_ms *= 4;
	config.ack_timeout = limit_ack_timeout(12);	/* 17 ms */
	if (argc == 3)
		return victim((enum stage)atoi(argv[1]), atoi(argv[2]));
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);
	TEST(one_context_outlives_many_peers);
	return tap_done();
}
