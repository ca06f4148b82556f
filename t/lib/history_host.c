/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts: their process starts, is killed, stops; memory, receives, polling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "t/lib/history.h"

#define PORT 5000		/* of data */
#define CQE 1024
#define WORDS_LEN 4096
#define TARGET_LEN (HISTORY_SLOTS * HISTORY_SLOT)
#define AREA_LEN (TARGET_LEN + HISTORY_FLIGHT * HISTORY_SLOT)
#define RECVS_AT (WORDS_LEN + HISTORY_AREAS * AREA_LEN)
#define MEM_LEN (RECVS_AT + HISTORY_RECVS * HISTORY_SLOT)
#define RECV_ID (UINT64_C(1) << 63)

static void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

static int host_gid(struct soft_cm_host *cm_host, const struct in6_addr *ip)
{
	struct history_host *host = (struct history_host *)cm_host;

	return IN6_ARE_ADDR_EQUAL(ip, &host->addr.ip) ? 0 : -1;
}

static bool host_roce_port(struct soft_cm_host *cm_host, bool on)
{
	(void)cm_host;
	return !on;		/* another process has it */
}

static void host_notify(struct soft_cm_host *cm_host)
{
	(void)cm_host;
}

static const struct soft_cm_host_ops host_ops = {
	.gid = host_gid,
	.roce_port = host_roce_port,
	.notify = host_notify,
};

void history_host_init(struct history *h, int i)
{
	struct history_host *host = &h->host[i];
	char ip[32];

	snprintf(ip, sizeof(ip), "192.0.2.%d", i + 1);
	host->history = h;
	host->number = i;
	host->host.ops = &host_ops;
	host->io = vnet_node(&h->net, ip, PORT);
	host->listen_io = vnet_node(&h->net, ip, HISTORY_SERVICE);
	host->addr = vnet_addr(host->io);
}

static void region(struct history_host *host, struct soft_mr *mr, size_t len,
		   int access)
{
	mr->addr = (uintptr_t)host->mem;
	mr->len = len;
	mr->access = access;
	must(pier__soft_mr_add(host->keys, mr), "mr");
}

static uint64_t sum_of(const uint8_t *area)
{
	uint64_t sum = 0, word;
	size_t i;

	for (i = 0; i < TARGET_LEN; i += 8) {
		memcpy(&word, area + i, 8);
		sum = (sum ^ word) * 0x100000001b3u;
	}
	return sum;
}

static uint8_t *area_at(const struct history_host *host, int i)
{
	return host->mem + WORDS_LEN + i * AREA_LEN;
}

