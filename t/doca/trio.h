/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DOCA_TRIO_H
#define PIER_T_DOCA_TRIO_H

#include "t/doca/ends.h"

/* An end with connections to two others, whose memory it has. */
struct trio {
	struct end a, b, c;
	struct doca_rdma_connection *to_b, *to_c;
	struct doca_mmap *of_b, *of_c;
};

/* All run; the memory of b and c is full of these letters. */
void trio_open(struct trio *trio);
void trio_close(struct trio *trio);

/* Buffers of a at an offset of the memory of another: of_b or of_c. */
struct doca_buf *trio_far_data(struct trio *trio, struct doca_mmap *of,
			       size_t at, size_t len);
struct doca_buf *trio_far_space(struct trio *trio, struct doca_mmap *of,
				size_t at, size_t len);

/* Drive all until @want tasks of @end have ended. */
bool trio_drive(struct trio *trio, const struct end *end, int want);

/* Submit a task of a, which is not freed, and wait for its end. */
doca_error_t trio_run(struct trio *trio, struct doca_task *task);

/* Word @i of the memory of @end. */
uint64_t *trio_word(struct end *end, int i);

/* Release two buffers. */
void trio_put(struct doca_buf *first, struct doca_buf *second);

#endif
