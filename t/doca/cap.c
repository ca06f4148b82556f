/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <stdio.h>

#include <doca_clock.h>
#include <doca_dma.h>
#include <doca_mmap_advise.h>
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* What a device is asked before anything is created on it. */

static struct doca_dev *dev;
static struct doca_devinfo *info;

/* As programs pass them around. */
typedef doca_error_t is_supported(const struct doca_devinfo *info);

static is_supported *const by_rdma[] = {
	doca_rdma_cap_task_receive_is_supported,
	doca_rdma_cap_task_send_is_supported,
	doca_rdma_cap_task_send_imm_is_supported,
	doca_rdma_cap_task_read_is_supported,
	doca_rdma_cap_task_write_is_supported,
	doca_rdma_cap_task_write_imm_is_supported,
	doca_rdma_cap_task_atomic_cmp_swp_is_supported,
	doca_rdma_cap_task_atomic_fetch_add_is_supported,
	doca_rdma_cap_task_remote_net_sync_event_get_is_supported,
	doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported,
	doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported,
	doca_sync_event_cap_remote_net_is_create_from_export_supported,
	doca_sync_event_cap_is_export_to_remote_net_supported,
};

static is_supported *const by_cpu[] = {
	doca_dma_cap_task_memcpy_is_supported,
	doca_mmap_advise_cap_task_cache_invalidate_is_supported,
	doca_sync_event_cap_task_get_is_supported,
	doca_sync_event_cap_task_notify_set_is_supported,
	doca_sync_event_cap_task_notify_add_is_supported,
	doca_sync_event_cap_task_wait_eq_is_supported,
	doca_sync_event_cap_task_wait_neq_is_supported,
};

