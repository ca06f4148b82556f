/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of devices, and the reason why one is missing. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/verbs/diagnose.h"
#include "fabric/verbs/verbs_impl.h"

/* Append the ports of @dev.  Errors: -ENOMEM; those of the device. */
static int add_ports(struct ibv_context *ctx, struct pier__ports *ports)
{
	struct pier__port port = { .fabric = &pier__verbs };
	struct ibv_device_attr attr;
	int err;

	err = ibv_query_device(ctx, &attr);
	if (err) {
		err = pier__verbs_error(err);
		return pier__fail(err, "%s cannot be queried: %s",
				  ibv_get_device_name(ctx->device),
				  pier_strerror(err));
	}
	err = pier__verbs_limits(ctx, &port.limits);
	for (uint32_t i = 1; !err && i <= attr.phys_port_cnt; i++) {
		port.netdev[0] = '\0';
		err = pier__verbs_port(ctx, i, &port);
		if (!err)
			err = pier__ports_add(ports, &port);
	}
	return err;
}

/* A device is omitted, for the cause according to @facts. */
static void miss(const struct verbs_facts *facts, struct pier__ports *ports)
{
	enum verbs_cause cause = pier__verbs_cause(facts);
	char text[sizeof(ports->reason)];

	pier__verbs_message(facts, text, sizeof(text));
	if (cause == VERBS_FINE)
		return;
	pier__ports_miss(ports, &pier__verbs, cause != VERBS_NO_DEVICE,
			 facts->device, text);
	pier__log(PIER_LOG_INFO, "verbs", "%s", text);
}

/*
 * Add @dev, or record why it cannot be used. @facts has the result of the
 * listing.  Errors: -ENOMEM.
 */
static int add_device(struct ibv_device *dev, struct verbs_facts *facts,
		      struct pier__ports *ports)
{
	struct ibv_context *ctx;
	int err;

	errno = 0;
	ctx = ibv_open_device(dev);
	if (!ctx) {
		facts->listed = true;
		facts->open_error = -pier__verbs_error(-1);
		pier__verbs_inspect("", ibv_get_device_name(dev), facts);
		miss(facts, ports);
		return 0;
	}
	err = add_ports(ctx, ports);
	ibv_close_device(ctx);
	if (!err || err == -ENOMEM)
		return err;
	/* -EOPNOTSUPP: the device lacks what pier needs, no repair helps. */
	pier__ports_miss(ports, &pier__verbs, err != -EOPNOTSUPP,
			 ibv_get_device_name(dev), pier_last_error());
	pier__log(PIER_LOG_INFO, "verbs", "%s", pier_last_error());
	return 0;
}

static bool is_listed(struct ibv_device **devs, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(ibv_get_device_name(devs[i]), name))
			return true;
	}
	return false;
}

/* Record why @name, or with NULL any device at all, was not listed. */
static void explain(const char *name, const struct verbs_facts *listing,
		    struct pier__ports *ports)
{
	struct verbs_facts facts = *listing;

	pier__verbs_inspect("", name, &facts);
	miss(&facts, ports);
}

/* Look for devices that the kernel has and libibverbs does not list. */
static void explain_missing(struct ibv_device **devs, int n,
			    const struct verbs_facts *listing,
			    struct pier__ports *ports)
{
	DIR *dir = opendir("/sys/class/infiniband");
	struct dirent *entry;
	bool any = n > 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		any = true;
		if (!is_listed(devs, n, entry->d_name))
			explain(entry->d_name, listing, ports);
	}
	if (dir)
		closedir(dir);
	if (!any)
		explain(NULL, listing, ports);
}

int pier__verbs_list(struct pier__ports *ports)
{
	struct verbs_facts facts = { 0 };
	struct ibv_device **devs;
	int n = 0, err = 0;

	errno = 0;
	devs = ibv_get_device_list(&n);
	if (!devs) {
		facts.list_error = errno;
		n = 0;
	}
	for (int i = 0; !err && i < n; i++) {
		struct verbs_facts one = facts;

		err = add_device(devs[i], &one, ports);
	}
	explain_missing(devs, n, &facts, ports);
	if (devs)
		ibv_free_device_list(devs);
	return err;
}
