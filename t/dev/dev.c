/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/dev_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* Devices: the list, the names they are found by, their attributes. */

static struct pier_devlist *list;
static const struct pier_devinfo *info;	/* what PIER_DEVICE means */

static const struct pier_devinfo *find(const char *name)
{
	const struct pier_devinfo *found = NULL;

	if (!IS(pier_devlist_find(list, name, &found), 0))
		tap_note("%s", pier_last_error());
	return found;
}

static void the_list_has_what_it_counts(void)
{
	size_t i, n = pier_devlist_count(list);

	OK(n > 0);
	for (i = 0; i < n; i++) {
		const struct pier_devinfo *one = pier_devlist_get(list, i);

		if (!OK(one))
			return;
		OK(pier_devinfo_name(one)[0]);
		OK(pier_devinfo_kind(one)[0]);
		OK(pier_devinfo_port(one) >= 1);
	}
	OK(!pier_devlist_get(list, n));
	pier_devlist_destroy(NULL);
}

static void a_device_is_found_by_every_name_it_has(void)
{
	const char *pci = pier_devinfo_pci(info);
	char name[80];

	OK(find(pier_devinfo_name(info)) == info);
	snprintf(name, sizeof(name), "%s:%u", pier_devinfo_name(info),
		 pier_devinfo_port(info));
	OK(find(name) == info);
	if (pci[0])
		OK(find(pci));
	if (pci[0] && strchr(pci, ':'))
		OK(find(strchr(pci, ':') + 1));
	if (pier_devinfo_netdev(info)[0])
		OK(find(pier_devinfo_netdev(info)));
}

static void no_name_is_the_default(void)
{
	const char *was = getenv("PIER_DEVICE");
	char *saved = was ? strdup(was) : NULL;
	const struct pier_devinfo *found = NULL;

	OK(find(NULL) == find(""));
	setenv("PIER_DEVICE", pier_devinfo_name(info), 1);
	OK(find(NULL) == info);
	setenv("PIER_DEVICE", "no_such_device", 1);
	IS(pier_devlist_find(list, NULL, &found), -ENODEV);
	unsetenv("PIER_DEVICE");
	found = find(NULL);
	if (OK(found))
		OK(pier_devinfo_active(found));
	if (saved)
		setenv("PIER_DEVICE", saved, 1);
	free(saved);
}

/* An iWARP one. */
static void a_device_without_a_way_to_connect_is_no_default(void)
{
	const char *was = getenv("PIER_DEVICE");
	char *saved = was ? strdup(was) : NULL;
	struct pier_devinfo *best;

	unsetenv("PIER_DEVICE");
	best = (struct pier_devinfo *)find(NULL);
	if (OK(best)) {
		best->port.limits.by_address = true;
		OK(find(NULL) != best);
		OK(find(pier_devinfo_name(best)) == best);
		best->port.limits.by_address = false;
	}
	if (saved)
		setenv("PIER_DEVICE", saved, 1);
	free(saved);
}

static bool is_kind(const struct pier_devinfo *one, const char *kind)
{
	return one && !strcmp(pier_devinfo_kind(one), kind);
}

/* The first active port of @kind, on @netdev unless that is NULL. */
static const struct pier_devinfo *first(const char *kind, const char *netdev)
{
	const struct pier_devinfo *one;
	size_t i;

	for (i = 0; (one = pier_devlist_get(list, i)); i++) {
		if (is_kind(one, kind) && pier_devinfo_active(one) &&
		    (!netdev || !strcmp(pier_devinfo_netdev(one), netdev)))
			return one;
	}
	return NULL;
}

/* A netdev or an address that names both means it, too. */
static void a_verbs_device_goes_before_soft_ones(void)
{
	const struct pier_devinfo *verbs = first("verbs", NULL), *soft;
	const char *was = getenv("PIER_DEVICE");
	char *saved = was ? strdup(was) : NULL;

	unsetenv("PIER_DEVICE");
	OK(is_kind(find(NULL), verbs ? "verbs" : "soft"));
	if (saved)
		setenv("PIER_DEVICE", saved, 1);
	free(saved);
	if (!verbs) {
		tap_note("every device here is soft");
		return;
	}
	soft = first("soft", pier_devinfo_netdev(verbs));
	if (OK(soft))
		IS_STR(pier_devinfo_pci(soft), pier_devinfo_pci(verbs));
	OK(is_kind(find(pier_devinfo_netdev(verbs)), "verbs"));
	OK(is_kind(find(pier_devinfo_pci(verbs)), "verbs"));
}

