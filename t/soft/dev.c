/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pier/error.h>

#include "fabric/soft/io/fdev.h"
#include "fabric/soft/soft.h"
#include "t/lib/limit.h"
#include "t/lib/loop.h"
#include "t/lib/netns.h"
#include "t/lib/tap.h"

/*
 * The soft device's list of devices, events, memory regions and helper
 * thread, in a network namespace of its own where it may have one.
 */
#define PAGESIZE 65536		/* a multiple of any page size */
#define LAZY (UINT64_C(10) << 30)
#define LAZY_SEEN (64 << 20)

static bool own_net;		/* or that of everybody */

static bool needs_own_net(void)
{
	if (!own_net)
		tap_skip("no network namespace of its own");
	return own_net;
}

static bool set_up(const char *name, bool up)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = { 0 };
	bool done;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	done = !ioctl(sock, SIOCGIFFLAGS, &req);
	if (up)
		req.ifr_flags |= IFF_UP;
	else
		req.ifr_flags &= ~IFF_UP;
	done = done && !ioctl(sock, SIOCSIFFLAGS, &req);
	close(sock);
	return OK(done);
}

static struct pier__ports ports;

static void list(void)
{
	free(ports.port);
	memset(&ports, 0, sizeof(ports));
	IS(pier__soft.dev->list(&ports), 0);
}

static const struct pier__port *find(const char *name)
{
	size_t i;

	for (i = 0; i < ports.count; i++) {
		if (!strcmp(ports.port[i].name, name))
			return &ports.port[i];
	}
	return NULL;
}

static bool is_gid(const struct pier__port *port, uint32_t i, const char *text)
{
	char got[INET6_ADDRSTRLEN] = "none";

	if (i < port->gid_count)
		inet_ntop(AF_INET6, port->gids[i].raw, got, sizeof(got));
	return IS_STR(got, text) && IS(port->gids[i].index, i) &&
	       IS(port->gids[i].type, PIER_GID_ROCE_V2);
}

static void an_interface_without_address_is_no_device(void)
{
	if (!needs_own_net())
		return;
	list();
	IS(ports.count, 0);
}

static void lo_is_a_device(void)
{
	const struct pier__port *port;

	if (!needs_own_net() || !set_up("lo", true))
		return;
	list();
	port = find("soft_lo");
	if (!OK(port))
		return;
	IS_STR(port->netdev, "lo");
	IS(port->active, true);
	IS(port->port, 1);
	IS(port->mtu, IBV_MTU_4096);
	IS(port->link_layer, IBV_LINK_LAYER_ETHERNET);
	OK(port->guid);
	IS(strlen(port->pci), strlen("0000:00:00.0"));
	is_gid(port, 0, "::ffff:127.0.0.1");
	IS(port->gid_prefix[0], 8);
}

/* The kernel reports a carrier a little after the link is up. */
static bool comes_up(const char *name)
{
	long long limit = limit_from_now();

	do {
		const struct pier__port *port;

		list();
		port = find(name);
		if (port && port->active)
			return true;
	} while (limit_nap(limit));
	return false;
}

static void the_default_route_is_the_default_device(void)
{
	const struct pier__port *one, *two;
	char pci[16];

	if (!needs_own_net() ||
	    !netns_ip("link add pt0 type veth peer name pt1") ||
	    !netns_ip("addr add 10.9.0.1/24 dev pt0") ||
	    !netns_ip("addr add fd09::1/64 dev pt0 nodad") ||
	    !netns_ip("addr add 10.9.0.2/16 dev pt1"))
		return;
	set_up("pt0", true);
	list();
	IS_STR(ports.port[0].name, "soft_lo");
	one = find("soft_pt0");
	two = find("soft_pt1");
	if (!OK(one && two))
		return;
	IS(two->active, false);
	set_up("pt1", true);
	if (!netns_ip("route add default via 10.9.0.2 dev pt0"))
		return;
	memcpy(pci, one->pci, sizeof(pci));
	if (!OK(comes_up("soft_pt0")) || !OK(comes_up("soft_pt1")))
		return;
	one = &ports.port[0];
	two = find("soft_pt1");
	IS_STR(one->name, "soft_pt0");
	IS_STR(one->pci, pci);
	OK(strcmp(one->pci, two->pci) && one->guid != two->guid);
	IS(one->mtu, IBV_MTU_1024);
	is_gid(one, 0, "::ffff:10.9.0.1");
	is_gid(one, 1, "fd09::1");
	IS(one->gid_prefix[0], 24);
	IS(one->gid_prefix[1], 64);
	IS(two->gid_prefix[0], 16);
	OK(two->active);
}

