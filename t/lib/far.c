/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/mman.h>

#include "t/lib/far.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

struct pier_dev *far_dev;
struct pier_pe *far_pe;
struct pair far_owner;
uint64_t *far_word;
struct pier_sync_event *theirs;

struct order {
	enum far_verb verb;
	uint64_t value;
};

struct pier_sync_event *far_create(struct pier_dev *dev, uint32_t publisher,
				   uint64_t *word)
{
	struct pier_sync_event_config cfg = {
		.size = sizeof(cfg),
		.publisher = publisher,
		.subscriber = PIER_SYNC_EVENT_CPU,
		.word = word,
		.dev = dev,
	};
	struct pier_sync_event *event = NULL;

	if (!pier_sync_event_create(&event) &&
	    !pier_sync_event_configure(event, &cfg) &&
	    !pier_sync_event_start(event))
		return event;
	pier_sync_event_destroy(event);
	return NULL;
}

static int export(struct pair *me, struct pier_dev *dev,
		  struct pier_sync_event **ret)
{
	const void *desc;
	size_t len;

	pier_sync_event_destroy(*ret);
	*ret = far_create(dev, PIER_SYNC_EVENT_REMOTE, far_word);
	if (!*ret || pier_sync_event_export_process(*ret, &desc, &len))
		return 1;
	return !pair_send(me, desc, len);
}

static int answer(struct pair *me, struct pier_sync_event *event,
		  uint64_t value)
{
	int err = pier_sync_event_wait_eq(event, value, UINT64_MAX,
					  PIER_SYNC_EVENT_YIELD, LIMIT_MS);

	if (!err)
		err = pier_sync_event_set(event, value + 1);
	return err || !pair_send(me, "", 1);
}

static int obey(struct pair *me, struct pier_dev *dev,
		const struct order *order, struct pier_sync_event **event)
{
	switch (order->verb) {
	case FAR_EXPORT:
		return export(me, dev, event);
	case FAR_ANSWER:
		return answer(me, *event, order->value);
	default:
		return pier_sync_event_stop(*event) || !pair_send(me, "", 1);
	}
}

static int owner(struct pair *me, void *arg)
{
	struct pier_sync_event *event = NULL;
	struct pier_dev *dev = NULL;
	struct order order;
	int err = pier_dev_open(NULL, &dev);

	(void)arg;
	while (!err && pair_recv(me, &order, sizeof(order)) == sizeof(order) &&
	       order.verb != FAR_QUIT)
		err = obey(me, dev, &order, &event);
	pier_sync_event_destroy(event);
	pier_dev_close(dev);
	return err;
}

bool far_tell(enum far_verb verb, uint64_t value)
{
	struct order order;

	memset(&order, 0, sizeof(order));
	order.verb = verb;
	order.value = value;
	return OK(pair_send(&far_owner, &order, sizeof(order)));
}

bool far_answered(void)
{
	char byte;

	return IS(pair_recv(&far_owner, &byte, 1), 1);
}

int far_describe(uint8_t desc[PIER_DESC_MAX])
{
	int len = 0;

	if (far_tell(FAR_EXPORT, 0))
		len = pair_recv(&far_owner, desc, PIER_DESC_MAX);
	OK(len > 0);
	OK(len <= PIER_SYNC_EVENT_DESC_MAX);
	return len;
}

bool far_supported(void)
{
	struct pier_dev *dev;

	if (pier_dev_open(NULL, &dev))
		return false;
	pier_dev_close(dev);
	return true;
}

bool far_begin(void)
{
	uint8_t desc[PIER_DESC_MAX];
	int len;

	far_word = mmap(NULL, sizeof(*far_word), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(far_word != MAP_FAILED))
		return false;
	pair_start(&far_owner, owner, NULL);
	if (!IS(pier_dev_open(NULL, &far_dev), 0) ||
	    !IS(pier_pe_create(&far_pe), 0))
		return false;
	len = far_describe(desc);
	return len > 0 && IS(pier_sync_event_import_process(
				     far_dev, desc, (size_t)len, &theirs), 0);
}

bool far_start(void)
{
	return far_begin() && IS(pier_sync_event_start(theirs), 0);
}

bool far_start_ctx(void)
{
	return far_begin() &&
	       IS(pier_ctx_start(pier_sync_event_ctx(theirs), far_pe), 0);
}

void far_end(bool quit)
{
	if (quit && far_tell(FAR_QUIT, 0))
		IS(pair_wait(&far_owner), 0);
	pier_sync_event_destroy(theirs);
	theirs = NULL;
	pier_pe_destroy(far_pe);
	far_pe = NULL;
	pier_dev_close(far_dev);
	far_dev = NULL;
	munmap(far_word, sizeof(*far_word));
}