static void an_unknown_name_is_refused_with_what_there_is(void)
{
	const struct pier_devinfo *found = NULL;
	struct pier_dev *dev = NULL;
	char name[80];

	IS(pier_devlist_find(list, "no_such_device", &found), -ENODEV);
	LIKE(pier_last_error(), "no_such_device");
	if (!first("verbs", NULL))	/* then why there is none */
		LIKE(pier_last_error(), "RDMA");
	LIKE(pier_last_error(), pier_devinfo_name(info));
	snprintf(name, sizeof(name), "%s:%u", pier_devinfo_name(info),
		 pier_devinfo_port(info) + 200);
	IS(pier_devlist_find(list, name, &found), -ENODEV);
	snprintf(name, sizeof(name), "%s:", pier_devinfo_name(info));
	IS(pier_devlist_find(list, name, &found), -ENODEV);
	snprintf(name, sizeof(name), "%s:1x", pier_devinfo_name(info));
	IS(pier_devlist_find(list, name, &found), -ENODEV);
	OK(!found);
	IS(pier_dev_open("no_such_device", &dev), -ENODEV);
	OK(!dev);
}

static void who_asks_for_a_soft_device_gets_no_other_kind(void)
{
	const struct pier_devinfo *found = NULL;

	IS(pier_devlist_find(list, "soft_none", &found), -ENODEV);
	OK(!strstr(pier_last_error(), "modprobe"));
}

/* An entry of a list with GIDs: a global one, and others. */
static void put_gid(struct pier_devinfo *made, enum pier_gid_type type,
		    uint8_t first, bool passing)
{
	struct pier__port *port = &made->port;
	struct pier_gid *gid = &port->gids[port->gid_count];

	gid->type = type;
	gid->index = 10 + port->gid_count;
	gid->raw[0] = first;
	gid->raw[1] = 0x80;
	port->gid_passing |= (uint32_t)passing << port->gid_count;
	port->gid_count++;
}

static void gids_that_are_not_chosen_have_a_reason(void)
{
	struct pier_devinfo made = { .port = { .name = "made" } };

	put_gid(&made, PIER_GID_ROCE_V2, 0xfd, false);
	put_gid(&made, PIER_GID_ROCE_V1, 0xfd, false);
	put_gid(&made, PIER_GID_ROCE_V2, 0xfe, false);
	put_gid(&made, PIER_GID_ROCE_V2, 0xfd, true);
	IS(pier_devinfo_can_gid(&made, 0), 0);
	IS(pier_devinfo_can_gid(&made, 1), -EADDRNOTAVAIL);
	LIKE(pier_last_error(), "made: GID index 11 is not chosen");
	LIKE(pier_last_error(), "RoCE v1");
	IS(pier_devinfo_can_gid(&made, 2), -EADDRNOTAVAIL);
	LIKE(pier_last_error(), "link-local");
	IS(pier_devinfo_can_gid(&made, 3), -EADDRNOTAVAIL);
	LIKE(pier_last_error(), "expires");
	IS(pier_devinfo_can_gid(&made, 4), -ERANGE);
}

static void a_gid_that_expires_is_chosen_if_there_is_no_other(void)
{
	struct pier_devinfo made = { .port = { .name = "made" } };

	put_gid(&made, PIER_GID_ROCE_V2, 0xfd, true);
	put_gid(&made, PIER_GID_ROCE_V2, 0xfe, false);
	IS(pier_devinfo_can_gid(&made, 0), 0);
}

static void on_infiniband_any_gid_is_chosen(void)
{
	struct pier_devinfo made = { .port = {
		.name = "made", .link_layer = IBV_LINK_LAYER_INFINIBAND } };

	put_gid(&made, PIER_GID_IB, 0xfe, false);
	IS(pier_devinfo_can_gid(&made, 0), 0);
}

