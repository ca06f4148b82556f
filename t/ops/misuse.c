/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/copier.h"
#include "t/lib/tap.h"

/* What programs do wrong with tasks and devices. */

#define LEN 4096

static struct pier_dev *dev;
static struct copier c;

static void a_task_that_is_freed_twice_is_freed_once(void)
{
	struct pier_dma_config cfg = { .size = sizeof(cfg), .tasks = 2 };
	struct pier_task *task[2], *more;

	if (!copier_open(&c, dev, &cfg, LEN))
		return;
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[0]), 0);
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[1]), 0);
	IS(pier_task_free(task[0]), 0);
	IS(pier_task_free(task[0]), -EINVAL);
	LIKE(pier_last_error(), "freed twice");
	IS(pier_task_submit(task[0], 0), -EINVAL);
	LIKE(pier_last_error(), "submitted after it was freed");
	IS(pier_task_set_timeout_ms(task[0], 10), -EINVAL);
	LIKE(pier_last_error(), "given a timeout after it was freed");
	IS(pier_task_wait(task[0], 0), -EINVAL);
	LIKE(pier_last_error(), "waited for after it was freed");
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &task[0]), 0);
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &more), -ENOBUFS);
	pier_task_free(task[0]);
	pier_task_free(task[1]);
	copier_close(&c);
}

static void count_critical(enum pier_log_level level, const char *area,
			   const char *message, void *arg)
{
	if (level == PIER_LOG_CRITICAL)
		tap_note("%s: %s", area, message);
	*(int *)arg += level == PIER_LOG_CRITICAL;
}

static void a_context_holds_its_device(void)
{
	struct pier_dev *again = NULL;
	struct pier_dma *dma = NULL;
	int critical = 0;

	pier_log_set_callback(count_critical, &critical);
	IS(pier_dev_open(pier_devinfo_name(pier_dev_info(dev)), &again), 0);
	IS(pier_dma_create(again, &dma), 0);
	pier_dev_close(again);
	IS(critical, 1);
	pier_dma_destroy(dma);
	pier_dev_close(again);
	IS(critical, 1);
	pier_log_set_callback(NULL, NULL);
}

static int return_0(void *arg)
{
	(void)arg;
	return 0;
}

static void a_task_is_changed_by_the_call_of_its_type_only(void)
{
	struct pier_task *copy, *call;
	struct pier_func *func;

	if (!copier_open(&c, dev, NULL, LEN) ||
	    !IS(pier_func_create(&func), 0) ||
	    !IS(pier_ctx_start(pier_func_ctx(func), c.pe), 0))
		return;
	IS(pier_dma_task_copy(c.dma, NULL, NULL, &copy), 0);
	IS(pier_func_task_call(func, return_0, NULL, &call), 0);
	IS(pier_dma_task_set_bufs(call, NULL, NULL), -EINVAL);
	LIKE(pier_last_error(), "copy: not a task of this type: call");
	IS(pier_sha_task_set_bufs(call, NULL, NULL), -EINVAL);
	IS(pier_func_task_set(copy, return_0, NULL), -EINVAL);
	IS(pier_sync_event_task_set_values(copy, 0, 0, NULL), -EINVAL);
	LIKE(pier_last_error(), "not a task of a sync event");
	IS(pier_rdma_task_set_bufs(copy, NULL, NULL), -EINVAL);
	LIKE(pier_last_error(), "not a task of an RDMA context");
	IS(pier_task_submit(call, 0), 0);
	IS(copier_wait(&c, call), 0);
	pier_task_free(copy);
	pier_task_free(call);
	pier_func_destroy(func);
	copier_close(&c);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_task_that_is_freed_twice_is_freed_once);
	TEST(a_task_is_changed_by_the_call_of_its_type_only);
	TEST(a_context_holds_its_device);
	pier_dev_close(dev);
	return tap_done();
}
