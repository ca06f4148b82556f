/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/error.h>

#include "cm/addr.h"
#include "fabric/verbs/cm_access.h"
#include "fabric/verbs/diagnose.h"
#include "fabric/verbs/sys.h"
#include "fabric/verbs/verbs_impl.h"
#include "t/lib/tap.h"
#include "t/lib/tree.h"

/*
 * What the verbs back end does without a device; t/fabric/fabric.c tests it on
 * one.  With an argument it is a tool for t/verbs/diagnose.sh: "why" prints why
 * a device cannot be used, "pin BYTES" the result of registering so many.
 */
static char root[] = "/tmp/pier-verbs.XXXXXX";

static void gid(const char *text, uint8_t ret[16])
{
	inet_pton(AF_INET6, text, ret);
}

static void an_address_on_roce_has_a_global_header(void)
{
	struct pier__av av = {
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.port = 2,
		.service_level = 3,
		.traffic_class = 106,
		.hop_limit = 64,
		.sgid_index = 1,
		.dlid = 9,
	};
	struct ibv_ah_attr ah;

	gid("::ffff:10.9.0.1", av.sgid);
	gid("::ffff:10.9.0.2", av.dgid);
	pier__av_build(&av, &ah);
	IS(ah.is_global, 1);
	IS(ah.port_num, 2);
	IS(ah.dlid, 0);
	IS(ah.grh.sgid_index, 1);
	IS(ah.grh.hop_limit, 64);
	IS(ah.grh.traffic_class, 106);
	IS(memcmp(ah.grh.dgid.raw, av.dgid, 16), 0);
}

static void an_address_in_an_infiniband_subnet_is_a_lid(void)
{
	struct pier__av av = {
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
		.port = 1,
		.service_level = 3,
		.hop_limit = 64,
		.dlid = 9,
	};
	struct ibv_ah_attr ah;

	gid("fe80::1", av.sgid);
	gid("fe80::2", av.dgid);
	pier__av_build(&av, &ah);
	IS(ah.is_global, 0);
	IS(ah.dlid, 9);
	IS(ah.sl, 3);
}

static void an_address_in_another_infiniband_subnet_has_both(void)
{
	struct pier__av av = {
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
		.port = 1,
		.hop_limit = 64,
		.dlid = 9,
	};
	struct ibv_ah_attr ah;

	gid("fec0:0:0:1::1", av.sgid);
	gid("fec0:0:0:2::2", av.dgid);
	pier__av_build(&av, &ah);
	IS(ah.is_global, 1);
	IS(ah.dlid, 9);
	IS(memcmp(ah.grh.dgid.raw, av.dgid, 16), 0);
}

static void the_netdev_is_that_of_the_first_gid(void)
{
	char name[16] = "?";

	tree_file(root, "sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0",
		  "v0\n");
	pier__sys_netdev(root, "rxe0", 1, name, sizeof(name));
	IS_STR(name, "v0");
	pier__sys_netdev(root, "rxe0", 2, name, sizeof(name));
	IS_STR(name, "");
}

static void the_netdev_of_infiniband_is_that_of_the_same_hardware(void)
{
	char name[16] = "?";

	tree_file(root, "sys/class/infiniband/mlx4_0/device/net/ib0/dev_port",
		  "0\n");
	tree_file(root, "sys/class/infiniband/mlx4_0/device/net/ib1/dev_port",
		  "1\n");
	pier__sys_netdev(root, "mlx4_0", 2, name, sizeof(name));
	IS_STR(name, "ib1");
	pier__sys_netdev(root, "mlx4_0", 1, name, sizeof(name));
	IS_STR(name, "ib0");
	pier__sys_netdev(root, "mlx4_0", 3, name, sizeof(name));
	IS_STR(name, "");
}

static void a_device_has_its_own_pci_address(void)
{
	char pci[16];

	tree_file(root, "sys/devices/pci0000:00/0000:3b:00.1/vendor",
		  "0x15b3\n");
	tree_link(root, "sys/class/infiniband/mlx5_1/device",
		  "../../../devices/pci0000:00/0000:3b:00.1");
	tree_link(root, "sys/class/net/eth9/device", "/nowhere");
	pier__sys_pci(root, "mlx5_1", "eth9", pci);
	IS_STR(pci, "0000:3b:00.1");
}

