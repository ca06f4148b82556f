/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/io/late.h"
#include "fabric/soft/io/faults.h"
#include "fabric/soft/wire/codec.h"

#define ONE 1000000u		/* millionths */
#define ALL (100 * ONE)		/* 100 %, in those of a percent */

/* What PIER_FAULTS can have. */
struct fault_words {
	uint64_t loss, corrupt;		/* millionths of a percent */
	uint64_t late;			/* ms, in millionths: ns */
	uint64_t seed;
};

static const struct word {
	const char *name;
	uint64_t max;
	uint32_t scale;			/* 1: no decimals */
	size_t offset;
} words[] = {
	{ "loss=", 100, ONE, offsetof(struct fault_words, loss) },
	{ "corrupt=", 100, ONE, offsetof(struct fault_words, corrupt) },
	{ "delay=", 1000, ONE, offsetof(struct fault_words, late) },
	{ "seed=", UINT32_MAX, 1, offsetof(struct fault_words, seed) },
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The number at *@at, as "5" or "0.25", in units of 1 or of @scale, whatever
 * the program's locale is.  What is too long is not read to its end.
 */
static uint64_t read_number(const char **at, uint32_t scale)
{
	uint64_t value = 0;

	for (; is_digit(**at) && value <= UINT32_MAX; ++*at)
		value = value * 10 + (uint64_t)(**at - '0');
	value *= scale;
	if (scale == 1 || **at != '.')
		return value;
	for (++*at; is_digit(**at) && scale > 1; ++*at) {
		scale /= 10;
		value += (uint64_t)(**at - '0') * scale;
	}
	return value;
}

/* Returns false if what is at *@at, up to a comma, is not valid. */
static bool read_value(const struct word *word, const char **at, uint64_t *ret)
{
	if (!is_digit(**at))
		return false;
	*ret = read_number(at, word->scale);
	return *ret <= word->max * word->scale && (!**at || **at == ',');
}

static int refuse(const char *text, const struct word *word)
{
	if (!word)
		return pier__fail(-EINVAL, "PIER_FAULTS is \"%s\": words "
				  "loss=PERCENT, corrupt=PERCENT, delay=MS, "
				  "seed=NUMBER, with commas between them",
				  text);
	return pier__fail(-EINVAL, "PIER_FAULTS is \"%s\": %s0 to %" PRIu64
			  "%s", text, word->name, word->max,
			  word->scale == 1 ? "" : ", at most 6 decimals");
}

static const struct word *find_word(const char *at)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		if (!strncmp(at, words[i].name, strlen(words[i].name)))
			return &words[i];
	return NULL;
}

static int parse(const char *text, struct fault_words *ret)
{
	const char *at = text;
	const struct word *word;

	while (*at) {
		word = find_word(at);
		if (!word)
			return refuse(text, NULL);
		at += strlen(word->name);
		if (!read_value(word, &at,
				(uint64_t *)((char *)ret + word->offset)))
			return refuse(text, word);
		at += *at == ',';
	}
	return 0;
}

static uint64_t next_random(struct soft_faults *faults)
{
	uint64_t z = faults->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Each socket of a process has its own sequence of the same seed. */
static void seed(struct soft_faults *faults, uint64_t number)
{
	static atomic_uint sockets;

	faults->random = number << 32 | atomic_fetch_add(&sockets, 1);
	faults->random = next_random(faults);
}

int pier__soft_faults_create(const char *text, struct soft_faults **ret)
{
	struct fault_words request = { .seed = 1 };
	struct soft_faults *faults;
	int err;

	*ret = NULL;
	if (!text || !*text)
		return 0;
	err = parse(text, &request);
	if (err)
		return err;
	faults = calloc(1, sizeof(*faults));
	if (!faults)
		return pier__fail(-ENOMEM, "no memory for PIER_FAULTS");
	faults->loss = (uint32_t)request.loss;
	faults->corrupt = (uint32_t)request.corrupt;
	seed(faults, request.seed);
	if (request.late)
		err = pier__soft_late_create(request.late, &faults->late);
	if (err) {
		free(faults);
		return err;
	}

	*ret = faults;
	return 0;
}

void pier__soft_faults_destroy(struct soft_faults *faults)
{
	if (!faults)
		return;
	pier__soft_late_destroy(faults->late);
	free(faults);
}

static bool happens(struct soft_faults *faults, uint32_t share)
{
	return share && next_random(faults) % ALL < share;
}

/*
 * Another bit of @rx, of which the socket's memory has the bytes; none of those
 * that the ICRC does not cover.
 */
static void corrupt(struct soft_faults *faults, const struct soft_rx *rx)
{
	uint64_t bit = next_random(faults) % (8 * (uint64_t)rx->len);

	if (bit / 8 == SOFT_BTH_CONGESTION)
		bit -= 8;
	((uint8_t *)rx->data)[bit / 8] ^= (uint8_t)(1 << bit % 8);
	faults->corrupted++;
}

int pier__soft_faults_pass(struct soft_faults *faults, struct soft_rx *rx,
			   int count, uint64_t now)
{
	int left = 0, i;

	for (i = 0; i < count; i++) {
		if (happens(faults, faults->loss)) {
			faults->lost++;
			continue;
		}
		if (happens(faults, faults->corrupt))
			corrupt(faults, &rx[i]);
		if (!faults->late)
			rx[left++] = rx[i];
		else if (!pier__soft_late_put(faults->late, &rx[i], now))
			faults->lost++;
	}
	return left;
}
