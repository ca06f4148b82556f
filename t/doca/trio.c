/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/doca/trio.h"
#include "t/lib/tap.h"

void trio_open(struct trio *trio)
{
	end_open(&trio->a);
	end_open(&trio->b);
	end_open(&trio->c);
	IS(doca_rdma_set_max_num_connections(trio->a.rdma, 2), DOCA_SUCCESS);
	end_start(&trio->a);
	end_start(&trio->b);
	end_start(&trio->c);
	ends_connect(&trio->a, &trio->b);
	trio->to_b = trio->a.conn;
	trio->of_b = trio->a.remote;
	ends_connect(&trio->a, &trio->c);
	trio->to_c = trio->a.conn;
	trio->of_c = trio->a.remote;
	memset(trio->b.memory, 'b', END_BYTES);
	memset(trio->c.memory, 'c', END_BYTES);
}

void trio_close(struct trio *trio)
{
	trio->a.remote = trio->of_b;
	IS(doca_mmap_destroy(trio->of_c), DOCA_SUCCESS);
	end_close(&trio->a);
	end_close(&trio->b);
	end_close(&trio->c);
}

struct doca_buf *trio_far_data(struct trio *trio, struct doca_mmap *of,
			       size_t at, size_t len)
{
	trio->a.remote = of;
	return end_far_data(&trio->a, at, len);
}

struct doca_buf *trio_far_space(struct trio *trio, struct doca_mmap *of,
				size_t at, size_t len)
{
	trio->a.remote = of;
	return end_far_space(&trio->a, at, len);
}

bool trio_drive(struct trio *trio, const struct end *end, int want)
{
	for (long i = 0; i < 20000000 && end->done + end->failed < want; i++) {
		doca_pe_progress(trio->a.pe);
		doca_pe_progress(trio->b.pe);
		doca_pe_progress(trio->c.pe);
	}
	return IS(end->done + end->failed, want);
}

doca_error_t trio_run(struct trio *trio, struct doca_task *task)
{
	int before = trio->a.done + trio->a.failed;
	doca_error_t error = doca_task_submit(task);

	if (error)
		return error;
	trio_drive(trio, &trio->a, before + 1);
	return doca_task_get_status(task);
}

uint64_t *trio_word(struct end *end, int i)
{
	return (uint64_t *)(void *)end->memory + i;
}

void trio_put(struct doca_buf *first, struct doca_buf *second)
{
	IS(doca_buf_dec_refcount(first, NULL), DOCA_SUCCESS);
	IS(doca_buf_dec_refcount(second, NULL), DOCA_SUCCESS);
}
