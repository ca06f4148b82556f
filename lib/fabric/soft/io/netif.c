/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/fail.h"
#include "fabric/pci.h"
#include "fabric/soft/io/netif.h"

/* IP, UDP, BTH, the longest extended headers, ICRC, and a reserve. */
#define OVERHEAD 96

#define DUMP_SIZE 32768		/* bytes: the kernel sends no more at once */
#define LO_IFINDEX 1		/* in every network namespace */
#define DUMPS_MAX 16		/* of tables that change while they are read */

#define GIDS (sizeof(((struct soft_netif *)0)->gids) / sizeof(struct pier_gid))

/* FNV-1a, continued from @hash. */
static uint64_t fnv1a(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

enum ibv_mtu pier__soft_netif_path_mtu(unsigned int mtu)
{
	enum ibv_mtu code = IBV_MTU_4096;

	while (code > IBV_MTU_256 && (128u << code) + OVERHEAD > mtu)
		code--;
	return code;
}

static void machine_id(char *ret, int size)
{
	FILE *file = fopen("/etc/machine-id", "re");

	if (!file || !fgets(ret, size, file))
		ret[0] = '\0';
	if (file)
		fclose(file);
}

/* An EUI-64: of the Ethernet address @mac, else of the machine and @name. */
static uint64_t guid_of(const uint8_t *mac, const char *name)
{
	uint8_t eui[8] = { 0, 0, 0, 0xff, 0xfe, 0, 0, 0 };
	char id[64];
	uint64_t guid = 0;
	int i;

	if (!mac || !memcmp(mac, "\0\0\0\0\0", 6)) {
		machine_id(id, sizeof(id));
		guid = fnv1a(fnv1a(UINT64_C(0xcbf29ce484222325), id), name);
		return guid & ~(UINT64_C(3) << 56);	/* not universal */
	}
	memcpy(eui, mac, 3);
	memcpy(eui + 5, mac + 3, 3);
	eui[0] ^= 2;		/* the bit means "universal" in an EUI-64 */
	for (i = 0; i < 8; i++)
		guid = guid << 8 | eui[i];
	return guid;
}

/* The attributes of @msg after a header of @size bytes; @ret has @max + 1. */
static void attributes(const struct nlmsghdr *msg, unsigned int size,
		       const struct nlattr **ret, uint16_t max)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, size)
		if (mnl_attr_get_type(attr) <= max)
			ret[mnl_attr_get_type(attr)] = attr;
}

/* Preference among the addresses of an interface: the order of its GIDs. */
enum rank { PERMANENT, PASSING, LINK_LOCAL, UNUSABLE };

struct address {
	unsigned int ifindex;
	enum rank rank;
	uint8_t prefix;
	struct pier_gid gid;
};

/* What the kernel reports. */
struct tables {
	struct soft_netif *netif;	/* by index */
	size_t netifs;
	struct address *address;
	size_t addresses;
	unsigned int default_ifindex;	/* of the default route; 0: none */
	uint64_t default_metric;	/* IPv6 after IPv4 */
};

static int add_link(const struct nlmsghdr *msg, void *arg)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(msg);
	const struct nlattr *attr[IFLA_MTU + 1] = { NULL };
	const unsigned int up = IFF_UP | IFF_RUNNING;
	struct tables *all = arg;
	struct soft_netif *netif;
	const uint8_t *mac = NULL;
	unsigned int index = (unsigned int)link->ifi_index;
	size_t i;

	attributes(msg, sizeof(*link), attr, IFLA_MTU);
	if (!attr[IFLA_IFNAME] || !attr[IFLA_MTU])
		return MNL_CB_OK;
	netif = realloc(all->netif, (all->netifs + 1) * sizeof(*netif));
	if (!netif)
		return MNL_CB_ERROR;
	all->netif = netif;
	for (i = all->netifs++; i && netif[i - 1].index > index; i--)
		netif[i] = netif[i - 1];
	netif += i;
	memset(netif, 0, sizeof(*netif));
	snprintf(netif->name, sizeof(netif->name), "%s",
		 mnl_attr_get_str(attr[IFLA_IFNAME]));
	netif->index = index;
	netif->active = (link->ifi_flags & up) == up;
	netif->mtu = mnl_attr_get_u32(attr[IFLA_MTU]);
	if (link->ifi_type == ARPHRD_ETHER && attr[IFLA_ADDRESS] &&
	    mnl_attr_get_payload_len(attr[IFLA_ADDRESS]) == 6)
		mac = mnl_attr_get_payload(attr[IFLA_ADDRESS]);
	netif->guid = guid_of(mac, netif->name);
	pier__pci_of_netdev("", netif->name, netif->pci);
	return MNL_CB_OK;
}

