/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/fail.h"
#include "fabric/pci.h"
#include "fabric/soft/io/netif.h"

/* IP, UDP, BTH, the longest extended headers, ICRC, and a little room. */
#define OVERHEAD 96

#define GIDS (sizeof(((struct soft_netif *)0)->gids) / sizeof(struct pier_gid))

/* A growing list. */
struct netifs {
	struct soft_netif *item;
	size_t count;
};

/* FNV-1a, continued from @hash. */
static uint64_t hash_more(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_name(const char *name)
{
	return hash_more(UINT64_C(0xcbf29ce484222325), name);
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

/* An EUI-64: of the Ethernet address, else from the machine and the name. */
static uint64_t guid_of(const struct soft_netif *netif, const struct ifreq *req)
{
	const uint8_t *mac = (const uint8_t *)req->ifr_hwaddr.sa_data;
	uint8_t eui[8] = { 0, 0, 0, 0xff, 0xfe, 0, 0, 0 };
	char id[64];
	uint64_t guid = 0;
	int i;

	memcpy(eui, mac, 3);
	memcpy(eui + 5, mac + 3, 3);
	eui[0] ^= 2;		/* the bit means "universal" in an EUI-64 */
	for (i = 0; i < 8; i++)
		guid = guid << 8 | eui[i];
	if (req->ifr_hwaddr.sa_family == ARPHRD_ETHER &&
	    memcmp(mac, "\0\0\0\0\0", 6))
		return guid;

	machine_id(id, sizeof(id));
	guid = hash_more(hash_name(id), netif->name);
	return guid & ~(UINT64_C(3) << 56);	/* made here, for one */
}

/* What the kernel tells by ioctl; an interface that went away has nothing. */
static void fill(int sock, struct soft_netif *netif)
{
	struct ifreq req = { 0 };

	memcpy(req.ifr_name, netif->name, sizeof(req.ifr_name));
	if (!ioctl(sock, SIOCGIFINDEX, &req))
		netif->index = (unsigned int)req.ifr_ifindex;
	if (!ioctl(sock, SIOCGIFMTU, &req))
		netif->mtu = (unsigned int)req.ifr_mtu;
	memset(&req.ifr_ifru, 0, sizeof(req.ifr_ifru));
	if (ioctl(sock, SIOCGIFHWADDR, &req))
		req.ifr_hwaddr.sa_family = ARPHRD_VOID;
	netif->guid = guid_of(netif, &req);
	pier__pci_of_netdev("", netif->name, netif->pci);
}

/* The one called @name, added if new; NULL: no memory. */
static struct soft_netif *find(struct netifs *all, const char *name)
{
	size_t len = strcspn(name, ":");	/* "eth0:1" is eth0 */
	struct soft_netif *grown;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (strlen(all->item[i].name) == len &&
		    !memcmp(all->item[i].name, name, len))
			return &all->item[i];
	}
	grown = realloc(all->item, (all->count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	all->item = grown;
	memset(&grown[i], 0, sizeof(*grown));
	memcpy(grown[i].name, name, len < IFNAMSIZ ? len : IFNAMSIZ - 1);
	all->count++;
	return &grown[i];
}

static uint8_t prefix_of(const uint8_t *mask, size_t len)
{
	uint8_t bits = 0;
	size_t i;

	for (i = 0; mask && i < len; i++)
		bits += (uint8_t)__builtin_popcount(mask[i]);
	return bits;
}

/* Address and prefix in the form of a GID. */
static void gid_of(const struct ifaddrs *ifa, struct pier_gid *gid,
		   uint8_t *prefix)
{
	const struct sockaddr_in6 *mask6 = (const void *)ifa->ifa_netmask;
	const struct sockaddr_in *mask4 = (const void *)ifa->ifa_netmask;
	const struct sockaddr_in6 *a6 = (const void *)ifa->ifa_addr;
	const struct sockaddr_in *a4 = (const void *)ifa->ifa_addr;

	memset(gid, 0, sizeof(*gid));
	gid->type = PIER_GID_ROCE_V2;
	if (ifa->ifa_addr->sa_family == AF_INET6) {
		memcpy(gid->raw, &a6->sin6_addr, 16);
		*prefix = prefix_of(mask6 ? mask6->sin6_addr.s6_addr : NULL,
				    16);
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &a4->sin_addr, 4);
	*prefix = prefix_of(mask4 ? (const void *)&mask4->sin_addr : NULL, 4);
}

/* What the kernel says of an IPv6 address, which getifaddrs(3) does not. */
struct v6_flags {
	struct in6_addr ip;
	unsigned int flags;	/* IFA_F_* */
	char name[IFNAMSIZ];
};

struct v6_list {
	struct v6_flags *item;	/* owned */
	size_t count;
};

/* Without IPv6 there are none. */
static int v6_read(struct v6_list *all)
{
	FILE *file = fopen("/proc/thread-self/net/if_inet6", "re");
	struct v6_flags *grown, one;
	char hex[33], line[128];
	int err = 0, i;

	while (file && !err && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%32s %*x %*x %*x %x %15s", hex, &one.flags,
			   one.name) != 3)
			continue;
		for (i = 0; i < 16; i++)
			sscanf(hex + 2 * i, "%2hhx", &one.ip.s6_addr[i]);
		grown = realloc(all->item, (all->count + 1) * sizeof(one));
		if (grown) {
			all->item = grown;
			all->item[all->count++] = one;
		} else {
			err = pier__fail(-ENOMEM, "no memory for %zu IPv6 "
					 "addresses", all->count + 1);
		}
	}
	if (file)
		fclose(file);
	return err;
}

/* How good an address is to be reached at: the order in which they stand. */
enum rank { STAYS, PASSES, LINK_LOCAL, USELESS };

static enum rank rank_of(const struct ifaddrs *ifa,
			 const struct v6_list *v6)
{
	const struct sockaddr_in6 *a6 = (const void *)ifa->ifa_addr;
	unsigned int flags = 0;
	size_t i;

	if (!ifa->ifa_addr || (ifa->ifa_addr->sa_family != AF_INET &&
			       ifa->ifa_addr->sa_family != AF_INET6))
		return USELESS;
	if (ifa->ifa_addr->sa_family == AF_INET)
		return STAYS;
	for (i = 0; i < v6->count; i++)
		if (IN6_ARE_ADDR_EQUAL(&v6->item[i].ip, &a6->sin6_addr) &&
		    !strcmp(v6->item[i].name, ifa->ifa_name))
			flags = v6->item[i].flags;
	/* Nobody can send from it before it is known to be nobody else's. */
	if (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED) &&
	    !(flags & IFA_F_OPTIMISTIC))
		return USELESS;
	if (IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr))
		return LINK_LOCAL;
	return flags & (IFA_F_TEMPORARY | IFA_F_DEPRECATED) ? PASSES : STAYS;
}

