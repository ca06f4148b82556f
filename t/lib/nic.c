/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/roce.h"
#include "fabric/soft/io/udp.h"
#include "fabric/soft/soft.h"
#include "t/lib/nic.h"
#include "t/lib/tap.h"

#define ACK_SYNDROME 0x1f

int nic_device(struct pier__fdev **ret)
{
	struct pier__ports ports = { 0 };
	int err = pier__soft.dev->list(&ports);
	size_t i;

	for (i = 0; !err && i < ports.count; i++)
		if (!strcmp(ports.port[i].name, "soft_lo"))
			break;
	if (!err)
		err = i < ports.count ?
			      pier__soft.dev->open(&ports.port[i], ret) :
			      -ENODEV;
	free(ports.port);
	return err;
}

int nic_open(struct pier__fdev *fdev, struct nic *ret)
{
	int err = pier__soft_udp_create(&in6addr_any, 0, 1, &ret->io);

	if (err)
		return err;
	memcpy(&ret->local.ip, fdev->port.gids[0].raw, sizeof(ret->local.ip));
	ret->local.port = ret->io->port;
	ret->to = ret->local;
	ret->psn = NIC_PSN;
	return 0;
}

void nic_close(struct nic *nic)
{
	pier__soft_udp_destroy(nic->io);
}

bool nic_meet(struct nic *nic, struct loop_end *end)
{
	nic->psn = NIC_PSN;
	nic->to.port = end->chan->udp_port;
	return loop_connect(end, NIC_QPN, nic->io->port);
}

static void put(struct nic *nic, struct soft_hdr *hdr, const void *data,
		uint32_t len)
{
	struct soft_tx tx = {
		.src = nic->local, .dst = nic->to, .hop_limit = 64,
		.pad = -len & 3, .payload_len = len, .iov_count = 1,
		.iov[0] = { .iov_base = (void *)(uintptr_t)data,
			    .iov_len = len },
	};

	hdr->pkey = ROCE_PKEY_DEFAULT;
	hdr->pad = tx.pad;
	tx.hdr_len = (uint8_t)pier__soft_encode(hdr, tx.hdr);
	IS(nic->io->ops->send(nic->io, &tx, 1), 1);
}

void nic_send(struct nic *nic, const struct loop_end *end, uint8_t opcode,
	      const char *data)
{
	uint32_t len = (uint32_t)strlen(data) + 1;
	struct soft_hdr hdr = {
		.opcode = opcode, .ack_req = true, .qpn = end->qp->qpn,
		.psn = nic->psn++ & 0xffffff, .va = (uintptr_t)end->buf,
		.rkey = end->mr->rkey, .dma_len = len,
	};

	put(nic, &hdr, data, len);
}

void nic_ack(struct nic *nic, const struct loop_end *end, uint32_t psn)
{
	struct soft_hdr hdr = {
		.opcode = SOFT_ACK, .qpn = end->qp->qpn, .psn = psn,
		.syndrome = ACK_SYNDROME,
	};

	put(nic, &hdr, "", 0);
}

void nic_receive(struct nic *nic, struct nic_packets *ret)
{
	struct soft_rx rx[NIC_BATCH];
	struct soft_hdr hdr;
	int i, n;

	ret->count = 0;
	do {
		n = nic->io->ops->recv(nic->io, rx, NIC_BATCH - ret->count);
		for (i = 0; i < n; i++) {
			OK(pier__soft_decode(rx[i].data, rx[i].len, &hdr));
			ret->opcode[ret->count] = hdr.opcode;
			ret->psn[ret->count++] = hdr.psn;
		}
	} while (n > 0 && ret->count < NIC_BATCH);
}