static enum rank rank_of(const struct pier_gid *gid, unsigned int flags)
{
	/* An address that may be in use elsewhere cannot be sent from. */
	if (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED) &&
	    !(flags & IFA_F_OPTIMISTIC))
		return UNUSABLE;
	if (IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)gid->raw))
		return LINK_LOCAL;
	return flags & (IFA_F_TEMPORARY | IFA_F_DEPRECATED) ? PASSING :
							      PERMANENT;
}

/* In the form of a GID.  Returns false if it is no IP address. */
static bool gid_of(const struct nlattr *attr, int family, struct pier_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	gid->type = PIER_GID_ROCE_V2;
	if (!attr || (family != AF_INET && family != AF_INET6))
		return false;
	if (family == AF_INET6) {
		memcpy(gid->raw, mnl_attr_get_payload(attr), 16);
		return true;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, mnl_attr_get_payload(attr), 4);
	return true;
}

static int add_address(const struct nlmsghdr *msg, void *arg)
{
	const struct ifaddrmsg *addr = mnl_nlmsg_get_payload(msg);
	const struct nlattr *attr[IFA_FLAGS + 1] = { NULL };
	struct address *item, one = {
		.ifindex = addr->ifa_index,
		.prefix = addr->ifa_prefixlen,
		.rank = PERMANENT,
	};
	unsigned int flags = addr->ifa_flags;
	struct tables *all = arg;

	attributes(msg, sizeof(*addr), attr, IFA_FLAGS);
	/* IFA_ADDRESS is the peer's on a link that has one peer. */
	if (!gid_of(attr[IFA_LOCAL] ? attr[IFA_LOCAL] : attr[IFA_ADDRESS],
		    addr->ifa_family, &one.gid))
		return MNL_CB_OK;
	if (attr[IFA_FLAGS])
		flags = mnl_attr_get_u32(attr[IFA_FLAGS]);
	if (addr->ifa_family == AF_INET6)
		one.rank = rank_of(&one.gid, flags);
	item = realloc(all->address, (all->addresses + 1) * sizeof(*item));
	if (!item)
		return MNL_CB_ERROR;
	all->address = item;
	item[all->addresses++] = one;
	return MNL_CB_OK;
}

/* Of several paths the first. */
static unsigned int route_ifindex(const struct nlattr *const *attr)
{
	const struct rtnexthop *hop;

	if (attr[RTA_OIF])
		return mnl_attr_get_u32(attr[RTA_OIF]);
	if (!attr[RTA_MULTIPATH])
		return 0;
	hop = mnl_attr_get_payload(attr[RTA_MULTIPATH]);
	return (unsigned int)hop->rtnh_ifindex;
}

static int add_route(const struct nlmsghdr *msg, void *arg)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(msg);
	const struct nlattr *attr[RTA_MULTIPATH + 1] = { NULL };
	struct tables *all = arg;
	unsigned int ifindex;
	uint64_t metric;

	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST ||
	    route->rtm_table != RT_TABLE_MAIN ||
	    (route->rtm_family != AF_INET && route->rtm_family != AF_INET6))
		return MNL_CB_OK;
	attributes(msg, sizeof(*route), attr, RTA_MULTIPATH);
	ifindex = route_ifindex(attr);
	metric = (uint64_t)(route->rtm_family == AF_INET6) << 32;
	if (attr[RTA_PRIORITY])
		metric |= mnl_attr_get_u32(attr[RTA_PRIORITY]);
	if (ifindex && metric < all->default_metric) {
		all->default_ifindex = ifindex;
		all->default_metric = metric;
	}
	return MNL_CB_OK;
}

/* Give @fn each object of a kind.  Errors: -EINTR, they changed meanwhile. */
static int dump(struct mnl_socket *sock, uint16_t type, mnl_cb_t fn,
		struct tables *all)
{
	char buf[DUMP_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct rtgenmsg *gen;
	ssize_t len;
	int more;

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	msg->nlmsg_seq = type;
	gen = mnl_nlmsg_put_extra_header(msg, sizeof(*gen));
	gen->rtgen_family = AF_UNSPEC;
	if (mnl_socket_sendto(sock, msg, msg->nlmsg_len) < 0)
		return -errno;
	do {
		len = mnl_socket_recvfrom(sock, buf, sizeof(buf));
		if (len < 0)
			return -errno;
		more = mnl_cb_run(buf, (size_t)len, type,
				  mnl_socket_get_portid(sock), fn, all);
	} while (more > 0);
	return more < 0 ? -errno : 0;
}

static struct mnl_socket *open_socket(int flags, unsigned int groups)
{
	struct mnl_socket *sock;
	int err;

