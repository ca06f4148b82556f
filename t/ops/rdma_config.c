/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* The configuration of an RDMA context: defaults, ranges, clamping. */

static struct pier_dev *dev;
static struct pier_rdma *rdma;

/* Configure with one field set; returns what configure does. */
static int set(size_t offset, uint32_t value)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg) };

	memcpy((char *)&cfg + offset, &value, sizeof(value));
	return pier_rdma_configure(rdma, &cfg);
}

static uint32_t get(size_t offset)
{
	struct pier_rdma_config cfg;
	uint32_t value;

	pier_rdma_get_config(rdma, &cfg);
	memcpy(&value, (char *)&cfg + offset, sizeof(value));
	return value;
}

#define FIELD(name) #name, offsetof(struct pier_rdma_config, name)

/* What a field may be; nothing here is beyond what any device can do. */
static const struct tested_field {
	const char *name;
	size_t offset;
	uint32_t def, min, max, beyond;	/* 0: not checked */
} fields[] = {
	{ FIELD(max_conns), 0, 1, 0, 65536 },
	{ FIELD(send_queue), 0, 1, 0, (1u << 20) + 1 },
	{ FIELD(conn_send_queue), 0, 1, 0, (1u << 20) + 1 },
	{ FIELD(recv_queue), 0, 1, 0, (1u << 20) + 1 },
	{ FIELD(send_tasks), 0, 1, 1u << 20, (1u << 20) + 1 },
	{ FIELD(recv_tasks), 0, 1, 1u << 20, (1u << 20) + 1 },
	{ FIELD(send_chain), 0, 1, 0, 65 },
	{ FIELD(recv_chain), 0, 1, 0, 65 },
	{ FIELD(ack_timeout), 14, 1, 31, 32 },
	{ FIELD(retry_count), 6, 1, 6, 7 },
	{ FIELD(rnr_retry), 7, 1, 7, 8 },
	{ FIELD(min_rnr_timer), 12, 1, 31, 32 },
	{ FIELD(max_rd_atomic), 0, 1, 0, 256 },
	{ FIELD(traffic_class), 0, 1, 255, 256 },
	{ FIELD(hop_limit), 64, 1, 255, 256 },
	{ FIELD(service_level), 0, 1, 15, 16 },
	{ FIELD(gid_index), 0, 1, 255, 256 },
	{ FIELD(pkey_index), 0, 0, 0, UINT16_MAX },
	{ FIELD(drain_ms), 2000, 1, INT32_MAX, (1u << 31) },
	{ FIELD(connect_timeout_ms), 60000, 1, INT32_MAX, (1u << 31) },
	{ FIELD(keepalive_ms), 5000, 1, INT32_MAX, (1u << 31) },
	{ FIELD(rnr_timeout_ms), 0, 1, INT32_MAX, (1u << 31) },
	{ FIELD(shm), 0, 1, PIER_SHM_REQUIRE, PIER_SHM_REQUIRE + 1 },
	{ FIELD(events), 0, 1, PIER_EVENTS_ON, PIER_EVENTS_ON + 1 },
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void defaults_are_filled_in(void)
{
	struct pier_rdma_config cfg;
	size_t i;

	IS(set(0, sizeof(cfg)), 0);
	pier_rdma_get_config(rdma, &cfg);
	IS(cfg.size, sizeof(cfg));
	for (i = 0; i < FIELDS; i++)
		if (fields[i].def &&
		    !IS(get(fields[i].offset), fields[i].def))
			tap_note("%s", fields[i].name);
	OK(cfg.max_conns >= 1 && cfg.max_conns <= 64);
	OK(cfg.send_queue >= 1 && cfg.send_queue <= 256);
	OK(cfg.recv_queue >= 1 && cfg.recv_queue <= 256);
	OK(cfg.conn_send_queue >= 1 && cfg.conn_send_queue <= 64);
	IS(cfg.send_tasks, cfg.send_queue);
	IS(cfg.recv_tasks, cfg.recv_queue);
	IS(cfg.access, PIER_REMOTE_READ | PIER_REMOTE_WRITE |
		       PIER_REMOTE_ATOMIC);
	IS(cfg.mtu, pier_devinfo_mtu(pier_dev_info(dev)));
	IS(cfg.stop_on_task_error, 0);
	IS(cfg.no_hello, 0);
	IS(cfg.empty_bufs, 0);
}

static void fields_take_their_range_and_no_more(void)
{
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		const struct tested_field *f = &fields[i];

		if (IS(set(f->offset, f->min), 0))
			IS(get(f->offset), f->min);
		if (f->max && IS(set(f->offset, f->max), 0))
			IS(get(f->offset), f->max);
		if (!IS(set(f->offset, f->beyond), -EINVAL) ||
		    !LIKE(pier_last_error(), f->name))
			tap_note("%s", f->name);
		IS(get(f->offset), f->max ? f->max : f->min);
	}
}

