/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_dma.h>

#include <pier/dev.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* The numbers that DOCA's getters return are those of pier's device. */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct doca_devinfo *info;

typedef doca_error_t get_number(const struct doca_devinfo *info, uint32_t *ret);

/* The same device in pier's list, which the test destroys. */
static const struct pier_devinfo *in(struct pier_devlist **list)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	const struct pier_devinfo *ret = NULL;

	IS(doca_devinfo_get_ibdev_name(info, name, sizeof(name)), DOCA_SUCCESS);
	IS(pier_devlist_create(list), 0);
	IS(pier_devlist_find(*list, name, &ret), 0);
	return ret;
}

static uint32_t gid_table_size(const struct pier_devinfo *of)
{
	struct pier_gid gid;
	uint32_t size = 0;

	for (size_t i = 0; !pier_devinfo_gid(of, i, &gid); i++)
		size = gid.index < size ? size : gid.index + 1;
	return size;
}

static void number_is(get_number *get, uint64_t expected)
{
	uint32_t value = 0;

	IS(get(info, &value), DOCA_SUCCESS);
	IS(value, expected < UINT32_MAX ? expected : UINT32_MAX);
	OK(value > 0);
	IS(get(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	IS(get(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void numbers_are_those_of_the_device(void)
{
	static const struct {
		get_number *get;
		enum pier_limit limit;
		uint64_t own;	/* that pier uses itself */
	} rows[] = {
		{ doca_rdma_cap_get_max_recv_queue_size,
		  PIER_LIMIT_RECV_QUEUE, 0 },
		{ doca_rdma_cap_get_max_send_queue_size,
		  PIER_LIMIT_SEND_QUEUE, 2 },
		{ doca_rdma_cap_get_max_send_buf_list_len,
		  PIER_LIMIT_SEND_SGE, 0 },
		{ doca_rdma_cap_get_max_message_size, PIER_LIMIT_MESSAGE, 0 },
		{ doca_dma_cap_task_memcpy_get_max_buf_list_len,
		  PIER_LIMIT_COPY_CHAIN, 0 },
	};
	struct pier_devlist *list = NULL;
	const struct pier_devinfo *of = in(&list);
	uint64_t limit;

	for (size_t i = 0; of && i < COUNT(rows); i++) {
		IS(pier_devinfo_limit(of, rows[i].limit, &limit), 0);
		number_is(rows[i].get, limit - rows[i].own);
	}
	if (of)
		number_is(doca_rdma_cap_get_gid_table_size, gid_table_size(of));
	number_is(doca_ctx_cap_get_num_completion_vectors, 1);
	pier_devlist_destroy(list);
}

int main(void)
{
	struct doca_dev *dev = end_device();

	if (!dev)
		return tap_skip_all("there is no such device");
	info = doca_dev_as_devinfo(dev);
	TEST(numbers_are_those_of_the_device);
	doca_dev_close(dev);
	return tap_done();
}
