/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "dropin/cma/cma.h"
#include "dropin/real/calls.h"
#include "t/lib/tap.h"
#include "t/lib/verbspair.h"

/* Calls that rdma-core has from 49 on, and that the headers here may lack. */
#define TO 4096
#define DATA 64
#define SPEED 25		/* in 100 Mbit/s: as ibv_query_port() has it */

/* struct ibv_mr_init_attr, and its masks */
struct attr {
	size_t length;
	int access;
	uint64_t mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	void *dmah, *buf;
};

enum { IOVA = 1, ADDR = 2, FD = 4, FD_OFFSET = 8, DMAH = 16, BUF = 32 };

const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

static struct verbspair pair;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

/* By the attributes that @mask has of these. */
static struct ibv_mr *region(uint64_t mask, void *buf, void *addr)
{
	struct attr attr = {
		.length = DATA, .mask = mask, .iova = TO, .addr = addr,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		.buf = buf,
	};

	errno = 0;
	return ibv_reg_mr_ex(pair.pd, (struct ibv_mr_init_attr *)&attr);
}

/* The data of the pair arrive in @mr, at the address @to. */
static void expect_write(const struct ibv_mr *mr, uint64_t to)
{
	struct ibv_sge sge = { (uintptr_t)pair.mem, DATA, pair.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = to, .rkey = mr->rkey },
	};
	struct ibv_wc wc = { 0 };

	memset(pair.mem, 0x5a, DATA);
	memset(mr->addr, 0, DATA);
	IS(ibv_post_send(pair.qp[0], &wr, &bad), 0);
	OK(verbspair_wait(&pair, &wc));
	IS(wc.status, IBV_WC_SUCCESS);
	IS(memcmp(mr->addr, pair.mem, DATA), 0);
}

static void a_region_is_registered_by_its_attributes(void)
{
	struct ibv_mr *mr;

	if (!verbspair_open(&pair))
		return;
	mr = region(ADDR, NULL, pair.mem + TO);
	if (OK(mr)) {
		expect_write(mr, (uintptr_t)mr->addr);
		IS(ibv_dereg_mr(mr), 0);
	}
	mr = region(ADDR | IOVA, NULL, pair.mem + TO);
	if (OK(mr)) {
		expect_write(mr, TO);
		IS(ibv_dereg_mr(mr), 0);
	}
	OK(verbspair_close(&pair));
}

static void expect_none(uint64_t mask, void *buf, void *addr, int err)
{
	OK(!region(mask, buf, addr));
	IS(errno, err);
}

static void attributes_that_are_no_region_are_refused(void)
{
	if (!verbspair_open(&pair))
		return;
	expect_none(0, NULL, pair.mem, EINVAL);
	expect_none(IOVA, NULL, pair.mem, EINVAL);
	expect_none(ADDR | FD, NULL, pair.mem, EINVAL);
	expect_none(ADDR | FD_OFFSET, NULL, pair.mem, EINVAL);
	expect_none(FD | FD_OFFSET | IOVA, NULL, NULL, EOPNOTSUPP);
	expect_none(ADDR | DMAH, NULL, pair.mem, EOPNOTSUPP);
	expect_none(ADDR | 64, NULL, pair.mem, EOPNOTSUPP);
	OK(verbspair_close(&pair));
}

static void memory_of_the_library_is_a_region(void)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	char *mem;

	if (!verbspair_open(&pair))
		return;
	mem = ibv_alloc_buf(pair.pd, 2 * DATA, &buf);
	if (!OK(mem))
		return;
	IS((uintptr_t)mem % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
	mr = ibv_reg_buf_mr(pair.pd, buf, mem + DATA, DATA, access);
	if (OK(mr)) {
		expect_write(mr, (uintptr_t)mr->addr);
		IS(ibv_dereg_mr(mr), 0);
	}
	expect_none(BUF, buf, mem, EINVAL);
	expect_none(ADDR | BUF, buf, mem + DATA + 1, EINVAL);
	expect_none(ADDR | BUF, buf, mem - 1, EINVAL);
	ibv_free_buf(buf);
	OK(verbspair_close(&pair));
}

