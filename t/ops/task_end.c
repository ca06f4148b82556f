/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/copier.h"
#include "t/lib/tap.h"

/* How tasks end that fail. */

static struct pier_dev *dev;
static struct copier c;

static void each_task_that_failed_has_a_text_of_its_own(void)
{
	struct pier_buf *src, *none, *dst;
	struct pier_task *task[3];

	if (!copier_open(&c, dev, NULL, 64))
		return;
	src = copier_data(&c, 0, 8);
	none = copier_data(&c, 0, 0);
	dst = copier_tail(&c, 0, 8);
	IS(pier_dma_task_copy(c.dma, none, dst, &task[0]), 0);
	IS(pier_dma_task_copy(c.dma, src, NULL, &task[1]), 0);
	IS(pier_dma_task_copy(c.dma, src, dst, &task[2]), 0);
	for (int i = 0; i < 3; i++) {
		IS(pier_task_submit(task[i], 0), 0);
		IS_STR(pier_task_error_text(task[i]), "");
	}
	IS(pier_pe_progress(c.pe, 0), 3);
	IS_STR(pier_task_error_text(task[0]),
	       "dma: copy: the source has no data: set it by "
	       "pier_buf_set_data()");
	LIKE(pier_task_error_text(task[1]), "dma: copy: no destination");
	IS_STR(pier_task_error_text(task[2]), "");
	IS(pier_dma_task_set_bufs(task[0], src, dst), 0);
	pier_buf_reset(dst);
	IS(pier_task_submit(task[0], 0), 0);
	IS(pier_pe_progress(c.pe, 0), 1);
	IS_STR(pier_task_error_text(task[0]), "");
	for (int i = 0; i < 3; i++)
		pier_task_free(task[i]);
	pier_buf_put(src);
	pier_buf_put(none);
	pier_buf_put(dst);
	copier_close(&c);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(each_task_that_failed_has_a_text_of_its_own);
	pier_dev_close(dev);
	return tap_done();
}
