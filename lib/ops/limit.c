/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits that programs see: those of the device, of pier, or of both. */
#include <errno.h>

#include <pier/cm.h>
#include <pier/comch.h>
#include <pier/dma.h>
#include <pier/sha.h>

#include "cm/rdmacm/private_data.h"
#include "core/fail.h"
#include "dev/dev_impl.h"
#include "mem/buf_impl.h"
#include "mem/mmap_impl.h"
#include "ops/comch_wire.h"
#include "ops/limit.h"

#define LIMIT_LAST PIER_LIMIT_COMCH_IMM
#define NO_LIMIT UINT64_MAX

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The completion queue is shared by sends, receives and control words. */
static uint64_t queue(const struct pier__limits *lim)
{
	return least(PIER__QUEUE_MAX, lim->cqe / 4);
}

static uint64_t less(uint64_t from, uint64_t by)
{
	return from > by ? from - by : 0;
}

/* Each needs receives, one of all requests in flight, and a connection. */
static uint64_t comch_clients(const struct pier__limits *lim, uint64_t recvs)
{
	uint64_t most = least(recvs / (1 + PIER__COMCH_RESERVE),
			      less(less(queue(lim), 1) / PIER__COMCH_OWN_SENDS,
				   PIER__COMCH_EXTRA_CONNS));

	return least(least(most, lim->qps), PIER__COMCH_CLIENTS_MAX);
}

uint64_t pier__port_limit(const struct pier__port *port, enum pier_limit limit)
{
	const struct pier__limits *lim = &port->limits;
	uint64_t conns = least(lim->qps, PIER__CONNS_MAX);
	uint64_t recvs = least(lim->srq_wr, queue(lim));
	uint64_t message = pier__cm_message_limit(lim->message);
	const uint64_t values[] = {
		[PIER_LIMIT_MESSAGE] = message,
		[PIER_LIMIT_MMAP] = lim->mmap,
		[PIER_LIMIT_INLINE] = least(lim->inline_size,
					    PIER__INLINE_MAX),
		[PIER_LIMIT_SEND_SGE] = least(lim->send_sge, PIER__CHAIN_MAX),
		[PIER_LIMIT_RECV_SGE] = least(lim->recv_sge, PIER__CHAIN_MAX),
		[PIER_LIMIT_CONNS] = conns,
		[PIER_LIMIT_SEND_QUEUE] = least(lim->send_wr, queue(lim) + 2),
		[PIER_LIMIT_RECV_QUEUE] = recvs,
		[PIER_LIMIT_RD_ATOMIC] = least(lim->rd_atomic,
					       PIER__RD_ATOMIC_MAX),
		[PIER_LIMIT_GIDS] = port->gid_count,
		[PIER_LIMIT_CTX_SENDS] = queue(lim),
		[PIER_LIMIT_TASKS] = PIER__TASKS_MAX,
		[PIER_LIMIT_COPY] = PIER_DMA_MAX,
		[PIER_LIMIT_COPY_CHAIN] = NO_LIMIT,
		[PIER_LIMIT_HASH] = PIER_SHA_MAX,
		[PIER_LIMIT_HASH_CHAIN] = NO_LIMIT,
		[PIER_LIMIT_MMAP_DEVS] = PIER__MMAP_DEVS,
		[PIER_LIMIT_BUF_REFS] = PIER__BUF_REFS_MAX,
		[PIER_LIMIT_PRIVATE_DATA] = PIER_PRIVATE_DATA_MAX,
		[PIER_LIMIT_COMCH_NAME] = PIER_COMCH_NAME_MAX,
		[PIER_LIMIT_COMCH_MESSAGE] = PIER_COMCH_MESSAGE_MAX,
		[PIER_LIMIT_COMCH_RECV_QUEUE] =
			least(PIER__COMCH_QUEUE_MAX,
			      less(recvs, PIER__COMCH_RESERVE)),
		[PIER_LIMIT_COMCH_CLIENTS] = comch_clients(lim, recvs),
		[PIER_LIMIT_COMCH_DATA] = less(message,
					       PIER__COMCH_DATA_HEAD),
		[PIER_LIMIT_COMCH_CHAIN] =
			less(least(least(lim->send_sge, lim->recv_sge),
				   PIER__CHAIN_MAX), 1),
		[PIER_LIMIT_COMCH_CONSUMERS] = PIER_COMCH_CONSUMERS_MAX,
		[PIER_LIMIT_COMCH_IMM] = PIER_COMCH_IMM_MAX,
	};

	return values[limit];
}

int pier_devinfo_limit(const struct pier_devinfo *info, enum pier_limit limit,
		       uint64_t *ret)
{
	if (!info)
		return pier__no_object(__func__);
	if ((unsigned int)limit > LIMIT_LAST)
		return pier__fail(-EINVAL, "unknown limit %d: 0 to %d",
				  (int)limit, LIMIT_LAST);
	*ret = pier__port_limit(&info->port, limit);
	return 0;
}