static void what_is_missing_has_a_name_and_a_reason(void)
{
	const char *name;
	size_t i;

	for (i = 0; (name = pier_devlist_missing(list, i)); i++) {
		const char *text = pier_devlist_missing_text(list, i);

		tap_note("\"%s\": %s", name, text);
		OK(strlen(text) > strlen(name));
	}
	OK(!pier_devlist_missing_text(list, i));
	OK(!pier_devlist_missing(list, SIZE_MAX));
}

static void gids_are_those_in_use(void)
{
	uint64_t n = 0, i;
	struct pier_gid gid;

	IS(pier_devinfo_limit(info, PIER_LIMIT_GIDS, &n), 0);
	OK(n > 0);
	for (i = 0; i < n; i++) {
		static const uint8_t none[16];

		IS(pier_devinfo_gid(info, i, &gid), 0);
		OK(memcmp(gid.raw, none, 16));
	}
	IS(pier_devinfo_gid(info, n, &gid), -ERANGE);
}

static void limits_are_reported(void)
{
	uint64_t value;
	int limit;

	for (limit = PIER_LIMIT_MESSAGE; limit <= PIER_LIMIT_COMCH_CLIENTS;
	     limit++) {
		value = 0;
		IS(pier_devinfo_limit(info, (enum pier_limit)limit, &value),
		   0);
		OK(value > 0 || limit == PIER_LIMIT_INLINE);
	}
	IS(pier_devinfo_limit(info, (enum pier_limit)99, &value), -EINVAL);
	LIKE(pier_last_error(), "limit 99: 0 to 26");
	IS(pier_devinfo_limit(info, (enum pier_limit)-1, &value), -EINVAL);
}

static void abilities_are_reported(void)
{
	IS(pier_devinfo_can_task(info, PIER_TASK_SEND), 0);
	IS(pier_devinfo_can_task(info, PIER_TASK_RECEIVE), 0);
	IS(pier_devinfo_can_task(info, PIER_TASK_READ), 0);
	IS(pier_devinfo_can_task(info, (enum pier_task_type)99), -EINVAL);
	IS(pier_devinfo_can_export(info, PIER_EXPORT_MMAP), 0);
	IS(pier_devinfo_can_import(info, PIER_EXPORT_MMAP), 0);
	IS(pier_devinfo_can_export(info, PIER_EXPORT_SYNC_EVENT), 0);
	IS(pier_devinfo_can_import(info, PIER_EXPORT_SYNC_EVENT), 0);
	IS(pier_devinfo_can_export(info, (enum pier_export)99), -EINVAL);
	LIKE(pier_last_error(), "export 99: 0 to 2");
	IS(pier_devinfo_can_import(info, (enum pier_export)99), -EINVAL);
}

static void a_lid_is_reported_of_infiniband_only(void)
{
	struct pier_devinfo port = {
		.port = { .link_layer = IBV_LINK_LAYER_INFINIBAND, .lid = 7 },
	};

	IS(pier_devinfo_lid(&port), 7);
	port.port.link_layer = IBV_LINK_LAYER_ETHERNET;
	IS(pier_devinfo_lid(&port), 0);
}

static void an_open_device_tells_what_was_opened(void)
{
	const struct pier_devinfo *opened;
	struct pier_dev *dev = NULL;
	unsigned int mtu;

	if (!IS(pier_dev_open(pier_devinfo_name(info), &dev), 0))
		return;
	opened = pier_dev_info(dev);
	IS_STR(pier_devinfo_name(opened), pier_devinfo_name(info));
	IS_STR(pier_devinfo_kind(opened), pier_devinfo_kind(info));
	IS_STR(pier_devinfo_netdev(opened), pier_devinfo_netdev(info));
	IS_STR(pier_devinfo_pci(opened), pier_devinfo_pci(info));
	IS(pier_devinfo_port(opened), pier_devinfo_port(info));
	IS(pier_devinfo_link(opened), pier_devinfo_link(info));
	OK(pier_devinfo_active(opened));
	mtu = pier_devinfo_mtu(opened);
	OK(mtu >= 256 && mtu <= 4096 && !(mtu & (mtu - 1)));
	pier_dev_close(dev);
	pier_dev_close(NULL);
}