static void what_soft_lacks_is_not_offered(void)
{
	struct ibv_ece ece = { 1, 2, 3 };
	struct ibv_dm dm = { 0 };

	if (!verbspair_open(&pair))
		return;
	dm.context = pair.context;
	errno = 0;
	OK(!ibv_alloc_dmah(pair.context, NULL));
	IS(errno, EOPNOTSUPP);
	IS(ibv_dealloc_dmah((struct ibv_dmah *)&dm.context), EOPNOTSUPP);
	errno = 0;
	IS(ibv_dm_export_dmabuf_fd(&dm), -1);
	IS(errno, EOPNOTSUPP);
	IS(ibv_query_qp_data_in_order(pair.qp[0], IBV_WR_RDMA_WRITE, 1), 0);
	IS(ibv_query_ece(pair.qp[0], &ece), EOPNOTSUPP);
	OK(!ece.vendor_id && !ece.options && !ece.comp_mask);
	OK(verbspair_close(&pair));
}

static void a_port_has_a_speed(void)
{
	uint64_t speed = 0;

	if (!verbspair_open(&pair))
		return;
	IS(ibv_query_port_speed(pair.context, 1, &speed), 0);
	IS(speed, SPEED);
	IS(ibv_query_port_speed(pair.context, 2, &speed), EINVAL);
	OK(verbspair_close(&pair));
}

static void opcodes_have_names(void)
{
	IS_STR(ibv_wr_opcode_str(IBV_WR_SEND_WITH_IMM), "send-with-imm");
	IS_STR(ibv_wr_opcode_str((enum ibv_wr_opcode)14), "flush");
	IS_STR(ibv_wr_opcode_str((enum ibv_wr_opcode)16), "unknown");
}

static void fails(int result, int err)
{
	IS(result, -1);
	IS(errno, err);
}

static bool set_up_id(void)
{
	channel = rdma_create_event_channel();
	return OK(channel) &&
	       IS(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
}

static void clean_up_id(void)
{
	IS(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

static void an_event_of_the_program_comes_to_its_channel(void)
{
	const enum rdma_cm_event_type user = (int)CMA_EVENT_USER;
	struct rdma_cm_event *event;
	uint64_t arg;

	if (!set_up_id())
		return;
	fails(rdma_write_cm_event(NULL, user, 0, 0), EINVAL);
	fails(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0), EINVAL);
	IS(rdma_write_cm_event(id, user, -7, UINT64_C(0x123456789a)), 0);
	IS(rdma_get_cm_event(channel, &event), 0);
	IS_STR(rdma_event_str(event->event), "RDMA_CM_EVENT_USER");
	OK(event->id == id);
	IS(event->status, -7);
	memcpy(&arg, &event->param, sizeof(arg));
	IS(arg, UINT64_C(0x123456789a));
	IS(rdma_ack_cm_event(event), 0);
	clean_up_id();
}

static void an_address_is_looked_up_with_an_event(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_OF_DNS, .ai_port_space = RDMA_PS_TCP,
	};
	struct rdma_addrinfo *info = NULL;
	struct rdma_cm_event *event;

	if (!set_up_id())
		return;
	fails(rdma_query_addrinfo(id, &info), ENOENT);
	IS(rdma_resolve_addrinfo(id, "127.0.0.1", "7", &hints), 0);
	IS(rdma_get_cm_event(channel, &event), 0);
	IS_STR(rdma_event_str(event->event),
	       "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
	IS(rdma_ack_cm_event(event), 0);
	if (IS(rdma_query_addrinfo(id, &info), 0)) {
		IS(info->ai_dst_addr->sa_family, AF_INET);
		rdma_freeaddrinfo(info);
	}
	fails(rdma_query_addrinfo(id, &info), ENOENT);
	hints.ai_flags = RAI_OF_SA;
	fails(rdma_resolve_addrinfo(id, NULL, "7", &hints), EOPNOTSUPP);
	clean_up_id();
}

int main(void)
{
	TEST(a_region_is_registered_by_its_attributes);
	TEST(attributes_that_are_no_region_are_refused);
	TEST(memory_of_the_library_is_a_region);
	TEST(what_soft_lacks_is_not_offered);
	TEST(a_port_has_a_speed);
	TEST(opcodes_have_names);
	TEST(an_event_of_the_program_comes_to_its_channel);
	TEST(an_address_is_looked_up_with_an_event);
	return tap_done();
}
