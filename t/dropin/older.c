/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#include "t/lib/tap.h"

/*
 * Calls of programs that are older than the headers here: copies of what the
 * kernel passes, and the first version of calls, which fails.
 */
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst,
				struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst,
				struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst,
				 struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst,
			       struct ibv_sa_path_rec *src);

typedef uint64_t guid_call(struct ibv_device *dev);

/* Members have other values each, from @first on. */
static struct ib_uverbs_ah_attr kernel_ah(uint8_t first)
{
	struct ib_uverbs_ah_attr ah = {
		.grh = { .flow_label = 0x10000u + first,
			 .sgid_index = (uint8_t)(first + 1),
			 .hop_limit = (uint8_t)(first + 2),
			 .traffic_class = (uint8_t)(first + 3) },
		.dlid = (uint16_t)(0x100 + first),
		.sl = (uint8_t)(first + 4),
		.src_path_bits = (uint8_t)(first + 5),
		.static_rate = (uint8_t)(first + 6),
		.is_global = 1,
		.port_num = (uint8_t)(first + 7),
	};

	memset(ah.grh.dgid, first, sizeof(ah.grh.dgid));
	return ah;
}

static void ah_is(const struct ibv_ah_attr *ah, uint8_t first)
{
	IS(ah->grh.dgid.raw[0], first);
	IS(ah->grh.dgid.raw[15], first);
	IS(ah->grh.flow_label, 0x10000u + first);
	IS(ah->grh.sgid_index, first + 1);
	IS(ah->grh.hop_limit, first + 2);
	IS(ah->grh.traffic_class, first + 3);
	IS(ah->dlid, 0x100 + first);
	IS(ah->sl, first + 4);
	IS(ah->src_path_bits, first + 5);
	IS(ah->static_rate, first + 6);
	IS(ah->is_global, 1);
	IS(ah->port_num, first + 7);
}

static void an_address_is_copied_from_the_kernel(void)
{
	struct ib_uverbs_ah_attr from = kernel_ah(20);
	struct ibv_ah_attr to = { 0 };

	ibv_copy_ah_attr_from_kern(&to, &from);
	ah_is(&to, 20);
}

static void numbers_are(const struct ibv_qp_attr *to)
{
	IS(to->path_mtu, IBV_MTU_2048);
	IS(to->path_mig_state, IBV_MIG_REARM);
	IS(to->qkey, 101);
	IS(to->rq_psn, 102);
	IS(to->sq_psn, 103);
	IS(to->dest_qp_num, 104);
	IS(to->qp_access_flags, IBV_ACCESS_REMOTE_READ);
	IS(to->cap.max_send_wr, 105);
	IS(to->cap.max_recv_wr, 106);
	IS(to->cap.max_send_sge, 107);
	IS(to->cap.max_recv_sge, 108);
	IS(to->cap.max_inline_data, 109);
	IS(to->pkey_index, 110);
	IS(to->alt_pkey_index, 111);
	IS(to->en_sqd_async_notify, 1);
	IS(to->sq_draining, 2);
	IS(to->max_rd_atomic, 3);
	IS(to->max_dest_rd_atomic, 4);
	IS(to->min_rnr_timer, 5);
	IS(to->port_num, 6);
	IS(to->timeout, 7);
	IS(to->retry_cnt, 8);
	IS(to->rnr_retry, 9);
	IS(to->alt_port_num, 10);
	IS(to->alt_timeout, 11);
}