static void link_local_addresses_come_last(void)
{
	const struct pier__port *port;

	if (!needs_own_net())
		return;
	port = find("soft_pt0");
	if (!port)
		tap_skip("no interface to try it on");
	if (!port || !netns_ip("addr add fe80::77/64 dev pt0 nodad") ||
	    !netns_ip("addr add 10.9.1.1/24 dev pt0"))
		return;
	list();
	port = find("soft_pt0");
	OK(port->gid_count >= 4);
	is_gid(port, 1, "::ffff:10.9.1.1");
	is_gid(port, 2, "fd09::1");
	IS(port->gids[port->gid_count - 1].raw[0], 0xfe);
	netns_ip("link del pt0");
}

static struct in6_addr ip6_of(const char *text)
{
	struct in6_addr ret = { 0 };

	IS(inet_pton(AF_INET6, text, &ret), 1);
	return ret;
}

/* By the device of pt3, to a host to which the kernel takes pt2. */
static void is_routed(struct pier__fdev *fdev, const char *host,
		      const char *want)
{
	struct in6_addr dst = ip6_of(host), found = { 0 };
	char got[INET6_ADDRSTRLEN] = "";

	if (want && IS(pier__soft_route(fdev, &in6addr_any, &dst, &found), 0)) {
		inet_ntop(AF_INET6, &found, got, sizeof(got));
		IS_STR(got, want);
	}
	if (!want)
		IS(pier__soft_route(fdev, &in6addr_any, &dst, &found),
		   -EHOSTUNREACH);
}

static void a_device_has_its_own_address_in_a_subnet_of_two(void)
{
	struct pier__fdev *fdev;

	if (!needs_own_net() ||
	    !netns_ip("link add pt2 type veth peer name pt3") ||
	    !netns_ip("addr add 10.9.2.1/24 dev pt2") ||
	    !netns_ip("addr add fd09:2::1/64 dev pt2 nodad") ||
	    !netns_ip("addr add 10.9.2.2/25 dev pt3") ||
	    !netns_ip("addr add fd09:2::2/64 dev pt3 nodad") ||
	    !set_up("pt2", true) || !set_up("pt3", true) ||
	    !netns_ip("route replace 10.9.2.0/25 dev pt2 src 10.9.2.1"))
		return;
	list();
	if (!IS(pier__soft.dev->open(find("soft_pt3"), &fdev), 0))
		return;
	is_routed(fdev, "::ffff:10.9.2.9", "::ffff:10.9.2.2");
	is_routed(fdev, "::ffff:10.9.2.200", NULL);	/* pt2 alone has it */
	is_routed(fdev, "fd09:2::9", "fd09:2::2");
	pier__soft.dev->close(fdev);
	netns_ip("link del pt2");
}

/* The next event of @fdev, which is announced by its fd. */
static int next_event(struct pier__fdev *fdev)
{
	struct pollfd pfd = { .fd = fdev->event_fd, .events = POLLIN };
	int event, err;

	do {
		err = pier__soft.dev->event(fdev, &event);
	} while (err == -EAGAIN && poll(&pfd, 1, 10000) == 1);
	return IS(err, 0) ? event : -1;
}

static void drain_events(struct pier__fdev *fdev)
{
	int event;

	while (!pier__soft.dev->event(fdev, &event))
		;
}