static is_supported *const of_no_device[] = {
	doca_clock_cap_nic_free_running_is_supported,
	doca_clock_cap_nic_real_time_is_supported,
	doca_clock_cap_nic_dpa_timer_is_supported,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void ask(is_supported *const *questions, size_t count, doca_error_t want)
{
	for (size_t i = 0; i < count; i++) {
		if (!IS(questions[i](info), want) ||
		    !IS(questions[i](NULL), DOCA_ERROR_INVALID_VALUE))
			tap_note("number %zu", i);
	}
}

static void tasks_are_asked_for_by_one_type_of_function(void)
{
	ask(by_rdma, COUNT(by_rdma), DOCA_SUCCESS);
	ask(by_cpu, COUNT(by_cpu), DOCA_SUCCESS);
	ask(of_no_device, COUNT(of_no_device), DOCA_ERROR_NOT_SUPPORTED);
}

typedef doca_error_t get_number(const struct doca_devinfo *info, uint32_t *ret);

/* Set it to what is the most, which one more is beyond. */
static void set_most(struct doca_rdma *rdma, get_number *get,
		     doca_error_t (*set)(struct doca_rdma *rdma, uint32_t n))
{
	uint32_t most = 0;

	IS(get(info, &most), DOCA_SUCCESS);
	OK(set(rdma, most + 1) != DOCA_SUCCESS);
	IS(set(rdma, most), DOCA_SUCCESS);
}

static void a_context_with_the_most_of_all_starts(void)
{
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_pe *pe;

	IS(doca_pe_create(&pe), DOCA_SUCCESS);
	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	ctx = doca_rdma_as_ctx(rdma);
	set_most(rdma, doca_rdma_cap_get_max_recv_queue_size,
		 doca_rdma_set_recv_queue_size);
	set_most(rdma, doca_rdma_cap_get_max_send_queue_size,
		 doca_rdma_set_send_queue_size);
	set_most(rdma, doca_rdma_cap_get_max_send_buf_list_len,
		 doca_rdma_set_max_send_buf_list_len);
	IS(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	while (doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS)
		doca_pe_progress(pe);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void lists_of_receives_are_those_of_a_transport(void)
{
	const enum doca_rdma_transport_type rc = DOCA_RDMA_TRANSPORT_TYPE_RC;
	const enum doca_rdma_transport_type dc = DOCA_RDMA_TRANSPORT_TYPE_DC;
	uint32_t n = 0;

	IS(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, rc, &n),
	   DOCA_SUCCESS);
	OK(n > 0);
	IS(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, dc, &n),
	   DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(NULL, dc, &n),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, rc, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_transport_type_is_supported(NULL, rc),
	   DOCA_ERROR_INVALID_VALUE);
}

static void copies_have_limits(void)
{
	uint64_t size = 0;

	IS(doca_dma_cap_task_memcpy_get_max_buf_size(info, &size),
	   DOCA_SUCCESS);
	OK(size >= 2 << 20);
	IS(doca_dma_cap_task_memcpy_get_max_buf_size(NULL, &size),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_dma_cap_task_memcpy_get_max_buf_size(info, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	size = 0;
	IS(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(info, &size),
	   DOCA_SUCCESS);
	OK(size > 0);
	IS(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(NULL, &size),
	   DOCA_ERROR_INVALID_VALUE);
}

/* Entries that are in use can be chosen, and no others. */
static void gids_are_chosen_by_their_index(void)
{
	static const struct doca_rdma_gid unused;
	struct doca_rdma_gid gid;
	struct doca_rdma *rdma;
	uint32_t size = 0, index = UINT32_MAX;

	IS(doca_rdma_create(dev, &rdma), DOCA_SUCCESS);
	IS(doca_rdma_cap_get_gid_table_size(info, &size), DOCA_SUCCESS);
	for (uint32_t i = 0; i < size + 3; i++) {
		IS(doca_rdma_cap_get_gid(info, i, 1, &gid), DOCA_SUCCESS);
		if (!memcmp(&gid, &unused, sizeof(gid))) {
			IS(doca_rdma_set_gid_index(rdma, i),
			   DOCA_ERROR_INVALID_VALUE);
			continue;
		}
		IS(doca_rdma_set_gid_index(rdma, i), DOCA_SUCCESS);
		IS(doca_rdma_get_gid_index(rdma, &index), DOCA_SUCCESS);
		IS(index, i);
	}
	IS(doca_rdma_cap_get_gid(NULL, 0, 1, &gid), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_get_gid(info, 0, 0, &gid), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_cap_get_gid(info, 0, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_rdma_destroy(rdma), DOCA_SUCCESS);
}

static void what_no_device_has_is_not_supported(void)
{
	typedef doca_error_t has(const struct doca_devinfo *info, uint8_t *ret);
	static has *const questions[] = {
		doca_devinfo_cap_is_hotplug_manager_supported,
		doca_devinfo_cap_is_notification_moderation_supported,
		doca_devinfo_cap_is_accelerate_resource_reclaim_supported,
	};
	uint8_t yes;
	uint16_t id;

	for (size_t i = 0; i < COUNT(questions); i++) {
		yes = 1;
		IS(questions[i](info, &yes), DOCA_ERROR_NOT_SUPPORTED);
		IS(yes, 0);
		IS(questions[i](NULL, &yes), DOCA_ERROR_INVALID_VALUE);
		IS(questions[i](info, NULL), DOCA_ERROR_INVALID_VALUE);
	}
	IS(doca_devinfo_get_vhca_id(info, &id), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_devinfo_get_vhca_id(info, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_dev_accelerate_resource_reclaim(NULL),
	   DOCA_ERROR_INVALID_VALUE);
}

/* The first line of a file of the interface of @it in sysfs; "": none. */
static const char *of_netdev(const struct doca_devinfo *it, const char *name)
{
	char netdev[DOCA_DEVINFO_IFACE_NAME_SIZE] = "", path[PATH_MAX];
	static char line[80];
	FILE *file;

	doca_devinfo_get_iface_name(it, netdev, sizeof(netdev));
	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", netdev, name);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void has_the_mac_of_its_interface(const struct doca_devinfo *it)
{
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	bool ethernet = !strcmp(of_netdev(it, "type"), "1");
	char text[18];

	IS(doca_devinfo_get_mac_addr(it, NULL, 6), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_mac_addr(it, mac, 5), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_mac_addr(it, mac, sizeof(mac)),
	   ethernet ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
	if (!ethernet)
		return;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	IS_STR(text, of_netdev(it, "address"));
}

static void has_the_rate_of_its_interface(const struct doca_devinfo *it)
{
	long long speed = atoll(of_netdev(it, "speed"));	/* Mb/s */
	uint64_t rate = 0;

	IS(doca_devinfo_get_active_rate(it, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_active_rate(it, &rate),
	   speed > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
	IS(rate, speed > 0 ? (uint64_t)speed * 1000000 : 0);
}

static void devices_have_the_address_and_rate_of_their_interface(void)
{
	struct doca_devinfo **list;
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint64_t rate;
	uint32_t n = 0;

	IS(doca_devinfo_create_list(&list, &n), DOCA_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		has_the_mac_of_its_interface(list[i]);
		has_the_rate_of_its_interface(list[i]);
	}
	IS(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
	IS(doca_devinfo_get_mac_addr(NULL, mac, 6), DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_active_rate(NULL, &rate), DOCA_ERROR_INVALID_VALUE);
}

static void every_device_is_a_physical_function(void)
{
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	uint32_t index;

	IS(doca_devinfo_get_pci_func_type(info, &type), DOCA_SUCCESS);
	IS(type, DOCA_PCI_FUNC_TYPE_PF);
	IS(doca_devinfo_get_pci_func_type(NULL, &type),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_pci_func_type(info, NULL),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_devinfo_get_sf_index(info, &index), DOCA_ERROR_NOT_SUPPORTED);
}

static void a_device_has_no_clock(void)
{
	union doca_clock_timespec_t host = { 0 }, nic = { 0 };
	struct doca_clock *clock;
	uint64_t accuracy;

	IS(doca_clock_create(dev, &clock), DOCA_SUCCESS);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC_RAW,
				    &host), DOCA_SUCCESS);
	OK(host.ts.tv_sec || host.ts.tv_nsec);
	IS(doca_clock_get_timestamp(clock, DOCA_CLOCK_HOST_MONOTONIC |
				    DOCA_CLOCK_HOST_REAL_TIME, &host),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_get_timestamp(NULL, DOCA_CLOCK_HOST_MONOTONIC, &host),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_REAL_TIME,
					 DOCA_CLOCK_NIC_REAL_TIME, &host, &nic,
					 &accuracy), DOCA_ERROR_NOT_SUPPORTED);
	IS(doca_clock_get_crosstimestamp(NULL, DOCA_CLOCK_HOST_REAL_TIME,
					 DOCA_CLOCK_NIC_REAL_TIME, &host, &nic,
					 &accuracy), DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_get_crosstimestamp(clock, DOCA_CLOCK_HOST_REAL_TIME,
					 DOCA_CLOCK_NIC_REAL_TIME, &host, &nic,
					 NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_clock_destroy(clock), DOCA_SUCCESS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	info = doca_dev_as_devinfo(dev);
	TEST(tasks_are_asked_for_by_one_type_of_function);
	TEST(a_context_with_the_most_of_all_starts);
	TEST(lists_of_receives_are_those_of_a_transport);
	TEST(copies_have_limits);
	TEST(gids_are_chosen_by_their_index);
	TEST(what_no_device_has_is_not_supported);
	TEST(devices_have_the_address_and_rate_of_their_interface);
	TEST(every_device_is_a_physical_function);
	TEST(a_device_has_no_clock);
	doca_dev_close(dev);
	return tap_done();
}
