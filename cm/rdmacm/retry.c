/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "cm/rdmacm/retry.h"
#include "core/clock.h"
#include "core/copy.h"
#include "core/fail.h"
#include "core/random.h"

#define PAUSE_MS 100		/* the first one, by default */
#define PAUSE_MAX_MS 5000

int pier__retry_settle(struct pier_connect_config *cfg)
{
	uint32_t most = PAUSE_MAX_MS;
	int err = pier__config_u32(&cfg->retry_ms, "retry_ms", 0, 0,
				   INT32_MAX);

	if (!err)
		err = pier__config_u32(&cfg->retry_pause_ms, "retry_pause_ms",
				       PAUSE_MS, 1, INT32_MAX);
	if (err)
		return err;
	if (most < cfg->retry_pause_ms)
		most = cfg->retry_pause_ms;
	return pier__config_u32(&cfg->retry_pause_max_ms, "retry_pause_max_ms",
				most, cfg->retry_pause_ms, INT32_MAX);
}

void pier__retry_init(struct pier__retry *retry,
		      const struct pier_connect_config *cfg, uint64_t now)
{
	*retry = (struct pier__retry){
		.pause = cfg->retry_pause_ms * PIER__MS,
		.pause_max = cfg->retry_pause_max_ms * PIER__MS,
		.timeout = cfg->timeout_ms * PIER__MS,
		.ms = cfg->retry_ms,
	};
	if (cfg->retry_ms)
		retry->until = now + cfg->retry_ms * PIER__MS;
}

/* From half of @pause on, so that clients of one server come apart. */
static uint64_t jittered(uint64_t pause)
{
	return pause / 2 + pier__random64() % (pause / 2 + 1);
}

bool pier__retry_pause(struct pier__retry *retry, uint64_t now)
{
	retry->attempts++;
	retry->at = now + jittered(retry->pause);
	if (retry->at >= retry->until) {
		retry->at = 0;
		return false;
	}
	retry->pause *= 2;
	if (retry->pause > retry->pause_max)
		retry->pause = retry->pause_max;
	return true;
}

uint64_t pier__retry_resume(struct pier__retry *retry, uint64_t now)
{
	retry->at = 0;
	return now + retry->timeout;
}