static void memory_start(struct history_host *host)
{
	struct history *h = host->history;
	int i;

	host->mem = aligned_alloc(4096, MEM_LEN);
	host->words = calloc(1, sizeof(*host->words));
	must(!host->mem || !host->words, "memory");
	memset(host->mem, 0, MEM_LEN);
	region(host, &host->all, MEM_LEN,
	       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	region(host, &host->atomics, 16, IBV_ACCESS_REMOTE_ATOMIC);
	for (i = 0; i < HISTORY_AREAS; i++) {
		host->areas[i].used = false;
		host->areas[i].sum = sum_of(area_at(host, i));
	}
	host->words->host = host;
	host->words->next = h->words;
	h->words = host->words;
}

void history_host_start(struct history_host *host)
{
	struct history *h = host->history;

	must(pier__soft_mr_table_create(&host->keys), "keys");
	must(pier__soft_ep_create(host->io, host->keys, &host->ep), "ep");
	pier__soft_ep_add_io(host->ep, host->listen_io);
	must(pier__soft_cq_create(host->ep, CQE, &host->cq), "cq");
	must(pier__soft_srq_create(host->ep, HISTORY_RECVS, 2, &host->srq),
	     "srq");
	host->host.mtu = (uint8_t)(IBV_MTU_256 + history_random(h, 5));
	must(pier__soft_cm_create(host->ep, &host->host, &host->cm), "cm");
	memset(&host->listener, 0, sizeof(host->listener));
	host->listener.listener.port = HISTORY_SERVICE;
	host->listener.backlog = 8;
	host->listener.no_roce_port = true;
	pier__soft_cm_listen(host->cm, &host->listener);
	memory_start(host);
	memset(host->recv_posted, 0, sizeof(host->recv_posted));
	host->recvs = 0;
	host->recvs_wanted = 1 + (uint32_t)history_random(h, HISTORY_RECVS);
	host->up = true;
	host->mute = false;
	vnet_attach(host->io, host->ep);
	vnet_attach(host->listen_io, host->ep);
	history_log(h, NULL, 0, "starts", host->number);
}

static void host_free(struct history_host *host)
{
	memcpy(host->words->word, host->mem, sizeof(host->words->word));
	pier__soft_mr_remove(host->keys, &host->all);
	pier__soft_mr_remove(host->keys, &host->atomics);
	pier__soft_cm_destroy(host->cm);
	pier__soft_srq_destroy(host->srq);
	pier__soft_cq_destroy(host->cq);
	vnet_attach(host->io, NULL);
	vnet_attach(host->listen_io, NULL);
	pier__soft_ep_destroy(host->ep);
	pier__soft_mr_table_destroy(host->keys);
	free(host->mem);
	host->mem = NULL;
	host->words = NULL;
	host->up = false;
}

/* What an end has of its process. */
static void end_killed(struct history_end *end)
{
	pier__soft_qp_destroy(end->qp);
	if (end->id)
		pier__soft_cm_release(end->id);
	pier__soft_mr_remove(end->host->keys, &end->target);
	end->qp = NULL;
	end->id = NULL;
	end->area = NULL;
	end->open = false;
	end->ready = false;
}

void history_host_kill(struct history_host *host)
{
	struct history *h = host->history;
	struct history_life *life;
	int i;

	history_log(h, NULL, 0, "is killed", host->number);
	history_areas_check(host);
	host->mute = true;
	for (life = h->life; life; life = life->next)
		for (i = 0; i < 2; i++)
			if (life->end[i].host == host && life->end[i].open)
				end_killed(&life->end[i]);
	host_free(host);
	h->kills++;
}

static uint32_t wqes_free(const struct soft_ep *ep)
{
	const struct soft_wqe *wqe;
	uint32_t count = 0;

	for (wqe = ep->wqes; wqe; wqe = wqe->next)
		count++;
	return count;
}

static uint32_t recvs_there(const struct soft_srq *srq)
{
	const struct soft_rwqe *rwqe;
	uint32_t count = 0;

	for (rwqe = srq->first; rwqe; rwqe = rwqe->next)
		count++;
	return count;
}

/* Nothing that ended has left anything. */
static const char *remains(const struct history_host *host)
{
	const struct soft_ep *ep = host->ep;

	if (ep->qps.count)
		return "a QP remains";
	if (ep->cwnds.count)
		return "a congestion window remains";
	if (wqes_free(ep) != ep->wqe_total)
		return "a work request remains";
	if (recvs_there(host->srq) != host->recvs)
		return "a receive was lost";
	if (pier__soft_cm_count(host->cm))
		return "a record of connection management remains";
	if (!pier__soft_cq_empty(host->cq))
		return "a completion remains";
	if (pier__soft_ep_deadline(ep) != PIER__NEVER)
		return "a timer remains";
	return NULL;
}

void history_host_stop(struct history_host *host)
{
	const char *what;

	history_areas_check(host);
	pier__soft_cm_unlisten(host->cm, &host->listener);
	what = remains(host);
	if (what)
		history_fail(host->history, NULL, (uint32_t)host->number,
			     what);
	host_free(host);
}

void history_areas_check(struct history_host *host)
{
	int i;

	for (i = 0; i < HISTORY_AREAS; i++)
		if (!host->areas[i].used &&
		    host->areas[i].sum != sum_of(area_at(host, i)))
			history_fail(host->history, NULL, (uint32_t)i,
				     "memory changed without a key");
}

uint8_t *history_area_get(struct history_host *host)
{
	int first = (int)history_random(host->history, HISTORY_AREAS), i, k;

	for (k = 0; k < HISTORY_AREAS; k++) {
		i = (first + k) % HISTORY_AREAS;
		if (host->areas[i].used)
			continue;
		history_areas_check(host);
		host->areas[i].used = true;
		memset(area_at(host, i), 0, AREA_LEN);
		return area_at(host, i);
	}
	return NULL;
}

void history_area_put(struct history_host *host, uint8_t *area)
{
	size_t i = (size_t)(area - area_at(host, 0)) / AREA_LEN;

	host->areas[i].used = false;
	host->areas[i].sum = sum_of(area);
}

uint8_t *history_local(const struct history_end *end, uint32_t op)
{
	return end->area + TARGET_LEN + op % HISTORY_FLIGHT * HISTORY_SLOT;
}

/* In two pieces, which meet anywhere. */
static void recv_post(struct history_host *host, uint32_t i)
{
	uint32_t cut = (uint32_t)history_random(host->history, HISTORY_SLOT);
	uint8_t *mem = host->mem + RECVS_AT + i * HISTORY_SLOT;
	struct ibv_sge sge[2] = {
		{ (uintptr_t)mem, cut, host->all.mr.lkey },
		{ (uintptr_t)mem + cut, HISTORY_SLOT - cut,
		  host->all.mr.lkey },
	};
	struct ibv_recv_wr wr = {
		.wr_id = RECV_ID | i, .sg_list = sge, .num_sge = 2,
	};
	struct ibv_recv_wr *bad;

	memset(mem, 0, HISTORY_SLOT);
	if (pier__soft_srq_post(host->srq, &wr, &bad))
		history_fail(host->history, NULL, i, "no receive is posted");
	host->recv_posted[i] = true;
	host->recvs++;
}

void history_post_receives(struct history_host *host)
{
	uint32_t most = host->history->generous ? HISTORY_RECVS
						: host->recvs_wanted, i;

	if (!host->history->generous && history_chance(host->history, 0.7))
		return;
	for (i = 0; i < HISTORY_RECVS && host->recvs < most; i++)
		if (!host->recv_posted[i])
			recv_post(host, i);
}

static void received(struct history_host *host, struct ibv_wc *wc)
{
	uint32_t i = (uint32_t)(wc->wr_id & ~RECV_ID);

	if (i >= HISTORY_RECVS || !host->recv_posted[i]) {
		history_fail(host->history, NULL, i,
			     "a receive completed that was not posted");
		return;
	}
	host->recv_posted[i] = false;
	host->recvs--;
	wc->wr_id = (uintptr_t)(host->mem + RECVS_AT + i * HISTORY_SLOT);
	history_received(host, wc);
}

static void sent(struct history_host *host, const struct ibv_wc *wc)
{
	struct history_end *end = history_end_find(host, wc->qp_num);

	if (end)
		history_sent(end, wc);
	else
		history_fail(host->history, NULL, wc->qp_num,
			     "a completion of no queue pair");
}

/* What was sent has completed after it was received. */
void history_poll(struct history *h)
{
	struct history_host *host;
	int i, k;

	for (i = 0; i < h->hosts; i++) {
		host = &h->host[i];
		host->wcs = 0;
		if (host->up)
			host->wcs = pier__soft_cq_poll(host->cq, host->wc, 256);
	}
	for (i = 0; i < h->hosts; i++) {
		host = &h->host[i];
		for (k = 0; k < host->wcs; k++)
			if (host->wc[k].wr_id & RECV_ID)
				received(host, &host->wc[k]);
	}
	for (i = 0; i < h->hosts; i++) {
		host = &h->host[i];
		for (k = 0; k < host->wcs; k++)
			if (host->wc[k].opcode < IBV_WC_RECV)
				sent(host, &host->wc[k]);
	}
}