	sock = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	if (!sock || !mnl_socket_bind(sock, groups, MNL_SOCKET_AUTOPID))
		return sock;
	err = errno;
	mnl_socket_close(sock);
	errno = err;
	return NULL;
}

static void free_tables(struct tables *all)
{
	free(all->netif);
	free(all->address);
	*all = (struct tables){ .default_metric = UINT64_MAX };
}

static int read_tables(struct tables *all)
{
	struct mnl_socket *sock = open_socket(0, 0);
	int err;

	if (!sock)
		return -errno;
	err = dump(sock, RTM_GETLINK, add_link, all);
	if (!err)
		err = dump(sock, RTM_GETADDR, add_address, all);
	if (!err)
		err = dump(sock, RTM_GETROUTE, add_route, all);
	mnl_socket_close(sock);
	return err;
}

static struct soft_netif *find(const struct tables *all, unsigned int ifindex)
{
	size_t i;

	for (i = 0; i < all->netifs; i++)
		if (all->netif[i].index == ifindex)
			return &all->netif[i];
	return NULL;
}

static void add_gid(struct soft_netif *netif, const struct address *address)
{
	uint32_t i = netif->gid_count;

	if (i == GIDS)
		return;
	netif->gids[i] = address->gid;
	netif->gids[i].index = i;
	netif->gid_prefix[i] = address->prefix;
	netif->gid_passing |= (uint32_t)(address->rank == PASSING) << i;
	netif->gid_count++;
}

/* Each interface gets its addresses, by rank. */
static void add_gids(struct tables *all)
{
	struct soft_netif *netif;
	enum rank rank;
	size_t i;

	for (rank = PERMANENT; rank < UNUSABLE; rank++) {
		for (i = 0; i < all->addresses; i++) {
			netif = find(all, all->address[i].ifindex);
			if (netif && all->address[i].rank == rank)
				add_gid(netif, &all->address[i]);
		}
	}
}

static void drop_without_gids(struct tables *all)
{
	size_t i, left = 0;

	for (i = 0; i < all->netifs; i++)
		if (all->netif[i].gid_count)
			all->netif[left++] = all->netif[i];
	all->netifs = left;
}

static void move_first(struct tables *all)
{
	struct soft_netif *first = find(all, all->default_ifindex), netif;

	if (!first)
		first = find(all, LO_IFINDEX);
	if (!first)
		return;
	netif = *first;
	memmove(all->netif + 1, all->netif,
		(size_t)(first - all->netif) * sizeof(netif));
	all->netif[0] = netif;
}

int pier__soft_netif_list(struct soft_netif **ret, size_t *ret_count)
{
	struct tables all = { .default_metric = UINT64_MAX };
	int err, tries = 0;

	do {
		free_tables(&all);
		err = read_tables(&all);
	} while (err == -EINTR && ++tries < DUMPS_MAX);
	if (err) {
		free_tables(&all);
		return pier__fail(err, "cannot list network interfaces: %s",
				  pier_strerror(err));
	}
	add_gids(&all);
	drop_without_gids(&all);
	move_first(&all);
	free(all.address);

	*ret = all.netif;
	*ret_count = all.netifs;
	return 0;
}

int pier__soft_netif_watch(int *ret)
{
	struct mnl_socket *sock;
	int fd = -1, err = 0;

	sock = open_socket(SOCK_NONBLOCK, RTMGRP_LINK | RTMGRP_IPV4_IFADDR |
			   RTMGRP_IPV6_IFADDR);
	if (sock)
		fd = fcntl(mnl_socket_get_fd(sock), F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		err = pier__fail(-errno, "cannot watch network interfaces: %s",
				 pier_strerror(errno));
	if (sock)
		mnl_socket_close(sock);
	if (!err)
		*ret = fd;
	return err;
}

struct change {
	unsigned int ifindex;
	bool found;
};

static int find_change(const struct nlmsghdr *msg, void *arg)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(msg);
	const struct ifaddrmsg *addr = mnl_nlmsg_get_payload(msg);
	struct change *change = arg;

	switch (msg->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		change->found |= link->ifi_index == (int)change->ifindex;
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		change->found |= addr->ifa_index == change->ifindex;
		break;
	}
	return MNL_CB_OK;
}

bool pier__soft_netif_changed(int fd, unsigned int index)
{
	char buf[DUMP_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct change change = { .ifindex = index };
	ssize_t len;

	for (;;) {
		len = recv(fd, buf, sizeof(buf), 0);
		if (len > 0)
			mnl_cb_run(buf, (size_t)len, 0, 0, find_change,
				   &change);
		else if (len < 0 && errno == ENOBUFS)
			change.found = true;	/* some were lost */
		else if (len == 0 || errno != EINTR)
			return change.found;
	}
}
