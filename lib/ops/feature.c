/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device and pier can do besides tasks and exports. */
#include <errno.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "ops/digest.h"

#define FEATURE_LAST PIER_FEATURE_COMCH

static int by_address(const struct pier_devinfo *info)
{
	if (!info->port.fabric->cm)
		return pier__fail(-EOPNOTSUPP, "%s has no connection manager",
				  info->port.name);
	return pier__devinfo_connects(info);
}

static int atomic_cpu(const struct pier_devinfo *info)
{
	if (info->port.limits.atomic_cpu)
		return 0;
	return pier__fail(-EOPNOTSUPP, "%s: RDMA atomics are atomic among "
			  "themselves only, not with the CPU's",
			  info->port.name);
}

static int dmabuf(const struct pier_devinfo *info)
{
	if (info->port.limits.dmabuf)
		return 0;
	return pier__fail(-EOPNOTSUPP, "%s registers no dma-bufs",
			  info->port.name);
}

static int comch(const struct pier_devinfo *info)
{
	int err = by_address(info);

	return err ? err : pier_devinfo_can_task(info, PIER_TASK_COMCH_SEND);
}

/* Of features that no device here has: the reason. */
static int none(const struct pier_devinfo *info, const char *reason)
{
	return pier__fail(-EOPNOTSUPP, "%s: %s", info->port.name, reason);
}

int pier_devinfo_has(const struct pier_devinfo *info, enum pier_feature feature)
{
	if (!info)
		return pier__no_object(__func__);
	switch (feature) {
	case PIER_FEATURE_RC:
	case PIER_FEATURE_WAIT_BUSY:
	case PIER_FEATURE_WAIT_YIELD:
	case PIER_FEATURE_WAIT_GT:
	case PIER_FEATURE_WAIT_EQ:
	case PIER_FEATURE_WAIT_NEQ:
	case PIER_FEATURE_SYNC_CTX:
		return 0;
	case PIER_FEATURE_ADDRESS:
	case PIER_FEATURE_SYNC_IMPORTED:	/* connects by address */
		return by_address(info);
	case PIER_FEATURE_ATOMIC_CPU:
		return atomic_cpu(info);
	case PIER_FEATURE_SHA_1:
		return pier__digest_has(PIER_SHA_1);
	case PIER_FEATURE_SHA_256:
		return pier__digest_has(PIER_SHA_256);
	case PIER_FEATURE_SHA_512:
		return pier__digest_has(PIER_SHA_512);
	case PIER_FEATURE_DC:
		return none(info, "the dynamically connected transport needs "
			    "an adapter of one vendor; connections are "
			    "reliable ones (RC)");
	case PIER_FEATURE_UD:
		return none(info, "pier has no unreliable datagrams; "
			    "connections are reliable ones (RC)");
	case PIER_FEATURE_CLOCK:
		return none(info, "its clock cannot be read");
	case PIER_FEATURE_HOTPLUG:
		return none(info, "it emulates no devices that could be "
			    "plugged");
	case PIER_FEATURE_MODERATION:
		return none(info, "its notifications are not moderated");
	case PIER_FEATURE_DPA:
		return none(info, "it has no processors for programs (DPA)");
	case PIER_FEATURE_GPU:
		return none(info, "pier uses no GPU");
	case PIER_FEATURE_DMABUF:
		return dmabuf(info);
	case PIER_FEATURE_COMCH:
		return comch(info);
	}
	return pier__fail(-EINVAL, "unknown feature %d: 0 to %d", (int)feature,
			  FEATURE_LAST);
}
