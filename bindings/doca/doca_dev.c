/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <string.h>

#include <pier/verbs.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_dev *devs;

static struct doca_dev *find(const char *name)
{
	char other[DEV_NAME_SIZE];

	for (struct doca_dev *dev = devs; dev; dev = dev->next) {
		pier__doca_devinfo_name(&dev->info, other);
		if (!strcmp(name, other))
			return dev;
	}
	return NULL;
}

static doca_error_t open_new(const char *name, struct doca_dev **ret)
{
	struct doca_dev *dev = calloc(1, sizeof(*dev));
	int err;

	if (!dev)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_dev_open(name, &dev->dev);
	if (err) {
		free(dev);
		return pier__doca_error(err);
	}
	dev->info.info = pier_dev_info(dev->dev);
	dev->next = devs;
	devs = dev;
	*ret = dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *info, struct doca_dev **dev)
{
	char name[DEV_NAME_SIZE];
	doca_error_t error = DOCA_SUCCESS;
	struct doca_dev *found;

	if (!info || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	pier__doca_devinfo_name(info, name);
	pthread_mutex_lock(&lock);
	found = find(name);
	if (!found)
		error = open_new(name, &found);
	if (!error) {
		found->opens++;
		*dev = found;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

doca_error_t pier__doca_dev_of_pd(struct ibv_pd *pd, struct doca_dev **ret)
{
	struct doca_dev *dev = calloc(1, sizeof(*dev));
	int err;

	if (!dev)
		return DOCA_ERROR_NO_MEMORY;
	err = pier_dev_open_pd(pd, 1, &dev->dev);
	if (err) {
		free(dev);
		return pier__doca_error(err);
	}
	dev->info.info = pier_dev_info(dev->dev);
	dev->opens = 1;
	dev->of_pd = true;
	*ret = dev;
	return DOCA_SUCCESS;
}

static void take_out(struct doca_dev *dev)
{
	struct doca_dev **at = &devs;

	while (*at != dev)
		at = &(*at)->next;
	*at = dev->next;
}

/* Sync events that run have mmaps of their own. */
static doca_error_t check_unused(const struct doca_dev *dev)
{
	unsigned int ours = atomic_load(&dev->mmaps);
	unsigned int events = atomic_load(&dev->events);
	unsigned int added = atomic_load(&dev->ctxs);
	unsigned int mmaps, ctxs;

	pier_dev_users(dev->dev, &mmaps, &ctxs);
	if (mmaps < ours)
		mmaps = ours;
	if (ctxs < added)
		ctxs = added;
	if (!mmaps && !ctxs && !events)
		return DOCA_SUCCESS;
	return pier__doca_fail(DOCA_ERROR_IN_USE, "dev: %s closed while %u "
			       "mmaps, %u contexts and %u sync events use it",
			       pier_devinfo_name(dev->info.info), mmaps, ctxs,
			       events);
}

/* Close it once; *@ret: it was the last time. */
static doca_error_t close_once(struct doca_dev *dev, bool *ret)
{
	doca_error_t error;

	if (dev->opens == 1) {
		error = check_unused(dev);
		if (error)
			return error;
		if (!dev->of_pd)
			take_out(dev);
	}
	*ret = --dev->opens == 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	doca_error_t error;
	bool last = false;

	if (!dev)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&lock);
	error = close_once(dev, &last);
	pthread_mutex_unlock(&lock);
	if (last) {
		pier_dev_close(dev->dev);
		free(dev);
	}
	return error;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev ? (struct doca_devinfo *)(uintptr_t)&dev->info : NULL;
}