static void attributes_of_a_queue_pair_are_copied_from_the_kernel(void)
{
	struct ib_uverbs_qp_attr from = {
		.qp_state = IBV_QPS_ERR, .cur_qp_state = IBV_QPS_SQD,
		.path_mtu = IBV_MTU_2048, .path_mig_state = IBV_MIG_REARM,
		.qkey = 101, .rq_psn = 102, .sq_psn = 103, .dest_qp_num = 104,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
		.ah_attr = kernel_ah(30), .alt_ah_attr = kernel_ah(40),
		.max_send_wr = 105, .max_recv_wr = 106, .max_send_sge = 107,
		.max_recv_sge = 108, .max_inline_data = 109,
		.pkey_index = 110, .alt_pkey_index = 111,
		.en_sqd_async_notify = 1, .sq_draining = 2,
		.max_rd_atomic = 3, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 5, .port_num = 6, .timeout = 7,
		.retry_cnt = 8, .rnr_retry = 9, .alt_port_num = 10,
		.alt_timeout = 11,
	};
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_RTR };

	ibv_copy_qp_attr_from_kern(&to, &from);
	IS(to.qp_state, IBV_QPS_RTR);		/* that of the caller */
	IS(to.cur_qp_state, IBV_QPS_SQD);
	ah_is(&to.ah_attr, 30);
	ah_is(&to.alt_ah_attr, 40);
	numbers_are(&to);
}

static struct ib_user_path_rec kernel_path(void)
{
	struct ib_user_path_rec path = {
		.dgid = { 1, [15] = 2 }, .sgid = { 3, [15] = 4 },
		.dlid = htobe16(5), .slid = htobe16(6), .raw_traffic = 7,
		.flow_label = htobe32(8), .reversible = 1, .mtu = 9,
		.pkey = htobe16(10), .hop_limit = 11, .traffic_class = 12,
		.numb_path = 13, .sl = 14, .mtu_selector = 15,
		.rate_selector = 16, .rate = 17,
		.packet_life_time_selector = 18, .packet_life_time = 19,
		.preference = 20,
	};

	return path;
}

static void a_path_is_copied_from_the_kernel(void)
{
	struct ib_user_path_rec from = kernel_path();
	struct ibv_sa_path_rec to = { 0 };

	ibv_copy_path_rec_from_kern(&to, &from);
	IS(to.dgid.raw[0], 1);
	IS(to.dgid.raw[15], 2);
	IS(to.sgid.raw[0], 3);
	IS(to.sgid.raw[15], 4);
	IS(to.dlid, htobe16(5));
	IS(to.slid, htobe16(6));
	IS(to.raw_traffic, 7);
	IS(to.flow_label, htobe32(8));
	IS(to.reversible, 1);
	IS(to.mtu, 9);
	IS(to.pkey, htobe16(10));
	IS(to.hop_limit, 11);
	IS(to.traffic_class, 12);
	IS(to.numb_path, 13);
	IS(to.sl, 14);
	IS(to.mtu_selector, 15);
	IS(to.rate_selector, 16);
	IS(to.rate, 17);
	IS(to.packet_life_time_selector, 18);
	IS(to.packet_life_time, 19);
	IS(to.preference, 20);
}

static void a_path_for_the_kernel_is_the_one_that_it_had(void)
{
	struct ib_user_path_rec from = kernel_path(), to;
	struct ibv_sa_path_rec path = { 0 };

	memset(&to, 0, sizeof(to));
	ibv_copy_path_rec_from_kern(&path, &from);
	ibv_copy_path_rec_to_kern(&to, &path);
	IS(memcmp(&to, &from, sizeof(to)), 0);
}

static void calls_of_the_first_version_fail(void)
{
	void *call = dlvsym(RTLD_DEFAULT, "ibv_get_device_guid", "IBVERBS_1.0");
	guid_call *guid;

	if (!OK(call))
		return;
	memcpy(&guid, &call, sizeof(guid));
	IS(guid(NULL), 0);
}

int main(void)
{
	TEST(an_address_is_copied_from_the_kernel);
	TEST(attributes_of_a_queue_pair_are_copied_from_the_kernel);
	TEST(a_path_is_copied_from_the_kernel);
	TEST(a_path_for_the_kernel_is_the_one_that_it_had);
	TEST(calls_of_the_first_version_fail);
	return tap_done();
}
