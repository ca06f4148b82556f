/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>

#include <pier/mmap.h>

#include "cm/queues.h"
#include "core/copy.h"
#include "core/fail.h"
#include "ops/limit.h"
#include "ops/task_type.h"
#include "ops/type_tasks.h"

#define ACCESS_ALL (PIER_REMOTE_READ | PIER_REMOTE_WRITE | PIER_REMOTE_ATOMIC)

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

#define FIELD(name) #name, offsetof(struct pier_rdma_config, name)

/* Fields whose default and range are the same on every device. */
static const struct config_field {
	const char *name;
	size_t offset;
	uint32_t def, min, max;
} fields[] = {
	{ FIELD(max_conns), 64, 1, PIER__CONNS_MAX },
	{ FIELD(send_queue), 256, 1, PIER__QUEUE_MAX },
	{ FIELD(recv_queue), 256, 1, PIER__QUEUE_MAX },
	{ FIELD(conn_send_queue), 64, 1, PIER__QUEUE_MAX },
	{ FIELD(send_chain), 4, 1, PIER__CHAIN_MAX },
	{ FIELD(recv_chain), 4, 1, PIER__CHAIN_MAX },
	{ FIELD(ack_timeout), 14, 1, 31 },
	{ FIELD(retry_count), 6, 1, 6 },
	{ FIELD(rnr_retry), 7, 0, 7 },
	{ FIELD(min_rnr_timer), 12, 1, 31 },
	{ FIELD(max_rd_atomic), 16, 1, PIER__RD_ATOMIC_MAX },
	{ FIELD(traffic_class), 0, 0, 255 },
	{ FIELD(hop_limit), 64, 1, 255 },
	{ FIELD(pkey_index), 0, 0, UINT16_MAX },
	{ FIELD(service_level), 0, 0, 15 },
	{ FIELD(drain_ms), 2000, 1, INT32_MAX },
	{ FIELD(connect_timeout_ms), 60000, 1, INT32_MAX },
	{ FIELD(keepalive_ms), 5000, 0, INT32_MAX },
	{ FIELD(rnr_timeout_ms), 0, 0, INT32_MAX },
	{ FIELD(shm), 0, 0, PIER_SHM_REQUIRE },
	{ FIELD(events), 0, 0, PIER_EVENTS_ON },
	{ FIELD(access), ACCESS_ALL, 0, ACCESS_ALL },
};

static int settle_fields(struct pier_rdma_config *c)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !err; i++)
		err = pier__config_u32((uint32_t *)((char *)c +
						    fields[i].offset),
				       fields[i].name, fields[i].def,
				       fields[i].min, fields[i].max);
	return err;
}

/* No more than the device has; some of a connection's requests are pier's. */
static void clamp(struct pier_rdma_config *c, const struct pier__port *port)
{
	const struct {
		uint32_t *field;
		enum pier_limit limit;
	} rows[] = {
		{ &c->max_conns, PIER_LIMIT_CONNS },
		{ &c->recv_queue, PIER_LIMIT_RECV_QUEUE },
		{ &c->send_queue, PIER_LIMIT_CTX_SENDS },
		{ &c->send_chain, PIER_LIMIT_SEND_SGE },
		{ &c->recv_chain, PIER_LIMIT_RECV_SGE },
		{ &c->inline_size, PIER_LIMIT_INLINE },
		{ &c->max_rd_atomic, PIER_LIMIT_RD_ATOMIC },
	};
	uint64_t requests = pier__port_limit(port, PIER_LIMIT_SEND_QUEUE);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		*rows[i].field = least(*rows[i].field,
				       pier__port_limit(port, rows[i].limit));
	c->conn_send_queue = least(c->conn_send_queue, c->send_queue);
	c->conn_send_queue = least(c->conn_send_queue,
				   requests - PIER__CTL_WRS);
}

/* 0 stays: the port's may change. */
static int settle_mtu(struct pier_rdma_config *c, const struct pier__port *port)
{
	uint32_t most = 128u << port->mtu;

	if (c->mtu && (c->mtu < 256 || c->mtu > 4096 ||
		       (c->mtu & (c->mtu - 1))))
		return pier__fail(-EINVAL, "mtu %u: 256 to 4096, 0 for the "
				  "port's; a power of two", c->mtu);
	c->mtu = least(c->mtu, most);
	return 0;
}

static int check(const struct pier_rdma_config *c,
		 const struct pier__port *port)
{
	char has[PIER__ACCESS_TEXT];

	if (c->access & ~(uint32_t)ACCESS_ALL)
		return pier__fail(-EINVAL, "access %s: PIER_REMOTE_READ, "
				  "_WRITE and _ATOMIC only",
				  pier__access_text(c->access, has));
	if (c->gid_index != PIER_ZERO && c->gid_index > UINT8_MAX)
		return pier__fail(-EINVAL, "gid_index %u: 0 to 255",
				  c->gid_index);
	if (c->pkey_index && c->pkey_index >= port->limits.pkeys)
		return pier__fail(-EINVAL, "pkey_index %u: %s has %u P_Keys",
				  c->pkey_index, port->name,
				  port->limits.pkeys);
	return 0;
}

