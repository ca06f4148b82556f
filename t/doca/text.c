/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_log.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What the library logs has the value that is wrong, and what is allowed. */

static struct doca_dev *dev;
static char memory[64];
static char line[1024], logged[1024];

static void on_line(char *text)
{
	snprintf(logged, sizeof(logged), "%s", text);
}

static void open_log(void)
{
	struct doca_log_backend *backend;

	IS(doca_log_backend_create_with_buf_sdk(line, sizeof(line), on_line,
						&backend), DOCA_SUCCESS);
}

/* @error is @want, and the log has @text; forget it. */
static void fails(doca_error_t error, doca_error_t want, const char *text)
{
	IS(error, want);
	LIKE(logged, text);
	logged[0] = '\0';
}

static void a_second_range_is_logged_with_the_first(void)
{
	struct doca_mmap *mmap;
	char text[128];

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, memory, 48), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "a second range, 16 bytes at %p: it has "
		 "48 at %p", (void *)(memory + 48), (void *)memory);
	fails(doca_mmap_set_memrange(mmap, memory + 48, 16),
	      DOCA_ERROR_NOT_PERMITTED, text);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void a_device_that_is_added_twice_is_named(void)
{
	char name[64] = "", text[128];
	struct doca_mmap *mmap;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name,
				       sizeof(name)), DOCA_SUCCESS);
	snprintf(text, sizeof(text), "has device %s already", name);
	fails(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_ALREADY_EXIST, text);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void what_a_start_of_memory_lacks_is_named(void)
{
	struct doca_mmap *mmap;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	fails(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE,
	      "started without a range");
	IS(doca_mmap_set_memrange(mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	fails(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE,
	      "started without a device");
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void ignore(struct doca_dma_task_memcpy *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
}

static void a_callback_that_is_missing_is_named(void)
{
	struct doca_dma *dma;

	IS(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	fails(doca_dma_task_memcpy_set_conf(dma, NULL, ignore, 5),
	      DOCA_ERROR_INVALID_VALUE, "no callback for tasks that succeed");
	fails(doca_dma_task_memcpy_set_conf(dma, ignore, NULL, 5),
	      DOCA_ERROR_INVALID_VALUE, "no callback for tasks that fail");
	fails(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1048577),
	      DOCA_ERROR_INVALID_VALUE,
	      "1048577 tasks, 1 to 1048576 are allowed");
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
}

/* A DMA context that runs. */
static struct doca_dma *run_dma(struct doca_pe *pe)
{
	struct doca_dma *dma = NULL;
	struct doca_ctx *ctx;

	IS(doca_dma_create(dev, &dma), DOCA_SUCCESS);
	ctx = doca_dma_as_ctx(dma);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	return dma;
}

static void end_dma(struct doca_dma *dma)
{
	IS(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_SUCCESS);
	IS(doca_dma_destroy(dma), DOCA_SUCCESS);
}

static void the_state_that_forbids_a_call_is_named(void)
{
	union doca_data data = { .ptr = NULL };
	struct doca_dma *dma;
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	dma = run_dma(pe);
	fails(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_BAD_STATE,
	      "started while running");
	fails(doca_ctx_set_user_data(doca_dma_as_ctx(dma), data),
	      DOCA_ERROR_BAD_STATE, "set while running");
	fails(doca_dma_destroy(dma), DOCA_ERROR_BAD_STATE,
	      "destroyed while running");
	end_dma(dma);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void on_instance(struct doca_graph_instance *instance,
			union doca_data data, union doca_data graph_data)
{
	(void)instance;
	(void)data;
	(void)graph_data;
}

static void a_node_that_takes_other_data_is_named(void)
{
	struct doca_graph_instance *instance;
	struct doca_graph_node *node;
	struct doca_graph *graph;
	struct doca_dma *dma;
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	dma = run_dma(pe);
	IS(doca_graph_create(pe, &graph), DOCA_SUCCESS);
	IS(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &node),
	   DOCA_SUCCESS);
	IS(doca_graph_set_conf(graph, on_instance, on_instance, 1),
	   DOCA_SUCCESS);
	IS(doca_graph_start(graph), DOCA_SUCCESS);
	IS(doca_graph_instance_create(graph, &instance), DOCA_SUCCESS);
	fails(doca_graph_instance_set_user_node_data(instance, node, memory),
	      DOCA_ERROR_NOT_PERMITTED, "node 0, which is of another kind");
	IS(doca_graph_instance_destroy(instance), DOCA_SUCCESS);
	IS(doca_graph_stop(graph), DOCA_SUCCESS);
	IS(doca_graph_destroy(graph), DOCA_SUCCESS);
	end_dma(dma);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	open_log();
	TEST(a_second_range_is_logged_with_the_first);
	TEST(a_device_that_is_added_twice_is_named);
	TEST(what_a_start_of_memory_lacks_is_named);
	TEST(a_callback_that_is_missing_is_named);
	TEST(the_state_that_forbids_a_call_is_named);
	TEST(a_node_that_takes_other_data_is_named);
	doca_dev_close(dev);
	return tap_done();
}