static void a_software_device_has_the_pci_address_of_its_netdev(void)
{
	char pci[16];

	tree_file(root, "sys/devices/pci0000:00/0000:05:00.0/vendor",
		  "0x8086\n");
	tree_link(root, "sys/class/net/eth5/device",
		  "../../../devices/pci0000:00/0000:05:00.0");
	pier__sys_pci(root, "rxe5", "eth5", pci);
	IS_STR(pci, "0000:05:00.0");
}

static void a_netdev_on_virtio_lends_that_of_the_function_above(void)
{
	char pci[16];

	tree_file(root, "sys/devices/virtual/virtio1/vendor", "0x1af4\n");
	tree_link(root, "sys/class/net/eth6/device",
		  "../../../devices/virtual/virtio1");
	pier__sys_pci(root, "rxe6", "eth6", pci);
	IS(strncmp(pci, "fffe:", 5), 0);	/* there is none */
	tree_file(root, "sys/devices/pci0000:00/0000:06:00.0/virtio2/vendor",
		  "0x1af4\n");
	tree_link(root, "sys/class/net/eth7/device",
		  "../../../devices/pci0000:00/0000:06:00.0/virtio2");
	pier__sys_pci(root, "rxe7", "eth7", pci);
	IS_STR(pci, "0000:06:00.0");
}

static void made_up_pci_addresses_differ_and_are_stable(void)
{
	char a[16], b[16], c[16];

	pier__sys_pci(root, "rxe0", "v0", a);
	pier__sys_pci(root, "rxe1", "v1", b);
	pier__sys_pci(root, "rxe9", "v0", c);
	OK(strcmp(a, b));
	IS_STR(a, c);
	pier__pci_of_netdev(root, "v0", c);	/* as the soft device on it */
	IS_STR(a, c);
	pier__sys_pci(root, "rxe0", "", b);
	pier__sys_pci(root, "rxe0", "", c);
	IS_STR(b, c);
	IS(strlen(a), strlen("0000:00:00.0"));
}

static void counters_are_the_numbers_in_sysfs(void)
{
#define COUNTERS "sys/class/infiniband/rxe0/ports/1/"
	struct pier_counters counters = { .size = sizeof(counters) };
	uint64_t value;

	tree_file(root, COUNTERS "hw_counters/sent_pkts",
		  "18446744073709551615\n");
	tree_file(root, COUNTERS "hw_counters/lifespan", "10\n");
	tree_file(root, COUNTERS "hw_counters/duplicate_request", "7\n");
	tree_file(root, COUNTERS "counters/port_xmit_data", "4\n");
	tree_file(root, COUNTERS "counters/VL15_dropped", "N/A (no PMA)\n");
	tree_file(root, COUNTERS "counters/empty", "");
	pier__sys_counters(root, "rxe0", 1, &counters);
	IS(counters.count, 3);
	IS_STR(counters.counter[0].name, "port_xmit_data");
	IS_STR(counters.counter[1].name, "duplicate_request");
	IS(counters.counter[1].value, 7);
	IS(pier_counters_find(&counters, "sent_pkts", &value), 0);
	OK(value == UINT64_MAX);
	counters.count = 0;
	pier__sys_counters(root, "rxe0", 2, &counters);
	IS(counters.count, 0);
}

static void a_prefix_is_the_mask_of_the_interface(void)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET }, m4 = a4;
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 }, m6 = a6;
	struct ifaddrs second = {
		.ifa_addr = (void *)&a6,
		.ifa_netmask = (void *)&m6,
	};
	struct ifaddrs none = { .ifa_next = &second };
	struct ifaddrs first = {
		.ifa_next = &none,
		.ifa_addr = (void *)&a4,
		.ifa_netmask = (void *)&m4,
	};
	uint8_t raw[16];

	inet_pton(AF_INET, "10.9.0.1", &a4.sin_addr);
	inet_pton(AF_INET, "255.255.252.0", &m4.sin_addr);
	inet_pton(AF_INET6, "fd00:9::1", &a6.sin6_addr);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ff00::", &m6.sin6_addr);
	gid("::ffff:10.9.0.1", raw);
	IS(pier__sys_prefix(&first, raw), 22);
	gid("fd00:9::1", raw);
	IS(pier__sys_prefix(&first, raw), 56);
	gid("::ffff:10.9.0.2", raw);
	IS(pier__sys_prefix(&first, raw), 0);
	IS(pier__sys_prefix(NULL, raw), 0);
}

