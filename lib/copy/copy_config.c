/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "copy/copy_impl.h"
#include "core/copy.h"
#include "core/fail.h"

static int settle(struct pier_copy_config *cfg)
{
	uint32_t flags = PIER__COPY_FLAGS | PIER__COPY_SERVER_FLAGS;
	int err;

	if (!cfg->name)
		cfg->name = "pier copy";
	if (!cfg->root)
		cfg->root = ".";
	if (cfg->flags & ~flags)
		return pier__fail(-EINVAL, "copy: flags 0x%x: only 0x%x are "
				  "known", cfg->flags, flags);
	err = pier__config_u32(&cfg->timeout_ms, "timeout_ms", 30000,
			       PIER__COPY_TIMEOUT_MIN,
			       PIER__COPY_TIMEOUT_MAX);
	if (!err)
		err = pier__config_u32(&cfg->max_clients, "max_clients", 8, 1,
				       PIER__COPY_CLIENTS_MAX);
	return err;
}

int pier_copy_create(struct pier_dev *dev, struct pier_copy **ret)
{
	struct pier_copy *copy;
	int err;

	if (!dev)
		return pier__no_object(__func__);
	err = pier_devinfo_has(pier_dev_info(dev), PIER_FEATURE_COMCH);
	if (err)
		return err;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return pier__fail(-ENOMEM, "copy: no memory");
	copy->dev = dev;
	copy->cfg.size = sizeof(copy->cfg);
	pier__list_init(&copy->sessions);
	err = settle(&copy->cfg);
	if (!err)
		err = pier_pe_create(&copy->pe);
	if (err) {
		free(copy);
		return err;
	}
	*ret = copy;
	return 0;
}

int pier_copy_configure(struct pier_copy *copy,
			const struct pier_copy_config *cfg)
{
	struct pier_copy_config own;
	int err;

	if (!copy)
		return pier__no_object(__func__);
	err = pier__config_copy(&own, sizeof(own), cfg, cfg->size);
	if (!err)
		err = settle(&own);
	if (!err)
		copy->cfg = own;
	return err;
}

void pier_copy_get_config(const struct pier_copy *copy,
			  struct pier_copy_config *ret)
{
	if (!copy)
		return;
	*ret = copy->cfg;
}

void pier_copy_set_callbacks(struct pier_copy *copy,
			     pier_copy_failed_fn *failed,
			     pier_copy_progress_fn *progress, void *arg)
{
	if (!copy)
		return;
	copy->failed = failed;
	copy->progress = progress;
	copy->arg = arg;
}

void pier_copy_destroy(struct pier_copy *copy)
{
	if (!copy)
		return;
	pier_pe_destroy(copy->pe);
	free(copy);
}

void pier_copy_stop(struct pier_copy *copy)
{
	if (!copy)
		return;
	atomic_store(&copy->stopped, true);
	pier_pe_wake(copy->pe);
}

void pier_copy_get_result(const struct pier_copy *copy,
			  struct pier_copy_result *ret)
{
	if (!copy)
		return;
	*ret = copy->result;
}

int pier__copy_configure_comch(struct pier_copy *copy, uint32_t timeout_ms)
{
	struct pier_comch_config cfg = {
		.size = sizeof(cfg),
		.max_msg_size = PIER__COPY_MESSAGE,
		.recv_queue = 2 * PIER__COPY_SLOTS + PIER__COPY_REPORTS,
		.max_clients = copy->cfg.max_clients,
		.connect_timeout_ms = timeout_ms,
	};

	return pier_comch_configure(copy->comch, &cfg);
}

int pier__copy_wait(struct pier_copy *copy, int timeout_ms)
{
	struct pollfd readable = { .fd = pier_pe_fd(copy->pe),
				   .events = POLLIN };
	int did = pier_pe_progress(copy->pe, 0), err;

	if (did)
		return did < 0 ? did : 0;
	err = pier_pe_arm(copy->pe);
	if (err)
		return err == -EAGAIN ? 0 : err;
	poll(&readable, 1, timeout_ms);
	pier_pe_clear(copy->pe);
	did = pier_pe_progress(copy->pe, 0);
	return did < 0 ? did : 0;
}
