/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <pier/verbs.h>

#include "t/lib/cable.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * The device is removed while a program uses it: an error message reports it,
 * every task ends once, and the removal ends when the device is closed.
 */
#define LEN (1u << 20)
#define READS 16
#define TURNS (cable_is_rxe() ? 20 : 100)	/* emulated, it is slow */
/* Of the heap, in all turns but the first. */
#define GROWTH ((cable_is_rxe() ? 24u : 64u) << 10)

static const struct pier_rdma_config config = {
	.size = sizeof(config),
	.max_conns = 4,
	.keepalive_ms = 100,
};

static struct pier_dev *dev[2];
static struct peer a, b;

/* What is open already stays. */
static bool begin(void)
{
	memset(&a, 0, sizeof(a));
	if (!IS(pier_dev_open(cable_device(0), &dev[0]), 0) ||
	    !peer_open(&a, dev[0], NULL, &config, LEN))
		return false;
	if (dev[1])
		return true;
	memset(&b, 0, sizeof(b));
	return IS(pier_dev_open(cable_device(1), &dev[1]), 0) &&
	       peer_open(&b, dev[1], NULL, &config, LEN);
}

static void end_near(void)
{
	peer_close(&a);
	pier_dev_close(dev[0]);
	dev[0] = NULL;
}

static void end_far(void)
{
	peer_close(&b);
	pier_dev_close(dev[1]);
	dev[1] = NULL;
}

static void end(void)
{
	end_near();
	end_far();
}

/* The error message about the first device. */
static const char *gone(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s was removed: close it, as the "
		 "removal may wait for that, and open another device",
		 cable_device(0));
	return text;
}

/* The removal, which waited for us or not, has succeeded: plug it in again. */
static bool recover(pid_t removal)
{
	if (!IS(cable_reap(removal), 0))
		return false;
	return cable_is_rxe() ? cable_plug(0) : cable_lay(0);
}

/* Reported by the device, or by a keepalive that has just failed. */
static bool ends_as_gone(const struct pier_conn *conn)
{
	char part[64];

	snprintf(part, sizeof(part), "%s was removed", cable_device(0));
	return peer_conn(conn, PIER_CONN_ERROR) &&
	       IS(pier_conn_error(conn), -ENODEV) &&
	       LIKE(pier_conn_error_text(conn), part);
}

static void idle_connections_are_reported(void)
{
	pid_t removal;

	if (!begin() || !peer_join(&a, &b))
		return;
	removal = cable_unplug(0);
	ends_as_gone(a.conn);
	peer_conn(b.conn, PIER_CONN_ERROR);
	if (cable_is_rxe())	/* else its own device is gone as well */
		IS(pier_conn_error(b.conn), -PIER_ERETRY);
	end();
	OK(recover(removal));
}

struct gone_tally {
	int calls, ok, gone, cancelled;
};

static void count(struct pier_task *task, void *arg)
{
	struct gone_tally *tally = arg;
	int status = pier_task_status(task);

	tally->calls++;
	tally->ok += !status;
	tally->gone += status == -ENODEV;
	tally->cancelled += status == -ECANCELED;
}

static void tasks_in_flight_end_once_each(void)
{
	struct pier_buf *near[READS], *far;
	struct gone_tally tally = { 0 };
	pid_t removal;
	int i;

	if (!begin() || !peer_join(&a, &b))
		return;
	far = peer_far_data(&a, 0, LEN / 2);
	for (i = 0; i < READS; i++)
		near[i] = peer_tail(&a, LEN / 2, LEN / 2);
	removal = cable_unplug(0);
	/* as much as there can be, until it happens */
	while (pier_conn_state(a.conn) == PIER_CONN_CONNECTED) {
		int want = tally.calls + READS;

		for (i = 0; i < READS; i++) {
			pier_buf_reset(near[i]);
			if (pier_rdma_read(a.conn, far, near[i], count,
					   &tally))
				want--;
		}
		if (!OK(peer_count(&tally.calls, want)))
			break;
	}
	ends_as_gone(a.conn);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	IS(tally.calls, tally.ok + tally.gone + tally.cancelled);
	for (i = 0; i < READS; i++)
		pier_buf_put(near[i]);
	pier_buf_put(far);
	end();
	OK(recover(removal));
}

/* No connection, no timer: only the news itself wakes it. */
static void a_sleeping_engine_is_woken_and_its_receives_end(void)
{
	int got = -EINPROGRESS, other = -EINPROGRESS;
	pid_t removal;

	if (!begin())
		return;
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &got), 0);
	removal = cable_unplug(0);
	while (got == -EINPROGRESS)
		if (!IS(pier_pe_wait(a.pe, PEER_LIMIT_MS), 0))
			break;
	IS(got, -ENODEV);
	LIKE(pier_last_error(), gone());
	/* and so does whatever is posted later */
	IS(pier_rdma_receive(a.rdma, NULL, peer_done, &other), 0);
	IS(peer_await(&other), -ENODEV);
	IS(pier_pe_wait(a.pe, 20), -ETIMEDOUT);
	end();
	OK(recover(removal));
}