static void three_conventions_become_one(void)
{
	errno = ENOENT;
	IS(pier__verbs_error(EINVAL), -EINVAL);
	IS(pier__verbs_error(-EAGAIN), -EAGAIN);
	IS(pier__verbs_error(-1), -ENOENT);
	errno = 0;
	IS(pier__verbs_error(-1), -EIO);
}

/* A device with nothing wrong about it. */
static const struct verbs_facts fine = {
	.device = "rxe0",
	.node = "uverbs0",
	.abi = 6,
	.listed = true,
};

static void a_device_with_nothing_wrong_needs_no_message(void)
{
	char text[512] = "?";

	IS(pier__verbs_cause(&fine), VERBS_FINE);
	pier__verbs_message(&fine, text, sizeof(text));
	IS_STR(text, "");
}

/* @facts is @cause, its error message has @part and @fix and fits. */
static void diagnosed(const struct verbs_facts *facts, enum verbs_cause cause,
		      const char *part, const char *fix)
{
	char text[512] = "";

	IS(pier__verbs_cause(facts), cause);
	pier__verbs_message(facts, text, sizeof(text));
	LIKE(text, part);
	LIKE(text, fix);
	OK(strlen(text) < sizeof(text) - 1);
	OK(text[0] && text[strlen(text) - 1] != '.');
}

static void no_device_at_all_says_how_to_make_one(void)
{
	struct verbs_facts facts = { .node_error = ENOENT, .abi = -1 };

	diagnosed(&facts, VERBS_NO_DEVICE, "no RDMA device",
		  "rdma link add rxe0 type rxe netdev");
}

static void a_missing_node_is_named(void)
{
	struct verbs_facts facts = fine;

	facts.listed = false;
	facts.node_error = ENOENT;
	diagnosed(&facts, VERBS_NO_NODE, "no /dev/infiniband/uverbs0",
		  "--device=/dev/infiniband");
	facts.node[0] = '\0';
	diagnosed(&facts, VERBS_NO_NODE, "no /dev/infiniband/uverbs*",
		  "modprobe ib_uverbs");
}

static void a_forbidden_node_is_named(void)
{
	struct verbs_facts facts = fine;

	facts.open_error = EACCES;
	facts.node_error = EACCES;
	diagnosed(&facts, VERBS_DENIED, "/dev/infiniband/uverbs0 may not be",
		  "chmod 666");
	facts.node_error = EPERM;
	diagnosed(&facts, VERBS_DENIED, "uverbs0 may not be",
		  "--device=/dev/infiniband");
}

static void kernel_and_library_that_do_not_fit_are_reported_by_version(void)
{
	struct verbs_facts facts = fine;

	facts.listed = false;
	facts.abi = 2;
	diagnosed(&facts, VERBS_MISFIT, "version 2", "install the rdma-core");
	facts.abi = 6;
	facts.list_error = ENOSYS;
	diagnosed(&facts, VERBS_MISFIT, "version 6", "install the rdma-core");
}

static void a_driver_that_fits_no_provider_is_reported_by_version(void)
{
	struct verbs_facts facts = fine;

	facts.listed = false;
	facts.providers = true;
	facts.driver_abi = 7;
	diagnosed(&facts, VERBS_MISFIT,
		  "rxe0: its driver in the kernel (interface "
		  "version 7)", "install the rdma-core");
}

static void a_missing_provider_names_the_package(void)
{
	struct verbs_facts facts = fine;

	facts.listed = false;
	diagnosed(&facts, VERBS_NO_PROVIDER, "rxe0: libibverbs has no provider",
		  "install ibverbs-providers");
}

static void a_device_that_fails_to_open_says_how(void)
{
	struct verbs_facts facts = fine;

	facts.open_error = ENOMEM;
	diagnosed(&facts, VERBS_BROKEN, "rxe0: cannot be used", "emory");
}

static void nothing_to_be_seen_is_no_device(void)
{
	struct verbs_facts facts = { 0 };

	pier__verbs_inspect("/proc/self/fd", NULL, &facts);
	IS_STR(facts.device, "");
	IS(facts.abi, -1);
	IS(pier__verbs_cause(&facts), VERBS_NO_DEVICE);
}

