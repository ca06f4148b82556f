/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_FAKECM_H
#define PIER_T_LIB_FAKECM_H

#include <stdbool.h>

#include "fabric/fabric.h"

/*
 * A connection manager without messages: both ends are in this process, and
 * what one does is reported to the other at once.  A test decides what is lost.
 */
extern const struct pier__fabric_cm fakecm;

extern bool fakecm_lose_rtu;	/* ESTABLISHED is never reported */
extern bool fakecm_hang_up;	/* the client's DREQ is behind its RTU */
extern bool fakecm_lose_req;	/* no answer arrives */
extern int fakecm_stale;	/* so many QPNs are rejected as stale */
extern bool fakecm_no_way;	/* UNREACHABLE instead of RESOLVED */
extern int fakecm_fail;		/* the n-th call from now on fails; 0: none */
extern int fakecm_error;	/* with what */

/* Bytes that overwrite the private data of the next REQ or REP; or NULL. */
extern const uint8_t *fakecm_data;

/* Ids and listeners that are not gone. */
extern int fakecm_ids, fakecm_listeners;

#endif
