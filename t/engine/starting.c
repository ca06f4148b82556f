/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "engine/ctx_impl.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* A context that does not run when its start returns. */

static struct changes {
	int calls;
	enum pier_ctx_state last;
} changes;

static void changed(struct pier_ctx *ctx, enum pier_ctx_state prev,
		    enum pier_ctx_state next, void *user_data)
{
	(void)user_data;
	IS(pier_ctx_state(ctx), next);
	IS(prev, changes.last);
	changes.calls++;
	changes.last = next;
}

static int start_later(struct pier_ctx *ctx)
{
	(void)ctx;
	return -EINPROGRESS;
}

static const struct pier__ctx_ops later_ops = {
	.start = start_later,
	.stop = pier__ctx_stopped,
};

static struct pier_ctx ctx;
static struct pier_pe *pe;

static bool begin(void)
{
	memset(&ctx, 0, sizeof(ctx));
	memset(&changes, 0, sizeof(changes));
	pier__ctx_init(&ctx, &later_ops, "later");
	pier_ctx_set_state_changed(&ctx, changed);
	if (!IS(pier_pe_create(&pe), 0))
		return false;
	IS(pier_ctx_start(&ctx, pe), -EINPROGRESS);
	IS(pier_ctx_start(&ctx, pe), -EBUSY);
	return IS(changes.last, PIER_CTX_STARTING);
}

static void it_runs_later(void)
{
	if (!begin())
		return;
	pier__ctx_started(&ctx);
	IS(changes.last, PIER_CTX_RUNNING);
	IS(pier_ctx_stop_wait(&ctx, LIMIT_MS), 0);
	IS(changes.calls, 4);
	IS(changes.last, PIER_CTX_IDLE);
	pier_pe_destroy(pe);
}

static void it_is_idle_again_if_it_cannot(void)
{
	if (!begin())
		return;
	pier__ctx_stopped(&ctx);
	IS(changes.calls, 1);
	pier_pe_progress(pe, 0);
	IS(changes.calls, 2);
	IS(changes.last, PIER_CTX_IDLE);
	OK(!pier_ctx_pe(&ctx));
	pier_pe_destroy(pe);
}

static void it_can_be_stopped_meanwhile(void)
{
	if (!begin())
		return;
	IS(pier_ctx_stop(&ctx), -EINPROGRESS);
	IS(changes.last, PIER_CTX_STOPPING);
	pier_pe_progress(pe, 0);
	IS(changes.calls, 3);
	IS(changes.last, PIER_CTX_IDLE);
	pier_pe_destroy(pe);
}

static void the_end_of_its_engine_stops_it(void)
{
	if (!begin())
		return;
	pier_pe_destroy(pe);
	IS(changes.last, PIER_CTX_IDLE);
}

int main(void)
{
	TEST(it_runs_later);
	TEST(it_is_idle_again_if_it_cannot);
	TEST(it_can_be_stopped_meanwhile);
	TEST(the_end_of_its_engine_stops_it);
	return tap_done();
}
