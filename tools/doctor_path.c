/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "doctor.h"

/* The way to a host: its address, the route, the interface, the MTU. */

#define DISCARD 9	/* the port of a probe: no program listens there */
#define PROBE_MS 500
#define SAFE_MTU 1500	/* of any Ethernet */

/* As connections choose: of the family of -g, or the first. */
static void take_address(const struct doctor *d, const struct addrinfo *list,
			 union doctor_addr *ret)
{
	const struct addrinfo *one = list;
	union doctor_addr named;

	if (doctor_addr_named(d, &named))
		while (one && one->ai_family != named.sa.sa_family)
			one = one->ai_next;
	one = one ? one : list;
	memcpy(ret, one->ai_addr, one->ai_addrlen);
	doctor_addr_unmap(ret);
}

static bool resolve(struct doctor *d, struct doctor_path *ret)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *list;
	int err = getaddrinfo(ret->host, NULL, &hints, &list);
	json_t *finding;

	if (err) {
		finding = doctor_add(d, "name", DOCTOR_ERROR, "%s: %s",
				     ret->host, err == EAI_SYSTEM ?
				     strerror(errno) : gai_strerror(err));
		doctor_remedy(finding, "getent hosts %s; a name is in "
			      "/etc/hosts, or known to DNS", ret->host);
		return false;
	}
	take_address(d, list, &ret->peer);
	freeaddrinfo(list);
	doctor_addr_text(&ret->peer, ret->peer_text);
	return true;
}

/* May it be the address of one host? */
static bool check_address(struct doctor *d, const struct doctor_path *path)
{
	const char *fault = doctor_addr_fault(&path->peer);
	json_t *finding;

	if (!fault)
		return true;
	finding = doctor_add(d, "address", DOCTOR_ERROR, "%s %s",
			     path->peer_text, fault);
	tool_json_set(finding, "peer", tool_json_text(path->peer_text));
	if (doctor_addr_lacks_netdev(&path->peer))
		doctor_remedy(finding, "%s%%INTERFACE; ip -br link lists the "
			      "interfaces", path->peer_text);
	else
		doctor_remedy(finding, "a unicast address of the host");
	return false;
}

/* Have the same IP address, and interface if it is link-local? */
static bool is_same(const union doctor_addr *a, const struct sockaddr *other)
{
	union doctor_addr b;

	if (!other || other->sa_family != a->sa.sa_family)
		return false;
	memcpy(&b, other, doctor_addr_len(a));
	return a->sa.sa_family == AF_INET ?
		a->in.sin_addr.s_addr == b.in.sin_addr.s_addr :
		a->in6.sin6_scope_id == b.in6.sin6_scope_id &&
		!memcmp(&a->in6.sin6_addr, &b.in6.sin6_addr, 16);
}

static void find_netdev(const union doctor_addr *own, char *ret, size_t size)
{
	struct ifaddrs *list, *one;

	if (getifaddrs(&list))
		return;
	for (one = list; one && !ret[0]; one = one->ifa_next)
		if (is_same(own, one->ifa_addr))
			snprintf(ret, size, "%s", one->ifa_name);
	freeifaddrs(list);
}

