/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_clock.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "t/lib/tap.h"

/* Errors, devices, clocks, and calls without an object. */

static struct doca_dev *open_named(const char *name)
{
	char text[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;

	if (!IS(doca_devinfo_create_list(&list, &count), DOCA_SUCCESS))
		return NULL;
	for (uint32_t i = 0; i < count && !dev; i++) {
		if (!doca_devinfo_get_ibdev_name(list[i], text, sizeof(text)) &&
		    !strcmp(text, name))
			IS(doca_dev_open(list[i], &dev), DOCA_SUCCESS);
	}
	OK(!list[count]);
	IS(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	return dev;
}

static void every_error_has_a_name_and_a_text(void)
{
	IS_STR(doca_error_get_name(DOCA_SUCCESS), "DOCA_SUCCESS");
	IS_STR(doca_error_get_name(DOCA_ERROR_AGAIN), "DOCA_ERROR_AGAIN");
	IS(DOCA_ERROR_SKIPPED, 30);
	for (int i = 0; i <= DOCA_ERROR_SKIPPED; i++) {
		LIKE(doca_error_get_name((doca_error_t)i), "DOCA_");
		OK(doca_error_get_descr((doca_error_t)i) != NULL);
	}
	LIKE(doca_error_get_name((doca_error_t)31), "UNRECOGNIZED");
	LIKE(doca_error_get_name((doca_error_t)-1), "UNRECOGNIZED");
	OK(doca_error_get_descr((doca_error_t)31) != NULL);
}

static void the_first_error_stays(void)
{
	doca_error_t first = DOCA_SUCCESS;

	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_EMPTY);
	IS(first, DOCA_ERROR_AGAIN);
	OK(DOCA_IS_ERROR(first));
}

static void an_open_device_outlives_the_list(void)
{
	struct doca_dev *dev = open_named("soft_lo");
	struct doca_dev *again = open_named("soft_lo");
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct doca_devinfo *info;

	if (!OK(dev && again))
		return;
	IS(doca_dev_close(again), DOCA_SUCCESS);
	info = doca_dev_as_devinfo(dev);
	IS(doca_devinfo_get_iface_name(info, name, sizeof(name)), DOCA_SUCCESS);
	IS_STR(name, "lo");
	IS(doca_devinfo_get_iface_name(info, name, 2),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_sf_index(info, &(uint32_t){ 0 }),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	IS(doca_dev_close(NULL), DOCA_SUCCESS);
}

static void pci_addresses_are_compared_by_value(void)
{
	struct doca_dev *dev = open_named("soft_lo");
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint8_t equal = 2;

	IS(doca_devinfo_get_pci_addr_str(info, pci), DOCA_SUCCESS);
	IS(doca_devinfo_is_equal_pci_addr(info, pci, &equal), DOCA_SUCCESS);
	IS(equal, 1);
	for (char *c = pci; *c; c++)
		*c = *c >= 'a' && *c <= 'f' ? (char)(*c - 'a' + 'A') : *c;
	IS(doca_devinfo_is_equal_pci_addr(info, pci, &equal), DOCA_SUCCESS);
	IS(equal, 1);
	IS(doca_devinfo_is_equal_pci_addr(info, "03:00.0", &equal),
	   DOCA_SUCCESS);
	IS(equal, 0);
	IS(doca_devinfo_is_equal_pci_addr(info, "03:00", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_is_equal_pci_addr(info, "03:00.0.1", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_is_equal_pci_addr(info, "-3:00.0", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_is_equal_pci_addr(info, " 3:00.0", &equal),
	   DOCA_ERROR_INVALID_VALUE);
	doca_dev_close(dev);
}

static void the_host_has_clocks(void)
{
	struct doca_dev *dev = open_named("soft_lo");
	union doca_clock_timespec_t one = { 0 }, two = { 0 };
	struct doca_clock *clock;

	if (!IS(doca_clock_create(dev, &clock), DOCA_SUCCESS))
		return;
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, &one),
	   DOCA_SUCCESS);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC, &two),
	   DOCA_SUCCESS);
	OK(two.ts.tv_sec > one.ts.tv_sec ||
	   (two.ts.tv_sec == one.ts.tv_sec &&
	    two.ts.tv_nsec >= one.ts.tv_nsec));
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_REAL_TIME, &one),
	   DOCA_SUCCESS);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES,
				    &one), DOCA_SUCCESS);
	OK(one.counter != 0);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_REAL_TIME, &one),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_clock_get_timestamp(clock, 3, &one), DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_cap_nic_real_time_is_supported(doca_dev_as_devinfo(dev)),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_clock_destroy(clock), DOCA_SUCCESS);
	doca_dev_close(dev);
}

static bool is_before(const struct timespec *one, const struct timespec *two)
{
	return one->tv_sec < two->tv_sec ||
	       (one->tv_sec == two->tv_sec && one->tv_nsec <= two->tv_nsec);
}