/* Which fields may be 0 though they have a default, and which may not. */
static void zero_itself_can_be_asked_for(void)
{
	IS(set(offsetof(struct pier_rdma_config, access), PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, access)), PIER_ZERO);
	IS(set(offsetof(struct pier_rdma_config, rnr_retry), PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, rnr_retry)), PIER_ZERO);
	IS(set(offsetof(struct pier_rdma_config, keepalive_ms), PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, keepalive_ms)), PIER_ZERO);
	IS(set(offsetof(struct pier_rdma_config, inline_size), PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, inline_size)), PIER_ZERO);
	IS(set(offsetof(struct pier_rdma_config, max_conns), PIER_ZERO),
	   -EINVAL);
	LIKE(pier_last_error(), "max_conns PIER_ZERO: 1 to 65535, 0 for 64");
	IS(set(offsetof(struct pier_rdma_config, hop_limit), PIER_ZERO),
	   -EINVAL);
	IS(set(offsetof(struct pier_rdma_config, stop_on_task_error),
	       PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, stop_on_task_error)), 0);
	IS(set(offsetof(struct pier_rdma_config, no_hello), PIER_ZERO), 0);
	IS(get(offsetof(struct pier_rdma_config, no_hello)), 0);
}

/* What is in force is the same when it is asked for in so many words. */
static bool goes_round(void)
{
	struct pier_rdma_config first, second;

	pier_rdma_get_config(rdma, &first);
	if (!IS(pier_rdma_configure(rdma, &first), 0))
		return false;
	pier_rdma_get_config(rdma, &second);
	return OK(!memcmp(&first, &second, sizeof(first)));
}

/* Returns whether @value may be, and if so, has gone round. */
static bool may_be(size_t offset, uint32_t value, bool *held)
{
	if (set(offset, value))
		return false;
	if (!goes_round()) {
		tap_note("the field at %zu, %u", offset, value);
		*held = false;
	}
	return true;
}

/* An element of type_tasks whose type is not one of RDMA contexts: 0 only. */
static bool is_of_other(size_t offset)
{
	size_t first = offsetof(struct pier_rdma_config, type_tasks);
	size_t type = (offset - first) / sizeof(uint32_t);

	return offset >= first && type < PIER_TASK_TYPES &&
	       type > PIER_TASK_FETCH_ADD &&
	       (type < PIER_TASK_REMOTE_GET || type > PIER_TASK_NOTIFY_ADD);
}

/*
 * Default, PIER_ZERO, the least, the most and what is between, of every
 * field that the struct has or will have.
 */
static void what_is_got_can_be_set(void)
{
	size_t offset = offsetof(struct pier_rdma_config, max_conns);
	uint32_t value;
	bool held = true;
	int bit, taken;

	for (; offset < sizeof(struct pier_rdma_config) && held;
	     offset += sizeof(value)) {
		OK(may_be(offset, 0, &held));
		taken = may_be(offset, PIER_ZERO, &held);
		for (value = 1; value < 64; value++)
			taken += may_be(offset, value, &held);
		for (bit = 6; bit < 32; bit++) {
			taken += may_be(offset, (1u << bit) - 1, &held);
			taken += may_be(offset, 1u << bit, &held);
		}
		IS(taken > 0, !is_of_other(offset));
	}
}

static void nothing_at_all_goes_round(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .inline_size = PIER_ZERO,
		.access = PIER_ZERO, .gid_index = PIER_ZERO,
		.rnr_retry = PIER_ZERO, .traffic_class = PIER_ZERO,
		.keepalive_ms = PIER_ZERO, .pkey_index = PIER_ZERO,
		.service_level = PIER_ZERO, .stop_on_task_error = PIER_ZERO,
	};

	IS(pier_rdma_configure(rdma, &cfg), 0);
	OK(goes_round());
	pier_rdma_get_config(rdma, &cfg);
	IS(cfg.inline_size, PIER_ZERO);
	IS(cfg.access, PIER_ZERO);
	IS(cfg.gid_index, PIER_ZERO);
	IS(cfg.rnr_retry, PIER_ZERO);
	IS(cfg.keepalive_ms, PIER_ZERO);
	IS(cfg.traffic_class, 0);
}

