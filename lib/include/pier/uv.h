/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_H
#define PIER_UV_H

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Drive a progress engine by a libuv loop: while the loop runs, callbacks of
 * the engine run in its thread.  In libpier-uv.
 */
struct pier_pe;
struct pier_uv;

/*
 * Attach @pe to @loop; both must outlive *ret, which keeps the loop running
 * until it is destroyed.  Errors: -ENOMEM; libuv's.
 */
int pier_uv_create(uv_loop_t *loop, struct pier_pe *pe, struct pier_uv **ret);

/* Detach; freed in a later round of the loop.  NULL is fine. */
void pier_uv_destroy(struct pier_uv *uv);

#ifdef __cplusplus
}
#endif

#endif