/* Add the addresses of @rank. */
static int add_addresses(struct netifs *all, const struct ifaddrs *ifa,
			 const struct v6_list *v6, enum rank rank)
{
	for (; ifa; ifa = ifa->ifa_next) {
		struct soft_netif *netif;
		uint32_t i;

		if (rank_of(ifa, v6) != rank)
			continue;
		netif = find(all, ifa->ifa_name);
		if (!netif)
			return pier__fail(-ENOMEM, "no memory for %zu network "
					  "interfaces", all->count + 1);
		netif->active = (ifa->ifa_flags & IFF_UP) &&
				(ifa->ifa_flags & IFF_RUNNING);
		i = netif->gid_count;
		if (i == GIDS)
			continue;
		gid_of(ifa, &netif->gids[i], &netif->gid_prefix[i]);
		netif->gids[i].index = i;
		netif->gid_passing |= (uint32_t)(rank == PASSES) << i;
		netif->gid_count++;
	}
	return 0;
}

/* Of the lines of /proc/net/route: the default one of the lowest metric. */
static void default_ipv4(char *ret)
{
	FILE *file = fopen("/proc/thread-self/net/route", "re");
	unsigned int dst, gw, flags, metric, mask, best = UINT_MAX;
	char line[256], name[IFNAMSIZ];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%15s %x %x %x %*d %*d %u %x", name, &dst,
			   &gw, &flags, &metric, &mask) == 6 &&
		    !dst && !mask && flags & 1 && metric < best) {
			best = metric;
			memcpy(ret, name, sizeof(name));
		}
	}
	if (file)
		fclose(file);
}

