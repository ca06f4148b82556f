/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include <doca_clock.h>

#include "doca_dev_impl.h"
#include "doca_fail.h"

/* The clocks of the host; devices here have none that can be read. */
struct doca_clock {
	struct doca_dev *dev;
};

doca_error_t doca_clock_create(struct doca_dev *dev, struct doca_clock **clock)
{
	struct doca_clock *new;

	if (!dev || !clock)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->dev = dev;
	*clock = new;
	return DOCA_SUCCESS;
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
	if (!clock)
		return DOCA_ERROR_INVALID_VALUE;
	free(clock);
	return DOCA_SUCCESS;
}

doca_error_t
doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_CLOCK);
}

doca_error_t
doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_CLOCK);
}

doca_error_t
doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *info)
{
	return pier__doca_has(info, PIER_FEATURE_CLOCK);
}

static uint64_t cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static doca_error_t read_clock(clockid_t id, union doca_clock_timespec_t *ret)
{
	return clock_gettime(id, &ret->ts) ? DOCA_ERROR_OPERATING_SYSTEM :
					     DOCA_SUCCESS;
}

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock,
				      uint64_t type,
				      union doca_clock_timespec_t *ret)
{
	if (!clock || !ret)
		return DOCA_ERROR_INVALID_VALUE;
	switch (type) {
	case DOCA_CLOCK_HOST_COUNTER_CYCLES:
		ret->counter = cycles();
		return DOCA_SUCCESS;
	case DOCA_CLOCK_HOST_REAL_TIME:
		return read_clock(CLOCK_REALTIME, ret);
	case DOCA_CLOCK_HOST_MONOTONIC:
		return read_clock(CLOCK_MONOTONIC, ret);
	case DOCA_CLOCK_HOST_MONOTONIC_RAW:
		return read_clock(CLOCK_MONOTONIC_RAW, ret);
	case DOCA_CLOCK_NIC_FREE_RUNNING:
	case DOCA_CLOCK_NIC_REAL_TIME:
	case DOCA_CLOCK_NIC_DPA_TIMER:
		return pier__doca_unsupported("a clock of the device",
					      "no device has one that can "
					      "be read");
	default:
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
				       "clock 0x%" PRIx64 ": not one clock",
				       type);
	}
}

doca_error_t
doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary,
			      uint64_t nic,
			      union doca_clock_timespec_t *primary_time,
			      union doca_clock_timespec_t *nic_time,
			      uint64_t *accuracy)
{
	(void)primary;
	(void)nic;
	if (!clock || !primary_time || !nic_time || !accuracy)
		return DOCA_ERROR_INVALID_VALUE;
	return pier__doca_unsupported("a clock of the device",
				      "no device has one that can be read");
}