static void a_device_without_the_uverbs_module_has_no_node(void)
{
	struct verbs_facts facts = { 0 };

	tree_file(root, "sys/class/infiniband/siw7/node_type", "4: RNIC\n");
	pier__verbs_inspect(root, "siw7", &facts);
	IS_STR(facts.node, "");
	IS(facts.node_error, ENOENT);
	IS(pier__verbs_cause(&facts), VERBS_NO_NODE);
}

static void the_node_of_a_device_is_found_by_its_name(void)
{
	struct verbs_facts facts = { 0 };

	tree_file(root, "sys/class/infiniband/qed3/node_type", "1: CA\n");
	tree_file(root, "sys/class/infiniband_verbs/abi_version", "6\n");
	tree_file(root, "sys/class/infiniband_verbs/uverbs4/ibdev", "qed2\n");
	tree_file(root, "sys/class/infiniband_verbs/uverbs5/ibdev", "qed3\n");
	pier__verbs_inspect(root, "qed3", &facts);
	IS_STR(facts.node, "uverbs5");
	IS(facts.abi, 6);
	IS(facts.node_error, ENOENT);
	IS(facts.driver_abi, -1);
	tree_file(root, "sys/class/infiniband_verbs/uverbs5/abi_version",
		  "8\n");
	tree_file(root, "dev/infiniband/uverbs5", "");
	pier__verbs_inspect(root, "qed3", &facts);
	IS(facts.node_error, 0);
	IS(facts.driver_abi, 8);
	IS(pier__verbs_cause(&facts), VERBS_NO_PROVIDER);
}

static void providers_are_the_libraries_below_that_of_libibverbs(void)
{
	char path[PATH_MAX];
	struct verbs_facts facts = { 0 };
	Dl_info info;

	if (!OK(dladdr((void *)ibv_get_device_list, &info) != 0))
		return;
	snprintf(path, sizeof(path), "%.*s/libibverbs/readme",
		 (int)(strrchr(info.dli_fname, '/') - info.dli_fname),
		 info.dli_fname);
	tree_file(root, path + 1, "");
	pier__verbs_inspect(root, "qed3", &facts);
	OK(!facts.providers);
	strcpy(strrchr(path, '/'), "/libqedr-rdmav22.so");
	tree_file(root, path + 1, "");
	pier__verbs_inspect(root, "qed3", &facts);
	OK(facts.providers);
}

static void the_connection_manager_may_not_be_loaded_or_have_no_node(void)
{
	char text[PIER__CM_REASON_MAX] = "";

	/* Not loaded: opening it loads it, if that can be. */
	IS(pier__verbs_cm_check(root, text, sizeof(text)), 0);
	tree_file(root, "sys/class/misc/rdma_cm/abi_version", "4\n");
	IS(pier__verbs_cm_check(root, text, sizeof(text)), -ENOENT);
	LIKE(text, "--device=/dev/infiniband");
	tree_file(root, "dev/infiniband/rdma_cm", "");
	IS(pier__verbs_cm_check(root, text, sizeof(text)), 0);
}

static void what_keeps_the_connection_manager_shut_has_a_remedy(void)
{
	char text[PIER__CM_REASON_MAX];

	pier__verbs_cm_reason(-ENOENT, text, sizeof(text));
	LIKE(text, "modprobe rdma_ucm");
	pier__verbs_cm_reason(-EACCES, text, sizeof(text));
	LIKE(text, "chmod 666");
	LIKE(text, "/dev/infiniband/rdma_cm");
	pier__verbs_cm_reason(-EMFILE, text, sizeof(text));
	LIKE(text, pier_strerror(-EMFILE));
}

static void of_what_is_missing_the_first_that_can_be_repaired_is_reported(void)
{
	struct pier__ports ports = { 0 };

	pier__ports_miss(&ports, &pier__verbs, false, "", "none");
	OK(ports.missing == &pier__verbs && !ports.repairable);
	pier__ports_miss(&ports, &pier__verbs, true, "a0", "first");
	pier__ports_miss(&ports, &pier__verbs, true, "a1", "second");
	pier__ports_miss(&ports, &pier__verbs, false, "a2", "third");
	OK(ports.repairable);
	IS_STR(ports.reason, "first");
}

static void each_of_what_is_missing_has_its_reason(void)
{
	struct pier__ports ports = { 0 };

	pier__ports_miss(&ports, &pier__verbs, true, "a0", "first");
	pier__ports_miss(&ports, &pier__verbs, false, "a1", "second");
	IS(ports.absent_count, 2);
	IS_STR(ports.absent[0].device, "a0");
	IS_STR(ports.absent[0].reason, "first");
	IS_STR(ports.absent[1].device, "a1");
	IS_STR(ports.absent[1].reason, "second");
}

