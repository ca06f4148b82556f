/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pier/verbs.h>

#include "mem/mmap_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Memory: its life, its rights, its descriptors. */

static struct pier_dev *dev;
static char memory[8192] __attribute__((aligned(4096)));

static int configure(struct pier_mmap *mmap, void *addr, size_t len,
		     uint32_t access)
{
	struct pier_mmap_config cfg = { .size = sizeof(cfg), .addr = addr,
					.len = len, .access = access };

	return pier_mmap_configure(mmap, &cfg);
}

static void it_goes_from_create_to_destroy_step_by_step(void)
{
	struct pier_mmap_config cfg;
	struct pier_mmap *mmap;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	pier_mmap_get_config(mmap, &cfg);
	IS(cfg.size, sizeof(cfg));
	IS(pier_mmap_start(mmap), -EINVAL);	/* no range */
	IS(configure(mmap, memory, sizeof(memory), 0), 0);
	IS(pier_mmap_start(mmap), -EINVAL);	/* no device */
	IS(pier_mmap_add_dev(mmap, dev), 0);
	IS(pier_mmap_add_dev(mmap, dev), -EEXIST);
	IS(pier_mmap_start(mmap), 0);
	IS(pier_mmap_start(mmap), -EBUSY);
	IS(pier_mmap_add_dev(mmap, dev), -EBUSY);
	IS(configure(mmap, memory, 1, 0), -EBUSY);
	pier_mmap_get_config(mmap, &cfg);
	IS(cfg.access, PIER_LOCAL_WRITE);
	IS(cfg.len, sizeof(memory));
	OK(pier_mmap_addr(mmap) == memory);
	IS(pier_mmap_len(mmap), sizeof(memory));
	IS(pier_mmap_is_remote(mmap), 0);
	IS(pier_mmap_stop(mmap), 0);
	IS(pier_mmap_configure(mmap, &cfg), 0);
	IS(configure(mmap, memory, 4096, PIER_REMOTE_READ), 0);
	IS(pier_mmap_start(mmap), 0);
	pier_mmap_destroy(mmap);
	pier_mmap_destroy(NULL);
}

static void bad_configurations_are_refused(void)
{
	struct pier_mmap_config cfg = { .size = 0, .len = 1 };
	struct pier_mmap *mmap;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(configure(mmap, memory, 0, 0), -EINVAL);
	IS(configure(mmap, memory, 1, PIER_PEER_WRITE << 1), -EINVAL);
	LIKE(pier_last_error(), "0x80");
	IS(configure(mmap, (void *)-4096L, 8192, 0), -EINVAL);
	IS(pier_mmap_configure(mmap, &cfg), -EINVAL);
	IS(pier_mmap_start(mmap), -EINVAL);
	pier_mmap_destroy(mmap);
}

static void memory_of_its_own_is_zeroed_and_aligned_to_pages(void)
{
	struct pier_mmap *mmap;
	unsigned char *at;
	size_t i;

	if (!IS(pier_mmap_map(dev, NULL, 100000, PIER_LOCAL_WRITE, &mmap), 0))
		return;
	at = pier_mmap_addr(mmap);
	IS((uintptr_t)at % 4096, 0);
	for (i = 0; i < 100000 && !at[i]; i++)
		at[i] = 1;
	IS(i, 100000);
	IS(pier_mmap_stop(mmap), 0);
	IS(pier_mmap_start(mmap), 0);
	OK(pier_mmap_addr(mmap) == at);
	IS(at[99999], 1);
	pier_mmap_destroy(mmap);
}

struct freed {
	int calls;
	void *addr;
	size_t len;
};

static void note_release(void *addr, size_t len, void *arg)
{
	struct freed *freed = arg;

	freed->calls++;
	freed->addr = addr;
	freed->len = len;
}

