/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "ops/task_type.h"

const struct pier__task_type pier__task_types[] = {
	[PIER_TASK_SEND] = {
		.name = "send",
		.key = "send",
		.opcode = IBV_WR_SEND,
		.src = PIER__BUF_LOCAL,
		.build = pier__rdma_build_send,
		.kind = &pier__rdma_send,
		.empty = &pier__rdma_send,
		.may_inline = true,
	},
	[PIER_TASK_SEND_IMM] = {
		.name = "send with immediate",
		.key = "send_imm",
		.opcode = IBV_WR_SEND_WITH_IMM,
		.src = PIER__BUF_LOCAL,
		.build = pier__rdma_build_send,
		.kind = &pier__rdma_send,
		.empty = &pier__rdma_send,
		.may_inline = true,
	},
	[PIER_TASK_RECEIVE] = {
		.name = "receive",
		.key = "receive",
		.opcode = IBV_WR_SEND,
		.dst = PIER__BUF_LOCAL,
		.build = pier__rdma_build_recv,
		.kind = &pier__rdma_recv,
		.empty = &pier__rdma_recv,
		.receives = true,
	},
	[PIER_TASK_READ] = {
		.name = "read",
		.key = "read",
		.opcode = IBV_WR_RDMA_READ,
		.src = PIER__BUF_REMOTE,
		.dst = PIER__BUF_LOCAL,
		.access = PIER_REMOTE_READ,
		.build = pier__rdma_build_read,
		.kind = &pier__rdma_copy,
		.empty = &pier__rdma_nothing,
	},
	[PIER_TASK_WRITE] = {
		.name = "write",
		.key = "write",
		.opcode = IBV_WR_RDMA_WRITE,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_WRITE,
		.build = pier__rdma_build_write,
		.kind = &pier__rdma_copy,
		.empty = &pier__rdma_nothing,
		.may_inline = true,
	},
	[PIER_TASK_WRITE_IMM] = {
		.name = "write with immediate",
		.key = "write_imm",
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_WRITE,
		.build = pier__rdma_build_write,
		.kind = &pier__rdma_copy,
		.empty = &pier__rdma_nothing,
		.may_inline = true,
	},
	[PIER_TASK_COMPARE_SWAP] = {
		.name = "compare and swap",
		.key = "compare_swap",
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_ATOMIC,
		.build = pier__rdma_build_atomic,
		.kind = &pier__rdma_copy,
		.src_grows = true,
	},
	[PIER_TASK_FETCH_ADD] = {
		.name = "fetch and add",
		.key = "fetch_add",
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_ATOMIC,
		.build = pier__rdma_build_atomic,
		.kind = &pier__rdma_copy,
		.src_grows = true,
	},
	[PIER_TASK_COPY] = { .name = "copy", .key = "copy", .by_cpu = true },
	[PIER_TASK_CALL] = { .name = "call", .key = "call", .by_cpu = true },
	[PIER_TASK_HASH] = { .name = "hash", .key = "hash", .by_cpu = true },
	[PIER_TASK_GRAPH] = { .name = "graph", .key = "graph", .by_cpu = true },
	[PIER_TASK_SYNC_GET] = {
		.name = "sync event get",
		.key = "sync_get",
		.by_cpu = true,
	},
	[PIER_TASK_SYNC_SET] = {
		.name = "sync event set",
		.key = "sync_set",
		.by_cpu = true,
	},
	[PIER_TASK_SYNC_ADD] = {
		.name = "sync event add",
		.key = "sync_add",
		.by_cpu = true,
	},
	[PIER_TASK_SYNC_WAIT_GT] = {
		.name = "sync event wait for greater",
		.key = "sync_wait_gt",
		.by_cpu = true,
	},
	[PIER_TASK_SYNC_WAIT_EQ] = {
		.name = "sync event wait for equal",
		.key = "sync_wait_eq",
		.by_cpu = true,
	},
	[PIER_TASK_SYNC_WAIT_NEQ] = {
		.name = "sync event wait for not equal",
		.key = "sync_wait_neq",
		.by_cpu = true,
	},
	[PIER_TASK_REMOTE_GET] = {
		.name = "remote get",
		.key = "remote_get",
		.opcode = IBV_WR_RDMA_READ,
		.src = PIER__BUF_REMOTE,
		.dst = PIER__BUF_LOCAL,
		.access = PIER_REMOTE_READ,
		.build = pier__rdma_build_remote_get,
		.kind = &pier__rdma_copy,
		.event = true,
	},
	[PIER_TASK_NOTIFY_SET] = {
		.name = "notify set",
		.key = "notify_set",
		.opcode = IBV_WR_RDMA_WRITE,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_WRITE,
		.build = pier__rdma_build_notify_set,
		.kind = &pier__rdma_store,
		.may_inline = true,
		.none_grows = true,
		.event = true,
	},
	[PIER_TASK_NOTIFY_ADD] = {
		.name = "notify add",
		.key = "notify_add",
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_ATOMIC,
		.build = pier__rdma_build_atomic,
		.kind = &pier__rdma_copy,
		.src_grows = true,
		.event = true,
	},
	[PIER_TASK_COMCH_SEND] = {
		.name = "comch send",
		.key = "comch_send",
		.opcode = IBV_WR_SEND_WITH_IMM,
	},
	[PIER_TASK_COMCH_RECEIVE] = {
		.name = "comch receive",
		.key = "comch_receive",
		.opcode = IBV_WR_SEND,
	},
	[PIER_TASK_COMCH_PRODUCE] = {
		.name = "comch produce",
		.key = "comch_produce",
		.opcode = IBV_WR_SEND,
	},
	[PIER_TASK_COMCH_REQUEST] = {
		.name = "comch request",
		.key = "comch_request",
		.opcode = IBV_WR_SEND_WITH_IMM,
	},
};

const unsigned int pier__task_type_count =
	sizeof(pier__task_types) / sizeof(pier__task_types[0]);

static bool is_valid(enum pier_task_type type)
{
	return (unsigned int)type < pier__task_type_count;
}

const char *pier_task_type_name(enum pier_task_type type)
{
	return is_valid(type) ? pier__task_types[type].name : "unknown";
}

const char *pier_task_type_key(enum pier_task_type type)
{
	return is_valid(type) ? pier__task_types[type].key : "unknown";
}

int pier__task_type_lacks(const struct pier__task_type *type,
			  const struct pier__port *port)
{
	return pier__fail(-EOPNOTSUPP, "%s: %s has no such operation",
			  type->name, port->name);
}

int pier_devinfo_can_task(const struct pier_devinfo *info,
			  enum pier_task_type type)
{
	if (!info)
		return pier__no_object(__func__);
	if (!is_valid(type))
		return pier__fail(-EINVAL, "unknown task type %d: 0 to %u",
				  (int)type, pier__task_type_count - 1);
	if (pier__task_types[type].by_cpu ||
	    pier__task_type_fits(&pier__task_types[type], &info->port.limits))
		return 0;
	return pier__task_type_lacks(&pier__task_types[type], &info->port);
}
