/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_UV_H
#define PIER_UV_H

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Drive a progress engine by a libuv loop: the callbacks of the engine run in
 * the loop's thread.  In libpier-uv.
 */
struct pier_pe;
struct pier_uv;

/*
 * Attach @pe to @loop; both must outlive *ret, which keeps the loop running
 * until it is destroyed.  Errors: -ENOMEM; libuv's.
 */
int pier_uv_create(uv_loop_t *loop, struct pier_pe *pe, struct pier_uv **ret);

/* Detach; it is freed in a later iteration of the loop.  NULL is allowed. */
void pier_uv_destroy(struct pier_uv *uv);

#ifdef __cplusplus
}
#endif

#endif
