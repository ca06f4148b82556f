/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "dev/dev_impl.h"
#include "t/lib/cable.h"
#include "t/lib/peer.h"
#include "t/lib/rights.h"
#include "t/lib/tap.h"

/*
 * More than the device has, or the system allows, is lowered where it is a
 * wish, and refused with both numbers where it is an order.
 */
#define TURNS 100
#define GROWTH (64 << 10)	/* of the heap, in all turns but the first */
#define LIMIT_KIB 256
#define LARGE (1u << 20)
#define SMALL (64u << 10)

static struct pier_dev *dev;
static struct pier__chan *chan;
static bool verbs;
static bool subject;		/* to the limit of locked memory */

/* The last error has both numbers. */
static void names(unsigned long long asked, unsigned long long allowed)
{
	char text[32];

	snprintf(text, sizeof(text), " %llu", asked);
	LIKE(pier_last_error(), text);
	snprintf(text, sizeof(text), " %llu", allowed);
	LIKE(pier_last_error(), text);
}

/* A queue of a verbs device is one. */
static int mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	int c, n = 0;

	while (file && (c = getc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/*
 * Each turn ends with what the device does have, and leaves nothing.  The heap
 * of the address sanitizer maps more now and then.
 */
static void again_and_again(bool (*turn)(void))
{
	int i, fds = 0, maps = 0;
	size_t heap = 0;

	for (i = 0; i < TURNS && turn(); i++) {
		if (i)
			continue;
		fds = cable_fds();
		maps = mappings();
		heap = cable_heap();
	}
	IS(i, TURNS);
	IS(cable_fds(), fds);
	if (!OK(mappings() < maps + TURNS / 2))
		tap_note("%d mappings, %d after the first turn", mappings(),
			 maps);
	if (!OK(cable_heap() < heap + GROWTH))
		tap_note("%zu bytes, %zu after the first turn", cable_heap(),
			 heap);
}

static bool completion_queue(void)
{
	uint32_t most = dev->info.port.limits.cqe;
	struct pier__cq *cq;

	IS(dev->fabric->qp->cq_create(chan, most + 1, &cq), -EINVAL);
	names(most + 1ull, most);
	if (!IS(dev->fabric->qp->cq_create(chan, most, &cq), 0))
		return false;
	dev->fabric->qp->cq_destroy(cq);
	return tap_holds();
}

static void a_completion_queue_beyond_the_device_is_refused(void)
{
	again_and_again(completion_queue);
}

static bool receive_queue(void)
{
	uint32_t most = dev->info.port.limits.srq_wr;
	struct pier__srq *srq;

	IS(dev->fabric->qp->srq_create(chan, most + 1, 1, &srq), -EINVAL);
	names(most + 1ull, most);
	if (IS(dev->fabric->qp->srq_create(chan, most, 1, &srq), 0))
		dev->fabric->qp->srq_destroy(srq);
	most = dev->info.port.limits.recv_sge;
	IS(dev->fabric->qp->srq_create(chan, 16, most + 1, &srq), -EINVAL);
	names(most + 1ull, most);
	if (IS(dev->fabric->qp->srq_create(chan, 16, most, &srq), 0))
		dev->fabric->qp->srq_destroy(srq);
	return tap_holds();
}

static void a_receive_queue_beyond_the_device_is_refused(void)
{
	again_and_again(receive_queue);
}

static struct pier__cq *cq;
static struct pier__srq *srq;

/* A queue pair of @cap, of which @asked is more than the @most there is. */
static bool queue_pair_of(struct ibv_qp_cap *cap, uint32_t *asked,
			  uint32_t most)
{
	struct pier__qp *qp;

	*asked = most + 1;
	IS(dev->fabric->qp->qp_create(cq, srq, cap, &qp), -EINVAL);
	names(most + 1ull, most);
	*asked = 1;	/* not the most: that may be a gigabyte */
	if (!IS(dev->fabric->qp->qp_create(cq, srq, cap, &qp), 0))
		return false;
	dev->fabric->qp->qp_destroy(qp);
	return tap_holds();
}

static bool queue_pair(void)
{
	const struct pier__limits *limits = &dev->info.port.limits;
	struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };

	return queue_pair_of(&cap, &cap.max_send_wr, limits->send_wr) &&
	       queue_pair_of(&cap, &cap.max_send_sge, limits->send_sge);
}

static void a_queue_pair_beyond_the_device_is_refused(void)
{
	if (IS(dev->fabric->qp->cq_create(chan, 64, &cq), 0) &&
	    IS(dev->fabric->qp->srq_create(chan, 16, 1, &srq), 0)) {
		again_and_again(queue_pair);
		dev->fabric->qp->srq_destroy(srq);
		dev->fabric->qp->cq_destroy(cq);
	}
}

static bool read_one(struct peer *peer)
{
	struct pier_buf *near = peer_tail(peer, 0, 8);
	struct pier_buf *far = peer_far_data(peer, 8, 8);
	int status = -EINPROGRESS;
	bool held;

	held = IS(pier_rdma_read(peer->conn, far, near, peer_done, &status),
		  0) && IS(peer_await(&status), 0);
	pier_buf_put(far);
	pier_buf_put(near);
	return held;
}

/* As large as can be asked for. */
static bool contexts(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 65535,
		.send_queue = 1 << 20, .recv_queue = 1 << 20,
		.conn_send_queue = 1 << 20, .send_tasks = 16,
		.recv_tasks = 16, .send_chain = 64, .recv_chain = 64,
		.inline_size = 1 << 16, .max_rd_atomic = 255,
	};
	const struct pier__limits *limits = &dev->info.port.limits;
	struct peer a, b = { 0 };

	if (peer_open(&a, dev, NULL, &cfg, 4096) &&
	    peer_open(&b, dev, a.pe, NULL, 4096) && peer_join(&a, &b)) {
		pier_rdma_get_config(a.rdma, &cfg);
		OK(cfg.send_queue + cfg.recv_queue <= limits->cqe);
		OK(cfg.recv_queue <= limits->srq_wr);
		OK(cfg.conn_send_queue <= limits->send_wr);
		OK(cfg.max_conns <= limits->qps);
		read_one(&a);
	}
	peer_unpair(&a, &b);
	return tap_holds();
}

