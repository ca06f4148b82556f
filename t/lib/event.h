/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_EVENT_H
#define PIER_T_LIB_EVENT_H

#include <stdint.h>

#include <pier/pier.h>

/* Sync events in blocking mode; what fails is a failed check. */

/* One of this process with @value, which peers may set through @dev. */
struct pier_sync_event *event_own(struct pier_dev *dev, uint64_t value);

/* What a peer has of @event, started. */
struct pier_sync_event *event_import(struct pier_sync_event *event);

#endif
