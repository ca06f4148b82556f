/* SPDX-License-Identifier: BSD-2-Clause */
/* Constants of verbs in words. */
#include "dropin/dropin.h"
#include "dropin/private.h"

/* In the header of rdma-core from 49 on. */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

static const char *word(const char *const *words, size_t count, long i)
{
	if (i < 0 || (size_t)i >= count || !words[i])
		return "unknown";
	return words[i];
}

const char *ibv_node_type_str(enum ibv_node_type node_type)
{
	static const char *const words[] = {
		[IBV_NODE_CA] = "InfiniBand channel adapter",
		[IBV_NODE_SWITCH] = "InfiniBand switch",
		[IBV_NODE_ROUTER] = "InfiniBand router",
		[IBV_NODE_RNIC] = "iWARP NIC",
		[IBV_NODE_USNIC] = "usNIC",
		[IBV_NODE_USNIC_UDP] = "usNIC UDP",
		[IBV_NODE_UNSPECIFIED] = "unspecified",
	};

	return word(words, sizeof(words) / sizeof(*words), node_type);
}

/* Programs print these and look for them in what others printed. */
const char *ibv_port_state_str(enum ibv_port_state port_state)
{
	static const char *const words[] = {
		[IBV_PORT_NOP] = "no state change (NOP)",
		[IBV_PORT_DOWN] = "PORT_DOWN",
		[IBV_PORT_INIT] = "PORT_INIT",
		[IBV_PORT_ARMED] = "PORT_ARMED",
		[IBV_PORT_ACTIVE] = "PORT_ACTIVE",
		[IBV_PORT_ACTIVE_DEFER] = "PORT_ACTIVE_DEFER",
	};

	return word(words, sizeof(words) / sizeof(*words), port_state);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	static const char *const words[] = {
		[IBV_EVENT_CQ_ERR] = "completion queue overrun",
		[IBV_EVENT_QP_FATAL] = "queue pair failed",
		[IBV_EVENT_QP_REQ_ERR] = "invalid request of the peer",
		[IBV_EVENT_QP_ACCESS_ERR] = "access violation by the peer",
		[IBV_EVENT_COMM_EST] = "communication established",
		[IBV_EVENT_SQ_DRAINED] = "send queue drained",
		[IBV_EVENT_PATH_MIG] = "path migrated",
		[IBV_EVENT_PATH_MIG_ERR] = "path migration failed",
		[IBV_EVENT_DEVICE_FATAL] = "device failed",
		[IBV_EVENT_PORT_ACTIVE] = "port is active",
		[IBV_EVENT_PORT_ERR] = "port is down",
		[IBV_EVENT_LID_CHANGE] = "LID changed",
		[IBV_EVENT_PKEY_CHANGE] = "P_Key table changed",
		[IBV_EVENT_SM_CHANGE] = "subnet manager changed",
		[IBV_EVENT_SRQ_ERR] = "shared receive queue failed",
		[IBV_EVENT_SRQ_LIMIT_REACHED] =
			"shared receive queue is at its limit",
		[IBV_EVENT_QP_LAST_WQE_REACHED] =
			"last receive of a queue pair was taken",
		[IBV_EVENT_CLIENT_REREGISTER] = "clients are to reregister",
		[IBV_EVENT_GID_CHANGE] = "GID table changed",
		[IBV_EVENT_WQ_FATAL] = "work queue failed",
	};

	return word(words, sizeof(words) / sizeof(*words), event);
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const words[] = {
		[IBV_WC_SUCCESS] = "success",
		[IBV_WC_LOC_LEN_ERR] = "local length error",
		[IBV_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[IBV_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
		[IBV_WC_LOC_PROT_ERR] = "local protection error",
		[IBV_WC_WR_FLUSH_ERR] = "flushed: the QP is in error",
		[IBV_WC_MW_BIND_ERR] = "memory window bind error",
		[IBV_WC_BAD_RESP_ERR] = "bad response",
		[IBV_WC_LOC_ACCESS_ERR] = "local access error",
		[IBV_WC_REM_INV_REQ_ERR] = "remote: invalid request",
		[IBV_WC_REM_ACCESS_ERR] = "remote: access error",
		[IBV_WC_REM_OP_ERR] = "remote: operation error",
		[IBV_WC_RETRY_EXC_ERR] = "retries exceeded: no answer",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR retries exceeded",
		[IBV_WC_LOC_RDD_VIOL_ERR] = "local RDD violation",
		[IBV_WC_REM_INV_RD_REQ_ERR] = "remote: invalid RD request",
		[IBV_WC_REM_ABORT_ERR] = "remote: aborted",
		[IBV_WC_INV_EECN_ERR] = "invalid EE context number",
		[IBV_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
		[IBV_WC_FATAL_ERR] = "fatal error",
		[IBV_WC_RESP_TIMEOUT_ERR] = "response timed out",
		[IBV_WC_GENERAL_ERR] = "general error",
		[IBV_WC_TM_ERR] = "tag matching error",
		[IBV_WC_TM_RNDV_INCOMPLETE] = "tag matching: incomplete "
					      "rendezvous",
	};

	return word(words, sizeof(words) / sizeof(*words), status);
}

/* Public, with the version of a private name. */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode)
{
	static const char *const words[] = {
		[IBV_WR_RDMA_WRITE] = "rdma-write",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "rdma-write-with-imm",
		[IBV_WR_SEND] = "send",
		[IBV_WR_SEND_WITH_IMM] = "send-with-imm",
		[IBV_WR_RDMA_READ] = "rdma-read",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "atomic-cmp-and-swp",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "atomic-fetch-and-add",
		[IBV_WR_LOCAL_INV] = "local-inv",
		[IBV_WR_BIND_MW] = "bind-mw",
		[IBV_WR_SEND_WITH_INV] = "send-with-inv",
		[IBV_WR_TSO] = "tso",
		[IBV_WR_DRIVER1] = "driver1",
		[14] = "flush",		/* newer than some headers */
		[15] = "atomic-write",
	};

	return word(words, sizeof(words) / sizeof(*words), opcode);
}

PRIVATE_SINCE_34(ibv_wr_opcode_str, ibv_wr_opcode_str);
