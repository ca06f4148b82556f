/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment variable PIER_SHM. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "fabric/soft/shm/mode.h"

static const char *const words[] = {
	[PIER_SHM_OFF] = "off",
	[PIER_SHM_AUTO] = "auto",
	[PIER_SHM_REQUIRE] = "require",
};

#define WORDS (sizeof(words) / sizeof(*words))

static int is_set(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value;
}

static int from_environment(uint32_t *ret)
{
	const char *word = secure_getenv("PIER_SHM");
	uint32_t i = PIER_SHM_OFF;

	if (word && *word)
		for (; i < WORDS && strcmp(word, words[i]); i++)
			;
	if (i == WORDS)
		return pier__fail(-EINVAL, "PIER_SHM is \"%s\": off, auto or "
				  "require", word);
	*ret = i;
	return 0;
}

int pier__soft_shm_mode(uint32_t asked, enum pier_shm *ret)
{
	int err = asked ? 0 : from_environment(&asked);

	if (err)
		return err;
	if (is_set("PIER_PCAP") || is_set("PIER_FAULTS"))
		asked = PIER_SHM_OFF;
	*ret = (enum pier_shm)asked;
	return 0;
}