static void the_last_buffer_releases_the_range(void)
{
	struct freed freed = { 0 };
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg), .addr = memory, .len = sizeof(memory),
		.release = note_release, .release_arg = &freed,
	};
	struct pier_buf_inventory *inv;
	struct pier_mmap *mmap;
	struct pier_buf *buf;
	char text[96];

	if (!IS(pier_mmap_create(&mmap), 0) ||
	    !IS(pier_mmap_configure(mmap, &cfg), 0) ||
	    !IS(pier_mmap_add_dev(mmap, dev), 0) ||
	    !IS(pier_mmap_start(mmap), 0) ||
	    !IS(pier_buf_inventory_create(1, &inv), 0))
		return;
	IS(pier_buf_whole(inv, mmap, &buf), 0);
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "8192 bytes at ");
	LIKE(pier_last_error(), pier_devinfo_name(pier_dev_info(dev)));
	snprintf(text, sizeof(text), "in use by 1 buffer (8192 bytes at %p);",
		 (void *)memory);
	LIKE(pier_last_error(), text);
	IS(pier_mmap_buf_count(mmap), 1);
	pier_mmap_destroy(mmap);
	IS(freed.calls, 0);
	pier_buf_put(buf);
	IS(freed.calls, 1);
	OK(freed.addr == memory);
	IS(freed.len, sizeof(memory));
	pier_buf_inventory_destroy(inv);
}

static void buffer_pools_are_named_when_it_is_stopped(void)
{
	struct pier_buf_pool_config cfg = { .size = sizeof(cfg), .count = 4,
					    .len = 16 };
	struct pier_buf_pool *pool, *other;
	struct pier_mmap *mmap;
	struct pier_buf *buf;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap), 0) ||
	    !IS(pier_buf_pool_create(mmap, &cfg, &pool), 0) ||
	    !IS(pier_buf_pool_create(mmap, &cfg, &other), 0))
		return;
	IS(pier_mmap_buf_count(mmap), 0);
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "in use by 2 buffer pools;");
	pier_buf_pool_destroy(other);
	IS(pier_buf_pool_take(pool, &buf), 0);
	pier_buf_pool_destroy(pool);
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "in use by 1 buffer (16 bytes at ");
	pier_buf_put(buf);
	IS(pier_mmap_buf_count(mmap), 0);
	IS(pier_mmap_stop(mmap), 0);
	pier_mmap_destroy(mmap);
}

/* Take buffer @i of @inv, 8 bytes from byte 16 * @i on. */
static struct pier_buf *take(struct pier_buf_inventory *inv,
			     struct pier_mmap *mmap, size_t i)
{
	struct pier_buf *buf = NULL;

	IS(pier_buf_by_addr(inv, mmap, memory + 16 * i, 8, &buf), 0);
	return buf;
}

static bool names_buf(size_t i)
{
	char text[48];

	snprintf(text, sizeof(text), "8 bytes at %p",
		 (void *)(memory + 16 * i));
	return strstr(pier_last_error(), text);
}

static void its_buffers_are_named_when_it_is_stopped(void)
{
	struct pier_buf_inventory *inv, *second;
	struct pier_mmap *mmap, *other;
	struct pier_buf *bufs[6], *foreign = NULL;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap), 0) ||
	    !IS(pier_mmap_map(dev, memory, sizeof(memory), 0, &other), 0) ||
	    !IS(pier_buf_inventory_create(2, &inv), 0) ||
	    !IS(pier_buf_inventory_expand(inv, 1), 0) ||
	    !IS(pier_buf_inventory_create(4, &second), 0))
		return;
	foreign = take(second, other, 9);
	for (size_t i = 0; i < 3; i++)
		bufs[i] = take(inv, mmap, i);
	bufs[3] = take(second, mmap, 3);
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "in use by 4 buffers (");
	for (size_t i = 0; i < 4; i++)
		OK(names_buf(i));
	OK(!names_buf(9));
	OK(!strstr(pier_last_error(), "..."));
	bufs[4] = take(second, mmap, 4);
	bufs[5] = take(second, mmap, 5);
	IS(pier_mmap_stop(mmap), -EBUSY);
	LIKE(pier_last_error(), "in use by 6 buffers (");
	LIKE(pier_last_error(), ", ...)");
	for (size_t i = 0; i < 5; i++) {
		pier_buf_put(bufs[i]);
		IS(pier_mmap_stop(mmap), -EBUSY);
		OK(!names_buf(i) && names_buf(i + 1));
	}
	pier_buf_put(bufs[5]);
	IS(pier_mmap_stop(mmap), 0);
	pier_buf_put(foreign);
	pier_buf_inventory_destroy(second);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(other);
	pier_mmap_destroy(mmap);
}