static void what_is_begun_later_is_refused(void)
{
	static char memory[4096];
	struct pier_mmap *mmap;
	struct pier_conn *conn;
	const void *desc;
	pid_t removal;
	size_t len;

	if (!begin() || !peer_join(&a, &b))
		return;
	removal = cable_unplug(0);
	ends_as_gone(a.conn);
	IS(pier_rdma_export(a.rdma, &desc, &len, &conn), -ENODEV);
	IS_STR(pier_last_error(), gone());
	IS(pier_mmap_map(dev[0], memory, sizeof(memory), PIER_LOCAL_WRITE,
			 &mmap), -ENODEV);
	IS_STR(pier_last_error(), gone());
	IS(pier_ctx_stop_wait(pier_rdma_ctx(a.rdma), PEER_LIMIT_MS), 0);
	IS(pier_ctx_start(pier_rdma_ctx(a.rdma), a.pe), -ENODEV);
	IS_STR(pier_last_error(), gone());
	end();
	OK(recover(removal));
}

/* On a domain of the program's own, which reads the events itself. */
static void a_device_that_the_program_has_opened_is_reported_as_well(void)
{
	struct ibv_pd *pd, *own;
	struct pier_dev *second;
	int status = -EINPROGRESS;
	struct pier_buf *near, *far;
	struct peer c = { 0 };
	pid_t removal;

	if (!cable_is_rxe()) {
		tap_note("%s", "no verbs: no domain");
		return;
	}
	if (!begin() || !IS(pier_dev_pd(dev[0], &pd), 0))
		return;
	own = ibv_alloc_pd(pd->context);
	if (!OK(own) || !IS(pier_dev_open_pd(own, 1, &second), 0) ||
	    !peer_open(&c, second, a.pe, &config, LEN) || !peer_join(&c, &b))
		return;
	near = peer_tail(&c, 0, 8);
	far = peer_far_data(&c, 8, 8);
	IS(pier_rdma_read(c.conn, far, near, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	removal = cable_unplug(0);
	ends_as_gone(c.conn);
	pier_buf_put(far);
	pier_buf_put(near);
	peer_close(&c);
	pier_dev_close(second);
	IS(ibv_dealloc_pd(own), 0);
	end();
	OK(recover(removal));
}

static void an_interface_that_goes_takes_the_device_along(void)
{
	pid_t removal;

	if (!begin() || !peer_join(&a, &b))
		return;
	removal = cable_spawn("ip link delete f0");
	ends_as_gone(a.conn);
	peer_conn(b.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(b.conn), -ENODEV);
	end();
	IS(cable_reap(removal), 0);
	OK(cable_lay(0));
}

/* The near side of one turn; where the far device stays, so does its side. */
static bool turn(void)
{
	struct pier_buf *near, *far;
	int status = -EINPROGRESS;
	pid_t removal;
	bool held;

	if (!begin() || !peer_join(&a, &b))
		return false;
	near = peer_tail(&a, 0, 8);
	far = peer_far_data(&a, 8, 8);
	held = IS(pier_rdma_read(a.conn, far, near, peer_done, &status), 0) &&
	       IS(peer_await(&status), 0);
	pier_buf_put(far);
	pier_buf_put(near);
	removal = cable_unplug(0);
	held = ends_as_gone(a.conn) && held;
	end_near();
	if (!cable_is_rxe())
		end_far();
	return recover(removal) && held;
}

static void the_next_device_works_again_and_again(void)
{
	size_t heap = 0;
	int i, fds = 0;

	for (i = 0; i < TURNS && turn(); i++) {
		pier_conn_destroy(b.conn);
		b.conn = NULL;
		pier_mmap_destroy(b.remote);
		b.remote = NULL;
		if (i)
			continue;
		fds = cable_fds();
		heap = mallinfo2().uordblks;
	}
	IS(i, TURNS);
	IS(cable_fds(), fds);
	if (!OK(mallinfo2().uordblks < heap + GROWTH))
		tap_note("%zu bytes, %zu after the first turn",
			 mallinfo2().uordblks, heap);
	end_far();
}

int main(void)
{
	const char *reason = cable_enter();

	if (reason)
		return tap_skip_all(reason);
	if (!cable_lay(0))
		return tap_done() | 1;
	TEST(idle_connections_are_reported);
	TEST(tasks_in_flight_end_once_each);
	TEST(a_sleeping_engine_is_woken_and_its_receives_end);
	TEST(what_is_begun_later_is_refused);
	TEST(a_device_that_the_program_has_opened_is_reported_as_well);
	TEST(an_interface_that_goes_takes_the_device_along);
	TEST(the_next_device_works_again_and_again);
	cable_cut();
	return tap_done();
}
