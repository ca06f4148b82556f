/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "t/lib/capture.h"
#include "t/lib/tap.h"
#include "t/lib/vnet.h"

/*
 * What a kernel's requester sent, played to the soft responder: the answers
 * must be the same bytes as the kernel's responder gave, identification and
 * ICRC aside.  Queue pair numbers, addresses and keys are translated.
 */
#define MEM (1u << 20)
#define WORD 0x80000
#define RECV (128u << 10)	/* bytes of a receive */
#define RECEIVES 64

/* A connection of a capture, as t/data/roce/cases has it. */
struct conn {
	uint32_t requester, responder;	/* QPNs */
	uint32_t psn, mtu, rkey;
	uint64_t va;
	int access;
	unsigned int rd_atomic, min_rnr_timer;
};

static struct vnet net;
static struct soft_io *io;
static struct soft_mr_table *keys;
static struct soft_ep *ep;
static struct soft_cq *cq;
static struct soft_srq *srq;
static struct soft_qp *qp;
static struct soft_mr mr[2];	/* what the peer uses; what receives fill */
static _Alignas(4096) uint8_t mem[MEM], inbox[RECV];

static struct vnet_packet *want, *got;	/* answers */
static uint32_t want_count, gots, frames[512];
static bool resumed;		/* there are READs that go on in the middle */

static bool catch(const struct vnet_packet *packet, void *arg)
{
	(void)arg;
	if (gots < 512)
		got[gots++] = *packet;
	return false;
}

static void memory_fill(void)
{
	uint64_t word = 0x0123456789abcdefu;
	uint32_t i;

	for (i = 0; i < MEM; i++)
		mem[i] = i * 11 + 5 + (i >> 8);
	memcpy(mem + WORD, &word, 8);
}

static void qp_open(const struct conn *conn, const struct vnet_packet *first)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_send_sge = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = conn->access };
	struct soft_addr src = first->dst;

	IS(pier__soft_qp_create(cq, srq, &cap, &qp), 0);
	IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, NULL, 0),
	   0);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_256;
	while (128u << attr.path_mtu < conn->mtu)
		attr.path_mtu++;
	attr.dest_qp_num = conn->requester;
	attr.rq_psn = conn->psn;
	attr.max_dest_rd_atomic = conn->rd_atomic;
	attr.min_rnr_timer = conn->min_rnr_timer;
	memcpy(&attr.ah_attr.grh.dgid, &first->src.ip, 16);
	IS(pier__soft_qp_modify(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				IBV_QP_MIN_RNR_TIMER, &src, ROCE_UDP_PORT), 0);
}

static void receives_post(uint32_t len, bool bad_key)
{
	struct ibv_sge sge = { .addr = (uintptr_t)inbox, .length = len,
			       .lkey = mr[1].mr.lkey ^ bad_key };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int i;

	for (i = 0; i < RECEIVES; i++)
		pier__soft_srq_post(srq, &wr, &bad);
}

static void responder_open(const struct conn *conn,
			   const struct vnet_packet *first)
{
	char ip[INET6_ADDRSTRLEN];

	vnet_init(&net, 1);
	net.tap = catch;
	inet_ntop(AF_INET6, &first->dst.ip, ip, sizeof(ip));
	io = vnet_node(&net, ip, ROCE_UDP_PORT);
	IS(pier__soft_mr_table_create(&keys), 0);
	IS(pier__soft_ep_create(io, keys, &ep), 0);
	vnet_attach(io, ep);
	IS(pier__soft_cq_create(ep, 256, &cq), 0);
	IS(pier__soft_srq_create(ep, RECEIVES, 1, &srq), 0);
	memory_fill();
	mr[0] = (struct soft_mr) { .addr = (uintptr_t)mem, .len = MEM,
				   .access = conn->access };
	mr[1] = (struct soft_mr) { .addr = (uintptr_t)inbox, .len = RECV,
				   .access = IBV_ACCESS_LOCAL_WRITE };
	/* The rights are tested as those of the QP. */
	mr[0].access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	IS(pier__soft_mr_add(keys, &mr[0]), 0);
	IS(pier__soft_mr_add(keys, &mr[1]), 0);
	qp_open(conn, first);
}

static void responder_close(void)
{
	pier__soft_mr_remove(keys, &mr[0]);
	pier__soft_mr_remove(keys, &mr[1]);
	pier__soft_qp_destroy(qp);
	pier__soft_srq_destroy(srq);
	pier__soft_cq_destroy(cq);
	pier__soft_ep_destroy(ep);
	pier__soft_mr_table_destroy(keys);
	vnet_fini(&net);
}