static void a_change_of_the_interface_is_an_event(void)
{
	struct pier__fdev *fdev;
	int event;

	if (!needs_own_net())
		return;
	list();
	if (!IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0))
		return;
	IS(pier__soft.dev->event(fdev, &event), -EAGAIN);
	set_up("lo", false);
	IS(next_event(fdev), IBV_EVENT_PORT_ERR);
	drain_events(fdev);
	IS(pier__soft.dev->query(fdev), 0);
	IS(fdev->port.active, false);
	set_up("lo", true);
	IS(next_event(fdev), IBV_EVENT_PORT_ACTIVE);
	drain_events(fdev);
	if (netns_ip("addr add 10.8.0.1/32 dev lo")) {
		IS(next_event(fdev), IBV_EVENT_GID_CHANGE);
		IS(fdev->port.gid_count, 1);
		IS(pier__soft.dev->query(fdev), 0);
		is_gid(&fdev->port, 1, "::ffff:10.8.0.1");
		netns_ip("addr del 10.8.0.1/32 dev lo");
	}
	pier__soft.dev->close(fdev);
}

/* The index of the address @text of @fdev, which the kernel has got. */
static int index_of(struct pier__fdev *fdev, const char *text)
{
	struct in6_addr ip = ip6_of(text);
	long long limit = limit_from_now();
	int index;

	do {
		IS(pier__soft.dev->query(fdev), 0);
		index = pier__soft_gid_index(fdev, &ip);
	} while (index < 0 && limit_nap(limit));
	return index;
}

static void is_address(struct pier__fdev *fdev, unsigned int index,
		       const char *text)
{
	char got[INET6_ADDRSTRLEN] = "";
	struct soft_addr addr;

	if (!IS(pier__soft_gid(fdev, index, &addr), 0))
		return;
	inet_ntop(AF_INET6, &addr.ip, got, sizeof(got));
	IS_STR(got, text);
}

/* A device that is opened later has the indices of the list. */
static void check_opened_later(const struct pier__port *port)
{
	struct pier__fdev *fdev;

	if (!IS(pier__soft.dev->open(port, &fdev), 0))
		return;
	is_address(fdev, 1, "fd09:4::1");
	is_address(fdev, 2, "::ffff:10.9.4.2");
	pier__soft.dev->close(fdev);
}

/* A list that is made later has the indices of @fdev. */
static void is_listed(const struct pier__fdev *fdev)
{
	const struct pier__port *port;

	list();
	port = find(fdev->port.name);
	if (OK(port) && IS(port->gid_count, fdev->port.gid_count))
		IS(memcmp(port->gids, fdev->port.gids, sizeof(port->gids)), 0);
}

/* Addresses of IPv4 come first in the list. */
static void a_gid_has_its_index_until_its_address_is_removed(void)
{
	struct soft_addr addr;
	struct pier__fdev *fdev;

	if (!needs_own_net() ||
	    !netns_ip("link add pt4 type veth peer name pt5") ||
	    !netns_ip("link set pt4 addrgenmode none") ||
	    !set_up("pt4", true) || !set_up("pt5", true) ||
	    !netns_ip("addr add 10.9.4.1/32 dev pt4"))
		return;
	list();
	if (!IS(pier__soft.dev->open(find("soft_pt4"), &fdev), 0))
		goto out_remove;
	netns_ip("addr add fd09:4::1/64 dev pt4 nodad");
	IS(index_of(fdev, "fd09:4::1"), 1);
	netns_ip("addr add 10.9.4.2/32 dev pt4");
	IS(index_of(fdev, "::ffff:10.9.4.2"), 2);
	is_address(fdev, 1, "fd09:4::1");
	IS(memcmp(fdev->port.gids[1].raw + 12, "\x0a\x09\x04\x02", 4), 0);
	check_opened_later(&fdev->port);
	netns_ip("addr del fd09:4::1/64 dev pt4");
	IS(pier__soft.dev->query(fdev), 0);
	IS(pier__soft_gid(fdev, 1, &addr), -EINVAL);
	is_address(fdev, 2, "::ffff:10.9.4.2");
	netns_ip("addr add 10.9.4.3/32 dev pt4");
	IS(index_of(fdev, "::ffff:10.9.4.3"), 1);
	is_listed(fdev);
	is_address(fdev, 0, "::ffff:10.9.4.1");
	is_address(fdev, 2, "::ffff:10.9.4.2");
	netns_ip("addr flush dev pt4");
	IS(pier__soft.dev->query(fdev), 0);
	netns_ip("addr add 10.9.4.2/32 dev pt4");
	IS(index_of(fdev, "::ffff:10.9.4.2"), 0);
	pier__soft.dev->close(fdev);
out_remove:
	netns_ip("link del pt4");
}

