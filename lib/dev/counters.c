/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "dev/dev_impl.h"
#include "fabric/registry.h"

struct pier_counterlist {
	struct pier__counteds all;
};

int pier__counters_give(const struct pier_counters *all,
			struct pier_counters *ret)
{
	const size_t head = offsetof(struct pier_counters, counter);
	uint32_t max;

	if (ret->size < head + sizeof(ret->counter[0]))
		return pier__fail(-EINVAL, "counters of size %zu: set it to "
				  "%zu", ret->size, sizeof(*ret));
	max = (uint32_t)((ret->size - head) / sizeof(ret->counter[0]));
	ret->count = all->count < max ? all->count : max;
	memcpy(ret->counter, all->counter,
	       ret->count * sizeof(ret->counter[0]));
	return 0;
}

int pier_dev_counters(struct pier_dev *dev, struct pier_counters *ret)
{
	struct pier_counters all = { .size = sizeof(all) };
	int err;

	if (!dev)
		return pier__no_object(__func__);
	err = dev->fabric->dev->counters(dev->fdev, NULL, &all);
	return err ? err : pier__counters_give(&all, ret);
}

int pier_counters_find(const struct pier_counters *counters, const char *name,
		       uint64_t *ret)
{
	for (uint32_t i = 0; i < counters->count; i++) {
		if (strcmp(counters->counter[i].name, name) == 0) {
			*ret = counters->counter[i].value;
			return 0;
		}
	}
	return pier__fail(-ENOENT, "no counter is called \"%s\"", name);
}

/* Nothing is counted for @pid: the reason. */
static int no_process(int pid)
{
	int err = pid < 0 ? ESRCH : kill(pid, 0) ? errno : 0;

	if (err == ESRCH)
		return pier__fail(-ENOENT, "process %d does not run; the "
				  "folder of PIER_COUNTERS_DIR, if it had one, "
				  "has its counters and events", pid);
	if (err)
		return pier__fail(-ENOENT, "process %d is another user's", pid);
	return pier__fail(-ENOENT, "process %d has no soft device in use", pid);
}

int pier_counterlist_create(int pid, struct pier_counterlist **ret)
{
	const struct pier__fabric *const *kind;
	struct pier_counterlist *list = calloc(1, sizeof(*list));
	int err = 0;

	if (!list)
		return pier__fail(-ENOMEM, "no memory for counters");
	for (kind = pier__fabrics; !err && *kind; kind++)
		err = (*kind)->dev->counted(pid, &list->all);
	if (!err && pid && !list->all.count)
		err = no_process(pid);
	if (err) {
		pier_counterlist_destroy(list);
		return err;
	}

	*ret = list;
	return 0;
}

void pier_counterlist_destroy(struct pier_counterlist *list)
{
	if (!list)
		return;
	pier__counteds_free(&list->all);
	free(list);
}

size_t pier_counterlist_count(const struct pier_counterlist *list)
{
	if (!list)
		return 0;
	return list->all.count;
}

const struct pier_counted *
pier_counterlist_get(const struct pier_counterlist *list, size_t i)
{
	return list && i < list->all.count ? &list->all.row[i].what : NULL;
}

static int no_row(const struct pier_counterlist *list, size_t i)
{
	return pier__fail(-ERANGE, "no number %zu of %zu rows of counters", i,
			  list->all.count);
}

int pier_counterlist_counters(const struct pier_counterlist *list, size_t i,
			      struct pier_counters *ret)
{
	struct pier_counters all = { .size = sizeof(all) };
	const struct pier__counted *row;

	if (!list)
		return pier__no_object(__func__);
	if (i >= list->all.count)
		return no_row(list, i);
	row = &list->all.row[i];
	for (uint32_t j = 0; j < row->count; j++)
		pier__counters_put(&all, row->names[j], row->values[j]);
	return pier__counters_give(&all, ret);
}

int pier_counterlist_event(const struct pier_counterlist *list, size_t i,
			   size_t n, struct pier_conn_event *ret)
{
	const struct pier__counted *row;

	if (!list)
		return pier__no_object(__func__);
	if (i >= list->all.count)
		return no_row(list, i);
	row = &list->all.row[i];
	if (n >= row->event_count)
		return 0;
	*ret = row->events[n];
	return 1;
}
