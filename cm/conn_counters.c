/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/counters.h>

#include "cm/conn_impl.h"
#include "core/fail.h"
#include "dev/dev_impl.h"

int pier_conn_counters(const struct pier_conn *conn, struct pier_counters *ret)
{
	struct pier_counters all = { .size = sizeof(all) };
	const struct pier_dev *dev;
	int err;

	if (!conn)
		return pier__no_object(__func__);
	if (!conn->qp)
		return pier__fail(-ENOTCONN, "the connection is closed");
	dev = conn->queues->dev;
	err = dev->fabric->dev->counters(dev->fdev, conn->qp, &all);
	return err ? err : pier__counters_give(&all, ret);
}