static void a_range_that_cannot_be_is_refused(void)
{
	static uint8_t byte;
	struct pier__mr *mr = NULL;
	struct pier__fdev *fdev;
	void *end = (void *)(UINTPTR_MAX - 10);

	list();
	if (!IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0))
		return;
	IS(pier__soft.dev->reg(fdev, NULL, 1, 0, &mr), -EINVAL);
	LIKE(pier_last_error(), "NULL");
	IS(pier__soft.dev->reg(fdev, &byte, 0, 0, &mr), -EINVAL);
	LIKE(pier_last_error(), "0 bytes");
	IS(pier__soft.dev->reg(fdev, end, 11, 0, &mr), -EINVAL);
	IS(pier__soft.dev->reg(fdev, &byte, SIZE_MAX, 0, &mr), -EINVAL);
	IS(pier__soft.dev->reg(fdev, &byte, 1, IBV_ACCESS_REMOTE_WRITE, &mr),
	   -EINVAL);
	OK(!mr);
	IS(pier__soft.dev->reg(fdev, &byte, 1, 0, &mr), 0);
	pier__soft.dev->dereg(mr);
	pier__soft.dev->close(fdev);
}

static void what_cannot_be_accessed_is_named(void)
{
	struct pier__mr *mr = NULL;
	struct pier__fdev *fdev;
	char part[64];
	char *at = mmap(NULL, 2 * PAGESIZE, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	list();
	if (!OK(at != MAP_FAILED) ||
	    !IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0))
		return;
	IS(pier__soft.dev->reg(fdev, at, PAGESIZE, IBV_ACCESS_LOCAL_WRITE, &mr),
	   -EFAULT);
	snprintf(part, sizeof(part), "65536 bytes at %p for writing: ", at);
	LIKE(pier_last_error(), part);
	snprintf(part, sizeof(part), "what is at %p may not be written", at);
	LIKE(pier_last_error(), part);
	OK(!mprotect(at + PAGESIZE, PAGESIZE, PROT_NONE));
	IS(pier__soft.dev->reg(fdev, at, 2 * PAGESIZE, 0, &mr), -EFAULT);
	snprintf(part, sizeof(part), "%p may not be read", at + PAGESIZE);
	LIKE(pier_last_error(), part);
	OK(!munmap(at + PAGESIZE, PAGESIZE));
	IS(pier__soft.dev->reg(fdev, at, 2 * PAGESIZE, 0, &mr), -EFAULT);
	snprintf(part, sizeof(part), "%p is not mapped", at + PAGESIZE);
	LIKE(pier_last_error(), part);
	OK(!mr);
	munmap(at, PAGESIZE);
	pier__soft.dev->close(fdev);
}

/* As much of it as there is room for, and no page of it comes to be. */
static void memory_that_was_never_touched_stays_so(void)
{
	static unsigned char there[LAZY_SEEN / 4096];
	struct pier__mr *mr;
	struct pier__fdev *fdev;
	unsigned int i, count = 0;
	char *at = mmap(NULL, LAZY, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		tap_skip("no such range of addresses");
		return;
	}
	list();
	if (IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0) &&
	    IS(pier__soft.dev->reg(fdev, at, LAZY, IBV_ACCESS_LOCAL_WRITE,
				   &mr), 0)) {
		IS(mincore(at, LAZY_SEEN, there), 0);
		for (i = 0; i < sizeof(there); i++)
			count += there[i];
		IS(count, 0);
		pier__soft.dev->dereg(mr);
		pier__soft.dev->close(fdev);
	}
	munmap(at, LAZY);
}

