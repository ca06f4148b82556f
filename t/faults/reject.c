/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cm/conn_impl.h"
#include "core/crc.h"
#include "core/wire.h"
#include "mem/mmap_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * What must be refused, each with its own error: bad descriptors, bad tasks,
 * and requests that only a peer who forges descriptors can make.
 */

#define LEN 16384

static struct pier_dev *dev;

/* Check that @desc is of neither kind; a's connection is in INIT. */
static void refused(struct peer *a, const void *desc, size_t len)
{
	struct pier_mmap *mmap = NULL;

	OK(pier_rdma_connect(a->conn, desc, len) < 0);
	OK(pier_mmap_create_from_export(dev, desc, len, &mmap) < 0);
	OK(!mmap);
	OK(pier_conn_state(a->conn) == PIER_CONN_INIT);
}

static void refuse_damaged(struct peer *a, const void *desc, size_t len)
{
	uint8_t *copy = malloc(len + 1), byte;
	char text[64];
	size_t i;

	if (!OK(copy))
		return;
	memcpy(copy, desc, len);
	for (i = 0; i < len && tap_holds(); i++) {
		for (byte = 1; byte; byte = (uint8_t)(byte << 1)) {
			copy[i] ^= byte;
			refused(a, copy, len);
			OK(pier_desc_print(copy, len, text, sizeof(text)) < 0);
			copy[i] ^= byte;
		}
		refused(a, copy, i);
	}
	copy[len] = 0;
	refused(a, copy, len + 1);
	free(copy);
}

static void its_own_descriptor_is_refused(void)
{
	struct peer a;

	if (!peer_open(&a, dev, NULL, NULL, 4096))
		return;
	if (peer_export(&a)) {
		IS(pier_rdma_connect(a.conn, a.desc, a.desc_len), -EINVAL);
		LIKE(pier_last_error(), "own");
	}
	peer_close(&a);
}

