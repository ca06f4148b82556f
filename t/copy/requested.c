/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <pier/copy.h>
#include <pier/error.h>

#include "copy/copy_receiver.h"
#include "t/lib/tap.h"

/* What a server may send to a client that has requested something else. */

#define FILE_ PIER__RECORD_FILE
#define DIR_ PIER__RECORD_DIR
#define LEAVE_ PIER__RECORD_LEAVE

static char *sources[] = { "/srv/a", "b/c//", "/", "e/." };
static struct pier__copy_receiver receiver;

static void request(size_t first, size_t count, uint32_t flags)
{
	memset(&receiver, 0, sizeof(receiver));
	receiver.source = sources + first;
	receiver.source_count = count;
	receiver.flags = flags;
}

/* The entry @path comes, of a source whose name is @name. */
static int comes(enum pier__copy_record_kind kind, const char *name,
		 const char *path)
{
	static struct pier__copy_entry entry;

	entry.name_len = (uint32_t)strlen(name);
	strcpy(entry.path, path);
	return pier__copy_receiver_check(&receiver, kind, &entry);
}

static void other_names_are_refused(void)
{
	request(0, 2, 0);
	IS(comes(FILE_, "a", "a"), 0);
	IS(comes(FILE_, "c", "c"), 0);
	IS(comes(FILE_, "b", "b"), -EPROTO);
	IS(comes(FILE_, "srv", "srv"), -EPROTO);
	IS(comes(FILE_, ".bashrc", ".bashrc"), -EPROTO);
	LIKE(pier_last_error(), ".bashrc");
	IS(comes(FILE_, "", ".bashrc"), -EPROTO);
	IS(comes(FILE_, "", "a"), -EPROTO);
	IS(comes(FILE_, "aa", "aa"), -EPROTO);
	request(0, 2, PIER_COPY_RECURSIVE);
	IS(comes(DIR_, "a", "a"), 0);
	IS(comes(FILE_, "a", "a/x"), 0);
	IS(comes(LEAVE_, "c", "c"), 0);
	IS(comes(FILE_, ".ssh", ".ssh/authorized_keys"), -EPROTO);
	IS(comes(DIR_, "", ".ssh"), -EPROTO);
	IS(comes(LEAVE_, "", ""), -EPROTO);
}

static void directories_are_refused_unless_recursive(void)
{
	request(0, 1, 0);
	IS(comes(DIR_, "a", "a"), -EPROTO);
	IS(comes(LEAVE_, "a", "a"), -EPROTO);
	IS(comes(FILE_, "a", "a/x"), -EPROTO);
	request(0, 0, 0);
	IS(comes(FILE_, "any", "any"), 0);
	IS(comes(DIR_, "any", "any"), -EPROTO);
}

static void a_source_without_a_name_has_any_in_it(void)
{
	size_t i;

	for (i = 2; i < 4; i++) {
		request(i, 1, PIER_COPY_RECURSIVE);
		IS(comes(DIR_, "", ""), 0);
		IS(comes(FILE_, "", "x"), 0);
		IS(comes(FILE_, "x", "x"), -EPROTO);
		request(i, 1, 0);
		IS(comes(FILE_, "", "x"), -EPROTO);
		IS(comes(FILE_, "", ""), -EPROTO);
	}
}

static void one_file_is_all_that_comes_to_an_exact_one(void)
{
	request(0, 0, PIER_COPY_RECURSIVE);
	receiver.exact = true;
	IS(comes(DIR_, "d", "d"), -EPROTO);
	IS(comes(FILE_, "d", "d/x"), -EPROTO);
	request(0, 0, 0);
	receiver.exact = true;
	IS(comes(FILE_, "any", "any"), 0);
	IS(comes(FILE_, "any", "any"), -EPROTO);
	LIKE(pier_last_error(), "only one file");
}

int main(void)
{
	TEST(other_names_are_refused);
	TEST(directories_are_refused_unless_recursive);
	TEST(a_source_without_a_name_has_any_in_it);
	TEST(one_file_is_all_that_comes_to_an_exact_one);
	return tap_done();
}
