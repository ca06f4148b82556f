/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_TAP_H
#define PIER_T_LIB_TAP_H

#include <stdbool.h>

/*
 * TAP for C tests.  A test is a function whose name is what it checks; TEST()
 * runs it and prints one line, "ok" if every check in it held.  A failed check
 * prints both values and goes on; checks return whether they held.
 */
#define TEST(fn) tap_run(#fn, fn)
#define OK(cond) tap_ok((cond), #cond, __FILE__, __LINE__)
#define IS(got, want) \
	tap_is((long long)(got), (long long)(want), #got, #want, __FILE__, \
	       __LINE__)
#define IS_STR(got, want) tap_is_str((got), (want), #got, __FILE__, __LINE__)
/* @got contains @part. */
#define LIKE(got, part) tap_like((got), (part), #got, __FILE__, __LINE__)

void tap_run(const char *name, void (*fn)(void));
bool tap_ok(bool cond, const char *text, const char *file, int line);
bool tap_is(long long got, long long want, const char *got_text,
	    const char *want_text, const char *file, int line);
bool tap_is_str(const char *got, const char *want, const char *text,
		const char *file, int line);
bool tap_like(const char *got, const char *part, const char *text,
	      const char *file, int line);

/* Say why the test that runs is not carried out; it counts as skipped. */
void tap_skip(const char *reason);

/*
 * Nothing can be tested here: print the plan and return the exit status.  If
 * PIER_TEST_REQUIRE is set, a skip of any kind is a Bail out.
 */
int tap_skip_all(const char *reason);

/* The name of the test that runs, and whether all its checks held so far. */
const char *tap_current(void);
bool tap_holds(void);

/* A line of comment, "# ...". */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the plan; returns main()'s exit status. */
int tap_done(void);

#endif
