/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/error.h>

#include "t/lib/rights.h"
#include "t/lib/tap.h"
#include "t/verbs/fakeibv.h"

/*
 * A device that lets itself be asked for anything and pins memory for its
 * queues, as adapters do and rxe does not.
 */
#define LIMIT (64 << 10)
#define MANY 4096		/* entries: more than the limit has room for */

static struct ibv_qp pair = { .context = &fake_context };

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	*attr = (struct ibv_device_attr){ .max_srq = 1, .max_cqe = MANY };
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	(void)ctx;
	return &fake_pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *in)
{
	(void)pd;
	(void)in;
	return fake_give(&pair);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

/* What a dma-buf is registered with; there is one, 7. */
static int dmabuf_error;	/* errno; 0: it works */
static struct ibv_mr region = { .lkey = 5, .rkey = 6 };
static struct {
	uint64_t offset, iova;
	size_t len;
	int access;
} passed;

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len,
				 uint64_t iova, int fd, int access)
{
	OK(pd == &fake_pd);
	errno = dmabuf_error;
	if (dmabuf_error)
		return NULL;
	errno = EBADF;
	if (fd != 7)
		return NULL;
	passed.offset = offset;
	passed.len = len;
	passed.iova = iova;
	passed.access = access;
	return &region;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	OK(mr == &region);
	return 0;
}

static struct verbs_chan chan = { .chan = { .fdev = &fake_dev.fdev } };
static struct verbs_cq cq = { .cq = { .chan = &chan.chan } };
static struct verbs_srq srq = { .srq = { .chan = &chan.chan } };

static int make_cq(uint32_t n)
{
	struct pier__cq *made;

	return pier__verbs_cq_create(&chan.chan, n, &made);
}

static int make_srq(uint32_t n)
{
	struct pier__srq *made;

	return pier__verbs_srq_create(&chan.chan, n, 1, &made);
}

static int make_qp(uint32_t n)
{
	const struct ibv_qp_cap cap = { .max_send_wr = n, .max_send_sge = 1 };
	struct pier__qp *made;

	return pier__verbs_qp_create(&cq.cq, &srq.srq, &cap, &made);
}

static const struct {
	int (*make)(uint32_t n);
	const char *text;
} queue[] = {
	{ make_cq, "fake0: no completion queue of 4096" },
	{ make_srq, "fake0: no receive queue of 4096" },
	{ make_qp, "fake0: no queue pair with 4096 sends" },
};

static void queues_beyond_the_locked_memory_are_refused_with_remedies(void)
{
	fake_deny = ENOMEM;
	for (int i = 0; i < 3; i++) {
		IS(queue[i].make(MANY), -ENOMEM);
		LIKE(pier_last_error(), queue[i].text);
		LIKE(pier_last_error(), "limit of locked memory is 64 KiB");
		LIKE(pier_last_error(), "ulimit -l");
		LIKE(pier_last_error(), "LimitMEMLOCK=infinity");
		LIKE(pier_last_error(), "--ulimit memlock=-1");
	}
}

static void within_it_the_limit_is_not_blamed(void)
{
	fake_deny = ENOMEM;
	for (int i = 0; i < 3; i++) {
		IS(queue[i].make(1), -ENOMEM);
		LIKE(pier_last_error(), ": no memory;");
		OK(!strstr(pier_last_error(), "ulimit"));
	}
}

static void who_is_exempt_from_the_limit_is_not_advised_to_raise_it(void)
{
	if (!rights_ipc_lock(true)) {
		tap_note("%s", "not without the right to lock memory");
		return;
	}
	fake_deny = ENOMEM;
	for (int i = 0; i < 3; i++) {
		IS(queue[i].make(MANY), -ENOMEM);
		LIKE(pier_last_error(), ": no memory;");
		OK(!strstr(pier_last_error(), "ulimit"));
	}
	OK(rights_ipc_lock(false));
}

/* In a namespace of its own; its exit status. */
static int be_root_of_a_container(void)
{
	if (unshare(CLONE_NEWUSER))
		return 2;
	fake_deny = ENOMEM;
	return make_cq(MANY) != -ENOMEM ||
	       !strstr(pier_last_error(), "ulimit");
}