static void an_export_needs_remote_access_and_a_start(void)
{
	const void *desc = NULL;
	struct pier_mmap *mmap;
	size_t len = 0;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(pier_mmap_export(mmap, &desc, &len), -EINVAL);
	pier_mmap_destroy(mmap);
	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_LOCAL_WRITE,
			      &mmap), 0))
		return;
	IS(pier_mmap_export(mmap, &desc, &len), -EACCES);
	LIKE(pier_last_error(), "PIER_REMOTE_READ");
	OK(!desc && !len);
	pier_mmap_destroy(mmap);
}

/* The memory stays: what was described is revoked. */
static void a_descriptor_lives_until_the_next_start(void)
{
	uint8_t copy[PIER_DESC_MAX];
	struct pier_mmap *mmap;
	const void *desc, *again;
	size_t len;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_REMOTE_READ,
			      &mmap), 0))
		return;
	IS(pier_mmap_export(mmap, &desc, &len), 0);
	memcpy(copy, desc, len);
	IS(pier_mmap_stop(mmap), 0);
	OK(!memcmp(desc, copy, len));
	IS(pier_mmap_export(mmap, &again, &len), -EINVAL);
	LIKE(pier_last_error(), "before start");
	IS(pier_mmap_start(mmap), 0);
	IS(pier_mmap_export(mmap, &again, &len), 0);
	OK(memcmp(again, copy, len));	/* it has another key */
	pier_mmap_destroy(mmap);
}

static void an_import_is_what_was_exported(void)
{
	const void *desc = NULL, *again = NULL;
	struct pier_mmap *mmap, *remote;
	struct pier_mmap_config cfg;
	size_t len = 0, again_len;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory),
			      PIER_REMOTE_READ | PIER_REMOTE_ATOMIC, &mmap),
		0) || !IS(pier_mmap_export(mmap, &desc, &len), 0))
		return;
	OK(len <= PIER_DESC_MAX);
	IS(pier_mmap_export(mmap, &again, &again_len), 0);
	OK(again == desc);
	if (!IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	IS(pier_mmap_is_remote(remote), 1);
	OK(pier_mmap_addr(remote) == memory);
	IS(pier_mmap_len(remote), sizeof(memory));
	pier_mmap_get_config(remote, &cfg);
	IS(cfg.access, PIER_REMOTE_READ | PIER_REMOTE_ATOMIC);
	IS(pier_mmap_export(remote, &desc, &len), -EINVAL);
	pier_mmap_destroy(remote);
	IS(pier_mmap_stop(mmap), 0);
	IS(pier_mmap_export(mmap, &desc, &len), -EINVAL);
	IS(pier_mmap_start(mmap), 0);
	IS(pier_mmap_export(mmap, &again, &again_len), 0);
	pier_mmap_destroy(mmap);
}

static void a_remote_mmap_is_not_registered_here(void)
{
	const void *desc;
	struct pier_mmap *mmap, *remote;
	size_t len;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_REMOTE_READ,
			      &mmap), 0) ||
	    !IS(pier_mmap_export(mmap, &desc, &len), 0) ||
	    !IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0))
		return;
	IS(pier_mmap_start(remote), -EBUSY);
	LIKE(pier_last_error(), "started, but it is a remote one");
	IS(pier_mmap_add_dev(remote, dev), -EBUSY);
	LIKE(pier_last_error(), "device added, but it is a remote one");
	IS(configure(remote, memory, 1, 0), -EBUSY);
	LIKE(pier_last_error(), "configured, but it is a remote one");
	IS(pier_mmap_stop(remote), 0);
	OK(pier_mmap_start(remote) < 0);
	OK(pier_mmap_add_dev(remote, dev) < 0);
	OK(configure(remote, memory, 1, 0) < 0);
	pier_mmap_destroy(remote);
	pier_mmap_destroy(mmap);
}

static void several_devices_have_a_key_each(void)
{
	struct pier_dev *more[PIER__MMAP_DEVS];
	struct pier_mmap *mmap, *remote = NULL;
	const void *desc;
	uint32_t key;
	size_t len;
	int i;

	if (!IS(pier_mmap_create(&mmap), 0))
		return;
	IS(configure(mmap, memory, sizeof(memory), PEER_ACCESS), 0);
	for (i = 0; i < PIER__MMAP_DEVS; i++) {
		IS(pier_dev_open(NULL, &more[i]), 0);
		IS(pier_mmap_add_dev(mmap, more[i]), 0);
	}
	IS(pier_mmap_add_dev(mmap, dev), -ENOSPC);
	IS(pier_mmap_start(mmap), 0);
	IS(pier_mmap_export(mmap, &desc, &len), 0);
	IS(pier_mmap_create_from_export(dev, desc, len, &remote), 0);
	for (i = 0; remote && i < PIER__MMAP_DEVS; i++) {
		OK(pier__mmap_rkey(remote, more[i]->id, &key));
		IS(key, mmap->keys[i].rkey);
	}
	if (remote)
		OK(!pier__mmap_rkey(remote, dev->id, &key));
	pier_mmap_destroy(remote);
	pier_mmap_destroy(mmap);
	for (i = 0; i < PIER__MMAP_DEVS; i++)
		pier_dev_close(more[i]);
}

