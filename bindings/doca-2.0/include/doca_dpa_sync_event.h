/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_DPA_SYNC_EVENT_2_0_H
#define DOCA_DPA_SYNC_EVENT_2_0_H

/* Sync events have no handles for a DPA here; see doca_sync_event.h. */
#include <doca_sync_event.h>

#endif