static void of_many_that_are_missing_the_first_are_listed(void)
{
	struct pier__ports ports = { 0 };

	for (int i = 0; i < PIER__ABSENT_MAX + 2; i++)
		pier__ports_miss(&ports, &pier__verbs, true, "a", "b");
	IS(ports.absent_count, PIER__ABSENT_MAX);
}

static void a_list_of_none_is_no_error_and_has_a_reason(void)
{
	struct pier__ports ports = { 0 };

	IS(pier__verbs_list(&ports), 0);
	tap_note("%zu ports; %s", ports.count, ports.reason);
	OK(ports.count || ports.missing == &pier__verbs);
	IS(ports.missing != NULL, ports.reason[0] != '\0');
	free(ports.port);
}

static int print_reason(void)
{
	struct pier__ports ports = { 0 };
	int err = pier__verbs_list(&ports);

	printf("%zu\n%s\n", ports.count, ports.reason);
	free(ports.port);
	return err ? 1 : 0;
}

static int try_to_pin(size_t size)
{
	struct pier__ports ports = { 0 };
	struct pier__fdev *fdev = NULL;
	struct pier__mr *mr = NULL;
	void *mem = NULL;
	int err = -ENODEV;

	if (!pier__verbs_list(&ports) && ports.count)
		err = pier__verbs_open(ports.port, &fdev);
	if (!err && posix_memalign(&mem, 4096, size))
		err = -ENOMEM;
	if (!err)
		err = pier__verbs_reg(fdev, mem, size, IBV_ACCESS_LOCAL_WRITE,
				      &mr);
	puts(err ? pier_last_error() : "registered");
	pier__verbs_dereg(mr);
	pier__verbs_close(fdev);
	free(mem);
	free(ports.port);
	return err ? 1 : 0;
}

int main(int argc, char *argv[])
{
	if (argc == 2 && !strcmp(argv[1], "why"))
		return print_reason();
	if (argc == 3 && !strcmp(argv[1], "pin"))
		return try_to_pin(strtoul(argv[2], NULL, 10));
	if (!mkdtemp(root))
		return tap_skip_all("no directory in /tmp");
	TEST(an_address_on_roce_has_a_global_header);
	TEST(an_address_in_an_infiniband_subnet_is_a_lid);
	TEST(an_address_in_another_infiniband_subnet_has_both);
	TEST(the_netdev_is_that_of_the_first_gid);
	TEST(the_netdev_of_infiniband_is_that_of_the_same_hardware);
	TEST(a_device_has_its_own_pci_address);
	TEST(a_software_device_has_the_pci_address_of_its_netdev);
	TEST(a_netdev_on_virtio_lends_that_of_the_function_above);
	TEST(made_up_pci_addresses_differ_and_are_stable);
	TEST(counters_are_the_numbers_in_sysfs);
	TEST(a_prefix_is_the_mask_of_the_interface);
	TEST(three_conventions_become_one);
	TEST(a_device_with_nothing_wrong_needs_no_message);
	TEST(no_device_at_all_says_how_to_make_one);
	TEST(a_missing_node_is_named);
	TEST(a_forbidden_node_is_named);
	TEST(kernel_and_library_that_do_not_fit_are_reported_by_version);
	TEST(a_driver_that_fits_no_provider_is_reported_by_version);
	TEST(a_missing_provider_names_the_package);
	TEST(a_device_that_fails_to_open_says_how);
	TEST(nothing_to_be_seen_is_no_device);
	TEST(a_device_without_the_uverbs_module_has_no_node);
	TEST(the_node_of_a_device_is_found_by_its_name);
	TEST(providers_are_the_libraries_below_that_of_libibverbs);
	TEST(the_connection_manager_may_not_be_loaded_or_have_no_node);
	TEST(what_keeps_the_connection_manager_shut_has_a_remedy);
	TEST(of_what_is_missing_the_first_that_can_be_repaired_is_reported);
	TEST(each_of_what_is_missing_has_its_reason);
	TEST(of_many_that_are_missing_the_first_are_listed);
	TEST(a_list_of_none_is_no_error_and_has_a_reason);
	tree_remove(root, "");
	return tap_done();
}