static void clocks_of_the_host_are_those_of_the_system(void)
{
	static const struct pair {
		uint64_t type;
		clockid_t id;
	} pairs[] = {
		{ DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME },
		{ DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC },
		{ DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW },
	};
	struct doca_dev *dev = open_named("soft_lo");
	union doca_clock_timespec_t now = { 0 }, later = { 0 };
	struct timespec before, after;
	struct doca_clock *clock;

	IS(doca_clock_create(dev, &clock), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		clock_gettime(pairs[i].id, &before);
		IS(doca_clock_get_timestamp(clock, pairs[i].type, &now),
		   DOCA_SUCCESS);
		clock_gettime(pairs[i].id, &after);
		OK(is_before(&before, &now.ts));
		OK(is_before(&now.ts, &after));
	}
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES,
				    &now), DOCA_SUCCESS);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_COUNTER_CYCLES,
				    &later), DOCA_SUCCESS);
	OK(later.counter >= now.counter);
	IS(doca_clock_destroy(clock), DOCA_SUCCESS);
	doca_dev_close(dev);
}

static void capabilities_without_hardware_are_not_supported(void)
{
	struct doca_dev *dev = open_named("soft_lo");
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_rdma *rdma = NULL;
	uint8_t yes;

	IS(doca_rdma_cap_transport_type_is_supported(
		   info, DOCA_RDMA_TRANSPORT_TYPE_RC), DOCA_SUCCESS);
	IS(doca_rdma_cap_transport_type_is_supported(
		   info, DOCA_RDMA_TRANSPORT_TYPE_DC),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_DC),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_devinfo_cap_is_hotplug_manager_supported(info, &yes),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_cap_is_hotplug_manager_supported(NULL, &yes),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_cap_is_notification_moderation_supported(info, &yes),
	   DOCA_ERROR_NOT_SUPPORTED);
	doca_dev_close(dev);
}

static void sync_events_have_every_task(void)
{
	struct doca_dev *dev = open_named("soft_lo");
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	IS(doca_sync_event_cap_task_get_is_supported(info), DOCA_SUCCESS);
	IS(doca_sync_event_cap_task_notify_set_is_supported(info),
	   DOCA_SUCCESS);
	IS(doca_sync_event_cap_task_notify_add_is_supported(info),
	   DOCA_SUCCESS);
	IS(doca_sync_event_cap_task_wait_eq_is_supported(info), DOCA_SUCCESS);
	IS(doca_sync_event_cap_task_wait_neq_is_supported(info), DOCA_SUCCESS);
	IS(doca_sync_event_cap_task_get_is_supported(NULL),
	   DOCA_ERROR_INVALID_VALUE);
	doca_dev_close(dev);
}

/* Programs clean up what they may not have. */
static void calls_without_an_object_fail_and_return(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;

	IS(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_ctx_get_state(NULL, &state), DOCA_ERROR_INVALID_VALUE);
	IS(state, DOCA_CTX_STATE_IDLE);
	IS(doca_pe_progress(NULL), 0);
	IS(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	OK(!doca_rdma_as_ctx(NULL));
	IS(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_advise_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_inventory_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_buf_dec_refcount(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	OK(!doca_dma_as_ctx(NULL));
	OK(!doca_mmap_advise_as_ctx(NULL));
	OK(!doca_dev_as_devinfo(NULL));
	doca_task_free(NULL);
	IS(doca_rdma_connection_disconnect(NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_task_send_is_supported(NULL),
	   DOCA_ERROR_INVALID_VALUE);
}

struct versioned {
	DOCA_STRUCT_START;
	int value;
};

static void structures_carry_the_version_of_their_headers(void)
{
	DOCA_STRUCT_DEF(struct versioned, defined);
	struct versioned assigned = DOCA_STRUCT_CTOR(struct versioned);
	struct versioned pointed = { .value = 5 };

	IS(DOCA_STRUCT_GET_VERSION(&defined), DOCA_VERSION_OFFICIAL);
	IS(DOCA_STRUCT_GET_VERSION(&assigned), DOCA_VERSION_OFFICIAL);
	IS(defined.value, 0);
	DOCA_STRUCT_PTR_CTOR(&pointed);
	IS(DOCA_STRUCT_GET_VERSION(&pointed), DOCA_VERSION_OFFICIAL);
	IS(pointed.value, 5);
	DOCA_STRUCT_MEMSET_CTOR(&pointed);
	IS(DOCA_STRUCT_GET_VERSION(&pointed), DOCA_VERSION_OFFICIAL);
	IS(pointed.value, 0);
}

int main(void)
{
	TEST(every_error_has_a_name_and_a_text);
	TEST(the_first_error_stays);
	TEST(an_open_device_outlives_the_list);
	TEST(pci_addresses_are_compared_by_value);
	TEST(the_host_has_clocks);
	TEST(clocks_of_the_host_are_those_of_the_system);
	TEST(capabilities_without_hardware_are_not_supported);
	TEST(sync_events_have_every_task);
	TEST(calls_without_an_object_fail_and_return);
	TEST(structures_carry_the_version_of_their_headers);
	return tap_done();
}
