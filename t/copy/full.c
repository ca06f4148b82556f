/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/lib/copyliar.h"
#include "t/lib/copythread.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* A server that has as many clients as it may have. */

#define NAME "pier copy full"
#define MOST 8		/* of max_clients 0 */

static struct pier_dev *dev, *far_dev;
static char root[] = "/tmp/pier-copy.XXXXXX", file[64];
static struct copyliar held[MOST];
static struct copythread server;

static bool serve(uint32_t max_clients)
{
	struct pier_copy_config cfg = {
		.size = sizeof(cfg),
		.name = NAME,
		.root = root,
		.timeout_ms = 600000,	/* the others are silent */
		.max_clients = max_clients,
	};

	return copythread_start(&server, far_dev, &cfg, COPYTHREAD_SERVE, NULL,
				NULL);
}

/* Whether @count clients are connected, all at once. */
static bool hold(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!copyliar_connect(&held[i], dev, NAME) || !held[i].conn)
			return false;
	return true;
}

static int send_file(struct copythread *client)
{
	struct pier_copy_config cfg = { .size = sizeof(cfg), .name = NAME };

	if (!copythread_start(client, dev, &cfg, COPYTHREAD_SEND,
			      "/proc/self/exe", "file"))
		return 1;
	return copythread_join(client);
}

/* When the places that were held are free, which the server sees soon. */
static void send_soon(void)
{
	long long limit = limit_from_now();
	struct copythread client;
	int err;

	do
		err = send_file(&client);
	while ((err == -ENOSPC || err == -EBUSY) && limit_nap(limit));
	IS(err, 0);
	IS(client.result.files, 1);
	IS(access(file, F_OK), 0);
	IS(unlink(file), 0);
}

static void is_full(void)
{
	struct copythread client;

	IS(send_file(&client), -ENOSPC);
	LIKE(client.text, "the server \"" NAME "\" has max_clients clients");
	LIKE(client.text, "raise its max_clients");
	IS(access(file, F_OK), -1);
}

/* Those that are connected are not disturbed. */
static void the_ninth_client_is_refused_until_the_others_are_gone(void)
{
	if (!serve(0) || !OK(hold(MOST)))
		return;
	is_full();
	is_full();
	for (int i = 0; i < MOST; i++) {
		pier_pe_wait(held[i].pe, 0);
		OK(held[i].conn);
		copyliar_close(&held[i]);
	}
	send_soon();
	copythread_stop(&server);
	IS(copythread_join(&server), 0);
	IS(server.result.files, 1);
	IS(server.result.broken, MOST);
}

static void one_place_is_enough_for_the_next_client(void)
{
	if (!serve(2) || !OK(hold(2)))
		return;
	is_full();
	copyliar_close(&held[0]);
	send_soon();
	pier_pe_wait(held[1].pe, 0);
	OK(held[1].conn);
	copyliar_close(&held[1]);
	copythread_stop(&server);
	IS(copythread_join(&server), 0);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev) || pier_dev_open(NULL, &far_dev))
		return tap_skip_all(pier_last_error());
	if (!mkdtemp(root))
		return tap_skip_all("there is no directory");
	snprintf(file, sizeof(file), "%s/file", root);
	TEST(the_ninth_client_is_refused_until_the_others_are_gone);
	TEST(one_place_is_enough_for_the_next_client);
	rmdir(root);
	pier_dev_close(far_dev);
	pier_dev_close(dev);
	return tap_done();
}
