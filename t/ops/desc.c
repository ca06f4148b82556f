/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pier/pier.h>

#include "t/lib/limit.h"
#include "t/lib/tap.h"

/* Files that hold descriptors. */

static char dir[] = "/tmp/pier-desc.XXXXXX", path[64];

/* Write a new one when the old one has been removed. */
static void *write_later(void *arg)
{
	long long limit = limit_from_now();

	while (!access(path, F_OK) && limit_nap(limit))
		;
	IS(pier_desc_write(path, "new", 3), 0);
	return arg;
}

static void a_reader_that_runs_first_waits_for_a_file(void)
{
	char desc[PIER_DESC_MAX] = "";
	pthread_t thread;

	IS(pier_desc_write(path, "old one", 7), 0);
	IS(pthread_create(&thread, NULL, write_later, NULL), 0);
	IS(pier_desc_await(path, -1, desc), 3);
	pthread_join(thread, NULL);
	IS_STR(desc, "new");
	OK(access(path, F_OK));
}

static void it_does_not_wait_for_longer_than_its_time(void)
{
	char desc[PIER_DESC_MAX];

	IS(pier_desc_await(path, 1, desc), -ETIMEDOUT);
	LIKE(pier_last_error(), path);
	LIKE(pier_last_error(), "no descriptor after 1 ms");
}

static void what_cannot_be_removed_is_an_error(void)
{
	char desc[PIER_DESC_MAX];

	OK(pier_desc_await(dir, 1, desc) < 0);
	LIKE(pier_last_error(), dir);
	LIKE(pier_last_error(), "it is a directory");
}

int main(void)
{
	if (!mkdtemp(dir))
		return tap_skip_all("there is no directory for files");
	snprintf(path, sizeof(path), "%s/desc", dir);
	TEST(a_reader_that_runs_first_waits_for_a_file);
	TEST(it_does_not_wait_for_longer_than_its_time);
	TEST(what_cannot_be_removed_is_an_error);
	rmdir(dir);
	return tap_done();
}
