/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/lib/limit.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Tasks that were submitted to go out with others, and no others came. */

#define LEN 4096
#define COUNT 3
#define BYTE(i) ((uint8_t)(0x51 + (i)))

static struct pier_dev *dev;
static struct peer a, b;
static int finished;

static void count(struct pier_task *task, void *arg)
{
	(void)arg;
	IS(pier_task_status(task), 0);
	finished++;
}

/* Does @byte come, while the program drives no engine? */
static bool arrives(size_t at, uint8_t byte)
{
	const uint8_t *seen = (uint8_t *)b.mem + at;
	long long limit = limit_from_now();

	while (__atomic_load_n(seen, __ATOMIC_ACQUIRE) != byte)
		if (!limit_nap(limit))
			return false;
	return true;
}

/* Writes of a byte each. */
static void submit(struct pier_task **tasks, struct pier_buf **bufs)
{
	for (size_t i = 0; i < COUNT; i++) {
		a.mem[i] = (typeof(*a.mem))BYTE(i);
		bufs[2 * i] = peer_data(&a, i, 1);
		bufs[2 * i + 1] = peer_far_tail(&a, i, 1);
		IS(pier_rdma_task_write(a.conn, bufs[2 * i], bufs[2 * i + 1],
					&tasks[i]), 0);
		pier_task_set_done(tasks[i], count, NULL);
		IS(pier_task_submit(tasks[i], PIER_SUBMIT_MORE), 0);
	}
}

static void a_flush_posts_what_was_deferred(void)
{
	struct pier_task *tasks[COUNT];
	struct pier_buf *bufs[2 * COUNT];

	submit(tasks, bufs);
	pier_ctx_flush(pier_rdma_ctx(a.rdma));
	for (size_t i = 0; i < COUNT; i++)
		OK(arrives(i, BYTE(i)));
	IS(finished, 0);
	pier_ctx_flush(pier_rdma_ctx(a.rdma));	/* there is nothing more */
	OK(peer_count(&finished, COUNT));
	for (size_t i = 0; i < COUNT; i++)
		pier_task_free(tasks[i]);
	for (size_t i = 0; i < 2 * COUNT; i++)
		pier_buf_put(bufs[i]);
}

static void a_flush_of_an_idle_context_does_nothing(void)
{
	struct pier_rdma *rdma;

	if (!IS(pier_rdma_create(dev, &rdma), 0))
		return;
	pier_ctx_flush(pier_rdma_ctx(rdma));
	IS(pier_ctx_state(pier_rdma_ctx(rdma)), PIER_CTX_IDLE);
	pier_rdma_destroy(rdma);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return tap_done();
	TEST(a_flush_posts_what_was_deferred);
	TEST(a_flush_of_an_idle_context_does_nothing);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
