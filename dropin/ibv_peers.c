/* SPDX-License-Identifier: BSD-2-Clause */
/* The peers whose QPNs carry no UDP port: those of PIER_ROCE_PEERS. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/roce.h"
#include "dropin/dropin.h"
#include "fabric/soft/rc/qpn.h"

#define PEERS 64
#define IPV4_BITS 96		/* of a GID in front of an address of IPv4 */
#define GID_BITS 128

static struct peers {
	uint8_t gid[16];
	unsigned int bits;
} peers[PEERS];
static size_t count;
static int error;		/* of the value */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ADDRESS[/BITS]. */
static bool parse(char *text, struct peers *ret)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	char *slash = strchr(text, '/'), *end = "";
	unsigned long bits = GID_BITS;
	unsigned int front = 0;

	if (slash) {
		*slash = '\0';
		bits = strtoul(slash + 1, &end, 10);
	}
	if (inet_pton(AF_INET, text, ret->gid + sizeof(ipv4)) == 1) {
		memcpy(ret->gid, ipv4, sizeof(ipv4));
		front = slash ? IPV4_BITS : 0;
	} else if (inet_pton(AF_INET6, text, ret->gid) != 1) {
		return false;
	}
	ret->bits = front + (unsigned int)bits;
	return !*end && bits <= GID_BITS && ret->bits <= GID_BITS &&
	       (!slash || end != slash + 1);
}

static void read_all(void)
{
	const char *value = secure_getenv("PIER_ROCE_PEERS");
	char *copy = value && *value ? strdup(value) : NULL;
	char *pos = copy, *word;

	if (value && *value && !copy)
		error = -ENOMEM;
	while (pos && !error) {
		word = strsep(&pos, ",");
		if (count == PEERS || !parse(word, &peers[count]))
			error = -EINVAL;
		count++;
	}
	free(copy);
}

int pier__dropin_peers(void)
{
	pthread_once(&once, read_all);
	if (!error)
		return 0;
	if (error == -ENOMEM)
		return pier__fail(error, "no memory to read PIER_ROCE_PEERS");
	return pier__fail(error, "PIER_ROCE_PEERS=%s: addresses, each with or "
			  "without /BITS, separated by commas, at most %d",
			  secure_getenv("PIER_ROCE_PEERS"), PEERS);
}

static bool matches(const struct peers *peer, const uint8_t gid[16])
{
	unsigned int bytes = peer->bits / 8, rest = peer->bits % 8;

	return !memcmp(peer->gid, gid, bytes) &&
	       (!rest || !((peer->gid[bytes] ^ gid[bytes]) >> (8 - rest)));
}

uint16_t pier__dropin_port_of(uint32_t qpn, const uint8_t gid[16])
{
	size_t i;

	for (i = 0; i < count && qpn != SOFT_QPN_GROUP; i++)
		if (matches(&peers[i], gid))
			return ROCE_UDP_PORT;
	return pier__soft_qpn_port(qpn);
}