/* The captured request as it would have been to us. */
static void translate(const struct conn *conn, struct vnet_packet *packet)
{
	struct soft_hdr hdr;
	struct soft_tx tx = { .src = packet->src, .dst = packet->dst };
	size_t len = pier__soft_decode(packet->data, packet->len, &hdr);
	struct vnet_packet out;

	hdr.qpn = qp->qpn;
	if (hdr.rkey)
		hdr.rkey ^= conn->rkey ^ mr[0].mr.rkey;
	if (hdr.va)
		hdr.va += (uintptr_t)mem - conn->va;
	tx.pad = hdr.pad;
	tx.hdr_len = pier__soft_encode(&hdr, tx.hdr);
	tx.payload_len = packet->len - len - hdr.pad - 4;
	tx.iov_count = 1;
	tx.iov[0].iov_base = packet->data + len;
	tx.iov[0].iov_len = tx.payload_len;
	vnet_build(&net, &tx, &out);
	*packet = out;
}

/* Play the requests of @conn in @name, but the frame @lost. */
static bool play(const char *name, const struct conn *conn, unsigned int lost,
		 uint32_t recv_len, bool bad_key)
{
	struct vnet_packet packet;
	struct soft_hdr hdr;
	struct capture capture;
	bool open = false;

	if (!capture_open(name, &capture))
		return false;
	want_count = 0;
	gots = 0;
	while (capture_next(&capture, &packet)) {
		pier__soft_decode(packet.data, packet.len, &hdr);
		if (hdr.qpn == conn->requester) {
			frames[want_count] = capture.frame;
			want[want_count++] = packet;
		}
		if (hdr.qpn != conn->responder || capture.frame == lost)
			continue;
		if (!open) {
			responder_open(conn, &packet);
			receives_post(recv_len, bad_key);
		}
		open = true;
		translate(conn, &packet);
		vnet_deliver(&net, &packet);
		vnet_settle(&net);
	}
	capture_close(&capture);
	if (open)
		responder_close();
	return OK(open);
}

/*
 * A READ that goes on in its middle is a request of its own, so that its first
 * answer is a First or Only; the kernel goes on with Middle or Last.
 */
static bool same_resumed(const struct vnet_packet *x,
			 const struct vnet_packet *y)
{
	struct soft_hdr hx, hy;
	size_t lx = pier__soft_decode(x->data, x->len, &hx);
	size_t ly = pier__soft_decode(y->data, y->len, &hy);

	if (!(hx.opcode == SOFT_READ_FIRST && hy.opcode == SOFT_READ_MIDDLE) &&
	    !(hx.opcode == SOFT_READ_ONLY && hy.opcode == SOFT_READ_LAST))
		return false;
	return hx.psn == hy.psn && hx.qpn == hy.qpn && hx.pad == hy.pad &&
	       x->len - lx == y->len - ly &&
	       !memcmp(x->data + lx, y->data + ly, x->len - lx - 4);
}

static bool same(const struct vnet_packet *x, const struct vnet_packet *y)
{
	if (!IN6_ARE_ADDR_EQUAL(&x->src.ip, &y->src.ip) ||
	    !IN6_ARE_ADDR_EQUAL(&x->dst.ip, &y->dst.ip))
		return false;
	return (x->len == y->len && !memcmp(x->data, y->data, x->len - 4)) ||
	       (resumed && same_resumed(x, y));
}

static void show(const char *what, const struct vnet_packet *packet)
{
	char text[3 * 24 + 1] = "";
	size_t i;

	for (i = 0; i < 24 && i < packet->len; i++)
		sprintf(text + 3 * i, "%02x ", packet->data[i]);
	tap_note("%s: %s(%zu bytes)", what, text, packet->len);
}

/* @gaps: answers may be missing in the capture, as they were lost. */
static bool compare(bool gaps)
{
	uint32_t g = 0, w;

	for (w = 0; w < want_count; w++, g++) {
		while (gaps && g < gots && !same(&got[g], &want[w]))
			g++;
		if (g >= gots)
			break;
		if (!same(&got[g], &want[w])) {
			show("got ", &got[g]);
			show("want", &want[w]);
			break;
		}
	}
	if (w < want_count)
		tap_note("answer %u of %u, frame %u", w + 1, want_count,
			 frames[w]);
	return IS(w, want_count) && (gaps || IS(gots, want_count));
}