static void rights_and_mtus_are_checked(void)
{
	size_t access = offsetof(struct pier_rdma_config, access);
	size_t mtu = offsetof(struct pier_rdma_config, mtu);

	IS(set(access, PIER_REMOTE_READ), 0);
	IS(get(access), PIER_REMOTE_READ);
	IS(set(access, PIER_LOCAL_WRITE), -EINVAL);
	IS(set(access, 32), -EINVAL);
	IS(set(mtu, 256), 0);
	IS(get(mtu), 256);
	IS(set(mtu, 4096), 0);
	IS(get(mtu), pier_devinfo_mtu(pier_dev_info(dev)));
	IS(set(mtu, 1500), -EINVAL);
	LIKE(pier_last_error(), "1500");
	IS(set(mtu, 128), -EINVAL);
	IS(set(mtu, 8192), -EINVAL);
}

/* The largest that is allowed is lowered to what the device can do. */
static void sizes_are_clamped_to_the_device(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 65535,
		.send_queue = 1 << 20, .conn_send_queue = 1 << 20,
		.recv_queue = 1 << 20, .send_chain = 64, .recv_chain = 64,
		.inline_size = 1 << 16, .max_rd_atomic = 255,
	};

	IS(pier_rdma_configure(rdma, &cfg), 0);
	pier_rdma_get_config(rdma, &cfg);
	OK(cfg.max_conns <= peer_limit(dev, PIER_LIMIT_CONNS));
	OK(cfg.conn_send_queue <= peer_limit(dev, PIER_LIMIT_SEND_QUEUE));
	OK(cfg.conn_send_queue <= cfg.send_queue);
	OK(cfg.recv_queue <= peer_limit(dev, PIER_LIMIT_RECV_QUEUE));
	OK(cfg.send_chain <= peer_limit(dev, PIER_LIMIT_SEND_SGE));
	OK(cfg.recv_chain <= peer_limit(dev, PIER_LIMIT_RECV_SGE));
	OK(cfg.inline_size <= peer_limit(dev, PIER_LIMIT_INLINE));
	OK(cfg.max_rd_atomic <= peer_limit(dev, PIER_LIMIT_RD_ATOMIC));
	IS(cfg.send_tasks, cfg.send_queue);
	IS(cfg.recv_tasks, cfg.recv_queue);
}

static void a_context_with_clamped_sizes_starts(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .max_conns = 4, .send_chain = 64,
		.recv_chain = 64, .inline_size = 1 << 16,
		.max_rd_atomic = 255, .conn_send_queue = 1024,
		.recv_queue = 1024, .send_queue = 1024,
	};
	struct peer a, b;

	if (!peer_pair(&a, &b, dev, &cfg, 4096))
		return;
	peer_unpair(&a, &b);
}

static void sizes_of_the_struct_are_checked(void)
{
	struct {
		struct pier_rdma_config cfg;
		uint64_t newer;
	} longer = { .cfg.size = sizeof(longer) };
	struct pier_rdma_config cfg = { .size = 0 };

	IS(pier_rdma_configure(rdma, &cfg), -EINVAL);
	cfg.size = offsetof(struct pier_rdma_config, send_queue);
	cfg.max_conns = 3;
	cfg.send_queue = 7;		/* behind its end: not read */
	IS(pier_rdma_configure(rdma, &cfg), 0);
	IS(get(offsetof(struct pier_rdma_config, max_conns)), 3);
	OK(get(offsetof(struct pier_rdma_config, send_queue)) != 7);
	IS(pier_rdma_configure(rdma, &longer.cfg), 0);
	longer.newer = 1;
	IS(pier_rdma_configure(rdma, &longer.cfg), -EINVAL);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_rdma_create(dev, &rdma))
		return tap_skip_all(pier_last_error());
	TEST(defaults_are_filled_in);
	TEST(fields_take_their_range_and_no_more);
	TEST(zero_itself_can_be_asked_for);
	TEST(what_is_got_can_be_set);
	TEST(nothing_at_all_goes_round);
	TEST(rights_and_mtus_are_checked);
	TEST(sizes_are_clamped_to_the_device);
	TEST(a_context_with_clamped_sizes_starts);
	TEST(sizes_of_the_struct_are_checked);
	pier_rdma_destroy(rdma);
	pier_dev_close(dev);
	return tap_done();
}