static void default_ipv6(char *ret)
{
	FILE *file = fopen("/proc/thread-self/net/ipv6_route", "re");
	unsigned int prefix, metric, flags, best = UINT_MAX;
	char line[256], dst[33], name[IFNAMSIZ];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%32s %x %*s %*x %*s %x %*x %*x %x %15s",
			   dst, &prefix, &metric, &flags, name) == 5 &&
		    !prefix && strspn(dst, "0") == 32 && flags & 1 &&
		    strcmp(name, "lo") && metric < best) {
			best = metric;
			memcpy(ret, name, sizeof(name));
		}
	}
	if (file)
		fclose(file);
}

static int by_index(const void *a, const void *b)
{
	const struct soft_netif *left = a, *right = b;

	return left->index < right->index ? -1 : left->index > right->index;
}

/* Returns false if there is none called @name. */
static bool move_first(struct netifs *all, const char *name)
{
	struct soft_netif netif;
	size_t i = 0;

	while (i < all->count && strcmp(all->item[i].name, name))
		i++;
	if (i == all->count)
		return false;
	netif = all->item[i];
	memmove(all->item + 1, all->item, i * sizeof(netif));
	all->item[0] = netif;
	return true;
}

/* By index, but the default one first. */
static void sort(struct netifs *all)
{
	char first[IFNAMSIZ] = "";

	if (!all->count)
		return;
	qsort(all->item, all->count, sizeof(*all->item), by_index);
	default_ipv4(first);
	if (!first[0])
		default_ipv6(first);
	if (!move_first(all, first))
		move_first(all, "lo");
}

int pier__soft_netif_list(struct soft_netif **ret, size_t *ret_count)
{
	struct netifs all = { 0 };
	struct v6_list v6 = { 0 };
	struct ifaddrs *ifa;
	enum rank rank;
	int err, sock;
	size_t i;

	if (getifaddrs(&ifa))
		return pier__fail(-errno, "cannot list network interfaces: %s",
				  pier_strerror(errno));
	err = v6_read(&v6);
	for (rank = STAYS; !err && rank < USELESS; rank++)
		err = add_addresses(&all, ifa, &v6, rank);
	free(v6.item);
	freeifaddrs(ifa);
	if (err)
		goto err_free;
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		sock = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0) {
		err = pier__fail(-errno, "cannot open a socket: %s",
				 pier_strerror(errno));
		goto err_free;
	}
	for (i = 0; i < all.count; i++)
		fill(sock, &all.item[i]);
	close(sock);

	sort(&all);
	*ret = all.item;
	*ret_count = all.count;
	return 0;

err_free:
	free(all.item);
	return err;
}

int pier__soft_netif_watch(int *ret)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR |
			     RTMGRP_IPV6_IFADDR,
	};
	int err, fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    NETLINK_ROUTE);
	if (fd < 0)
		return pier__fail(-errno, "cannot watch network interfaces: "
				  "socket: %s", pier_strerror(errno));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		err = pier__fail(-errno, "cannot watch network interfaces: "
				 "bind: %s", pier_strerror(errno));
		close(fd);
		return err;
	}
	*ret = fd;
	return 0;
}

/* Does one of the messages speak of @index? */
static bool mentions(const struct nlmsghdr *msg, size_t len,
		     unsigned int index)
{
	const struct ifinfomsg *link;
	const struct ifaddrmsg *addr;

	for (; NLMSG_OK(msg, len); msg = NLMSG_NEXT(msg, len)) {
		link = NLMSG_DATA(msg);
		addr = NLMSG_DATA(msg);
		if ((msg->nlmsg_type == RTM_NEWLINK ||
		     msg->nlmsg_type == RTM_DELLINK) &&
		    msg->nlmsg_len >= NLMSG_LENGTH(sizeof(*link)) &&
		    link->ifi_index == (int)index)
			return true;
		if ((msg->nlmsg_type == RTM_NEWADDR ||
		     msg->nlmsg_type == RTM_DELADDR) &&
		    msg->nlmsg_len >= NLMSG_LENGTH(sizeof(*addr)) &&
		    addr->ifa_index == index)
			return true;
	}
	return false;
}

bool pier__soft_netif_changed(int fd, unsigned int index)
{
	union {
		struct nlmsghdr msg;
		char bytes[8192];
	} buf;
	bool changed = false;
	ssize_t len;

	for (;;) {
		len = recv(fd, &buf, sizeof(buf), 0);
		if (len > 0)
			changed |= mentions(&buf.msg, (size_t)len, index);
		else if (len < 0 && errno == ENOBUFS)
			changed = true;		/* some were lost */
		else if (len == 0 || errno != EINTR)
			return changed;
	}
}
