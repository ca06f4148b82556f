/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "cm/addr.h"
#include "core/fail.h"

static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

static bool is_v4(const uint8_t raw[16])
{
	return !memcmp(raw, v4_prefix, sizeof(v4_prefix));
}

static bool is_link_local(const uint8_t raw[16])
{
	return raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80;
}

const char *pier__gid_text(const uint8_t raw[16], char *ret)
{
	if (is_v4(raw))
		inet_ntop(AF_INET, raw + 12, ret, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, raw, ret, INET6_ADDRSTRLEN);
	return ret;
}

static void offer(const struct pier__port *port, uint32_t i,
		  struct pier__gid_offer *ret)
{
	memcpy(ret->raw, port->gids[i].raw, 16);
	ret->type = (uint8_t)port->gids[i].type;
	ret->prefix = port->gid_prefix[i];
	ret->index = port->gids[i].index;
}

int pier__gid_at(const struct pier__port *port, int gid_index,
		 struct pier__gid_offer *ret)
{
	for (uint32_t i = 0; i < port->gid_count; i++) {
		if (port->gids[i].index == (uint32_t)gid_index) {
			offer(port, i, ret);
			return 1;
		}
	}
	return pier__fail(-ERANGE, "%s: no GID index %d among its %u GIDs",
			  port->name, gid_index, port->gid_count);
}

int pier__gid_offers(const struct pier__port *port, int gid_index,
		     struct pier__gid_offer *ret)
{
	int n = 0;

	if (gid_index != PIER__GID_ANY)
		return pier__gid_at(port, gid_index, ret);
	for (uint32_t i = 0; i < port->gid_count && n < PIER__GIDS_MAX; i++)
		if (!pier__port_gid_fault(port, i))
			offer(port, i, &ret[n++]);
	if (!n)
		return pier__fail(-EADDRNOTAVAIL, "%s: none of its %u GIDs is "
				  "a RoCEv2 address beyond the link: give %s "
				  "an IP address, or name a GID index",
				  port->name, port->gid_count, port->netdev);
	return n;
}

bool pier__gid_find(const struct pier__port *port,
		    const struct pier__gid_offer *gid, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < port->gid_count; i++) {
		if (!memcmp(port->gids[i].raw, gid->raw, 16) &&
		    port->gids[i].type == gid->type) {
			*ret_index = port->gids[i].index;
			return true;
		}
	}
	return false;
}

static unsigned int common_bits(const uint8_t a[16], const uint8_t b[16])
{
	unsigned int n = 0;

	while (n < 128 && !((a[n / 8] ^ b[n / 8]) & (0x80 >> n % 8)))
		n++;
	return n;
}

/*
 * How good a pair is; both ends compute the same.  On one subnet is best, then
 * IPv4, then the longest common prefix.
 */
static unsigned int score(const struct pier__gid_offer *a,
			  const struct pier__gid_offer *b)
{
	unsigned int bits = common_bits(a->raw, b->raw);
	unsigned int need = a->prefix < b->prefix ? a->prefix : b->prefix;
	unsigned int base = is_v4(a->raw) ? 96 : 0;

	if (a->type != b->type || is_v4(a->raw) != is_v4(b->raw) ||
	    is_link_local(a->raw) != is_link_local(b->raw))
		return 0;
	return 1 + bits + (is_v4(a->raw) ? 256 : 0) +
	       (need && bits >= base + need ? 512 : 0);
}

/* Both ends break a tie the same way. */
static int order(const struct pier__gid_offer *a,
		 const struct pier__gid_offer *b,
		 const struct pier__gid_offer *c,
		 const struct pier__gid_offer *d)
{
	bool swap_ab = memcmp(a->raw, b->raw, 16) > 0;
	bool swap_cd = memcmp(c->raw, d->raw, 16) > 0;
	int diff = memcmp(swap_ab ? b->raw : a->raw,
			  swap_cd ? d->raw : c->raw, 16);

	return diff ? diff : memcmp(swap_ab ? a->raw : b->raw,
				    swap_cd ? c->raw : d->raw, 16);
}

int pier__gid_choose(const struct pier__gid_offer *ours, unsigned int n_ours,
		     const struct pier__gid_offer *theirs,
		     unsigned int n_theirs, unsigned int *ret_ours,
		     unsigned int *ret_theirs)
{
	unsigned int best = 0, bi = 0, bj = 0;
	char a[INET6_ADDRSTRLEN] = "", b[INET6_ADDRSTRLEN] = "";

	for (unsigned int i = 0; i < n_ours; i++) {
		for (unsigned int j = 0; j < n_theirs; j++) {
			unsigned int s = score(&ours[i], &theirs[j]);

			if (s < best || !s)
				continue;
			if (s == best && order(&ours[i], &theirs[j], &ours[bi],
					       &theirs[bj]) >= 0)
				continue;
			best = s;
			bi = i;
			bj = j;
		}
	}
	if (!best)
		return pier__fail(-EHOSTUNREACH, "no address of a common "
				  "family: ours %s (of %u), the peer's %s (of "
				  "%u)",
				  n_ours ? pier__gid_text(ours->raw, a) :
					   "none",
				  n_ours,
				  n_theirs ? pier__gid_text(theirs->raw, b) :
					     "none", n_theirs);
	*ret_ours = bi;
	*ret_theirs = bj;
	return 0;
}

void pier__av_build(const struct pier__av *av, struct ibv_ah_attr *ret)
{
	bool ib = av->link_layer == IBV_LINK_LAYER_INFINIBAND;

	memset(ret, 0, sizeof(*ret));
	ret->port_num = av->port;
	ret->sl = ib ? av->service_level : 0;
	ret->dlid = ib ? av->dlid : 0;
	ret->is_global = !ib || av->grh || memcmp(av->sgid, av->dgid, 8);
	if (!ret->is_global)
		return;
	memcpy(ret->grh.dgid.raw, av->dgid, 16);
	ret->grh.sgid_index = av->sgid_index;
	ret->grh.hop_limit = av->hop_limit;
	ret->grh.traffic_class = av->traffic_class;
}