/* The lines of the table of connections, one by one. */
static bool next_conn(FILE *file, const char *name, struct conn *ret)
{
	char line[256], capture[64];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %u %u %u %u %" SCNx64
			   " %x %d %u %u", capture, &ret->requester,
			   &ret->responder, &ret->psn, &ret->mtu, &ret->va,
			   &ret->rkey, &ret->access, &ret->rd_atomic,
			   &ret->min_rnr_timer) == 10 &&
		    !strcmp(capture, name))
			return true;
	return false;
}

static void replay(const char *name, unsigned int lost, bool gaps)
{
	FILE *file = fopen(capture_path("cases", ""), "r");
	struct conn conn;
	int conns = 0;

	if (!OK(file))
		return;
	for (; next_conn(file, name, &conn); conns++)
		if (!play(name, &conn, lost, RECV, false) || !compare(gaps))
			tap_note("%s, connection %d", name, conns + 1);
	OK(conns > 0);
	fclose(file);
}

static void plain_operations_are_answered_like_the_kernel(void)
{
	static const char *const names[] = {
		"rc-send", "rc-send-imm", "rc-write", "rc-write-imm",
		"rc-read", "rc-atomic-cas", "rc-atomic-faa", "rc-batch",
		"rc-fence", "rc-long", "rc-mtu", "rc-psn-wrap",
		"rc-rdatomic",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		replay(names[i], 0, false);
}

static void operations_over_ipv6_are_answered_like_the_kernel(void)
{
	replay("rc-mix6", 0, false);
}

static void lost_requests_are_answered_like_the_kernel(void)
{
	replay("rc-retry-lastlost", 5, false);
	replay("rc-retry-readreqlost", 1, false);
	replay("rc-retry-reqlost", 2, false);
	replay("rc-retry-writelost", 1, false);
}

static void lost_answers_are_repeated_like_the_kernel(void)
{
	replay("rc-retry-ackcoalesced", 0, false);
	replay("rc-retry-acklost", 0, false);
	replay("rc-retry-atomiclost", 0, false);
	replay("rc-retry-implicitnak", 0, false);
	resumed = true;
	replay("rc-retry-readlost", 0, false);
	replay("rc-retry-readlastlost", 0, false);
	resumed = false;
}

static void a_bad_network_is_answered_like_the_kernel(void)
{
	replay("rc-dup", 0, false);
	replay("rc-reorder", 0, false);
	resumed = true;
	replay("rc-retry", 0, true);
	resumed = false;
}

static void access_errors_are_answered_like_the_kernel(void)
{
	replay("rc-nak-access", 0, false);
}
/* Where rxe has "operational error" for too long a SEND, soft does not. */
static void invalid_requests_are_answered_by_the_specification(void)
{
	static const uint32_t recv_len[] = { 64, 1024, RECV, RECV, RECV };
	FILE *file = fopen(capture_path("cases", ""), "r");
	struct conn conn;
	uint32_t i;

	if (!OK(file))
		return;
	for (i = 0; next_conn(file, "rc-nak-inval", &conn); i++) {
		if (!play("rc-nak-inval", &conn, 0, recv_len[i], false))
			break;
		if (i < 2 && OK(want_count > 0) &&
		    IS(want[want_count - 1].data[12], 0x63))
			want[want_count - 1].data[12] = 0x61;
		compare(false);
	}
	IS(i, 5);
	fclose(file);
}

static void a_broken_receive_is_answered_like_the_kernel(void)
{
	FILE *file = fopen(capture_path("cases", ""), "r");
	struct conn conn;

	if (!OK(file))
		return;
	OK(next_conn(file, "rc-nak-op", &conn));
	if (play("rc-nak-op", &conn, 0, RECV, true))
		compare(false);
	fclose(file);
}

int main(void)
{
	want = calloc(512, sizeof(*want));
	got = calloc(512, sizeof(*got));
	if (!want || !got)
		return 1;
	TEST(plain_operations_are_answered_like_the_kernel);
	TEST(operations_over_ipv6_are_answered_like_the_kernel);
	TEST(lost_requests_are_answered_like_the_kernel);
	TEST(lost_answers_are_repeated_like_the_kernel);
	TEST(a_bad_network_is_answered_like_the_kernel);
	TEST(access_errors_are_answered_like_the_kernel);
	TEST(invalid_requests_are_answered_by_the_specification);
	TEST(a_broken_receive_is_answered_like_the_kernel);
	free(want);
	free(got);
	return tap_done();
}