static void a_context_that_requests_too_much_gets_what_there_is(void)
{
	again_and_again(contexts);
}

static unsigned long pinned_kib(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmPin: %lu", &kib);
	if (file)
		fclose(file);
	return kib;
}

/* One that is too large fails with an error message, one that fits works. */
static bool register_both(char *memory, const char *device)
{
	struct pier_mmap *large, *small;
	char want[512];

	snprintf(want, sizeof(want), "%s: %u bytes cannot be registered: the "
		 "limit of locked memory is %u KiB, of which %lu are pinned; "
		 "raise it: ulimit -l unlimited (shell), "
		 "LimitMEMLOCK=infinity (systemd), --ulimit memlock=-1 "
		 "(container)", device, LARGE, LIMIT_KIB, pinned_kib());
	if (!IS(pier_mmap_map(dev, memory, LARGE, PIER_LOCAL_WRITE, &large),
		-ENOMEM) ||
	    !IS_STR(pier_last_error(), want) ||
	    !IS(pier_mmap_map(dev, memory, SMALL, PIER_LOCAL_WRITE, &small),
		0))
		return false;
	pier_mmap_destroy(small);
	return true;
}

static void the_limit_of_locked_memory_is_reported_a_hundred_times(void)
{
	const struct rlimit limit = { LIMIT_KIB << 10, LIMIT_KIB << 10 };
	static char memory[LARGE];
	unsigned long pinned;
	struct peer a, b;
	int i;

	if (!verbs) {
		tap_note("%s", "this device pins no memory");
		return;
	}
	if (!OK(subject) || !IS(setrlimit(RLIMIT_MEMLOCK, &limit), 0))
		return;
	pinned = pinned_kib();
	for (i = 0; i < TURNS; i++)
		if (!register_both(memory, dev->info.port.name))
			break;
	IS(i, TURNS);
	IS(pinned_kib(), pinned);
	if (!peer_pair(&a, &b, dev, NULL, 4096))
		tap_note("%s", pier_conn_error_text(a.conn));
	peer_unpair(&a, &b);
}

int main(void)
{
	/* first: the kernel wants the rights that the device was opened with */
	subject = rights_ipc_lock(false);
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	verbs = !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "verbs");
	if (!IS(dev->fabric->qp->chan_create(dev->fdev, 0, &chan), 0))
		return tap_done() | 1;
	TEST(a_completion_queue_beyond_the_device_is_refused);
	TEST(a_receive_queue_beyond_the_device_is_refused);
	TEST(a_queue_pair_beyond_the_device_is_refused);
	TEST(a_context_that_requests_too_much_gets_what_there_is);
	TEST(the_limit_of_locked_memory_is_reported_a_hundred_times);
	dev->fabric->qp->chan_destroy(chan);
	pier_dev_close(dev);
	return tap_done();
}
