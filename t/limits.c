/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dev/dev.h"
#include "t/peer.h"
#include "t/tap.h"

/*
 * More than the device has, or the system allows, is lowered where it is a
 * wish, and refused with both numbers where it is an order.
 */
#define TURNS 100
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

static void a_completion_queue_beyond_the_device_is_refused(void)
{
	uint32_t most = dev->info.port.limits.cqe;
	struct pier__cq *cq;

	IS(dev->fabric->qp->cq_create(chan, most + 1, &cq), -EINVAL);
	names(most + 1ull, most);
}

static void a_receive_queue_beyond_the_device_is_refused(void)
{
	uint32_t most = dev->info.port.limits.srq_wr;
	struct pier__srq *srq;

	IS(dev->fabric->qp->srq_create(chan, most + 1, 1, &srq), -EINVAL);
	names(most + 1ull, most);
	most = dev->info.port.limits.recv_sge;
	IS(dev->fabric->qp->srq_create(chan, 16, most + 1, &srq), -EINVAL);
	names(most + 1ull, most);
}

static void a_context_that_wants_too_much_gets_what_there_is(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 65535,
		.send_queue = 1 << 20, .recv_queue = 1 << 20,
		.conn_send_queue = 1 << 20, .send_tasks = 16,
		.recv_tasks = 16,
	};
	const struct pier__limits *limits = &dev->info.port.limits;
	struct peer a, b;

	if (peer_pair(&a, &b, dev, &cfg, 4096)) {
		pier_rdma_get_config(a.rdma, &cfg);
		OK(cfg.send_queue + cfg.recv_queue <= limits->cqe);
		OK(cfg.recv_queue <= limits->srq_wr);
		OK(cfg.conn_send_queue <= limits->send_wr);
		OK(cfg.max_conns <= limits->qps);
	}
	peer_unpair(&a, &b);
}

/* Or root is exempt. */
static bool drop_ipc_lock(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data))
		return false;
	data[CAP_IPC_LOCK / 32].effective &= ~(1u << CAP_IPC_LOCK % 32);
	return !syscall(SYS_capset, &head, data);
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

/* One too large, which is told, and one that fits. */
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

static void the_limit_of_locked_memory_is_told_a_hundred_times(void)
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
	subject = drop_ipc_lock();
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	verbs = !strcmp(pier_devinfo_kind(pier_dev_info(dev)), "verbs");
	if (!IS(dev->fabric->qp->chan_create(dev->fdev, &chan), 0))
		return tap_done() | 1;
	TEST(a_completion_queue_beyond_the_device_is_refused);
	TEST(a_receive_queue_beyond_the_device_is_refused);
	TEST(a_context_that_wants_too_much_gets_what_there_is);
	TEST(the_limit_of_locked_memory_is_told_a_hundred_times);
	dev->fabric->qp->chan_destroy(chan);
	pier_dev_close(dev);
	return tap_done();
}
