/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/uv.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Two peers on one engine, which nothing drives but a libuv loop. */
#define LEN 65536
#define LIMIT_MS 20000
#define QUIET_MS 200

static struct pier_dev *dev;
static struct peer a, b;
static uv_loop_t loop;
static uv_timer_t limit;
static struct pier_uv *uv;
static bool late;

static void on_limit(uv_timer_t *timer)
{
	late = true;
	uv_stop(timer->loop);
}

/* Run the loop until a callback stops it, or nothing is left in it. */
static bool run_loop(void)
{
	late = false;
	uv_timer_start(&limit, on_limit, LIMIT_MS, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_timer_stop(&limit);
	return OK(!late);
}

static bool set_up(void)
{
	IS(uv_loop_init(&loop), 0);
	uv_timer_init(&loop, &limit);
	uv_unref((uv_handle_t *)&limit);
	return peer_open(&a, dev, NULL, NULL, LEN) &&
	       peer_open(&b, dev, a.pe, NULL, LEN) &&
	       IS(pier_uv_create(&loop, a.pe, &uv), 0);
}

/* The loop ends by itself: nothing of the adapter keeps it running. */
static void end_loop(void)
{
	uv_close((uv_handle_t *)&limit, NULL);
	IS(uv_run(&loop, UV_RUN_DEFAULT), 0);
	IS(uv_loop_close(&loop), 0);
	uv = NULL;
}

static void tear_down(void)
{
	pier_uv_destroy(uv);
	peer_unpair(&a, &b);
	end_loop();
}

static void state_changed(struct pier_conn *conn, enum pier_conn_state from,
			  enum pier_conn_state to, void *arg)
{
	int *connected = arg;

	(void)conn;
	(void)from;
	if (to == PIER_CONN_CONNECTED && ++*connected == 2)
		uv_stop(&loop);
}

static void connections_come_about_while_the_loop_runs(void)
{
	int connected = 0;

	if (set_up() && peer_export(&a) && peer_export(&b)) {
		pier_conn_set_user_data(a.conn, &connected);
		pier_conn_set_user_data(b.conn, &connected);
		pier_conn_set_state_changed(a.conn, state_changed);
		pier_conn_set_state_changed(b.conn, state_changed);
		IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
		IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
		run_loop();
		IS(connected, 2);
	}
	tear_down();
}

static void read_done(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
	uv_stop(&loop);
}

static void a_read_is_done_while_the_loop_runs(void)
{
	int status = -EINPROGRESS;
	struct pier_buf *src, *dst;

	if (set_up() && peer_join(&a, &b)) {
		peer_fill(&b, 1);
		src = peer_far_data(&a, 0, 5000);
		dst = peer_tail(&a, 0, 5000);
		IS(pier_rdma_read(a.conn, src, dst, read_done, &status), 0);
		run_loop();
		IS(status, 0);
		OK(peer_holds(&a, 0, 5000, 1, 0));
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	tear_down();
}

/* Writes without an end: each one's callback begins the next. */
struct stream {
	struct pier_buf *src, *dst;
	int written;
	bool stop, stopped;
};

static void write_done(struct pier_task *task, void *arg)
{
	struct stream *stream = arg;

	stream->written += pier_task_status(task) == 0;
	pier_buf_reset(stream->dst);
	stream->stopped = stream->stop ||
		!IS(pier_rdma_write(a.conn, stream->src, stream->dst,
				    write_done, stream), 0);
	if (stream->stopped)
		uv_stop(&loop);
}

static void on_timer(uv_timer_t *timer)
{
	struct stream *stream = timer->data;

	stream->stop = true;
}

static void other_handles_have_their_turn_when_the_engine_is_busy(void)
{
	struct stream stream = { 0 };
	uv_timer_t timer;

	if (set_up() && peer_join(&a, &b)) {
		stream.src = peer_data(&a, 0, 64);
		stream.dst = peer_far_tail(&a, 0, 64);
		uv_timer_init(&loop, &timer);
		timer.data = &stream;
		uv_timer_start(&timer, on_timer, 50, 0);
		IS(pier_rdma_write(a.conn, stream.src, stream.dst, write_done,
				   &stream), 0);
		run_loop();
		OK(stream.stopped);
		OK(stream.written > 1);
		uv_close((uv_handle_t *)&timer, NULL);
		pier_buf_put(stream.src);
		pier_buf_put(stream.dst);
	}
	tear_down();
}

static void on_turn(uv_check_t *check)
{
	++*(int *)check->data;
}

static void on_quiet(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

/* A loop that does not sleep has a hundred thousand turns in this time. */
static void the_loop_sleeps_when_the_engine_has_nothing_to_do(void)
{
	uv_timer_t timer;
	uv_check_t check;
	int turns = 0;

	if (set_up() && peer_join(&a, &b)) {
		uv_timer_init(&loop, &timer);
		uv_check_init(&loop, &check);
		check.data = &turns;
		uv_check_start(&check, on_turn);
		uv_timer_start(&timer, on_quiet, QUIET_MS, 0);
		run_loop();
		OK(turns > 0 && turns < 1000);
		tap_note("%d turns", turns);
		uv_close((uv_handle_t *)&timer, NULL);
		uv_close((uv_handle_t *)&check, NULL);
	}
	tear_down();
}

static void detach(struct pier_task *task, void *arg)
{
	*(int *)arg = pier_task_status(task);
	pier_uv_destroy(uv);
	uv = NULL;
}

static void a_callback_of_the_engine_may_detach_it(void)
{
	int status = -EINPROGRESS;
	struct pier_buf *src, *dst;

	if (set_up() && peer_join(&a, &b)) {
		src = peer_far_data(&a, 0, 64);
		dst = peer_tail(&a, 0, 64);
		IS(pier_rdma_read(a.conn, src, dst, detach, &status), 0);
		run_loop();
		IS(status, 0);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	tear_down();
}

static void the_engine_is_driven_by_hand_again_once_detached(void)
{
	int status = -EINPROGRESS;
	struct pier_buf *src, *dst;

	if (set_up() && peer_join(&a, &b)) {
		uv_run(&loop, UV_RUN_NOWAIT);
		pier_uv_destroy(uv);
		uv = NULL;
		uv_run(&loop, UV_RUN_DEFAULT);
		src = peer_far_data(&a, 0, 64);
		dst = peer_tail(&a, 0, 64);
		IS(pier_rdma_read(a.conn, src, dst, peer_done, &status), 0);
		IS(peer_await(&status), 0);
		pier_buf_put(src);
		pier_buf_put(dst);
	}
	tear_down();
}

int main(void)
{
	if (pier_dev_open(getenv("PIER_DEVICE"), &dev))
		return tap_skip_all(pier_last_error());
	TEST(connections_come_about_while_the_loop_runs);
	TEST(a_read_is_done_while_the_loop_runs);
	TEST(other_handles_have_their_turn_when_the_engine_is_busy);
	TEST(the_loop_sleeps_when_the_engine_has_nothing_to_do);
	TEST(a_callback_of_the_engine_may_detach_it);
	TEST(the_engine_is_driven_by_hand_again_once_detached);
	pier_dev_close(dev);
	return tap_done();
}