/* The kernel's choice of the source address; nothing is sent. */
static int route(struct doctor_path *path)
{
	union doctor_addr peer = path->peer;
	socklen_t len = sizeof(path->own);
	int fd = socket(peer.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	doctor_addr_set_port(&peer, DISCARD);
	if (connect(fd, &peer.sa, doctor_addr_len(&peer)) ||
	    getsockname(fd, &path->own.sa, &len))
		err = -errno;
	close(fd);
	doctor_addr_set_port(&path->own, 0);
	return err;
}

bool doctor_path_find(struct doctor *d, struct doctor_path *ret)
{
	json_t *finding;
	int err;

	if (!resolve(d, ret) || !check_address(d, ret))
		return false;
	err = route(ret);
	if (err) {
		finding = doctor_add(d, "route", DOCTOR_ERROR, "there is no "
				     "route to %s: %s", ret->peer_text,
				     strerror(-err));
		doctor_remedy(finding, "ip route get %s; ip route add",
			      ret->peer_text);
		return false;
	}
	doctor_addr_text(&ret->own, ret->own_text);
	find_netdev(&ret->own, ret->netdev, sizeof(ret->netdev));
	finding = doctor_add(d, "route", DOCTOR_OK, "%s is reached from %s, "
			     "an address of %s", ret->peer_text, ret->own_text,
			     ret->netdev[0] ? ret->netdev : "no interface");
	tool_json_set(finding, "peer", tool_json_text(ret->peer_text));
	tool_json_set(finding, "source", tool_json_text(ret->own_text));
	tool_json_set(finding, "netdev", tool_json_text(ret->netdev));
	return true;
}

/*
 * A port without a socket answers by ICMP whatever reaches it: first a short
 * packet, then one as long as the device's longest.
 */
void doctor_path_probe(struct doctor *d)
{
	struct doctor_path *path = d->path;
	union doctor_addr peer = path->peer;

	path->needed = pier_devinfo_mtu(d->info) + DOCTOR_OVERHEAD;
	doctor_addr_set_port(&peer, DISCARD);
	path->short_error = doctor_probe(&path->own, &peer, 64, PROBE_MS,
					 NULL);
	if (path->short_error == -ECONNREFUSED)
		path->long_error = doctor_probe(&path->own, &peer,
						path->needed, PROBE_MS,
						&path->mtu);
}

/* 0: it is not known. */
static unsigned int mtu_of(const char *netdev)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };
	int err;

	snprintf(request.ifr_name, IFNAMSIZ, "%.*s", IFNAMSIZ - 1, netdev);
	err = ioctl(fd, SIOCGIFMTU, &request);
	if (fd >= 0)
		close(fd);
	return err ? 0 : (unsigned int)request.ifr_mtu;
}

/* @mtu: of the path; 0: it is not known. */
static void remedy_shorter(const struct doctor_path *path, json_t *finding,
			   unsigned int mtu)
{
	unsigned int shorter = mtu ? mtu : SAFE_MTU;

	if (mtu_of(path->netdev) > shorter)
		doctor_remedy(finding, "ip link set %s mtu %u, or raise the "
			      "MTU on the way", path->netdev, shorter);
	else
		doctor_remedy(finding, "raise the MTU on the way to %u or "
			      "more", path->needed);
}

/*
 * Both ends agree on the smaller MTU of theirs, so that only what is between
 * them matters: if the host answers nothing is wrong, else that is not known.
 */
static void add_shorter(struct doctor *d, unsigned int mtu)
{
	const struct doctor_path *path = d->path;
	char how[96] = "they are lost without a message, those of 64 bytes "
		       "are not";
	json_t *finding;

	if (mtu)
		snprintf(how, sizeof(how), "the MTU of the path is %u", mtu);
	finding = doctor_add(d, "path_mtu", d->answers ? DOCTOR_OK :
			     DOCTOR_WARNING, "packets of %u bytes, the longest "
			     "of %s, do not reach %s: %s%s", path->needed,
			     pier_devinfo_name(d->info), path->peer_text, how,
			     d->answers ? "; its own MTU is smaller, and both "
			     "use that" : "");
	tool_json_set(finding, "needed", json_integer(path->needed));
	if (mtu)
		tool_json_set(finding, "mtu", json_integer(mtu));
	if (!d->answers)
		remedy_shorter(path, finding, mtu);
}

void doctor_path_mtu(struct doctor *d)
{
	const struct doctor_path *path = d->path;

	if (path->short_error != -ECONNREFUSED)
		doctor_add(d, "path_mtu", DOCTOR_OK, "whether packets of %u "
			   "bytes reach %s is not known: it answers no probe",
			   path->needed, path->peer_text);
	else if (path->long_error == -ECONNREFUSED)
		doctor_add(d, "path_mtu", DOCTOR_OK, "packets of %u bytes, the "
			   "longest of %s, reach %s", path->needed,
			   pier_devinfo_name(d->info), path->peer_text);
	else
		add_shorter(d, path->long_error == -EMSGSIZE ? path->mtu : 0);
}
