/* SPDX-License-Identifier: BSD-2-Clause */

/* The shared library, as a program that is linked with nothing else has it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pier/pier.h>

#include "t/lib/tap.h"

static void calls_come_from_the_shared_library(void)
{
	Dl_info info;

	if (!OK(dladdr((void *)pier_version, &info) != 0))
		return;
	LIKE(info.dli_fname, "libpier.so.0");
}

static void library_and_headers_are_of_one_version(void)
{
	IS_STR(pier_version(), PIER_VERSION);
}

static void calls_are_found_by_name(void)
{
	OK(dlsym(RTLD_DEFAULT, "pier_pe_create") != NULL);
	OK(dlsym(RTLD_DEFAULT, "pier_rendezvous") != NULL);
	OK(dlsym(RTLD_DEFAULT, "pier_buf_chain_tail_len") != NULL);
}

static void internal_names_are_hidden(void)
{
	OK(dlsym(RTLD_DEFAULT, "pier__now") == NULL);
	OK(dlsym(RTLD_DEFAULT, "pier__pe_add") == NULL);
}

static void errors_have_texts(void)
{
	IS_STR(pier_error_name(-PIER_ERNR), "PIER_ERNR");
	IS(pier_error_scope(-PIER_ERNR), PIER_SCOPE_CONN);
	OK(strlen(pier_strerror(-ENOMEM)) > 0);
}

static void devices_and_engines_are_made_and_ended(void)
{
	struct pier_devlist *list;
	struct pier_dev *dev;
	struct pier_pe *pe;

	if (!IS(pier_devlist_create(&list), 0))
		return;
	pier_devlist_destroy(list);
	if (!IS(pier_pe_create(&pe), 0))
		return;
	if (IS(pier_dev_open(getenv("PIER_DEVICE"), &dev), 0))
		pier_dev_close(dev);
	IS(pier_pe_progress(pe, 0), 0);
	pier_pe_destroy(pe);
}

int main(void)
{
	TEST(calls_come_from_the_shared_library);
	TEST(library_and_headers_are_of_one_version);
	TEST(calls_are_found_by_name);
	TEST(internal_names_are_hidden);
	TEST(errors_have_texts);
	TEST(devices_and_engines_are_made_and_ended);
	return tap_done();
}
