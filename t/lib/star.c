/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/star.h"

#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	     IBV_ACCESS_REMOTE_READ)

static void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %d\n", what, err);
		exit(1);
	}
}

static void host_open(struct star *star, struct star_host *host, int number,
		      uint32_t cqe)
{
	char ip[32];

	snprintf(ip, sizeof(ip), "10.0.%d.%d", number / 250, 1 + number % 250);
	host->io = vnet_node(&star->net, ip, star->opts.pair.port);
	must(pier__soft_mr_table_create(&host->keys), "keys");
	must(pier__soft_ep_create(host->io, host->keys, &host->ep), "ep");
	must(pier__soft_cq_create(host->ep, cqe, &host->cq), "cq");
	host->mr.addr = (uintptr_t)star->mem;
	host->mr.len = STAR_MEM;
	host->mr.access = ALL;
	must(pier__soft_mr_add(host->keys, &host->mr), "mr");
	vnet_attach(host->io, host->ep);
}

static void host_close(struct star_host *host)
{
	pier__soft_mr_remove(host->keys, &host->mr);
	pier__soft_cq_destroy(host->cq);
	pier__soft_ep_destroy(host->ep);
	pier__soft_mr_table_destroy(host->keys);
}

static struct soft_qp *qp_open(struct star *star, struct star_host *host)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = star->opts.depth + 1,
		.max_send_sge = 1,
	};
	struct soft_qp *qp;

	must(pier__soft_qp_create(host->cq, NULL, &cap, &qp), "qp");
	must(softpair_init(qp, &star->opts.pair), "INIT");
	return qp;
}

static void client_connect(struct star *star, struct star_client *client)
{
	const struct softpair_opts *pair = &star->opts.pair;
	struct soft_addr here = vnet_addr(client->host.io);
	struct soft_addr there = vnet_addr(star->server.io);

	client->qp = qp_open(star, &client->host);
	client->peer = qp_open(star, &star->server);
	client->requester = star->opts.pull ? client->peer : client->qp;
	must(softpair_rtr_by(client->qp, pair, 0, &here, &there,
			     client->peer->qpn), "RTR");
	must(softpair_rtr_by(client->peer, pair, 1, &there, &here,
			     client->qp->qpn), "RTR");
	must(softpair_rts_by(client->qp, pair, 0), "RTS");
	must(softpair_rts_by(client->peer, pair, 1), "RTS");
}

static void post(struct star_client *client)
{
	struct star *star = client->star;
	bool pull = star->opts.pull;
	const struct star_host *from = pull ? &star->server : &client->host;
	const struct star_host *to = pull ? &client->host : &star->server;
	struct ibv_sge sge = {
		.addr = (uintptr_t)star->mem,
		.length = star->opts.len,
		.lkey = from->mr.mr.lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = star->opts.opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)star->mem;
	wr.wr.rdma.rkey = to->mr.mr.rkey;
	must(softpair_post(client->requester, &wr), "post");
	client->posted++;
}

static void post_all(struct star_client *client)
{
	while (!client->failed && client->posted < client->star->opts.depth)
		post(client);
}

static void completed(struct star_client *client, const struct ibv_wc *wc)
{
	client->posted--;
	client->failed |= wc->status != IBV_WC_SUCCESS;
	if (!client->done++)
		client->first_done_at = client->star->net.now;
}

/* What a client's program does whenever its endpoint was driven. */
static void client_run(void *arg)
{
	struct star_client *client = arg;
	struct ibv_wc wc;

	while (pier__soft_cq_poll(client->host.cq, &wc, 1) == 1)
		completed(client, &wc);
	post_all(client);
}

static struct star_client *client_of(struct star *star, uint32_t qpn)
{
	struct star_client *client = star->client;

	while (client->peer->qpn != qpn)
		client++;
	return client;
}

/* What the program of a server that reads does. */
static void server_run(void *arg)
{
	struct star *star = arg;
	struct star_client *client;
	struct ibv_wc wc;
	int i;

	while (pier__soft_cq_poll(star->server.cq, &wc, 1) == 1) {
		client = client_of(star, wc.qp_num);
		completed(client, &wc);
		post_all(client);
	}
	for (i = 0; !star->begun && i < star->opts.clients; i++)
		post_all(&star->client[i]);
	star->begun = true;
}

