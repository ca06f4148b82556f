/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <pier/pe.h>
#include <pier/uv.h>

#include "core/fail.h"

#define ROUNDS 16	/* of progress before other handles have their turn */

/*
 * Before the loop sleeps: progress until the engine lets itself be armed; its
 * one fd then ends the sleep.  If there is no end to it, an idle handle keeps
 * the loop from sleeping.
 */
struct pier_uv {
	struct pier_pe *pe;
	uv_prepare_t prepare;
	uv_poll_t poll;
	uv_idle_t idle;
	bool armed;		/* the engine is */
	int closing;		/* handles still to be closed */
};

static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

static void disarm(struct pier_uv *uv)
{
	if (uv->armed)
		pier_pe_clear(uv->pe);
	uv->armed = false;
}

/* Any callback of the engine may destroy us, and the engine behind us. */
static void on_prepare(uv_prepare_t *prepare)
{
	struct pier_uv *uv = prepare->data;

	disarm(uv);
	for (int i = 0; i < ROUNDS; i++) {
		int events = pier_pe_progress(uv->pe, 0);

		if (uv->closing)
			return;
		if (!events && !pier_pe_arm(uv->pe)) {
			uv->armed = true;
			uv_idle_stop(&uv->idle);
			return;
		}
	}
	uv_idle_start(&uv->idle, on_idle);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct pier_uv *uv = poll->data;

	(void)status;
	(void)events;
	disarm(uv);
	pier_pe_progress(uv->pe, 0);
}

static void on_closed(uv_handle_t *handle)
{
	struct pier_uv *uv = handle->data;

	if (--uv->closing == 0)
		free(uv);
}

static void close_handle(struct pier_uv *uv, uv_handle_t *handle)
{
	uv->closing++;
	uv_close(handle, on_closed);
}

int pier_uv_create(uv_loop_t *loop, struct pier_pe *pe, struct pier_uv **ret)
{
	struct pier_uv *uv = calloc(1, sizeof(*uv));
	int err;

	if (!uv)
		return pier__fail(-ENOMEM, "uv: no memory");
	uv->pe = pe;
	uv->prepare.data = uv->poll.data = uv->idle.data = uv;
	err = uv_poll_init(loop, &uv->poll, pier_pe_fd(pe));
	if (err) {
		free(uv);
		return pier__fail(err, "uv: cannot watch the engine: %s",
				  uv_strerror(err));
	}
	uv_prepare_init(loop, &uv->prepare);
	uv_idle_init(loop, &uv->idle);
	uv_poll_start(&uv->poll, UV_READABLE, on_readable);
	uv_prepare_start(&uv->prepare, on_prepare);
	*ret = uv;
	return 0;
}

void pier_uv_destroy(struct pier_uv *uv)
{
	if (!uv)
		return;
	disarm(uv);
	close_handle(uv, (uv_handle_t *)&uv->poll);
	close_handle(uv, (uv_handle_t *)&uv->prepare);
	close_handle(uv, (uv_handle_t *)&uv->idle);
}