static bool sends(enum pier_task_type type)
{
	return type < pier__task_type_count && pier__task_types[type].kind &&
	       !pier__task_types[type].receives;
}

static bool receives(enum pier_task_type type)
{
	return type == PIER_TASK_RECEIVE;
}

static bool is_ours(enum pier_task_type type)
{
	return sends(type) || receives(type);
}

bool pier__rdma_has_numbers(const struct pier_rdma_config *cfg)
{
	return pier__type_tasks_sum(cfg->type_tasks, sends) != 0;
}

/* At least @least, if that is not the default. */
static void raise(uint32_t *field, uint32_t least)
{
	if (*field < least)
		*field = least;
}

/* The queues have space for what has numbers. */
static int settle_types(struct pier_rdma_config *c)
{
	int err = pier__type_tasks_check(c->type_tasks, is_ours,
					 "an RDMA context");

	if (!err)
		err = pier__type_tasks_settle(c->type_tasks, sends,
					      &c->send_tasks, "send_tasks");
	if (!err)
		err = pier__type_tasks_settle(c->type_tasks, receives,
					      &c->recv_tasks, "recv_tasks");
	if (err)
		return err;
	if (pier__rdma_has_numbers(c)) {
		raise(&c->send_queue, c->send_tasks);
		raise(&c->conn_send_queue, c->send_tasks);
	}
	raise(&c->recv_queue, c->type_tasks[PIER_TASK_RECEIVE]);
	return 0;
}

static void settle_flag(uint32_t *flag)
{
	if (*flag == PIER_ZERO)
		*flag = 0;
}

int pier__rdma_settle(struct pier_rdma_config *cfg,
		      const struct pier__port *port)
{
	struct pier_rdma_config c = *cfg;
	int err = settle_types(&c);

	if (!err)
		err = settle_fields(&c);
	if (!err)
		err = pier__config_u32(&c.inline_size, "inline_size",
				       port->limits.inline_free, 0,
				       PIER__INLINE_MAX);
	if (!err)
		err = settle_mtu(&c, port);
	if (err)
		return err;
	clamp(&c, port);
	err = pier__config_u32(&c.send_tasks, "send_tasks", c.send_queue, 1,
			       PIER__TASKS_MAX);
	if (!err)
		err = pier__config_u32(&c.recv_tasks, "recv_tasks",
				       c.recv_queue, 1, PIER__TASKS_MAX);
	if (!err)
		err = check(&c, port);
	if (err)
		return err;
	settle_flag(&c.stop_on_task_error);
	settle_flag(&c.no_hello);
	settle_flag(&c.empty_bufs);
	*cfg = c;
	return 0;
}

static void state_zero(uint32_t *field)
{
	if (!*field)
		*field = PIER_ZERO;
}

void pier__rdma_restate(struct pier_rdma_config *cfg,
			const struct pier__port *port)
{
	uint32_t most = 128u << port->mtu;

	cfg->mtu = cfg->mtu ? least(cfg->mtu, most) : most;
	state_zero(&cfg->inline_size);
	state_zero(&cfg->access);
	state_zero(&cfg->rnr_retry);
	state_zero(&cfg->keepalive_ms);
}

/* The GID index asked for, or PIER__GID_ANY. */
static int gid_index(const struct pier_rdma_config *cfg)
{
	if (!cfg->gid_index)
		return PIER__GID_ANY;
	return cfg->gid_index == PIER_ZERO ? 0 : (int)cfg->gid_index;
}

void pier__rdma_conn_config(const struct pier_rdma_config *cfg,
			    struct pier__queues_config *ret)
{
	*ret = (struct pier__queues_config){
		.max_conns = cfg->max_conns,
		.send_queue = cfg->send_queue,
		.conn_send_queue = cfg->conn_send_queue,
		.recv_queue = cfg->recv_queue,
		.send_chain = cfg->send_chain,
		.recv_chain = cfg->recv_chain,
		.inline_size = cfg->inline_size,
		.access = cfg->access,
		.gid_index = gid_index(cfg),
		.mtu = cfg->mtu,
		.drain_ms = cfg->drain_ms,
		.connect_timeout_ms = cfg->connect_timeout_ms,
		.keepalive_ms = cfg->keepalive_ms,
		.rnr_timeout_ms = cfg->rnr_timeout_ms,
		.shm = cfg->shm,
		.events = cfg->events,
		.pkey_index = (uint16_t)cfg->pkey_index,
		.ack_timeout = (uint8_t)cfg->ack_timeout,
		.retry_count = (uint8_t)cfg->retry_count,
		.rnr_retry = (uint8_t)cfg->rnr_retry,
		.min_rnr_timer = (uint8_t)cfg->min_rnr_timer,
		.max_rd_atomic = (uint8_t)cfg->max_rd_atomic,
		.traffic_class = (uint8_t)cfg->traffic_class,
		.hop_limit = (uint8_t)cfg->hop_limit,
		.service_level = (uint8_t)cfg->service_level,
		.no_hello = cfg->no_hello,
	};
}
