/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/lib/tap.h"

static int count, failures;
static const char *current = "no test";	/* its name */
static bool holds = true;
static char skipped[256];		/* why; "" if it is not */

/* What has failed is printed where prove shows it. */
static FILE *notes(void)
{
	return holds ? stdout : stderr;
}

/* Text may have several lines, each of which must be a comment. */
static void print_lines(const char *text)
{
	for (; *text; text++) {
		putc(*text, notes());
		if (*text == '\n')
			fputs("# ", notes());
	}
}

static void prepare(void)
{
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

/* With PIER_TEST_REQUIRE a skip is a failure. */
static void refuse_skip(const char *name, const char *reason)
{
	const char *require = getenv("PIER_TEST_REQUIRE");

	if (!require || !*require)
		return;
	printf("Bail out! %s skipped: %s\n", name, reason);
	exit(255);
}

void tap_run(const char *name, void (*fn)(void))
{
	if (!count)
		prepare();
	count++;
	current = name;
	holds = true;
	skipped[0] = '\0';
	fn();
	current = "no test";
	if (skipped[0] && holds) {
		refuse_skip(name, skipped);
		printf("ok %d - %s # SKIP %s\n", count, name, skipped);
		/* prove(1) names no skip of a single test */
		fprintf(stderr, "# %s skipped: %s\n", name, skipped);
		return;
	}
	if (!holds)
		failures++;
	printf("%sok %d - %s\n", holds ? "" : "not ", count, name);
}

const char *tap_current(void)
{
	return current;
}

bool tap_holds(void)
{
	return holds;
}

/* The line that begins the account of a failed check. */
static bool fail(const char *file, int line)
{
	holds = false;
	fprintf(notes(), "# %s:%d: ", file, line);
	return false;
}

bool tap_ok(bool cond, const char *text, const char *file, int line)
{
	if (cond)
		return true;
	fail(file, line);
	fprintf(notes(), "%s does not hold\n", text);
	return false;
}

bool tap_is(long long got, long long want, const char *got_text,
	    const char *want_text, const char *file, int line)
{
	if (got == want)
		return true;
	fail(file, line);
	fprintf(notes(), "got %s = %lld, want %s = %lld\n", got_text, got,
		want_text, want);
	return false;
}

/* NULL is no text at all. */
static void print_text(const char *what, const char *text)
{
	if (!text) {
		fprintf(notes(), "# %s NULL\n", what);
		return;
	}
	fprintf(notes(), "# %s \"", what);
	print_lines(text);
	fputs("\"\n", notes());
}

bool tap_is_str(const char *got, const char *want, const char *text,
		const char *file, int line)
{
	if (got == want || (got && want && strcmp(got, want) == 0))
		return true;
	fail(file, line);
	fprintf(notes(), "%s\n", text);
	print_text("     got", got);
	print_text("    want", want);
	return false;
}

bool tap_like(const char *got, const char *part, const char *text,
	      const char *file, int line)
{
	if (got && strstr(got, part))
		return true;
	fail(file, line);
	fprintf(notes(), "%s\n", text);
	print_text("     got", got);
	print_text("    part", part);
	return false;
}

void tap_skip(const char *reason)
{
	snprintf(skipped, sizeof(skipped), "%s",
		 reason && *reason ? reason : "?");
}

int tap_skip_all(const char *reason)
{
	prepare();
	refuse_skip("all", reason);
	printf("1..0 # SKIP %s\n", reason);
	return 0;
}

void tap_note(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fputs("# ", notes());
	print_lines(text);
	putc('\n', notes());
}

int tap_done(void)
{
	if (!count) {
		printf("Bail out! no test was run\n");
		return 255;
	}
	printf("1..%d\n", count);
	return failures ? 1 : 0;
}
