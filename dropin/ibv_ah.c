/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles: the way of datagrams to a host. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/sockaddr.h"
#include "dropin/dropin.h"
#include "fabric/soft/io/fdev.h"

#define HOP_LIMIT 64		/* of replies; the received one is unknown */
#define GRH_IPV4 20		/* where a GRH has the header of IPv4 */
#define IPV4_SRC 12		/* and where that has its addresses */
#define IPV4_DST 16

/* Between begin and end. */
static int find_way(struct soft_chan *chan, const struct ibv_ah_attr *attr,
		    struct soft_way *way)
{
	int err;

	memcpy(&way->dst, attr->grh.dgid.raw, sizeof(way->dst));
	if (attr->port_num != 1 || !attr->is_global ||
	    (!pier__sockaddr_is_host(&way->dst) &&
	     !pier__sockaddr_is_group(&way->dst)))
		return -EINVAL;
	err = pier__soft_gid(chan->chan.fdev, attr->grh.sgid_index, &way->src);
	if (err)
		return err;
	if (IN6_IS_ADDR_V4MAPPED(&way->src.ip) !=
	    IN6_IS_ADDR_V4MAPPED(&way->dst))
		return -EINVAL;
	way->src.port = chan->io->port;
	way->tclass = attr->grh.traffic_class & SOFT_TCLASS_DSCP;
	way->hop_limit = attr->grh.hop_limit ? attr->grh.hop_limit : HOP_LIMIT;
	return pier__soft_chan_bound(chan, &way->src.ip, &way->io);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct soft_chan *chan = dropin_chan(pd->context);
	struct dropin_ah *ah = calloc(1, sizeof(*ah));
	int err;

	if (!ah)
		return pier__dropin_null(-ENOMEM);
	pier__soft_chan_begin(chan);
	err = find_way(chan, attr, &ah->way);
	pier__soft_chan_end(chan, 0);
	if (err) {
		free(ah);
		return pier__dropin_null(err);
	}
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	pier__dropin_pd_count(pd, 1);
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	pier__dropin_pd_count(ah->pd, -1);
	free(ah);
	return 0;
}

static void map_ipv4(uint8_t gid[16], const uint8_t *ip)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, ip, 4);
}

/* The addresses that @grh was received with.  Returns false: none. */
static bool grh_gids(const struct ibv_grh *grh, uint8_t src[16],
		     uint8_t dst[16])
{
	const uint8_t *bytes = (const uint8_t *)grh, *ip = bytes + GRH_IPV4;

	if (bytes[0] >> 4 == 6) {
		memcpy(src, grh->sgid.raw, 16);
		memcpy(dst, grh->dgid.raw, 16);
		return true;
	}
	map_ipv4(src, ip + IPV4_SRC);
	map_ipv4(dst, ip + IPV4_DST);
	return ip[0] >> 4 == 4;
}

/* The index of @own; of an address of its family, if it is a group's. */
static int index_of(struct pier__fdev *fdev, const struct in6_addr *own)
{
	return pier__sockaddr_is_group(own) ?
		       pier__soft_gid_index_like(fdev, own) :
		       pier__soft_gid_index(fdev, own);
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num,
			struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	struct in6_addr own;
	int index;

	memset(attr, 0, sizeof(*attr));
	if (port_num != 1 || !(wc->wc_flags & IBV_WC_GRH) ||
	    !grh_gids(grh, attr->grh.dgid.raw, own.s6_addr)) {
		errno = EINVAL;
		return -1;
	}
	index = index_of(dropin_of(context)->fdev, &own);
	if (index < 0) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	attr->is_global = 1;
	attr->port_num = 1;
	attr->grh.sgid_index = (uint8_t)index;
	attr->grh.hop_limit = HOP_LIMIT;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
				     struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