static void client_link(struct star *star, int i)
{
	struct star_host *host = &star->client[i].host;
	struct vlink *to = i < star->opts.behind ? star->trunk : NULL;
	struct vlink_opts line = star->opts.up;
	double more = (vnet_random(&star->net) >> 11) * 0x1p-53;

	line.latency *= 1 + star->opts.spread * more;
	if (i == star->opts.clients - 1)
		line.latency += star->opts.far;
	host->up = vlink_create(&star->net, &line, to);
	if (to)
		line.latency += star->opts.trunk.latency;
	host->down = vlink_create(&star->net, &line, NULL);
	vnet_route(host->io, host->up, host->down);
}

static void client_open(struct star *star, int i)
{
	struct star_client *client = &star->client[i];

	client->star = star;
	host_open(star, &client->host, i + 1, star->opts.depth + 1);
	client_link(star, i);
	client_connect(star, client);
	if (!star->opts.pull)
		vnet_program(client->host.io, client_run, client);
}

/* What a host's own queue does not take is sent later: none is lost there. */
static void server_link(struct star *star, struct vlink_opts line)
{
	struct star_host *server = &star->server;

	server->down = vlink_create(&star->net, &line, NULL);
	if (star->opts.pull)
		line.queue = 0;
	server->up = vlink_create(&star->net, &line, NULL);
	vnet_route(server->io, server->up, server->down);
}

/* From a host of its own to another port of the server. */
static void tcp_open(struct star *star)
{
	struct soft_io *src = vnet_node(&star->net, "10.0.255.1", 5001);
	struct soft_io *dst = vnet_node(&star->net, "10.0.0.1", 5001);

	vnet_route(src, vlink_create(&star->net, &star->opts.up, NULL),
		   vlink_create(&star->net, &star->opts.up, NULL));
	vnet_route(dst, star->server.up, star->server.down);
	star->tcp = cubic_open(&star->net, src, dst);
}

struct star *star_open(const struct star_opts *opts, uint64_t seed)
{
	struct star *star = calloc(1, sizeof(*star));
	int i, cqe = opts->clients * (opts->depth ? opts->depth : 4) + 1;

	if (!star)
		must(-1, "memory");
	star->opts = *opts;
	if (!star->opts.len)
		star->opts.len = STAR_MEM;
	if (!star->opts.depth)
		star->opts.depth = 4;
	if (!star->opts.pair.mtu)
		star->opts.pair.mtu = 4096;
	/* As connections have by default. */
	star->opts.pair.rd_atomic = star->opts.pair.max_dest_rd_atomic = 16;
	softpair_defaults(&star->opts.pair);
	vnet_init(&star->net, seed);
	star->started = star->net.now;
	star->mem = calloc(1, STAR_MEM);
	star->client = calloc(opts->clients, sizeof(*star->client));
	if (!star->mem || !star->client)
		must(-1, "memory");
	host_open(star, &star->server, 0, cqe);
	server_link(star, opts->server);
	if (opts->behind)
		star->trunk = vlink_create(&star->net, &opts->trunk, NULL);
	for (i = 0; i < opts->clients; i++)
		client_open(star, i);
	if (opts->tcp)
		tcp_open(star);
	if (opts->pull)
		vnet_program(star->server.io, server_run, star);
	return star;
}

void star_close(struct star *star)
{
	int i;

	for (i = 0; i < star->opts.clients; i++) {
		pier__soft_qp_destroy(star->client[i].qp);
		pier__soft_qp_destroy(star->client[i].peer);
		host_close(&star->client[i].host);
	}
	host_close(&star->server);
	if (star->tcp)
		cubic_close(star->tcp);
	vnet_fini(&star->net);
	free(star->client);
	free(star->mem);
	free(star);
}

void star_run(struct star *star, uint64_t ns)
{
	vnet_run(&star->net, ns, NULL, NULL);
}

uint64_t star_bytes(const struct star *star, int i)
{
	const struct soft_req *req = &star->client[i].requester->req;
	uint64_t first = (UINT64_C(1) << 32) +
			 star->opts.pair.psn[star->opts.pull];

	return (req->una - first) * star->opts.pair.mtu;
}