static void root_of_a_container_is_not_exempt(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(be_root_of_a_container());
	if (!IS(waitpid(pid, &status, 0), pid))
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		tap_note("%s", "no user namespace can be made here");
	else
		IS(status, 0);
}

static void another_reason_is_reported_as_it_is(void)
{
	fake_deny = EINVAL;
	for (int i = 0; i < 3; i++) {
		IS(queue[i].make(MANY), -EINVAL);
		LIKE(pier_last_error(), queue[i].text);
		LIKE(pier_last_error(), pier_strerror(-EINVAL));
	}
}

static void a_device_whose_queues_cannot_be_tried_is_listed(void)
{
	struct pier__limits limits = { .inline_size = 1 };

	fake_deny = ENOMEM;
	IS(pier__verbs_limits(&fake_context, &limits), 0);
	IS(limits.inline_size, 0);
	IS(limits.cqe, MANY);
	fake_deny = 0;
	IS(pier__verbs_limits(&fake_context, &limits), 0);
	OK(limits.inline_size > 0);
	fake_deny = EINVAL;
	IS(pier__verbs_limits(&fake_context, &limits), -EOPNOTSUPP);
}

static int reg_dmabuf(int fd, struct pier__mr **ret)
{
	return pier__verbs_reg_dmabuf(&fake_dev.fdev, fd, 8192, 100, 0x5000,
				      IBV_ACCESS_REMOTE_READ, ret);
}

static void a_dma_buf_is_registered_as_it_was_given(void)
{
	struct pier__mr *mr = NULL;

	dmabuf_error = 0;
	if (!IS(reg_dmabuf(7, &mr), 0))
		return;
	IS(passed.offset, 8192);
	IS(passed.len, 100);
	IS(passed.iova, 0x5000);
	IS(passed.access, IBV_ACCESS_REMOTE_READ);
	IS(mr->lkey, 5);
	IS(mr->rkey, 6);
	pier__verbs_dereg(mr);
}

static void a_dma_buf_that_is_not_registered_is_named(void)
{
	struct pier__mr *mr = NULL;

	dmabuf_error = 0;
	IS(reg_dmabuf(8, &mr), -EBADF);
	LIKE(pier_last_error(), "fake0: 100 bytes from 8192 of the dma-buf 8");
	LIKE(pier_last_error(), pier_strerror(EBADF));
	dmabuf_error = EOPNOTSUPP;
	IS(reg_dmabuf(7, &mr), -EOPNOTSUPP);
	LIKE(pier_last_error(), "its driver registers no dma-bufs");
	dmabuf_error = EPROTONOSUPPORT;
	IS(reg_dmabuf(7, &mr), -EOPNOTSUPP);
	LIKE(pier_last_error(), "its driver registers no dma-bufs");
	OK(!mr);
}

static void whether_dma_bufs_are_registered_is_tried(void)
{
	static const int errors[] = { 0, EOPNOTSUPP, EPROTONOSUPPORT };

	fake_deny = 0;
	for (int i = 0; i < 3; i++) {
		struct pier__limits limits = { .qps = 0 };

		dmabuf_error = errors[i];
		IS(pier__verbs_limits(&fake_context, &limits), 0);
		IS(limits.dmabuf, !errors[i]);
	}
}

int main(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return tap_skip_all("no limit of locked memory");
	fake_dev.fdev.port.limits = (struct pier__limits){
		.cqe = MANY, .srq_wr = MANY, .send_wr = MANY,
		.send_sge = 1, .recv_sge = 1,
	};
	limit.rlim_cur = LIMIT;
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return tap_skip_all("the limit of locked memory stays");
	rights_ipc_lock(false);		/* without it there was none to drop */
	TEST(queues_beyond_the_locked_memory_are_refused_with_remedies);
	TEST(within_it_the_limit_is_not_blamed);
	TEST(who_is_exempt_from_the_limit_is_not_advised_to_raise_it);
	TEST(root_of_a_container_is_not_exempt);
	TEST(another_reason_is_reported_as_it_is);
	TEST(a_device_whose_queues_cannot_be_tried_is_listed);
	TEST(a_dma_buf_is_registered_as_it_was_given);
	TEST(a_dma_buf_that_is_not_registered_is_named);
	TEST(whether_dma_bufs_are_registered_is_tried);
	return tap_done();
}
