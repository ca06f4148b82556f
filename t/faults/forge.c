/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "mem/mmap_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * A requester that forges memory descriptors, so that its requests are
 * refused by the responder's device and not by pier on its own side.
 */

#define LEN 16384
#define HALF (LEN / 2)	/* what b really exports, of its memory */

static struct pier_dev *dev;
static struct peer a, b;
static struct pier_mmap *half;		/* of b */
static struct pier_conn *other_a, *other_b;	/* a second connection */

static struct pier_rdma_config cfg = {
	.size = sizeof(cfg),
	.keepalive_ms = 100,
};

/* Import what b exports of @half, with a longer range and another key. */
static struct pier_mmap *forge(size_t more, uint32_t key_bits)
{
	struct pier_mmap fake = *half, *remote = NULL;
	uint8_t desc[PIER_DESC_MAX];
	int len;

	fake.cfg.len += more;
	fake.cfg.access = PEER_ACCESS;
	fake.keys[0].rkey ^= key_bits;
	len = pier__mmap_describe(&fake, 0, desc, sizeof(desc));
	if (OK(len > 0))
		IS(pier_mmap_create_from_export(dev, desc, (size_t)len,
						&remote), 0);
	return remote;
}

/* Joined twice, with b exporting half of its memory with @access. */
static bool setup(uint32_t access)
{
	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return false;
	other_a = a.conn;
	other_b = b.conn;
	if (!peer_join(&a, &b) ||
	    !IS(pier_mmap_map(dev, b.mem, HALF, access, &half), 0))
		return false;
	memset(b.mem, 0xa5, LEN);
	peer_fill(&a, 1);
	return true;
}

static void check_b_unharmed(void)
{
	int sent = -EINPROGRESS, got = -EINPROGRESS;
	size_t i;

	for (i = 0; i < LEN && b.mem[i] == 0xa5; i++)
		;
	IS(i, LEN);
	IS(pier_ctx_state(pier_rdma_ctx(b.rdma)), PIER_CTX_RUNNING);
	IS(pier_conn_state(other_a), PIER_CONN_CONNECTED);
	IS(pier_conn_state(other_b), PIER_CONN_CONNECTED);
	IS(pier_rdma_receive(b.rdma, NULL, peer_done, &got), 0);
	IS(pier_rdma_send(other_a, NULL, peer_done, &sent), 0);
	IS(peer_await(&sent), 0);
	IS(peer_await(&got), 0);
}

/* The request of @err and *@status is refused by b's device. */
static void check_refused(int err, const int *status)
{
	if (IS(err, 0))
		IS(peer_await(status), -PIER_EREMACCESS);
	peer_conn(a.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -PIER_EREMACCESS);
	LIKE(pier_conn_error_text(a.conn), "the peer refused access");
	peer_conn(b.conn, PIER_CONN_ERROR);
	OK(pier_conn_error(b.conn) < 0);
	OK(pier_conn_error_text(b.conn)[0]);
	check_b_unharmed();
	if (peer_join(&a, &b))
		check_b_unharmed();
}

static void teardown(struct pier_mmap *remote)
{
	pier_mmap_destroy(remote);
	pier_mmap_destroy(half);
	half = NULL;
	peer_unpair(&a, &b);
}

enum how {
	READ,
	WRITE,
	ADD,
};

/* @len bytes at @off of the forged memory. */
static void try(enum how how, uint32_t access, size_t more, uint32_t key_bits,
		size_t off, size_t len)
{
	struct pier_buf *far = NULL, *near;
	struct pier_mmap *remote;
	int status = -EINPROGRESS, err;
	char *at;

	if (!setup(access))
		return;
	remote = forge(more, key_bits);
	if (!remote)
		return;
	at = (char *)pier_mmap_addr(remote) + off;
	near = how == WRITE ? peer_data(&a, 0, len) : peer_tail(&a, 0, len);
	if (how == WRITE)
		IS(pier_buf_by_addr(a.inv, remote, at, len, &far), 0);
	else
		IS(pier_buf_by_data(a.inv, remote, at, len, &far), 0);
	if (how == WRITE)
		err = pier_rdma_write(a.conn, near, far, peer_done, &status);
	else if (how == READ)
		err = pier_rdma_read(a.conn, far, near, peer_done, &status);
	else
		err = pier_rdma_fetch_add(a.conn, far, near, 1, peer_done,
					  &status);
	check_refused(err, &status);
	if (how != WRITE)
		IS(pier_buf_data_len(near), 0);
	OK(peer_holds(&a, 0, LEN, 1, 0));
	pier_buf_put(far);
	pier_buf_put(near);
	teardown(remote);
}

static void a_read_beyond_the_exported_range_is_refused(void)
{
	try(READ, PEER_ACCESS, 4096, 0, HALF - 8, 16);
	try(READ, PEER_ACCESS, 4096, 0, HALF, 1);
}

static void a_write_beyond_the_exported_range_is_refused(void)
{
	try(WRITE, PEER_ACCESS, 4096, 0, HALF - 8, 16);
	try(WRITE, PEER_ACCESS, LEN, 0, HALF, 8192);
}

static void an_atomic_beyond_the_exported_range_is_refused(void)
{
	try(ADD, PEER_ACCESS, 4096, 0, HALF, 8);
}

