/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <pier/text.h>

#include "t/lib/tap.h"

static char shown[64];

#define ESCAPED(bytes) \
	pier_text_escape(bytes, sizeof(bytes) - 1, shown, sizeof(shown))

static void ascii_and_utf_8_pass(void)
{
	IS_STR(ESCAPED(""), "");
	IS_STR(ESCAPED("any \"text\" \\ ~"), "any \"text\" \\ ~");
	/* the first and the last character of each length */
	IS_STR(ESCAPED("\xc2\xa0\xdf\xbf"), "\xc2\xa0\xdf\xbf");
	IS_STR(ESCAPED("\xe0\xa0\x80\xef\xbf\xbf"),
	       "\xe0\xa0\x80\xef\xbf\xbf");
	IS_STR(ESCAPED("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
	       "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
	/* those before and behind the surrogates */
	IS_STR(ESCAPED("\xed\x9f\xbf\xee\x80\x80"),
	       "\xed\x9f\xbf\xee\x80\x80");
}

static void control_characters_are_escaped(void)
{
	IS_STR(ESCAPED("\033[2J"), "\\x1b[2J");
	IS_STR(ESCAPED("a\nb\tc\rd\177"), "a\\x0ab\\x09c\\x0dd\\x7f");
	IS_STR(ESCAPED("a\0b"), "a\\x00b");
	/* of C1, as UTF-8 and as a byte */
	IS_STR(ESCAPED("\xc2\x80\xc2\x9bm"), "\\xc2\\x80\\xc2\\x9bm");
	IS_STR(ESCAPED("\x9bm"), "\\x9bm");
}

static void what_is_not_utf_8_is_escaped(void)
{
	IS_STR(ESCAPED("\xff\xfe"), "\\xff\\xfe");
	/* incomplete at the end, and before another character */
	IS_STR(ESCAPED("\xe2\x82"), "\\xe2\\x82");
	IS_STR(ESCAPED("\xe2\x82x"), "\\xe2\\x82x");
	/* too long for its value: ESC in two, three and four bytes */
	IS_STR(ESCAPED("\xc0\x9b"), "\\xc0\\x9b");
	IS_STR(ESCAPED("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
	IS_STR(ESCAPED("\xf0\x80\x80\x9b"), "\\xf0\\x80\\x80\\x9b");
	/* a surrogate, and what is behind the last character */
	IS_STR(ESCAPED("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	IS_STR(ESCAPED("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
	IS_STR(ESCAPED("\xf8\x88\x80\x80\x80"), "\\xf8\\x88\\x80\\x80\\x80");
}

/* Into @size bytes, of which the one behind is not written. */
static const char *cut(const char *text, size_t size)
{
	memset(shown, '#', sizeof(shown));
	pier_text_escape(text, strlen(text), shown, size);
	IS(shown[size], '#');
	return shown;
}

static void a_text_that_is_cut_off_ends_in_dots(void)
{
	IS_STR(cut("abcdef", 7), "abcdef");
	IS_STR(cut("abcdef", 6), "ab...");
	IS_STR(cut("abcdef", 4), "...");
	IS_STR(cut("abcdef", 3), "..");
	IS_STR(cut("abcdef", 1), "");
	/* neither an escape nor a character is divided */
	IS_STR(cut("a\033\033", 10), "a\\x1b\\x1b");
	IS_STR(cut("a\033\033", 9), "a\\x1b...");
	IS_STR(cut("a\033\033", 8), "a...");
	IS_STR(cut("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9),
	       "\xe2\x82\xac...");
}

static void no_memory_is_an_empty_text(void)
{
	IS_STR(pier_text_escape("a", 1, NULL, 0), "");
	IS_STR(pier_text_escape(NULL, 0, shown, sizeof(shown)), "");
}

int main(void)
{
	TEST(ascii_and_utf_8_pass);
	TEST(control_characters_are_escaped);
	TEST(what_is_not_utf_8_is_escaped);
	TEST(a_text_that_is_cut_off_ends_in_dots);
	TEST(no_memory_is_an_empty_text);
	return tap_done();
}