static void damaged_descriptors_are_refused(void)
{
	const void *desc;
	struct peer a, b;
	size_t len;

	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, NULL, LEN) ||
	    !peer_open(&b, dev, a.pe, NULL, LEN) || !peer_export(&a) ||
	    !peer_export(&b) ||
	    !IS(pier_mmap_export(b.mmap, &desc, &len), 0))
		return;
	refuse_damaged(&a, b.desc, b.desc_len);
	refuse_damaged(&a, desc, len);
	IS(pier_rdma_connect(a.conn, b.desc, b.desc_len), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	peer_conn(a.conn, PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

/* Write the check sum that fits into the descriptor @copy. */
static void seal(uint8_t *copy, size_t len)
{
	uint32_t crc;
	int i;

	crc = pier__crc32(0, copy, 12);
	crc = pier__crc32(crc, copy + 16, len - 16);
	for (i = 0; i < 4; i++)
		copy[12 + i] = (uint8_t)(crc >> (24 - 8 * i));
}

/* The same, of another version. */
static void make_version(uint8_t *copy, size_t len, unsigned int version)
{
	copy[4] = (uint8_t)(version >> 8);
	copy[5] = (uint8_t)version;
	seal(copy, len);
}

static void other_versions_and_kinds_are_distinguished(void)
{
	uint8_t copy[PIER_DESC_MAX + 1] = { 0 };
	struct pier_mmap *mmap;
	const void *desc;
	struct peer a;
	size_t len;

	if (!peer_open(&a, dev, NULL, NULL, LEN) || !peer_export(&a) ||
	    !IS(pier_mmap_export(a.mmap, &desc, &len), 0))
		return;
	IS(pier_rdma_connect(a.conn, desc, len), -PIER_EKIND);
	IS(pier_mmap_create_from_export(dev, a.desc, a.desc_len, &mmap),
	   -PIER_EKIND);
	memcpy(copy, desc, len);
	make_version(copy, len, PIER__WIRE_VERSION);
	IS(memcmp(copy, desc, len), 0);
	make_version(copy, len, PIER__WIRE_VERSION + 1);
	IS(pier_mmap_create_from_export(dev, copy, len, &mmap), -PIER_EVERSION);
	memcpy(copy, a.desc, a.desc_len);
	make_version(copy, a.desc_len, PIER__WIRE_VERSION + 1);
	IS(pier_rdma_connect(a.conn, copy, a.desc_len), -PIER_EVERSION);
	IS(pier_rdma_connect(a.conn, copy, sizeof(copy)), -PIER_EDESC);
	IS(pier_rdma_connect(a.conn, NULL, 0), -PIER_EDESC);
	peer_close(&a);
}

/*
 * Copy the descriptor @desc to @ret with one more field, of a number that
 * no version defines yet, that makes it @len bytes long.
 */
static void stretch(const void *desc, size_t desc_len, uint8_t *ret,
		    size_t len)
{
	size_t body = len - PIER__WIRE_HEAD, more = len - desc_len, i;
	uint8_t *map = ret + PIER__WIRE_HEAD, *at = ret + desc_len;
	uint16_t fields;

	memset(ret, 0, len);
	memcpy(ret, desc, desc_len);
	if (map[0] == 0xde) {			/* map 16 */
		fields = (uint16_t)(map[1] << 8 | map[2]);
		map[1] = (uint8_t)(++fields >> 8);
		map[2] = (uint8_t)fields;
	} else {
		OK(map[0] >= 0x80 && map[0] < 0x8f);	/* fixmap */
		map[0]++;
	}
	at[0] = 0x7f;				/* the field */
	at[1] = 0xc5;				/* bin 16, and its length */
	at[2] = (uint8_t)((more - 4) >> 8);
	at[3] = (uint8_t)(more - 4);
	for (i = 0; i < 4; i++)
		ret[8 + i] = (uint8_t)(body >> (24 - 8 * i));
	seal(ret, len);
}

static void a_descriptor_over_the_limit_is_refused(void)
{
	uint8_t copy[PIER_DESC_MAX + 1];
	struct pier_mmap *mmap = NULL;
	const void *desc;
	struct peer a, b;
	char text[64];
	size_t len;

	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, NULL, LEN) ||
	    !peer_open(&b, dev, a.pe, NULL, LEN) || !peer_export(&a) ||
	    !peer_export(&b) || !IS(pier_mmap_export(a.mmap, &desc, &len), 0))
		return;
	stretch(desc, len, copy, sizeof(copy));
	IS(pier_mmap_create_from_export(dev, copy, sizeof(copy), &mmap),
	   -PIER_EDESC);
	LIKE(pier_last_error(), "memory descriptor of 4097 bytes: at most "
	     "4096");
	OK(!mmap);
	stretch(desc, len, copy, PIER_DESC_MAX);
	IS(pier_mmap_create_from_export(dev, copy, PIER_DESC_MAX, &mmap), 0);
	pier_mmap_destroy(mmap);
	stretch(b.desc, b.desc_len, copy, sizeof(copy));
	IS(pier_desc_print(copy, sizeof(copy), text, sizeof(text)),
	   -PIER_EDESC);
	IS(pier_rdma_connect(a.conn, copy, sizeof(copy)), -PIER_EDESC);
	LIKE(pier_last_error(), "connection descriptor of 4097 bytes: at most "
	     "4096");
	stretch(b.desc, b.desc_len, copy, PIER_DESC_MAX);
	OK(pier_desc_print(copy, PIER_DESC_MAX, text, sizeof(text)) > 0);
	IS(pier_rdma_connect(a.conn, copy, PIER_DESC_MAX), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	peer_conn(a.conn, PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

/* Connect a to b's end with one thing changed. */
static int connect_to(struct peer *a, const struct pier__end *end)
{
	uint8_t buf[PIER_DESC_MAX];
	int len = pier__end_encode(end, buf, sizeof(buf));

	return OK(len > 0) ? pier_rdma_connect(a->conn, buf, (size_t)len) : 0;
}

static void ends_that_do_not_fit_are_refused(void)
{
	struct pier__end good, end;
	struct peer a;

	if (!peer_open(&a, dev, NULL, NULL, LEN) || !peer_export(&a) ||
	    !IS(pier__end_decode(a.desc, a.desc_len, &good), 0))
		return;
	good.nonce ^= 2;	/* another's */
	end = good;
	end.link_layer = (uint8_t)(3 - end.link_layer);
	IS(connect_to(&a, &end), -EPROTOTYPE);
	end = good;
	end.gid_count = 0;
	IS(connect_to(&a, &end), -EHOSTUNREACH);
	end = good;
	end.mtu = 1000;
	IS(connect_to(&a, &end), -PIER_EDESC);
	end = good;
	end.mtu = 8192;
	IS(connect_to(&a, &end), -PIER_EDESC);
	IS(pier_conn_state(a.conn), PIER_CONN_INIT);
	peer_close(&a);
}

static void a_forged_control_key_fails_one_connection(void)
{
	struct pier__end end;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN) || !peer_export(&a) ||
	    !peer_export(&b) ||
	    !IS(pier__end_decode(b.desc, b.desc_len, &end), 0))
		return;
	end.ctl_rkey ^= 0x5500;
	IS(connect_to(&a, &end), 0);
	IS(pier_rdma_connect(b.conn, a.desc, a.desc_len), 0);
	peer_conn(a.conn, PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -PIER_EREMACCESS);
	IS(pier_ctx_state(pier_rdma_ctx(b.rdma)), PIER_CTX_RUNNING);
	pier_conn_destroy(b.conn);
	if (peer_join(&a, &b))
		IS(pier_conn_state(b.conn), PIER_CONN_CONNECTED);
	peer_unpair(&a, &b);
}

static void a_gid_index_that_is_not_there_is_refused(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .max_conns = 1,
					.gid_index = 200 };
	struct pier_conn *conn = NULL;
	const void *desc;
	struct peer a;
	size_t len;
	int i;

	if (!peer_open(&a, dev, NULL, &cfg, LEN))
		return;
	for (i = 0; i < 3; i++)
		IS(pier_rdma_export(a.rdma, &desc, &len, &conn), -ERANGE);
	LIKE(pier_last_error(), "200");
	OK(!conn);
	peer_close(&a);
}

