/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "doca_fail.h"

/* Consumers and producers run in this process, not on a DPA. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t
doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
					 uint32_t count)
{
	return pier__doca_no_processor(consumer, __func__);
}

doca_error_t doca_comch_consumer_set_completion(
	struct doca_comch_consumer *consumer,
	struct doca_comch_consumer_completion *completion, uint32_t user_data)
{
	return pier__doca_no_processor(consumer, __func__);
}

doca_error_t
doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
				   doca_dpa_dev_comch_consumer_t *handle)
{
	return pier__doca_no_processor(consumer && handle, __func__);
}

doca_error_t doca_comch_consumer_completion_create(
	struct doca_comch_consumer_completion **completion)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_destroy(
	struct doca_comch_consumer_completion *completion)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_start(
	struct doca_comch_consumer_completion *completion)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_stop(
	struct doca_comch_consumer_completion *completion)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_set_dpa_thread(
	struct doca_comch_consumer_completion *completion,
	struct doca_dpa_thread *thread)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_get_dpa_handle(
	struct doca_comch_consumer_completion *completion,
	doca_dpa_dev_comch_consumer_completion_t *handle)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_set_max_num_consumers(
	struct doca_comch_consumer_completion *completion, uint32_t count)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
	const struct doca_comch_consumer_completion *completion,
	uint32_t *count)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_set_max_num_recv(
	struct doca_comch_consumer_completion *completion, uint32_t count)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_get_max_num_recv(
	const struct doca_comch_consumer_completion *completion,
	uint32_t *count)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_set_imm_data_len(
	struct doca_comch_consumer_completion *completion, uint32_t len)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t doca_comch_consumer_completion_get_imm_data_len(
	const struct doca_comch_consumer_completion *completion, uint32_t *len)
{
	return pier__doca_no_processor(true, __func__);
}

doca_error_t
doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
					 uint32_t count)
{
	return pier__doca_no_processor(producer, __func__);
}

doca_error_t doca_comch_producer_dpa_completion_attach(
	struct doca_comch_producer *producer,
	struct doca_dpa_completion *completion)
{
	return pier__doca_no_processor(producer, __func__);
}

doca_error_t
doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
				   doca_dpa_dev_comch_producer_t *handle)
{
	return pier__doca_no_processor(producer && handle, __func__);
}
