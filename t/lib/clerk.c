/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t/lib/clerk.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

#define PAUSE_ROUNDS 200

struct clerk clerk;

static void requested(struct pier_comch_conn *conn, uint64_t request,
		      const void *msg, size_t len, void *data)
{
	if (data != &clerk.server)
		clerk.server.wrong++;
	clerk.conn = conn;
	clerk.handles[clerk.requested++ % CLERK_OPEN] = request;
	if (clerk.on_request)
		clerk.on_request(request, msg, len);
	else if (!clerk.later)
		IS(pier_comch_reply(clerk.server.comch, request, msg, len), 0);
}

static void ended(struct pier_comch *comch, uint64_t request, int status,
		  void *data)
{
	if (comch != clerk.server.comch || data != &clerk.server)
		clerk.server.wrong++;
	clerk.ended++;
	clerk.last = request;
	if (!status)
		return;
	clerk.failed++;
	clerk.status = status;
}

static bool start_client(bool shared)
{
	struct talker *client = &clerk.client;
	struct pier_pe *pe = shared ? clerk.server.pe : client->pe;

	return IS(pier_ctx_start(client->ctx, pe), -EINPROGRESS) &&
	       OK(talker_state(client, PIER_CTX_RUNNING)) &&
	       talker_count(&clerk.server.connected, 1);
}

bool clerk_open(struct pier_dev *dev, const struct pier_comch_config *cfg,
		bool shared)
{
	const char *name = talker_name();

	memset(&clerk, 0, sizeof(clerk));
	snprintf(clerk.name, sizeof(clerk.name), "%s", name);
	return talker_server(&clerk.server, dev, name, cfg) &&
	       IS(pier_comch_set_request_callbacks(clerk.server.comch,
						   requested, ended), 0) &&
	       talker_start(&clerk.server) &&
	       talker_client(&clerk.client, dev, name, NULL, cfg) &&
	       start_client(shared);
}

void clerk_close(void)
{
	talker_close(&clerk.client);
	talker_close(&clerk.server);
	IS(clerk.ended, clerk.requested);
}

static void done(struct pier_task *task, void *arg)
{
	struct ask *ask = arg;

	ask->done++;
	ask->status = pier_task_status(task);
}

bool ask_take(struct ask *ask, unsigned int seed, size_t len)
{
	ask->done = 0;
	for (size_t i = 0; i < len; i++)
		ask->msg[i] = peer_byte(seed, i);
	memset(ask->reply, 0, sizeof(ask->reply));
	if (!IS(pier_comch_task_request(clerk.client.conn, ask->msg, len,
					ask->reply, sizeof(ask->reply),
					&ask->task), 0)) {
		tap_note("%s", pier_last_error());
		return false;
	}
	pier_task_set_done(ask->task, done, ask);
	return true;
}

bool ask_submit(struct ask *ask, unsigned int seed, size_t len)
{
	if (!ask_take(ask, seed, len))
		return false;
	if (IS(pier_task_submit(ask->task, 0), 0))
		return true;
	tap_note("%s", pier_last_error());
	return false;
}

static bool completed(struct ask *ask, int status)
{
	if (!OK(talker_count(&ask->done, 1)) || !IS(ask->status, status)) {
		tap_note("%s", pier_task_error_text(ask->task));
		return false;
	}
	return IS(ask->done, 1);
}

bool ask_ends(struct ask *ask, int status)
{
	return completed(ask, status) && IS(pier_task_free(ask->task), 0);
}

bool ask_has(struct ask *ask, unsigned int seed, size_t len)
{
	if (!completed(ask, 0) || !IS(pier_comch_reply_len(ask->task), len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (ask->reply[i] != peer_byte(seed, i))
			return IS(ask->reply[i], peer_byte(seed, i));
	return IS(pier_task_free(ask->task), 0);
}

void clerk_pause(void)
{
	for (int i = 0; i < PAUSE_ROUNDS; i++) {
		pier_pe_progress(clerk.server.pe, 0);
		pier_pe_progress(clerk.client.pe, 0);
	}
}