/* Only what is moved counts: read into 8 bytes what is more than a message. */
static void read_a_little_of(struct peer *a, struct pier_mmap *mmap)
{
	struct pier_mmap *remote = NULL;
	struct pier_buf *far, *tail = peer_tail(a, 0, 8);
	int status = -EINPROGRESS;
	const void *desc;
	size_t len;

	IS(pier_mmap_export(mmap, &desc, &len), 0);
	if (!IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0) ||
	    !IS(pier_buf_whole(a->inv, remote, &far), 0))
		return;
	IS(pier_rdma_read(a->conn, far, tail, peer_done, &status), 0);
	IS(peer_await(&status), 0);
	IS(pier_buf_data_len(tail), 8);
	pier_buf_put(far);
	pier_buf_put(tail);
	pier_mmap_destroy(remote);
}

static void a_message_over_the_limit_is_refused(void)
{
	uint64_t limit = peer_limit(dev, PIER_LIMIT_MESSAGE);
	struct pier_mmap *mmap = NULL;
	struct pier_buf *buf = NULL;
	char number[32];
	struct peer a, b;
	void *mem;

	mem = mmap64(NULL, limit + 1, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!OK(mem != MAP_FAILED) || !peer_pair(&a, &b, dev, NULL, LEN))
		return;
	if (pier_mmap_map(dev, mem, limit + 1, PEER_ACCESS, &mmap)) {
		tap_skip(pier_last_error());
		goto out_unpair;
	}
	IS(pier_buf_whole(a.inv, mmap, &buf), 0);
	IS(pier_rdma_send(a.conn, buf, NULL, NULL), -EMSGSIZE);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)limit);
	LIKE(pier_last_error(), number);
	snprintf(number, sizeof(number), "%llu",
		 (unsigned long long)limit + 1);
	LIKE(pier_last_error(), number);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	read_a_little_of(&a, mmap);
	pier_buf_put(buf);
	pier_mmap_destroy(mmap);
out_unpair:
	peer_unpair(&a, &b);
	munmap(mem, limit + 1);
}

static void a_destination_too_small_is_refused(void)
{
	struct pier_buf *far, *near, *small, *none;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	far = peer_far_data(&a, 0, 100);
	near = peer_data(&a, 0, 100);
	small = peer_tail(&a, 200, 99);
	none = peer_far_tail(&a, 200, 99);
	IS(pier_rdma_write(a.conn, near, none, NULL, NULL), -EMSGSIZE);
	LIKE(pier_last_error(), "100 bytes");
	LIKE(pier_last_error(), "99");
	IS(pier_rdma_write_imm(a.conn, near, none, 1, NULL, NULL), -EMSGSIZE);
	IS(pier_rdma_fetch_add(a.conn, far, near, 1, NULL, NULL), -EMSGSIZE);
	pier_buf_set_data(far, (char *)pier_buf_head(far) + 4, 8);
	IS(pier_rdma_fetch_add(a.conn, far, small, 1, NULL, NULL), -EINVAL);
	pier_buf_set_data(far, (char *)pier_buf_head(far) + 96, 4);
	IS(pier_rdma_compare_swap(a.conn, far, small, 1, 1, NULL, NULL),
	   -EINVAL);
	IS(pier_conn_state(a.conn), PIER_CONN_CONNECTED);
	IS(pier_ctx_inflight(pier_rdma_ctx(a.rdma)), 0);
	pier_buf_put(none);
	pier_buf_put(small);
	pier_buf_put(near);
	pier_buf_put(far);
	peer_unpair(&a, &b);
}

