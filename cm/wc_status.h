/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CM_WC_STATUS_H
#define PIER_CM_WC_STATUS_H

#include <infiniband/verbs.h>

/* The negative error that a completion's status means; 0: success. */
int pier__wc_error(enum ibv_wc_status status);

/* What it means in words, with the likely cause; static storage. */
const char *pier__wc_text(enum ibv_wc_status status);

#endif
