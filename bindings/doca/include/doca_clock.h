/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_CLOCK_H
#define DOCA_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clocks of the host and, where a device has some, of the device. */

struct doca_clock;

/* A clock is one bit of a mask. */
#define DOCA_CLOCK_NIC_FREE_RUNNING (UINT64_C(1) << 0)
#define DOCA_CLOCK_NIC_REAL_TIME (UINT64_C(1) << 1)
#define DOCA_CLOCK_NIC_DPA_TIMER (UINT64_C(1) << 8)
#define DOCA_CLOCK_HOST_COUNTER_CYCLES (UINT64_C(1) << 16)
#define DOCA_CLOCK_HOST_REAL_TIME (UINT64_C(1) << 17)
#define DOCA_CLOCK_HOST_MONOTONIC (UINT64_C(1) << 18)
#define DOCA_CLOCK_HOST_MONOTONIC_RAW (UINT64_C(1) << 19)

/* counter: of the cycle counter; ts: of every other clock. */
union doca_clock_timespec_t {
	uint64_t counter;
	struct timespec ts;
};

doca_error_t doca_clock_create(struct doca_dev *dev, struct doca_clock **clock);
doca_error_t doca_clock_destroy(struct doca_clock *clock);
doca_error_t
doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *info);
doca_error_t
doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *info);
doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock,
				      uint64_t type,
				      union doca_clock_timespec_t *ret);

/* Both at the same time, with the error in units of @primary. */
doca_error_t doca_clock_get_crosstimestamp(
	const struct doca_clock *clock, uint64_t primary, uint64_t nic,
	union doca_clock_timespec_t *primary_time,
	union doca_clock_timespec_t *nic_time, uint64_t *accuracy);

#ifdef __cplusplus
}
#endif

#endif
