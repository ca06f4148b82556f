/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <pier/pier.h>

#include "t/lib/cable.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* The device is removed while nothing is connected that could fail. */

static struct pier_dev *dev;

static bool begin(void)
{
	return IS(pier_dev_open(cable_device(0), &dev), 0);
}

/* The removal, which waited for us or not, has succeeded: plug it in again. */
static void end(pid_t removal)
{
	pier_dev_close(dev);
	IS(cable_reap(removal), 0);
	OK(cable_is_rxe() ? cable_plug(0) : cable_lay(0));
}

static void is_removed(const char *text)
{
	char part[64];

	snprintf(part, sizeof(part), "%s was removed", cable_device(0));
	LIKE(text, part);
}

static void wait_until_idle(struct pier_pe *pe, struct pier_ctx *ctx)
{
	long long limit = limit_from_now();

	while (pier_ctx_state(ctx) != PIER_CTX_IDLE && limit_nap(limit))
		pier_pe_progress(pe, 16);
	IS(pier_ctx_state(ctx), PIER_CTX_IDLE);
}

static void a_server_without_a_client_stops(void)
{
	struct pier_comch *comch = NULL;
	struct pier_pe *pe = NULL;
	const char *text = "";
	struct pier_ctx *ctx;
	pid_t removal;

	if (!begin() || !IS(pier_pe_create(&pe), 0) ||
	    !IS(pier_comch_create_server(dev, NULL, "idle", &comch), 0))
		return;
	ctx = pier_comch_ctx(comch);
	IS(pier_ctx_start(ctx, pe), 0);
	removal = cable_unplug(0);
	wait_until_idle(pe, ctx);
	IS(pier_comch_error(comch, &text), -ENODEV);
	is_removed(text);
	IS(pier_ctx_start(ctx, pe), -ENODEV);
	pier_comch_destroy(comch);
	pier_pe_destroy(pe);
	end(removal);
}

/* Who waits for a client of an export. */
struct idle_waiter {
	struct pier_dma_export *exported;
	struct pier_sync_event *event;
	int err;
	char text[256];
};

static void *wait_for_client(void *arg)
{
	struct idle_waiter *waiter = arg;

	waiter->err = waiter->event ?
		pier_sync_event_export_wait(waiter->event, 60000) :
		pier_dma_export_wait(waiter->exported, 60000);
	snprintf(waiter->text, sizeof(waiter->text), "%s", pier_last_error());
	return NULL;
}

static void its_wait_ends(struct idle_waiter *waiter)
{
	pthread_t thread;
	pid_t removal;

	if (!IS(pthread_create(&thread, NULL, wait_for_client, waiter), 0))
		return;
	removal = cable_unplug(0);
	pthread_join(thread, NULL);
	IS(waiter->err, -ENODEV);
	is_removed(waiter->text);
	pier_dma_export_destroy(waiter->exported);
	pier_sync_event_destroy(waiter->event);
	waiter->err = removal;
}

static void the_wait_for_the_end_of_an_export_fails(void)
{
	struct pier_mmap_config cfg = {
		.size = sizeof(cfg), .access = PIER_PEER_READ,
	};
	struct idle_waiter waiter = { 0 };
	struct pier_mmap *mmap = NULL;

	if (!begin() || !IS(pier_mmap_alloc(dev, 4096, &cfg, &mmap), 0) ||
	    !IS(pier_dma_export_create(mmap, dev, &waiter.exported), 0))
		return;
	its_wait_ends(&waiter);
	pier_mmap_destroy(mmap);
	end(waiter.err);
}

int main(void)
{
	const char *reason = cable_enter();

	if (reason)
		return tap_skip_all(reason);
	if (!cable_lay(0))
		return tap_done() | 1;
	TEST(a_server_without_a_client_stops);
	TEST(the_wait_for_the_end_of_an_export_fails);
	cable_cut();
	return tap_done();
}
