/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TOOLS_DOCTOR_H
#define PIER_TOOLS_DOCTOR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <pier/pier.h>

#include "tool.h"

/* What a check has found. */
enum doctor_grade {
	DOCTOR_OK,
	DOCTOR_WARNING,		/* pier works, but not as it could */
	DOCTOR_ERROR,		/* something does not work */
	DOCTOR_GRADES
};

#define DOCTOR_OVERHEAD 96	/* bytes of a packet besides its data */
#define DOCTOR_ROCE_PORT 4791

union doctor_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};
#define DOCTOR_ADDR_TEXT 96

/* The way to a host, as the kernel has it. */
struct doctor_path {
	const char *host;	/* as it was given, without the port */
	uint16_t port;
	union doctor_addr peer, own;
	char peer_text[DOCTOR_ADDR_TEXT], own_text[DOCTOR_ADDR_TEXT];
	char netdev[64];	/* that has the own address; "": unknown */

	/* What doctor_path_probe() has found. */
	unsigned int needed;	/* bytes of the device's longest packets */
	int short_error, long_error;	/* of doctor_probe(), of such a */
				/* packet and a short one */
	unsigned int mtu;	/* of the path, if a router has sent it */
};

/* An examination: checks append what they find to it. */
struct doctor {
	struct pier_args args;
	const char *host;	/* HOST[:PORT], or NULL */
	json_t *findings;	/* in the order of the output */
	unsigned int counts[DOCTOR_GRADES];

	struct pier_devlist *devs;	/* NULL: there is no list */
	const struct pier_devinfo *info;	/* the device that programs */
				/* would use, or NULL */
	bool unusable;		/* the device or GID: nothing is sent to */
				/* the host */
	bool answers;		/* the host, in messages of many packets */
	struct doctor_path *path;	/* to "host", or NULL: there is none */
};

/*
 * Append a finding of @check, whose name programs use: it must not change.
 * Returns it, which belongs to @d, for more of its members.
 */
__attribute__((format(printf, 4, 5)))
json_t *doctor_add(struct doctor *d, const char *check, enum doctor_grade grade,
		   const char *fmt, ...);

/* What the user can do about @finding, a command if there is one. */
__attribute__((format(printf, 2, 3)))
void doctor_remedy(json_t *finding, const char *fmt, ...);

/* Print all as text; as JSON, which gives @d's findings up. */
void doctor_print_text(const struct doctor *d);
void doctor_print_json(struct doctor *d);

/*
 * The first line of the file @path, which is a printf() format.  Returns
 * false: it cannot be read, or is empty.
 */
#define DOCTOR_LINE 256
__attribute__((format(printf, 2, 3)))
bool doctor_line(char ret[DOCTOR_LINE], const char *path, ...);

/* The number of the line @name of this thread's status; 0: there is none. */
uint64_t doctor_status(const char *name, int base);

/* Are there RDMA devices of the kernel, whether pier can use them or not? */
bool doctor_has_rdma(const struct doctor *d);

/* Addresses: their length, their text, and with another port. */
socklen_t doctor_addr_len(const union doctor_addr *addr);
const char *doctor_addr_text(const union doctor_addr *addr,
			     char ret[DOCTOR_ADDR_TEXT]);
void doctor_addr_set_port(union doctor_addr *addr, uint16_t port);

/* Link-local, and the interface is not given. */
bool doctor_addr_lacks_netdev(const union doctor_addr *addr);

/* Why it is not the address of one host, as "is ..."; NULL: it is. */
const char *doctor_addr_fault(const union doctor_addr *addr);

/* Make ::ffff:a.b.c.d the IPv4 address that it is. */
void doctor_addr_unmap(union doctor_addr *addr);

/*
 * The address of the GID that -g names, without the interface of a link-local
 * one.  Returns false: -g names none of the device.
 */
bool doctor_addr_named(const struct doctor *d, union doctor_addr *ret);

/* The first address of @info that connections may choose. */
bool doctor_own_addr(const struct pier_devinfo *info, union doctor_addr *ret);

/*
 * Send a datagram whose IP packet has @bytes, at least 28, from @own, to @peer
 * and wait @ms for what comes back.  Returns 0: nothing; or the error that came
 * back, -ECONNREFUSED if no socket there has the port; -EMSGSIZE: too long for
 * the path, with its MTU in *ret_mtu.
 */
int doctor_probe(const union doctor_addr *own, const union doctor_addr *peer,
		 size_t bytes, int ms, unsigned int *ret_mtu);

/*
 * The way to the host, found by name and route.  Returns false: there is none,
 * which is a finding.
 */
bool doctor_path_find(struct doctor *d, struct doctor_path *ret);

/* The checks, by subject, in this order. */
void doctor_devices(struct doctor *d);
void doctor_gids(struct doctor *d);
void doctor_limits(struct doctor *d);
void doctor_ports(struct doctor *d);
void doctor_nft(struct doctor *d);
void doctor_host(struct doctor *d);
void doctor_cgroup(struct doctor *d);
void doctor_versions(struct doctor *d);
void doctor_modules(struct doctor *d);

/* Those of the way to the host; "path" of @d is set. */
void doctor_choice(struct doctor *d);
void doctor_rp_filter(struct doctor *d);
void doctor_path_probe(struct doctor *d);
void doctor_answer(struct doctor *d);
void doctor_path_mtu(struct doctor *d);

#endif
