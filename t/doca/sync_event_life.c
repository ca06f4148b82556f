/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_sync_event.h>

#include "t/doca/ends.h"
#include "t/lib/tap.h"

/* The life of a sync event: what is allowed when, and what it holds. */

static struct doca_dev *dev;

static struct doca_sync_event *create(bool remote)
{
	struct doca_sync_event *event = NULL;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	if (remote)
		IS(doca_sync_event_add_publisher_location_remote_net(event),
		   DOCA_SUCCESS);
	else
		IS(doca_sync_event_add_publisher_location_cpu(event, dev),
		   DOCA_SUCCESS);
	return event;
}

static void an_export_lives_until_the_event_is_destroyed(void)
{
	struct doca_sync_event *event = create(true);
	const uint8_t *desc;
	uint8_t copy[4096];
	size_t len = 0;

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_export_to_remote_net(event, &desc, &len),
	   DOCA_SUCCESS);
	if (!OK(len && len <= sizeof(copy)))
		return;
	memcpy(copy, desc, len);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	OK(!memcmp(copy, desc, len));
	*(uint8_t *)(uintptr_t)desc ^= 1;	/* it may be written to */
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static struct doca_ctx *ctx_of(struct doca_sync_event *event,
			       struct doca_pe **pe)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);

	IS(doca_pe_create(pe), DOCA_SUCCESS);
	IS(doca_pe_connect_ctx(*pe, ctx), DOCA_SUCCESS);
	return ctx;
}

static void is_configured_no_more(struct doca_sync_event *event)
{
	IS(doca_sync_event_add_publisher_location_cpu(event, dev),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_publisher_location_remote_pci(event),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_add_subscriber_location_remote_pci(event),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_set_addr(event, &(uint64_t){ 0 }),
	   DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
}

static void after_context_mode_an_event_is_only_destroyed(void)
{
	struct doca_sync_event *event = create(false);
	uint64_t value;
	struct doca_pe *pe;
	struct doca_ctx *ctx = ctx_of(event, &pe);

	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	is_configured_no_more(event);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	is_configured_no_more(event);
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_get(event, &value), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

static void the_mode_is_that_of_the_start(void)
{
	struct doca_sync_event *event = create(false);
	struct doca_pe *pe;
	struct doca_ctx *ctx = ctx_of(event, &pe);

	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
	event = create(false);
	ctx = ctx_of(event, &pe);
	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* Values are the calls' of both modes, waits those of blocking mode. */
static void waits_belong_to_blocking_mode(void)
{
	struct doca_sync_event *event = create(false);
	uint64_t value = 9;
	struct doca_pe *pe;
	struct doca_ctx *ctx = ctx_of(event, &pe);

	IS(doca_ctx_start(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_update_set(event, 5), DOCA_SUCCESS);
	IS(doca_sync_event_update_add(event, 2, &value), DOCA_SUCCESS);
	IS(value, 5);
	IS(doca_sync_event_wait_gt(event, 0, UINT64_MAX),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_sync_event_wait_eq_yield(event, 7, UINT64_MAX),
	   DOCA_ERROR_NOT_PERMITTED);
	IS(doca_ctx_stop(ctx), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* Each is declared, and any of them may be used. */
static void several_locations_may_be_added(void)
{
	struct doca_sync_event *event = create(true);
	uint64_t value = 9;

	IS(doca_sync_event_add_publisher_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_pci(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_publisher_location_remote_net(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_remote_pci(event),
	   DOCA_SUCCESS);
	IS(doca_sync_event_start(event), DOCA_SUCCESS);
	IS(doca_sync_event_get(event, &value), DOCA_SUCCESS);
	IS(value, 0);
	IS(doca_sync_event_update_set(event, 0x1ff), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt(event, 0xfe, 0xff), DOCA_SUCCESS);
	IS(doca_sync_event_wait_gt_yield(event, 0x1fe, 0xffff), DOCA_SUCCESS);
	IS(doca_sync_event_wait_neq_yield(event, 0, 0x100), DOCA_SUCCESS);
	IS(doca_sync_event_stop(event), DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
}

static void an_event_holds_its_device(void)
{
	struct doca_sync_event *event;

	IS(doca_sync_event_create(&event), DOCA_SUCCESS);
	IS(doca_sync_event_add_subscriber_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	IS(doca_sync_event_add_publisher_location_cpu(event, dev),
	   DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_dev_close(dev), DOCA_SUCCESS);
	dev = end_device();
	OK(dev);
}

static void set_buf(struct doca_sync_event *event, struct doca_buf *buf,
		    doca_error_t want)
{
	IS(doca_sync_event_set_doca_buf(event, buf), want);
	IS(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static void a_word_in_a_buffer_is_aligned_and_there(void)
{
	struct doca_sync_event *event = create(false);
	struct doca_buf_inventory *inv;
	uint64_t words[3] = { 0 };
	char *at = (char *)words;
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	IS(doca_mmap_create(&mmap), DOCA_SUCCESS);
	IS(doca_mmap_set_memrange(mmap, words, sizeof(words)), DOCA_SUCCESS);
	IS(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	IS(doca_mmap_start(mmap), DOCA_SUCCESS);
	IS(doca_buf_inventory_create(2, &inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_start(inv), DOCA_SUCCESS);
	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, at + 4, 8, &buf),
	   DOCA_SUCCESS);
	set_buf(event, buf, DOCA_ERROR_NOT_PERMITTED);
	IS(doca_sync_event_set_doca_buf(event, buf), DOCA_ERROR_NOT_PERMITTED);
	IS(doca_buf_inventory_buf_get_by_data(inv, mmap, at + 8, 8, &buf),
	   DOCA_SUCCESS);
	set_buf(event, buf, DOCA_SUCCESS);
	IS(doca_sync_event_destroy(event), DOCA_SUCCESS);
	IS(doca_buf_inventory_destroy(inv), DOCA_SUCCESS);
	IS(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

int main(void)
{
	dev = end_device();
	if (!dev)
		return tap_skip_all("there is no such device");
	TEST(an_export_lives_until_the_event_is_destroyed);
	TEST(after_context_mode_an_event_is_only_destroyed);
	TEST(the_mode_is_that_of_the_start);
	TEST(waits_belong_to_blocking_mode);
	TEST(several_locations_may_be_added);
	TEST(an_event_holds_its_device);
	TEST(a_word_in_a_buffer_is_aligned_and_there);
	doca_dev_close(dev);
	return tap_done();
}