static void a_wrong_key_is_refused(void)
{
	try(READ, PEER_ACCESS, 0, 0x00ff5500, 0, 64);
	try(WRITE, PEER_ACCESS, 0, 0x00ff5500, 0, 64);
}

static void a_read_without_permission_is_refused(void)
{
	try(READ, PIER_REMOTE_WRITE, 0, 0, 0, 64);
}

static void a_write_without_permission_is_refused(void)
{
	try(WRITE, PIER_REMOTE_READ, 0, 0, 0, 64);
}

static void an_atomic_without_permission_is_refused(void)
{
	try(ADD, PIER_REMOTE_READ | PIER_REMOTE_WRITE, 0, 0, 0, 8);
}

static void memory_that_is_stopped_is_refused(void)
{
	struct pier_buf *near, *far;
	int status = -EINPROGRESS;
	struct pier_mmap *remote;

	if (!setup(PEER_ACCESS))
		return;
	remote = forge(0, 0);
	IS(pier_mmap_stop(half), 0);
	near = peer_data(&a, 0, 64);
	IS(pier_buf_empty(a.inv, remote, &far), 0);
	check_refused(pier_rdma_write(a.conn, near, far, peer_done, &status),
		      &status);
	pier_buf_put(far);
	pier_buf_put(near);
	teardown(remote);
}

static struct pier_task_error sent_error, got_error;

static void keep_error(struct pier_task *task, void *arg)
{
	bool recv = pier_task_type(task) == PIER_TASK_RECEIVE;

	pier_task_error(task, recv ? &got_error : &sent_error);
	*(int *)arg = pier_task_status(task);
}

/* Nothing is forged here: the sender cannot know. */
static void a_receive_too_small_fails_with_its_sender(void)
{
	struct pier_buf *src, *dst;
	struct pier_conn_path path;
	int sent = -EINPROGRESS, got = -EINPROGRESS;

	if (!setup(PEER_ACCESS))
		return;
	IS(pier_conn_path(a.conn, &path), 0);
	src = peer_data(&a, 0, 101);
	dst = peer_tail(&b, 0, 100);
	IS(pier_rdma_receive(b.rdma, dst, keep_error, &got), 0);
	IS(pier_rdma_send(a.conn, src, keep_error, &sent), 0);
	IS(peer_await(&got), -EMSGSIZE);
	/* Soft-RoCE calls it an operation that failed, at both ends. */
	OK(peer_await(&sent) == -PIER_EREMINVAL || sent == -PIER_EREMOP);
	IS(sent_error.status, sent);
	OK(sent_error.verbs_status == IBV_WC_REM_INV_REQ_ERR ||
	   sent_error.verbs_status == IBV_WC_REM_OP_ERR);
	IS(sent_error.peer_qpn, path.peer_qpn);
	IS(memcmp(sent_error.peer_gid, path.peer_gid, 16), 0);
	IS(got_error.status, -EMSGSIZE);
	OK(got_error.verbs_status == IBV_WC_LOC_LEN_ERR ||
	   got_error.verbs_status == IBV_WC_LOC_QP_OP_ERR);
	IS(got_error.peer_qpn, path.local_qpn);
	IS(pier_buf_data_len(dst), 0);
	peer_conn(a.conn, PIER_CONN_ERROR);
	peer_conn(b.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(b.conn), -EMSGSIZE);
	memset(b.mem, 0xa5, 100);	/* the receive's: may be written */
	check_b_unharmed();
	pier_buf_put(dst);
	pier_buf_put(src);
	teardown(NULL);
}

static void a_failure_cancels_what_is_behind_it(void)
{
	struct pier_task_error error;
	struct pier_buf *near, *far;
	struct pier_mmap *remote;
	struct pier_event event;
	int i;

	if (!setup(PIER_REMOTE_READ))
		return;
	remote = forge(0, 0);
	near = peer_data(&a, 0, 8);
	IS(pier_buf_empty(a.inv, remote, &far), 0);
	for (i = 0; i < 5; i++)
		IS(pier_rdma_write(a.conn, near, far, NULL, NULL), 0);
	OK(peer_quiet(&a));
	for (i = 0; pier_pe_retrieve(a.pe, &event) == 0; i++) {
		pier_task_error(event.task, &error);
		IS(event.status, i ? -ECANCELED : -PIER_EREMACCESS);
		IS(error.status, event.status);
		pier_task_free(event.task);
	}
	IS(i, 5);
	peer_conn(a.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -PIER_EREMACCESS);
	IS(pier_rdma_write(a.conn, near, far, NULL, NULL), -ENOTCONN);
	peer_conn(b.conn, PIER_CONN_ERROR);
	check_b_unharmed();
	pier_buf_put(far);
	pier_buf_put(near);
	teardown(remote);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_read_beyond_the_exported_range_is_refused);
	TEST(a_write_beyond_the_exported_range_is_refused);
	TEST(an_atomic_beyond_the_exported_range_is_refused);
	TEST(a_wrong_key_is_refused);
	TEST(a_read_without_permission_is_refused);
	TEST(a_write_without_permission_is_refused);
	TEST(an_atomic_without_permission_is_refused);
	TEST(memory_that_is_stopped_is_refused);
	TEST(a_receive_too_small_fails_with_its_sender);
	TEST(a_failure_cancels_what_is_behind_it);
	pier_dev_close(dev);
	return tap_done();
}
