/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/pier.h>

#include "cm/addr.h"
#include "mem/mmap_impl.h"
#include "ops/service.h"
#include "t/lib/tap.h"

/* Imports that cannot work on the device that they are for. */

#define LEN 4096

static struct pier_dev *dev;
static struct pier_mmap *memory;	/* on dev */
static uint8_t desc[PIER_DESC_MAX];

static uint8_t link_of_dev(void)
{
	return dev->info.port.link_layer;
}

static uint8_t other_link(void)
{
	return IBV_LINK_LAYER_INFINIBAND + IBV_LINK_LAYER_ETHERNET -
	       link_of_dev();
}

/* Describe memory, or an event's word, on devices of these link layers. */
static size_t describe(enum pier__wire_kind kind, const uint8_t *links,
		       uint32_t count, uint8_t *ret)
{
	struct pier_mmap fake = *memory;
	int len;

	fake.kind = kind;
	if (kind == PIER__WIRE_SYNC_EVENT)
		fake.cfg.len = sizeof(uint64_t);
	fake.key_count = count;
	for (uint32_t i = 0; i < count; i++) {
		fake.keys[i] = memory->keys[0];
		fake.keys[i].link_layer = links[i];
	}
	len = pier__mmap_describe(&fake, 0, ret, PIER_DESC_MAX);
	return OK(len > 0) ? (size_t)len : 0;
}

/* The same with the addresses @gids of a service. */
static size_t describe_export(enum pier__wire_kind kind, uint8_t link,
			      const struct pier__gid_offer *gids,
			      unsigned int count)
{
	bool event = kind == PIER__WIRE_SYNC_EXPORT;
	uint8_t inner[PIER_DESC_MAX], token[PIER__TOKEN] = { 1 };
	size_t inner_len = describe(event ? PIER__WIRE_SYNC_EVENT :
					    PIER__WIRE_MMAP, &link, 1, inner);
	struct pier__wire_out out;
	int len;

	pier__wire_begin(&out, desc, sizeof(desc), kind, 6);
	pier__wire_uint(&out, 1, 0);
	pier__wire_uint(&out, 2, 0);
	pier__wire_uint(&out, 3, 40000);
	pier__wire_bytes(&out, 4, token, sizeof(token));
	pier__gids_encode(&out, 5, gids, count);
	pier__wire_bytes(&out, 6, inner, inner_len);
	len = pier__wire_end(&out);
	return OK(len > 0) ? (size_t)len : 0;
}

static int import(struct pier_dev *on, size_t len)
{
	struct pier_mmap *mmap = NULL;
	int err = pier_mmap_create_from_export(on, desc, len, &mmap);

	OK(!err == !!mmap);
	pier_mmap_destroy(mmap);
	return err;
}

static int import_export(struct pier_dev *on, size_t len)
{
	struct pier_mmap *mmap = NULL;
	int err = pier_dma_import(on, desc, len, &mmap);

	OK(!err == !!mmap);
	pier_mmap_destroy(mmap);
	return err;
}

/* One of a peer. */
static int import_event(struct pier_dev *on, size_t len)
{
	struct pier_sync_event *event = NULL;
	int err = pier_sync_event_create_from_export(on, desc, len, &event);

	OK(!err == !!event);
	pier_sync_event_destroy(event);
	return err;
}

/* One of another process. */
static int import_event_export(struct pier_dev *on, size_t len)
{
	struct pier_sync_event *event = NULL;
	int err = pier_sync_event_import_process(on, desc, len, &event);

	OK(!err == !!event);
	pier_sync_event_destroy(event);
	return err;
}

/* The last error has both link layers, and names the device. */
static void names_the_device(void)
{
	LIKE(pier_last_error(), "InfiniBand");
	LIKE(pier_last_error(), "Ethernet");
	LIKE(pier_last_error(), pier_devinfo_name(pier_dev_info(dev)));
}

static void memory_on_another_link_layer_is_refused(void)
{
	uint8_t links[] = { other_link(), other_link(), link_of_dev() };
	size_t len = describe(PIER__WIRE_MMAP, links, 2, desc);

	IS(import(dev, len), -EPROTOTYPE);
	names_the_device();
	IS(import(NULL, len), 0);
	IS(import(dev, describe(PIER__WIRE_MMAP, links, 3, desc)), 0);
}

