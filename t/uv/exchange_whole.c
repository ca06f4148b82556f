/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/honest.h"
#include "t/lib/liar.h"
#include "t/lib/tap.h"

/* An exchange stores all files or none. */

static const char *path_in(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", honest.dir, name);
	return path;
}

static void a_file_is_replaced_when_all_have_arrived(void)
{
	FILE *file = fopen(path_in("a"), "w");
	struct stat st;

	OK(file && fputs("old", file) >= 0);
	if (file)
		fclose(file);
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(1000);
	liar_add_file("b", 1000);
	liar_send();
	IS(shutdown(liar.sock, SHUT_WR), 0);
	liar_recv_until(0);
	honest_part();
	IS(honest.result, -ECONNRESET);
	OK(!stat(path_in("a"), &st) && st.st_size == 3);
	IS(honest_entries(), 1);
}

static void a_directory_of_that_name_is_reported_to_both(void)
{
	IS(mkdir(path_in("a"), 0700), 0);
	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 1, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(1000);
	liar_send();
	if (OK(liar_recv_until(LIAR_FAILED)))
		LIKE(liar.text, "is a directory");
	honest_part();
	IS(honest.result, -EISDIR);
	IS(rmdir(path_in("a")), 0);
	IS(honest_entries(), 0);
}

static void files_are_stored_under_their_names(void)
{
	struct stat st;

	honest_meet(20000, true, false);
	liar_add(LIAR_HELLO, 2, NULL, 0);
	liar_add_file("a", 1000);
	liar_add_data(1000);
	liar_add_file("b", 0);
	honest_finish(0);
	IS(honest.result, 2);
	OK(!stat(path_in("a"), &st) && st.st_size == 1000);
	OK(!stat(path_in("b"), &st) && st.st_size == 0);
	IS(honest_entries(), 2);
}

int main(void)
{
	if (!honest_open())
		return tap_skip_all("no room in /tmp");
	TEST(files_are_stored_under_their_names);
	TEST(a_file_is_replaced_when_all_have_arrived);
	TEST(a_directory_of_that_name_is_reported_to_both);
	honest_close();
	return tap_done();
}
