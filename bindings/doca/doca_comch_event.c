/* SPDX-License-Identifier: BSD-2-Clause */
#include <doca_comch.h>

#include "doca_fail.h"

/* There are no consumers yet. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

doca_error_t doca_comch_server_event_consumer_register(
	struct doca_comch_server *server, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return pier__doca_unsupported(__func__);
}

doca_error_t doca_comch_client_event_consumer_register(
	struct doca_comch_client *client, doca_comch_event_consumer_cb_t joined,
	doca_comch_event_consumer_cb_t expired)
{
	return pier__doca_unsupported(__func__);
}
