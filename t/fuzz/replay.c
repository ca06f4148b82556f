/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "t/lib/tap.h"

/*
 * A fuzz target without libFuzzer: the inputs of t/data/fuzz/NAME.
 *
 *	NAME.t			replay them, in TAP
 *	NAME.t -u DIR		write each to a file of its own in DIR
 *	NAME.t -p DIR FILE	make FILE of the files of DIR
 *	NAME.t -f FILE...	run single files, such as crashes
 *
 * The file holds one input behind the other, each with its length before it,
 * two bytes, most significant first.
 */
#define INPUT_MAX 65535

static FILE *must_open(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static const char *name;	/* of the target */

static FILE *corpus_open(void)
{
	const char *dir = getenv("srcdir");
	char path[512];

	snprintf(path, sizeof(path), "%s/t/data/fuzz/%s", dir ? dir : ".",
		 name);
	return must_open(path, "rb");
}

/* The next input.  Returns its length, -1 at the end. */
static int next(FILE *file, uint8_t *ret)
{
	int high = getc(file), low = getc(file);
	size_t len;

	if (high == EOF || low == EOF)
		return -1;
	len = (size_t)high << 8 | (size_t)low;
	return fread(ret, 1, len, file) == len ? (int)len : -1;
}

static uint8_t input[INPUT_MAX];

/* In memory of exactly its size, so that a byte too far is noticed. */
static void run_one(int len)
{
	uint8_t *copy = malloc((size_t)len + !len);

	if (!copy)
		abort();
	memcpy(copy, input, (size_t)len);
	LLVMFuzzerTestOneInput(copy, (size_t)len);
	free(copy);
}

static void every_input_of_the_corpus_does_no_harm(void)
{
	FILE *file = corpus_open();
	int len, count = 0;

	while ((len = next(file, input)) >= 0) {
		run_one(len);
		count++;
	}
	fclose(file);
	tap_note("%d inputs", count);
	OK(count > 10);
}

static void unpack(const char *dir)
{
	FILE *file = corpus_open(), *one;
	char path[512];
	int len, i = 0;

	while ((len = next(file, input)) >= 0) {
		snprintf(path, sizeof(path), "%s/%05d", dir, i++);
		one = must_open(path, "wb");
		fwrite(input, 1, (size_t)len, one);
		fclose(one);
	}
	fclose(file);
}

static int read_one(const char *path)
{
	FILE *file = must_open(path, "rb");
	size_t len = fread(input, 1, sizeof(input), file);

	fclose(file);
	return (int)len;
}

static void pack(const char *dir, const char *to)
{
	FILE *file = must_open(to, "wb");
	struct dirent **entries;
	char path[1024];
	int count = scandir(dir, &entries, NULL, alphasort), i, len;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.') {
			len = read_one(path);
			putc(len >> 8, file);
			putc(len & 0xff, file);
			fwrite(input, 1, (size_t)len, file);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (fclose(file))
		perror(to);
}

int main(int argc, char *argv[])
{
	char *dot;
	int i;

	name = strrchr(argv[0], '/');
	name = strdup(name ? name + 1 : argv[0]);
	dot = name ? strchr(name, '.') : NULL;
	if (dot)
		*dot = '\0';
	if (argc == 3 && !strcmp(argv[1], "-u")) {
		unpack(argv[2]);
	} else if (argc == 4 && !strcmp(argv[1], "-p")) {
		pack(argv[2], argv[3]);
	} else if (argc > 2 && !strcmp(argv[1], "-f")) {
		for (i = 2; i < argc; i++)
			run_one(read_one(argv[i]));
	} else {
		TEST(every_input_of_the_corpus_does_no_harm);
		free((char *)name);
		return tap_done();
	}
	free((char *)name);
	return 0;
}