static void an_event_on_another_link_layer_is_refused(void)
{
	uint8_t links[] = { other_link(), link_of_dev() };
	size_t len = describe(PIER__WIRE_SYNC_EVENT, links, 1, desc);

	IS(import_event(dev, len), -EPROTOTYPE);
	names_the_device();
	IS(import_event(NULL, len), 0);
	len = describe(PIER__WIRE_SYNC_EVENT, links, 2, desc);
	IS(import_event(dev, len), 0);
}

static void an_unknown_link_layer_is_refused(void)
{
	for (uint8_t link = 0; link < 4; link += 3)
		IS(import(NULL, describe(PIER__WIRE_MMAP, &link, 1, desc)),
		   -PIER_EDESC);
}

static void other_descriptors_are_refused(void)
{
	uint8_t link = link_of_dev();

	IS(import(dev, describe(PIER__WIRE_SYNC_EVENT, &link, 1, desc)),
	   -PIER_EKIND);
	LIKE(pier_last_error(), "sync event");
	IS(import(dev, describe(PIER__WIRE_CONN, &link, 1, desc)),
	   -PIER_EKIND);
	LIKE(pier_last_error(), "connection");
}

/* The addresses of dev.  Returns how many. */
static unsigned int own_gids(struct pier__gid_offer *ret)
{
	struct pier__port port;
	int count;

	pier__dev_port(dev, &port);
	count = pier__gid_offers(&port, PIER__GID_ANY, ret);
	return OK(count > 0) ? (unsigned int)count : 0;
}

static void an_export_on_another_link_layer_is_refused(void)
{
	struct pier__gid_offer gids[PIER__GIDS_MAX];
	unsigned int count = own_gids(gids);
	size_t len = describe_export(PIER__WIRE_EXPORT, other_link(), gids,
				     count);

	IS(import_export(dev, len), -EPROTOTYPE);
	names_the_device();
	IS(import_export(NULL, len), 0);
	len = describe_export(PIER__WIRE_EXPORT, link_of_dev(), gids, count);
	IS(import_export(dev, len), 0);
	len = describe_export(PIER__WIRE_SYNC_EXPORT, other_link(), gids,
			      count);
	IS(import_event_export(dev, len), -EPROTOTYPE);
	names_the_device();
	len = describe_export(PIER__WIRE_SYNC_EXPORT, link_of_dev(), gids,
			      count);
	IS(import_event_export(dev, len), 0);
}

static void an_export_without_a_common_address_is_refused(void)
{
	struct pier__gid_offer gids[PIER__GIDS_MAX];
	unsigned int count = own_gids(gids);
	size_t len;

	for (unsigned int i = 0; i < count; i++)	/* another RoCE */
		gids[i].type = PIER_GID_ROCE_V1 + PIER_GID_ROCE_V2 -
			       gids[i].type;
	len = describe_export(PIER__WIRE_EXPORT, link_of_dev(), gids, count);
	IS(import_export(dev, len), -EHOSTUNREACH);
	LIKE(pier_last_error(), "no address of a common family");
	IS(import_export(NULL, len), 0);
	len = describe_export(PIER__WIRE_SYNC_EXPORT, link_of_dev(), gids,
			      count);
	IS(import_event_export(dev, len), -EHOSTUNREACH);
}

int main(void)
{
	static char bytes[LEN];

	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (!IS(pier_mmap_map(dev, bytes, LEN,
			      PIER_REMOTE_READ | PIER_REMOTE_WRITE |
				      PIER_REMOTE_ATOMIC, &memory), 0))
		return tap_done();
	TEST(memory_on_another_link_layer_is_refused);
	TEST(an_event_on_another_link_layer_is_refused);
	TEST(an_unknown_link_layer_is_refused);
	TEST(other_descriptors_are_refused);
	TEST(an_export_on_another_link_layer_is_refused);
	TEST(an_export_without_a_common_address_is_refused);
	pier_mmap_destroy(memory);
	pier_dev_close(dev);
	return tap_done();
}