static void buffers_at_the_wrong_end_are_refused(void)
{
	struct pier_buf *far, *near, *tail;
	struct pier_task *task = NULL;
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	far = peer_far_data(&a, 0, 8);
	near = peer_data(&a, 0, 8);
	IS(pier_rdma_task_send(a.conn, far, &task), -EINVAL);
	IS(pier_rdma_task_read(a.conn, near, near, &task), -EINVAL);
	IS(pier_rdma_task_read(a.conn, far, far, &task), -EINVAL);
	IS(pier_rdma_task_write(a.conn, near, near, &task), -EINVAL);
	IS(pier_rdma_task_write(a.conn, far, far, &task), -EINVAL);
	IS(pier_rdma_task_write(a.conn, NULL, near, &task), -EINVAL);
	IS(pier_rdma_task_read(a.conn, NULL, far, &task), -EINVAL);
	IS(pier_rdma_task_write(a.conn, near, NULL, &task), -EINVAL);
	LIKE(pier_last_error(), "write: no destination");
	IS(pier_rdma_task_write_imm(a.conn, near, NULL, 1, &task), -EINVAL);
	IS(pier_rdma_task_read(a.conn, far, NULL, &task), -EINVAL);
	LIKE(pier_last_error(), "read: no destination");
	IS(pier_rdma_task_fetch_add(a.conn, far, NULL, 1, &task), -EINVAL);
	IS(pier_rdma_task_fetch_add(a.conn, NULL, near, 1, &task), -EINVAL);
	IS(pier_rdma_task_fetch_add(a.conn, near, near, 1, &task), -EINVAL);
	IS(pier_rdma_task_receive(a.rdma, far, &task), -EINVAL);
	tail = peer_far_data(&a, 8, 8);
	IS(pier_buf_chain(far, tail), 0);
	IS(pier_rdma_task_write(a.conn, near, far, &task), -EINVAL);
	IS(pier_buf_unchain(far, tail), 0);
	pier_buf_put(tail);
	tail = peer_data(&a, 8, 8);
	IS(pier_buf_chain(near, tail), 0);
	IS(pier_rdma_task_send(a.conn, tail, &task), -EINVAL);
	OK(!task);
	pier_buf_put(near);
	pier_buf_put(far);
	peer_unpair(&a, &b);
}

static void a_chain_that_is_too_long_is_refused(void)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg), .send_chain = 2,
					.recv_chain = 2 };
	struct pier_buf *src, *dst;
	struct peer a, b;
	int i;

	if (!peer_pair(&a, &b, dev, &cfg, LEN))
		return;
	src = peer_data(&a, 0, 8);
	dst = peer_tail(&a, 1000, 8);
	for (i = 1; i < 3; i++) {
		pier_buf_chain(src, peer_data(&a, 8 * (size_t)i, 8));
		pier_buf_chain(dst, peer_tail(&a, 1000 + 8 * (size_t)i, 8));
	}
	IS(pier_rdma_send(a.conn, src, NULL, NULL), -EINVAL);
	LIKE(pier_last_error(), "2 buffers");
	IS(pier_rdma_receive(a.rdma, dst, NULL, NULL), -EINVAL);
	pier_buf_put(src);
	pier_buf_put(dst);
	peer_unpair(&a, &b);
}

/* What a message has of @of: @text, its @name and its identity. */
static const char *names(const char *text, const char *name,
			 const struct pier_dev *of)
{
	static char line[128];
	char id[PIER__DEV_ID_TEXT];

	snprintf(line, sizeof(line), "%s %s %s", text, name,
		 pier__dev_id_text(of->id, id));
	return line;
}

