/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include <pier/error.h>
#include <pier/version.h>

#include "core/fail.h"
#include "t/lib/tap.h"

static void every_error_of_pier_has_its_name_and_text(void)
{
	static const struct {
		int number;
		const char *name, *text;
	} errors[] = {
#define ROW(name, number, scope, text) { number, #name, text },
		PIER_ERRORS(ROW)
#undef ROW
	};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		IS_STR(pier_error_name(-errors[i].number), errors[i].name);
		IS_STR(pier_strerror(-errors[i].number), errors[i].text);
	}
	IS(PIER_ERNR, 5008);
	IS_STR(pier_error_name(-5008), "PIER_ERNR");
	IS_STR(pier_strerror(-5008), "the peer has no receive posted");
}

static void the_sign_does_not_matter(void)
{
	IS_STR(pier_error_name(PIER_ERNR), "PIER_ERNR");
	IS_STR(pier_error_name(EINVAL), "EINVAL");
	IS_STR(pier_strerror(EINVAL), pier_strerror(-EINVAL));
	IS(pier_error_scope(PIER_ERETRY), PIER_SCOPE_CONN);
}

static void errno_values_keep_their_names(void)
{
	IS_STR(pier_error_name(-EINVAL), "EINVAL");
	IS_STR(pier_error_name(-ECONNREFUSED), "ECONNREFUSED");
	IS_STR(pier_strerror(-EINVAL), "Invalid argument");
}

static void unknown_numbers_are_called_unknown(void)
{
	IS_STR(pier_error_name(-4999), "unknown");
	IS_STR(pier_strerror(-4999), "unknown error");
	IS_STR(pier_error_name(INT_MIN), "unknown");
	IS_STR(pier_strerror(INT_MIN), "unknown error");
	IS_STR(pier_strerror(INT_MAX), "unknown error");
	IS(pier_error_scope(INT_MIN), PIER_SCOPE_TASK);
}

static void nothing_wrong_is_described_so(void)
{
	IS_STR(pier_strerror(0), "success");
	IS_STR(pier_error_name(0), "OK");
}

static void the_scope_says_what_an_error_costs(void)
{
	IS(pier_error_scope(-EAGAIN), PIER_SCOPE_RETRY);
	IS(pier_error_scope(-EINVAL), PIER_SCOPE_TASK);
	IS(pier_error_scope(-PIER_EDESC), PIER_SCOPE_TASK);
	IS(pier_error_scope(-PIER_ENOHELLO), PIER_SCOPE_CONN);
	IS(pier_error_scope(-ECONNRESET), PIER_SCOPE_CONN);
	IS(pier_error_scope(-PIER_EDEVICE), PIER_SCOPE_CTX);
	IS(pier_error_scope(-ENODEV), PIER_SCOPE_CTX);
}

static void the_last_error_is_empty_at_first(void)
{
	IS_STR(pier_last_error(), "");
}

static void a_failure_leaves_its_code_and_message(void)
{
	errno = EDOM;
	IS(pier__fail(-ERANGE, "port %d: 1 to %d", 9, 2), -ERANGE);
	IS(errno, EDOM);
	IS_STR(pier_last_error(), "port 9: 1 to 2");
}

static void the_last_error_may_be_part_of_the_next(void)
{
	pier__fail(-EINVAL, "inner");
	pier__fail(-EINVAL, "outer: %s", pier_last_error());
	IS_STR(pier_last_error(), "outer: inner");
}

static void a_long_message_is_cut(void)
{
	char text[1024];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	pier__fail(-EINVAL, "%s", text);
	IS(strlen(pier_last_error()), 511);
	pier__fail_again(-EINVAL, "short");
	pier__fail_again(-EINVAL, text);
	IS(strlen(pier_last_error()), 511);
}

static void a_stored_message_is_reported_again(void)
{
	pier__fail(-EINVAL, "another");
	IS(pier__fail_again(-EIO, "stored"), -EIO);
	IS_STR(pier_last_error(), "stored");
	IS(pier__fail_again(-EIO, pier_last_error()), -EIO);
	IS_STR(pier_last_error(), "stored");
}

static void *fail_elsewhere(void *arg)
{
	*(size_t *)arg = strlen(pier_last_error());
	pier__fail(-EINVAL, "elsewhere");
	return NULL;
}

static void threads_have_their_own_last_error(void)
{
	pthread_t thread;
	size_t len = 99;

	pier__fail(-EINVAL, "here");
	if (!IS(pthread_create(&thread, NULL, fail_elsewhere, &len), 0))
		return;
	pthread_join(thread, NULL);
	IS(len, 0);
	IS_STR(pier_last_error(), "here");
}

static void the_library_is_of_the_version_of_its_headers(void)
{
	IS_STR(pier_version(), PIER_VERSION);
}

static void the_version_is_numbers_too(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", PIER_VERSION_MAJOR,
		 PIER_VERSION_MINOR, PIER_VERSION_PATCH);
	IS_STR(text, PIER_VERSION);
	OK(PIER_VERSION_NUMBER >= 100 && PIER_VERSION_NUMBER < 1000000);
	IS(PIER_VERSION_NUMBER / 10000, PIER_VERSION_MAJOR);
}

int main(void)
{
	TEST(the_last_error_is_empty_at_first);
	TEST(every_error_of_pier_has_its_name_and_text);
	TEST(the_sign_does_not_matter);
	TEST(errno_values_keep_their_names);
	TEST(unknown_numbers_are_called_unknown);
	TEST(nothing_wrong_is_described_so);
	TEST(the_scope_says_what_an_error_costs);
	TEST(a_failure_leaves_its_code_and_message);
	TEST(the_last_error_may_be_part_of_the_next);
	TEST(a_long_message_is_cut);
	TEST(a_stored_message_is_reported_again);
	TEST(threads_have_their_own_last_error);
	TEST(the_library_is_of_the_version_of_its_headers);
	TEST(the_version_is_numbers_too);
	return tap_done();
}
