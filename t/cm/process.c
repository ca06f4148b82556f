/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "t/lib/pair.h"
#include "t/lib/peer.h"
#include "t/lib/stage.h"
#include "t/lib/tap.h"

/* Peers in processes of their own: those that live, and those that die. */

#define LEN (4u << 20)
#define MEGA (1u << 20)

static const struct pier_rdma_config defaults = {
	.size = sizeof(defaults),
};

static struct pier_rdma_config watchful = {
	.size = sizeof(watchful),
	.keepalive_ms = 100,
};

/* One process's side; opened after the fork. */
static struct pier_dev *dev;
static struct peer me;

static bool begin(const struct pier_rdma_config *cfg)
{
	memset(&me, 0, sizeof(me));
	return IS(pier_dev_open(NULL, &dev), 0) &&
	       peer_open(&me, dev, NULL, cfg, LEN);
}

static void end(void)
{
	peer_close(&me);
	pier_dev_close(dev);
	dev = NULL;
}

/* The other process reports that it has reached this point. */
static bool await_word(struct pair *pair)
{
	char word[8];

	return OK(pair_recv(pair, word, sizeof(word)) == 2);
}

static void report(struct pair *pair)
{
	OK(pair_send(pair, "ok", 2));
}

/* Receives one message and sends it back. */
static int echo(struct pair *pair, void *arg)
{
	struct pier_buf *dst;
	int got = -EINPROGRESS, sent = -EINPROGRESS;

	(void)arg;
	if (!begin(&defaults))
		return 1;
	dst = peer_tail(&me, 0, MEGA);
	IS(pier_rdma_receive(me.rdma, dst, peer_done, &got), 0);
	if (!peer_meet(&me, pair))
		return 1;
	IS(peer_await(&got), 0);
	IS(pier_buf_data_len(dst), MEGA);
	IS(pier_rdma_send(me.conn, dst, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	peer_conn(me.conn, PIER_CONN_RESET);
	pier_buf_put(dst);
	end();
	return 0;
}

static void messages_go_there_and_back(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	struct pier_buf *src, *dst;
	struct pair pair;

	pair_start(&pair, echo, NULL);
	if (begin(&defaults) && peer_meet(&me, &pair)) {
		peer_fill(&me, 3);
		src = peer_data(&me, 0, MEGA);
		dst = peer_tail(&me, 2 * MEGA, MEGA);
		IS(pier_rdma_receive(me.rdma, dst, peer_done, &got), 0);
		IS(pier_rdma_send(me.conn, src, peer_done, &sent), 0);
		IS(peer_await(&sent), 0);
		IS(peer_await(&got), 0);
		OK(peer_holds(&me, 2 * MEGA, MEGA, 3, 0));
		pier_buf_put(dst);
		pier_buf_put(src);
		pier_conn_disconnect(me.conn);
		peer_conn(me.conn, PIER_CONN_RESET);
	}
	IS(pair_wait(&pair), 0);
	end();
}

/* Calls nothing of pier's between meeting and the peer's last word. */
static int sit_still(struct pair *pair, void *arg)
{
	uint64_t word;

	(void)arg;
	if (!begin(&defaults))
		return 1;
	peer_fill(&me, 5);
	memset(me.mem, 0, 8);
	if (!peer_meet(&me, pair))
		return 1;
	if (!await_word(pair))
		return 1;
	pier_pe_progress(me.pe, 0);	/* all before is seen by this thread */
	memcpy(&word, me.mem, 8);
	IS(word, 12);
	OK(peer_holds(&me, MEGA, MEGA, 7, MEGA));
	OK(peer_holds(&me, 2 * MEGA, 64, 5, 2 * MEGA));
	report(pair);
	peer_conn(me.conn, PIER_CONN_RESET);
	end();
	return 0;
}

static void one_at_a_time(int err, int *status)
{
	IS(err, 0);
	IS(peer_await(status), 0);
	*status = -EINPROGRESS;
}

/* What sit_still() looks for. */
static void read_and_write(void)
{
	struct pier_buf *near, *far, *old;
	int status = -EINPROGRESS;

	peer_fill(&me, 7);
	near = peer_data(&me, MEGA, MEGA);
	far = peer_far_tail(&me, MEGA, MEGA);
	one_at_a_time(pier_rdma_write(me.conn, near, far, peer_done, &status),
		      &status);
	pier_buf_put(near);
	pier_buf_put(far);
	near = peer_tail(&me, 0, MEGA);
	far = peer_far_data(&me, 2 * MEGA, MEGA);
	one_at_a_time(pier_rdma_read(me.conn, far, near, peer_done, &status),
		      &status);
	OK(peer_holds(&me, 0, MEGA, 5, 2 * MEGA));
	pier_buf_put(near);
	pier_buf_put(far);
	far = peer_far_data(&me, 0, 8);
	old = peer_tail(&me, 0, 16);
	one_at_a_time(pier_rdma_fetch_add(me.conn, far, old, 7, peer_done,
					  &status), &status);
	one_at_a_time(pier_rdma_fetch_add(me.conn, far, old, 5, peer_done,
					  &status), &status);
	pier_buf_put(old);
	pier_buf_put(far);
}

static void work_on(struct pair *pair)
{
	if (peer_meet(&me, pair)) {
		read_and_write();
		report(pair);
		await_word(pair);
		pier_conn_disconnect(me.conn);
		peer_conn(me.conn, PIER_CONN_RESET);
	}
	IS(pair_wait(pair), 0);
}

static void a_process_that_sits_still_is_read_and_written(void)
{
	struct pair pair;

	pair_start(&pair, sit_still, NULL);
	if (begin(&defaults))
		work_on(&pair);
	else
		pair_kill(&pair);
	end();
}

/* What a child has of its parent's, which it holds on to. */
static volatile struct peer inherited;

/* Its parent's devices are open, and it opens one of its own. */
static void a_child_of_a_process_at_work_sits_still_as_well(void)
{
	struct pair first, second;

#ifdef __SANITIZE_THREAD__
	tap_skip("the thread sanitizer lets a child of threads make none");
	return;
#endif
	if (begin(&defaults)) {
		inherited = me;
		pair_start(&first, sit_still, NULL);
		pair_start(&second, sit_still, NULL);
		work_on(&first);
		pier_conn_destroy(me.conn);
		pier_mmap_destroy(me.remote);
		me.conn = NULL;
		me.remote = NULL;
		work_on(&second);
	}
	end();
}

/* Meets and waits to be killed. */
static int victim(struct pair *pair, void *arg)
{
	int got = -EINPROGRESS;

	(void)arg;
	if (!begin(&defaults) || !peer_meet(&me, pair))
		return 1;
	IS(pier_rdma_receive(me.rdma, NULL, peer_done, &got), 0);
	report(pair);
	peer_conn(me.conn, PIER_CONN_RESET);
	return 1;
}

static void a_killed_peer_is_found_by_the_keepalive(void)
{
	struct pair pair;

	pair_start(&pair, victim, NULL);
	if (begin(&watchful) && peer_meet(&me, &pair) && await_word(&pair)) {
		pair_kill(&pair);
		peer_conn(me.conn, PIER_CONN_ERROR);
		IS(pier_conn_error(me.conn), -PIER_ERETRY);
		LIKE(pier_conn_error_text(me.conn), "does not answer");
		IS(pier_ctx_state(pier_rdma_ctx(me.rdma)), PIER_CTX_RUNNING);
	} else {
		pair_kill(&pair);
	}
	end();
}

#define WRITES 32

struct process_tally {
	int calls, ok, cancelled, retry, other;
};

/* What is in flight when the peer is killed. */
static struct transfer {
	struct process_tally tally;
	struct pier_buf *near, *far[WRITES];
	int submitted;
} transfer;

static void transfer_done(struct pier_task *task, void *arg);

static void submit(int *slot)
{
	struct pier_buf *far = transfer.far[*slot];

	pier_buf_reset(far);
	transfer.submitted += IS(pier_rdma_write(me.conn, transfer.near, far,
						 transfer_done, slot), 0);
}

/* What has succeeded is submitted again, so that the peer dies among some. */
static void transfer_done(struct pier_task *task, void *arg)
{
	struct process_tally *tally = &transfer.tally;
	int status = pier_task_status(task);

	tally->calls++;
	tally->ok += status == 0;
	tally->cancelled += status == -ECANCELED;
	tally->retry += status == -PIER_ERETRY;
	tally->other += status && status != -ECANCELED &&
			status != -PIER_ERETRY;
	if (!status)
		submit(arg);
}

/* Kill the peer of @pair when it has taken some of many writes. */
static void kill_in_the_middle(struct pair *pair)
{
	const struct process_tally *tally = &transfer.tally;
	static int slots[WRITES];
	int i;

	memset(&transfer, 0, sizeof(transfer));
	transfer.near = peer_data(&me, 0, MEGA);
	for (i = 0; i < WRITES; i++) {
		slots[i] = i;
		transfer.far[i] = peer_far_tail(&me, MEGA, MEGA);
		submit(&slots[i]);
	}
	OK(peer_count(&tally->calls, 2));
	pair_kill(pair);
	peer_conn(me.conn, PIER_CONN_ERROR);
	OK(peer_quiet(&me));
	peer_drive_quietly(20);
	IS(tally->calls, transfer.submitted);
	IS(tally->other, 0);
	IS(tally->retry, 1);
	IS(pier_conn_error(me.conn), -PIER_ERETRY);
	for (i = 0; i < WRITES; i++)
		pier_buf_put(transfer.far[i]);
	pier_buf_put(transfer.near);
}

static void a_peer_killed_in_a_transfer_fails_its_tasks_once(void)
{
	struct pair pair;
	struct peer beside;

	pair_start(&pair, victim, NULL);
	if (!begin(&watchful) || !peer_meet(&me, &pair) ||
	    !await_word(&pair)) {
		pair_kill(&pair);
		end();
		return;
	}
	kill_in_the_middle(&pair);
	if (peer_open(&beside, dev, me.pe, NULL, 4096)) {
		pier_mmap_destroy(me.remote);
		me.remote = NULL;
		peer_join(&me, &beside);	/* the context lives on */
	}
	peer_close(&beside);
	end();
}

/* Exports its end and memory, then goes away or is killed. */
static int leave_descriptors(struct pair *pair, void *arg)
{
	const void *desc;
	size_t len;

	(void)arg;
	if (!begin(&defaults) || !peer_export(&me) ||
	    !IS(pier_mmap_export(me.mmap, &desc, &len), 0))
		return 1;
	OK(pair_send(pair, me.desc, me.desc_len));
	OK(pair_send(pair, desc, len));
	await_word(pair);
	return 0;
}

static void descriptors_of_a_dead_process_connect_to_nothing(void)
{
	uint8_t old[PIER_DESC_MAX], mem[PIER_DESC_MAX];
	struct pier_mmap *stale = NULL;
	struct pier_buf *near, *far;
	struct pair dead, heir;
	int len, mem_len;

	pair_start(&dead, leave_descriptors, NULL);
	pair_start(&heir, victim, NULL);
	len = pair_recv(&dead, old, sizeof(old));
	mem_len = pair_recv(&dead, mem, sizeof(mem));
	pair_kill(&dead);
	if (!OK(len > 0) || !OK(mem_len > 0) || !begin(&watchful) ||
	    !peer_export(&me))
		goto out_kill;
	IS(pier_rdma_connect(me.conn, old, (size_t)len), 0);
	IS(pier_conn_wait(me.conn, PEER_LIMIT_MS), -PIER_ENOHELLO);

	if (!peer_meet(&me, &heir) || !await_word(&heir))
		goto out_kill;
	IS(pier_mmap_create_from_export(dev, mem, (size_t)mem_len, &stale), 0);
	near = peer_data(&me, 0, 8);
	IS(pier_buf_empty(me.inv, stale, &far), 0);
	IS(pier_rdma_write(me.conn, near, far, NULL, NULL), -ESTALE);
	LIKE(pier_last_error(), "earlier run");
	IS(pier_conn_state(me.conn), PIER_CONN_CONNECTED);
	pier_buf_put(far);
	pier_buf_put(near);
	pier_mmap_destroy(stale);
out_kill:
	pair_kill(&heir);
	end();
}

/* Dies while it still waits for our hello. */
static void a_peer_that_dies_before_its_hello_is_reported(void)
{
	uint8_t desc[PIER_DESC_MAX];
	struct pair pair;
	int len;

	pair_start(&pair, leave_descriptors, NULL);
	len = pair_recv(&pair, desc, sizeof(desc));
	if (OK(len > 0) && begin(&watchful) && peer_export(&me)) {
		IS(pier_rdma_connect(me.conn, desc, (size_t)len), 0);
		OK(stage_hello_sent(me.conn));
		pair_kill(&pair);
		peer_conn(me.conn, PIER_CONN_ERROR);
		IS(pier_conn_error(me.conn), -PIER_ENOHELLO);
	} else {
		pair_kill(&pair);
	}
	end();
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	pier_dev_close(dev);	/* peers are forked before it is opened */
	watchful.connect_timeout_ms = 500u * limit_slower();
	TEST(messages_go_there_and_back);
	TEST(a_process_that_sits_still_is_read_and_written);
	TEST(a_child_of_a_process_at_work_sits_still_as_well);
	TEST(a_killed_peer_is_found_by_the_keepalive);
	TEST(a_peer_killed_in_a_transfer_fails_its_tasks_once);
	TEST(descriptors_of_a_dead_process_connect_to_nothing);
	TEST(a_peer_that_dies_before_its_hello_is_reported);
	return tap_done();
}