static void memory_of_another_device_is_refused(void)
{
	const char *name = pier_devinfo_name(pier_dev_info(dev));
	struct pier_mmap *mmap = NULL, *remote = NULL;
	struct pier_buf *buf, *far;
	struct pier_dev *other;
	const void *desc;
	struct peer a, b;
	size_t len;

	if (!IS(pier_dev_open(NULL, &other), 0) ||
	    !peer_pair(&a, &b, dev, NULL, LEN))
		return;
	IS(pier_mmap_map(other, b.mem, LEN, PEER_ACCESS, &mmap), 0);
	IS(pier_mmap_export(mmap, &desc, &len), 0);
	IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0);
	IS(pier_buf_whole(a.inv, mmap, &buf), 0);
	IS(pier_rdma_send(a.conn, buf, NULL, NULL), -EINVAL);
	LIKE(pier_last_error(), names("not registered on", name, dev));
	LIKE(pier_last_error(), names("but on:", name, other));
	pier_buf_put(buf);
	buf = peer_data(&a, 0, 8);
	IS(pier_buf_empty(a.inv, remote, &far), 0);
	IS(pier_rdma_write(a.conn, buf, far, NULL, NULL), -ESTALE);
	LIKE(pier_last_error(), names("exported for", "device", other));
	LIKE(pier_last_error(), names("has", "device", dev));
	pier_buf_put(far);
	pier_buf_put(buf);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(mmap);
	peer_unpair(&a, &b);
	pier_dev_close(other);
}

static void a_connection_that_is_not_there_refuses_tasks(void)
{
	struct peer a;

	if (!peer_open(&a, dev, NULL, NULL, LEN) || !peer_export(&a))
		return;
	IS(pier_rdma_send(a.conn, NULL, NULL, NULL), -ENOTCONN);
	LIKE(pier_last_error(), "init");
	pier_conn_disconnect(a.conn);
	peer_conn(a.conn, PIER_CONN_RESET);
	IS(pier_rdma_send(a.conn, NULL, NULL, NULL), -ENOTCONN);
	peer_close(&a);
}

static void what_the_peer_did_not_grant_is_refused_here(void)
{
	struct pier_rdma_config nothing = { .size = sizeof(nothing),
					    .access = PIER_ZERO };
	struct pier_buf *far, *near;
	struct peer a, b;

	memset(&b, 0, sizeof(b));
	if (!peer_open(&a, dev, NULL, NULL, LEN) ||
	    !peer_open(&b, dev, a.pe, &nothing, LEN) || !peer_join(&a, &b))
		return;
	far = peer_far_data(&a, 0, 8);
	near = peer_tail(&a, 0, 8);
	IS(pier_rdma_read(a.conn, far, near, NULL, NULL), -EACCES);
	LIKE(pier_last_error(), "on this connection");
	IS(pier_rdma_read(a.conn, NULL, NULL, NULL, NULL), -EACCES);
	LIKE(pier_last_error(), "on this connection");
	IS(pier_rdma_write(a.conn, NULL, NULL, NULL, NULL), -EACCES);
	pier_buf_reset(far);
	pier_buf_set_data(near, a.mem, 8);
	IS(pier_rdma_write(a.conn, near, far, NULL, NULL), -EACCES);
	pier_buf_put(far);
	far = peer_far_data(&b, 0, 8);
	pier_buf_put(near);
	near = peer_tail(&b, 0, 8);
	IS(pier_rdma_read(b.conn, far, near, NULL, NULL), 0);
	OK(peer_quiet(&b));
	pier_buf_put(near);
	pier_buf_put(far);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(damaged_descriptors_are_refused);
	TEST(other_versions_and_kinds_are_distinguished);
	TEST(a_descriptor_over_the_limit_is_refused);
	TEST(ends_that_do_not_fit_are_refused);
	TEST(a_forged_control_key_fails_one_connection);
	TEST(a_gid_index_that_is_not_there_is_refused);
	TEST(a_message_over_the_limit_is_refused);
	TEST(a_destination_too_small_is_refused);
	TEST(buffers_at_the_wrong_end_are_refused);
	TEST(a_chain_that_is_too_long_is_refused);
	TEST(memory_of_another_device_is_refused);
	TEST(a_connection_that_is_not_there_refuses_tasks);
	TEST(its_own_descriptor_is_refused);
	TEST(what_the_peer_did_not_grant_is_refused_here);
	pier_dev_close(dev);
	return tap_done();
}
