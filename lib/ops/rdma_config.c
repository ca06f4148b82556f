/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/mmap.h>

#include "core/copy.h"
#include "core/fail.h"
#include "ops/rdma_impl.h"

#define ACCESS_ALL (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)
#define CONNS_MAX 65535u
#define QUEUE_MAX (1u << 20)

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

static int settle_sizes(struct pier_rdma_config *c,
			const struct pier__limits *l)
{
	int err;

	err = pier__config_u32(&c->max_conns, "max_conns", 64, 1, CONNS_MAX);
	if (!err)
		err = pier__config_u32(&c->send_queue, "send_queue", 256, 1,
				       QUEUE_MAX);
	if (!err)
		err = pier__config_u32(&c->recv_queue, "recv_queue", 256, 1,
				       QUEUE_MAX);
	if (!err)
		err = pier__config_u32(&c->conn_send_queue, "conn_send_queue",
				       64, 1, QUEUE_MAX);
	if (!err)
		err = pier__config_u32(&c->send_chain, "send_chain", 4, 1, 64);
	if (!err)
		err = pier__config_u32(&c->recv_chain, "recv_chain", 4, 1, 64);
	if (!err)
		err = pier__config_u32(&c->inline_size, "inline_size",
				       l->inline_free, 0, 1u << 16);
	if (err)
		return err;

	c->max_conns = least(c->max_conns, l->qps);
	c->recv_queue = least(c->recv_queue, l->srq_wr);
	c->recv_queue = least(c->recv_queue, l->cqe / 4);
	c->send_queue = least(c->send_queue, l->cqe / 4);
	c->conn_send_queue = least(c->conn_send_queue, c->send_queue);
	c->conn_send_queue = least(c->conn_send_queue, l->send_wr - 2);
	c->send_chain = least(c->send_chain, l->send_sge);
	c->recv_chain = least(c->recv_chain, l->recv_sge);
	c->inline_size = least(c->inline_size, l->inline_size);
	return 0;
}

static int settle_transport(struct pier_rdma_config *c,
			    const struct pier__limits *l)
{
	int err;

	err = pier__config_u32(&c->ack_timeout, "ack_timeout", 14, 1, 31);
	if (!err)
		err = pier__config_u32(&c->retry_count, "retry_count", 6, 1, 6);
	if (!err)
		err = pier__config_u32(&c->rnr_retry, "rnr_retry", 7, 0, 7);
	if (!err)
		err = pier__config_u32(&c->min_rnr_timer, "min_rnr_timer", 12,
				       1, 31);
	if (!err)
		err = pier__config_u32(&c->max_rd_atomic, "max_rd_atomic", 16,
				       1, 255);
	if (!err)
		err = pier__config_u32(&c->traffic_class, "traffic_class", 0,
				       0, 255);
	if (!err)
		err = pier__config_u32(&c->hop_limit, "hop_limit", 64, 1, 255);
	if (!err)
		err = pier__config_u32(&c->pkey_index, "pkey_index", 0, 0,
				       UINT16_MAX);
	if (!err)
		err = pier__config_u32(&c->service_level, "service_level", 0,
				       0, 15);
	c->max_rd_atomic = least(c->max_rd_atomic, l->rd_atomic);
	return err;
}

static int settle_times(struct pier_rdma_config *c)
{
	int err;

	err = pier__config_u32(&c->drain_ms, "drain_ms", 2000, 1, INT32_MAX);
	if (!err)
		err = pier__config_u32(&c->connect_timeout_ms,
				       "connect_timeout_ms", 60000, 1,
				       INT32_MAX);
	if (!err)
		err = pier__config_u32(&c->keepalive_ms, "keepalive_ms", 5000,
				       0, INT32_MAX);
	return err;
}

/* 0 stays: the port's may change. */
static int settle_mtu(struct pier_rdma_config *c, const struct pier__port *port)
{
	uint32_t most = 128u << port->mtu;

	if (c->mtu && (c->mtu < 256 || c->mtu > 4096 ||
		       (c->mtu & (c->mtu - 1))))
		return pier__fail(-EINVAL, "mtu %u: 256, 512, 1024, 2048, 4096 "
				  "or 0 for the port's", c->mtu);
	c->mtu = least(c->mtu, most);
	return 0;
}

int pier__rdma_settle(struct pier_rdma_config *cfg,
		      const struct pier__port *port)
{
	struct pier_rdma_config c = *cfg;
	int err;

	err = settle_sizes(&c, &port->limits);
	if (!err)
		err = settle_transport(&c, &port->limits);
	if (!err)
		err = settle_times(&c);
	if (!err)
		err = settle_mtu(&c, port);
	if (!err)
		err = pier__config_u32(&c.access, "access", ACCESS_ALL, 0,
				       ACCESS_ALL);
	if (!err)
		err = pier__config_u32(&c.send_tasks, "send_tasks",
				       c.send_queue, 1, QUEUE_MAX);
	if (!err)
		err = pier__config_u32(&c.recv_tasks, "recv_tasks",
				       c.recv_queue, 1, QUEUE_MAX);
	if (err)
		return err;
	if (c.access & ~(uint32_t)ACCESS_ALL)
		return pier__fail(-EINVAL, "access 0x%x: PIER_REMOTE_* only, "
				  "0x%x", c.access, ACCESS_ALL);
	if (c.gid_index != PIER_ZERO && c.gid_index > UINT8_MAX)
		return pier__fail(-EINVAL, "gid_index %u: 0 to 255",
				  c.gid_index);
	if (c.stop_on_task_error == PIER_ZERO)
		c.stop_on_task_error = 0;
	*cfg = c;
	return 0;
}

static void say_zero(uint32_t *field)
{
	if (!*field)
		*field = PIER_ZERO;
}

void pier__rdma_restate(struct pier_rdma_config *cfg,
			const struct pier__port *port)
{
	uint32_t most = 128u << port->mtu;

	cfg->mtu = cfg->mtu ? least(cfg->mtu, most) : most;
	say_zero(&cfg->inline_size);
	say_zero(&cfg->access);
	say_zero(&cfg->rnr_retry);
	say_zero(&cfg->keepalive_ms);
}

int pier__rdma_gid_index(const struct pier_rdma_config *cfg)
{
	if (!cfg->gid_index)
		return PIER__GID_ANY;
	return cfg->gid_index == PIER_ZERO ? 0 : (int)cfg->gid_index;
}