static void a_device_can_be_opened_often(void)
{
	struct pier_dev *one = NULL, *two = NULL;

	IS(pier_dev_open(pier_devinfo_name(info), &one), 0);
	IS(pier_dev_open(pier_devinfo_name(info), &two), 0);
	if (OK(one) && OK(two))
		OK(memcmp(one->id, two->id, sizeof(one->id)));
	pier_dev_close(one);
	pier_dev_close(two);
}

static char logged[512];

static void keep(enum pier_log_level level, const char *area,
		 const char *message, void *arg)
{
	(void)area;
	(void)arg;
	if (level == PIER_LOG_CRITICAL)
		snprintf(logged, sizeof(logged), "%s", message);
}

static void a_device_in_use_is_not_closed(void)
{
	enum pier_log_level level = pier_log_level();
	struct pier_dev *dev = NULL;
	struct pier_rdma *rdma = NULL;
	struct pier_mmap *mmap = NULL;
	unsigned int mmaps, ctxs;

	if (!IS(pier_dev_open(pier_devinfo_name(info), &dev), 0) ||
	    !IS(pier_rdma_create(dev, &rdma), 0) ||
	    !IS(pier_mmap_create(&mmap), 0))
		return;
	pier_log_set_callback(keep, NULL);
	pier_log_set_level(PIER_LOG_CRITICAL);
	pier_dev_close(dev);
	LIKE(logged, "1 objects use it, 0 mmaps and 1 contexts");
	IS(pier_mmap_add_dev(mmap, dev), 0);
	pier_dev_close(dev);
	LIKE(logged, "2 objects use it, 1 mmaps and 1 contexts");
	pier_log_set_callback(NULL, NULL);
	pier_log_set_level(level);
	IS_STR(pier_devinfo_name(pier_dev_info(dev)), pier_devinfo_name(info));
	pier_rdma_destroy(rdma);
	pier_mmap_destroy(mmap);
	pier_dev_users(dev, &mmaps, &ctxs);
	IS(mmaps, 0);
	IS(ctxs, 0);
	pier_dev_close(dev);
}

static void a_port_that_is_down_is_not_opened(void)
{
	size_t i;

	for (i = 0; i < pier_devlist_count(list); i++) {
		const struct pier_devinfo *one = pier_devlist_get(list, i);
		struct pier_dev *dev;
		char name[80];

		if (pier_devinfo_active(one))
			continue;
		snprintf(name, sizeof(name), "%s:%u", pier_devinfo_name(one),
			 pier_devinfo_port(one));
		IS(pier_dev_open(name, &dev), -ENETDOWN);
		return;
	}
	tap_note("every port here is up");
}

int main(void)
{
	if (pier_devlist_create(&list) ||
	    pier_devlist_find(list, NULL, &info))
		return tap_skip_all(pier_last_error());
	TEST(the_list_has_what_it_counts);
	TEST(a_device_is_found_by_every_name_it_has);
	TEST(no_name_is_the_default);
	TEST(a_device_without_a_way_to_connect_is_no_default);
	TEST(a_verbs_device_goes_before_soft_ones);
	TEST(an_unknown_name_is_refused_with_what_there_is);
	TEST(who_asks_for_a_soft_device_gets_no_other_kind);
	TEST(gids_are_those_in_use);
	TEST(gids_that_are_not_chosen_have_a_reason);
	TEST(a_gid_that_expires_is_chosen_if_there_is_no_other);
	TEST(on_infiniband_any_gid_is_chosen);
	TEST(what_is_missing_has_a_name_and_a_reason);
	TEST(limits_are_reported);
	TEST(abilities_are_reported);
	TEST(a_lid_is_reported_of_infiniband_only);
	TEST(an_open_device_tells_what_was_opened);
	TEST(a_device_can_be_opened_often);
	TEST(a_device_in_use_is_not_closed);
	TEST(a_port_that_is_down_is_not_opened);
	pier_devlist_destroy(list);
	return tap_done();
}