static void what_the_device_refuses_is_undone(void)
{
	struct pier_mmap *mmap = NULL;
	uint64_t most = peer_limit(dev, PIER_LIMIT_MMAP);

	if (most > SIZE_MAX / 2) {
		tap_note("this device takes ranges of any length");
		return;
	}
	IS(pier_mmap_map(dev, (void *)4096, most + 1, PIER_LOCAL_WRITE, &mmap),
	   -EMSGSIZE);
	OK(!mmap);
}

static void a_printed_descriptor_says_what_it_is(void)
{
	char text[512], small[8] = "xxxxxxx";
	const void *desc;
	struct pier_mmap *mmap;
	int full;
	size_t len;

	if (!IS(pier_mmap_map(dev, memory, sizeof(memory), PIER_REMOTE_READ,
			      &mmap), 0) ||
	    !IS(pier_mmap_export(mmap, &desc, &len), 0))
		return;
	full = pier_desc_print(desc, len, text, sizeof(text));
	IS(full, strlen(text));
	LIKE(text, "kind: memory");
	LIKE(text, "length: 8192");
	LIKE(text, "access: read\n");
	LIKE(text, "key: 0x");
	IS(pier_desc_print(desc, len, small, sizeof(small)), full);
	IS_STR(small, "kind: m");
	IS(pier_desc_print(desc, len, NULL, 0), full);
	IS(pier_desc_print("pier", 4, text, sizeof(text)), -PIER_EDESC);
	pier_mmap_destroy(mmap);
}

static void range_that_a_foreign_peer_tells_is_checked(void)
{
	static const uint8_t foreign[8];
	struct pier_mmap *remote = NULL;
	uint32_t key = 0, access = PIER_REMOTE_READ;

	IS(pier_mmap_create_remote(4096, 0, 7, access, &remote), -EINVAL);
	IS(pier_mmap_create_remote(UINT64_MAX, 2, 7, access, &remote),
	   -EINVAL);
	IS(pier_mmap_create_remote(4096, UINT64_MAX, 7, access, &remote),
	   -EINVAL);
	IS(pier_mmap_create_remote(4096, 1, 7, 0, &remote), -EINVAL);
	IS(pier_mmap_create_remote(4096, 1, 7, PIER_LOCAL_WRITE, &remote),
	   -EINVAL);
	OK(!remote);
	if (!IS(pier_mmap_create_remote(UINT64_MAX, 1, 7, access, &remote), 0))
		return;
	OK(pier_mmap_is_remote(remote));
	IS(pier_mmap_len(remote), 1);
	IS((uintptr_t)pier_mmap_addr(remote), UINT64_MAX);
	/* Good for peers without pier, and for no other's device. */
	OK(pier__mmap_rkey(remote, foreign, &key) && key == 7);
	OK(!pier__mmap_rkey(remote, dev->id, &key));
	pier_mmap_destroy(remote);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(it_goes_from_create_to_destroy_step_by_step);
	TEST(bad_configurations_are_refused);
	TEST(memory_of_its_own_is_zeroed_and_aligned_to_pages);
	TEST(the_last_buffer_releases_the_range);
	TEST(buffer_pools_are_named_when_it_is_stopped);
	TEST(its_buffers_are_named_when_it_is_stopped);
	TEST(an_export_needs_remote_access_and_a_start);
	TEST(a_descriptor_lives_until_the_next_start);
	TEST(an_import_is_what_was_exported);
	TEST(a_remote_mmap_is_not_registered_here);
	TEST(several_devices_have_a_key_each);
	TEST(what_the_device_refuses_is_undone);
	TEST(range_that_a_foreign_peer_tells_is_checked);
	TEST(a_printed_descriptor_says_what_it_is);
	pier_dev_close(dev);
	return tap_done();
}