/* How many threads are called "pier-soft", and what the last one blocks. */
static int helpers(unsigned long long *ret_blocked)
{
	char path[512], line[128], name[64];
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 entry->d_name);
		file = fopen(path, "r");
		name[0] = '\0';
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "Name: %63s", name) == 1)
				n += !strcmp(name, "pier-soft");
			if (!strcmp(name, "pier-soft"))
				sscanf(line, "SigBlk: %llx", ret_blocked);
		}
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void one_helper_lives_as_long_as_there_are_channels(void)
{
	unsigned long long blocked = 0;
	struct pier__chan *one, *two;
	struct pier__fdev *fdev;

	list();
	if (!IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0))
		return;
	IS(helpers(&blocked), 0);
	IS(pier__soft.qp->chan_create(fdev, 0, &one), 0);
	IS(pier__soft.qp->chan_create(fdev, 0, &two), 0);
	OK(one->udp_port && one->udp_port != two->udp_port);
	while (!helpers(&blocked))	/* it names itself */
		sched_yield();
	IS(helpers(&blocked), 1);
	OK(blocked & 1ull << (SIGINT - 1) && blocked & 1ull << (SIGTERM - 1));
	pier__soft.qp->chan_destroy(one);
	IS(helpers(&blocked), 1);
	pier__soft.qp->chan_destroy(two);
	IS(helpers(&blocked), 0);
	pier__soft.dev->close(fdev);
}

/* The real-time priority of the one helper; 0: it has none. */
static unsigned long helper_priority(void)
{
	char path[512], line[512], *at;
	DIR *dir = opendir("/proc/self/task");
	unsigned long priority = 0;
	struct dirent *entry;
	FILE *file;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat",
			 entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(line, sizeof(line), file) &&
		    strstr(line, "(pier-soft) ")) {
			/* number 40 of its words; the name is number 2 */
			at = strstr(line, ") ");
			for (int i = 2; at && i < 40; i++)
				at = strchr(at + 1, ' ');
			priority = at ? strtoul(at, NULL, 10) : 0;
		}
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return priority;
}

static void the_helper_of_a_realtime_program_goes_before_it(void)
{
	struct sched_param usual = { 0 }, fifo = { .sched_priority = 1 };
	unsigned long long blocked;
	struct pier__fdev *fdev;
	struct pier__chan *chan;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo)) {
		tap_skip("no right to run in real time");
		return;
	}
	list();
	if (IS(pier__soft.dev->open(find("soft_lo"), &fdev), 0)) {
		IS(pier__soft.qp->chan_create(fdev, 0, &chan), 0);
		while (!helpers(&blocked))
			sched_yield();
		IS(helper_priority(), 2);
		pier__soft.qp->chan_destroy(chan);
		pier__soft.dev->close(fdev);
	}
	sched_setscheduler(0, SCHED_OTHER, &usual);
}

int main(void)
{
	own_net = netns_enter();
	TEST(an_interface_without_address_is_no_device);
	TEST(lo_is_a_device);
	TEST(the_default_route_is_the_default_device);
	TEST(link_local_addresses_come_last);
	TEST(a_device_has_its_own_address_in_a_subnet_of_two);
	TEST(a_change_of_the_interface_is_an_event);
	TEST(a_gid_has_its_index_until_its_address_is_removed);
	TEST(a_range_that_cannot_be_is_refused);
	TEST(what_cannot_be_accessed_is_named);
	TEST(memory_that_was_never_touched_stays_so);
	TEST(one_helper_lives_as_long_as_there_are_channels);
	TEST(the_helper_of_a_realtime_program_goes_before_it);
	free(ports.port);
	return tap_done();
}
