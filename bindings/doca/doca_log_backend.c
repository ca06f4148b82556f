/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <stdlib.h>

#include <pier/log.h>

#include "doca_fail.h"
#include "doca_log_impl.h"

/* A message passes whose level is not below upper and not above lower. */
struct doca_log_backend {
	struct doca_log_backend *next;
	struct doca_log_sink sink;
	bool sdk;
	_Atomic bool lower_strict, upper_strict;
	_Atomic uint32_t lower, upper;
	uint32_t first, last;	/* levels that it is for */
};

/*
 * The list is changed with both locks held, first changes.  Messages are
 * written with lock held, which pier's own lock may precede: pier is called
 * with changes held only.
 */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct doca_log_backend *backends;
static _Atomic uint32_t global_lower = DOCA_LOG_LEVEL_INFO;
static _Atomic uint32_t global_upper = DOCA_LOG_LEVEL_CRIT;
static _Atomic uint32_t global_sdk = DOCA_LOG_LEVEL_INFO;

/* This thread is in a backend: what it logs there is dropped, no deadlock. */
static _Thread_local bool inside;

bool pier__doca_level_valid(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE &&
	       level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

/* pier logs for the most verbose backend of the library. */
static void follow_sdk_levels(void)
{
	uint32_t most = DOCA_LOG_LEVEL_DISABLE;

	for (struct doca_log_backend *b = backends; b; b = b->next) {
		if (b->sdk && b->lower > most)
			most = b->lower;
	}
	pier_log_set_level((enum pier_log_level)most);
}

/* A message of pier has an area, and no place in the source. */
static void log_of_pier(enum pier_log_level level, const char *area,
			const char *message, void *arg)
{
	(void)arg;
	pier__doca_log_sdk(level, area, message);
}

static void add(struct doca_log_backend *backend)
{
	struct doca_log_backend **at = &backends;

	pthread_mutex_lock(&lock);
	while (*at)
		at = &(*at)->next;
	*at = backend;
	pthread_mutex_unlock(&lock);
}

static doca_error_t create(const struct doca_log_sink *sink, bool sdk,
			   uint32_t first, uint32_t last,
			   struct doca_log_backend **ret)
{
	struct doca_log_backend *backend = calloc(1, sizeof(*backend));

	if (!backend)
		return DOCA_ERROR_NO_MEMORY;
	pthread_mutex_lock(&changes);
	backend->sink = *sink;
	backend->sdk = sdk;
	backend->lower = sdk ? global_sdk : global_lower;
	backend->upper = sdk ? DOCA_LOG_LEVEL_CRIT : global_upper;
	backend->first = first;
	backend->last = last;
	add(backend);
	if (sdk) {
		follow_sdk_levels();
		pier_log_set_callback(log_of_pier, NULL);
	}
	pthread_mutex_unlock(&changes);
	if (ret)
		*ret = backend;
	return DOCA_SUCCESS;
}

doca_error_t pier__doca_backend_create(const struct doca_log_sink *sink,
				       bool sdk,
				       struct doca_log_backend **ret)
{
	return create(sink, sdk, DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_TRACE,
		      ret);
}

doca_error_t doca_log_backend_create_standard(void)
{
	struct doca_log_sink out, err;
	doca_error_t error;

	pier__doca_sink_file(&out, stdout);
	pier__doca_sink_file(&err, stderr);
	error = create(&out, false, DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_TRACE,
		       NULL);
	if (error)
		return error;
	return create(&err, false, DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_WARNING,
		      NULL);
}

static bool passes(const struct doca_log_backend *b, uint32_t level)
{
	return level >= b->upper && level <= b->lower && level >= b->first &&
	       level <= b->last;
}

void pier__doca_backends_write(bool sdk, uint32_t level, const char *line,
			       size_t len)
{
	if (inside)
		return;
	pthread_mutex_lock(&lock);
	inside = true;
	for (struct doca_log_backend *b = backends; b; b = b->next) {
		if (b->sdk == sdk && passes(b, level))
			b->sink.write(&b->sink, level, line, len);
	}
	inside = false;
	pthread_mutex_unlock(&lock);
}

static doca_error_t check(const struct doca_log_backend *backend, bool sdk,
			  uint32_t level)
{
	if (!backend || backend->sdk != sdk || !pier__doca_level_valid(level))
		return pier__doca_fail(DOCA_ERROR_INVALID_VALUE, "log level "
				       "%u: 10, 20 ... 70, of a backend of the "
				       "%s", level, sdk ? "library" :
				       "program");
	return DOCA_SUCCESS;
}

doca_error_t
doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
				       uint32_t level)
{
	doca_error_t error = check(backend, false, level);

	if (!error)
		backend->lower = level;
	return error;
}

doca_error_t
doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
				       uint32_t level)
{
	doca_error_t error = check(backend, false, level);

	if (!error)
		backend->upper = level;
	return error;
}

doca_error_t
doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
	doca_error_t error = check(backend, false, DOCA_LOG_LEVEL_INFO);

	if (!error)
		backend->lower_strict = true;
	return error;
}

doca_error_t
doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
	doca_error_t error = check(backend, false, DOCA_LOG_LEVEL_INFO);

	if (!error)
		backend->upper_strict = true;
	return error;
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend,
					    uint32_t level)
{
	doca_error_t error = check(backend, true, level);

	if (error)
		return error;
	pthread_mutex_lock(&changes);
	backend->lower = level;
	follow_sdk_levels();
	pthread_mutex_unlock(&changes);
	return DOCA_SUCCESS;
}

static doca_error_t bad_level(uint32_t level)
{
	return pier__doca_fail(DOCA_ERROR_INVALID_VALUE,
			       "log level %u: 10, 20 ... 70", level);
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	if (!pier__doca_level_valid(level))
		return bad_level(level);
	pthread_mutex_lock(&changes);
	global_lower = level;
	for (struct doca_log_backend *b = backends; b; b = b->next) {
		if (!b->sdk && !b->lower_strict)
			b->lower = level;
	}
	pthread_mutex_unlock(&changes);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t level)
{
	if (!pier__doca_level_valid(level))
		return bad_level(level);
	pthread_mutex_lock(&changes);
	global_upper = level;
	for (struct doca_log_backend *b = backends; b; b = b->next) {
		if (!b->sdk && !b->upper_strict)
			b->upper = level;
	}
	pthread_mutex_unlock(&changes);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	if (!pier__doca_level_valid(level))
		return bad_level(level);
	pthread_mutex_lock(&changes);
	global_sdk = level;
	for (struct doca_log_backend *b = backends; b; b = b->next) {
		if (b->sdk)
			b->lower = level;
	}
	follow_sdk_levels();
	pthread_mutex_unlock(&changes);
	return DOCA_SUCCESS;
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
	return global_lower;
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
	return global_upper;
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return global_sdk;
}
