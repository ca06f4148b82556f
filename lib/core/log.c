/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fail.h"

#define LEVELS "disable, critical, error, warning, info, debug, trace, or " \
	       "10 to 70 in tens"

static const struct {
	enum pier_log_level level;
	const char *name;
} levels[] = {
	{ PIER_LOG_DISABLE, "DISABLE" },
	{ PIER_LOG_CRITICAL, "CRITICAL" },
	{ PIER_LOG_ERROR, "ERROR" },
	{ PIER_LOG_WARNING, "WARNING" },
	{ PIER_LOG_INFO, "INFO" },
	{ PIER_LOG_DEBUG, "DEBUG" },
	{ PIER_LOG_TRACE, "TRACE" },
};

#define LEVEL_COUNT (sizeof(levels) / sizeof(levels[0]))

/* Where messages go; under the lock, as is every call of the callback. */
static struct {
	pthread_mutex_t lock;
	pier_log_fn *fn;
	void *arg;
	FILE *file;
	bool discards;		/* the program has set none */
} sink = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t env_once = PTHREAD_ONCE_INIT;
static atomic_int level_set = PIER_LOG_INFO;

/* The highest level that is written: all that pier__log_enabled() reads. */
#define UNKNOWN (-1)		/* the environment was not read yet */
#define NOTHING 0
static atomic_int threshold = UNKNOWN;

/* This thread is in the sink: what it logs there is dropped, no deadlock. */
static _Thread_local bool inside;

static const char *level_name(enum pier_log_level level)
{
	for (size_t i = 0; i < LEVEL_COUNT; i++)
		if (levels[i].level == level)
			return levels[i].name;
	return NULL;
}

/* Is @text the name of a level?  Sets no last error. */
static bool find_level(const char *text, enum pier_log_level *ret)
{
	char number[8];

	for (size_t i = 0; i < LEVEL_COUNT; i++) {
		snprintf(number, sizeof(number), "%d", (int)levels[i].level);
		if (strcasecmp(text, levels[i].name) == 0 ||
		    strcmp(text, number) == 0) {
			*ret = levels[i].level;
			return true;
		}
	}
	return false;
}

/* Under the lock.  Without a sink, stderr gets what is critical. */
static void set_threshold(void)
{
	int level = atomic_load(&level_set);

	if (level == PIER_LOG_DISABLE || sink.discards)
		level = NOTHING;
	else if (!sink.fn && !sink.file)
		level = PIER_LOG_CRITICAL;
	atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

/* Another thread of the parent may have had the lock.  This one may have it. */
static void reset_in_child(void)
{
	if (!inside)
		pthread_mutex_init(&sink.lock, NULL);
}

/* Before the lock is taken for the first time. */
static void read_env(void)
{
	const char *text = secure_getenv("PIER_LOG");
	enum pier_log_level level;

	pthread_atfork(NULL, NULL, reset_in_child);
	pthread_mutex_lock(&sink.lock);
	if (text && *text) {
		if (find_level(text, &level)) {
			atomic_store(&level_set, level);
			sink.file = stderr;
		} else {
			fprintf(stderr, "pier: WARNING log: PIER_LOG \"%s\" "
				"is not a level: %s\n", text, LEVELS);
		}
	}
	set_threshold();
	pthread_mutex_unlock(&sink.lock);
}

int pier__log_enabled(enum pier_log_level level)
{
	int most = atomic_load_explicit(&threshold, memory_order_relaxed);

	if (most == UNKNOWN) {
		pthread_once(&env_once, read_env);
		most = atomic_load_explicit(&threshold, memory_order_relaxed);
	}
	return (int)level <= most && level > PIER_LOG_DISABLE;
}

/* Under the lock. */
static void write_message(enum pier_log_level level, const char *area,
			  const char *text)
{
	FILE *file = sink.file ? sink.file : stderr;

	if (sink.discards)
		return;
	if (sink.fn) {
		sink.fn(level, area, text, sink.arg);
		return;
	}
	fprintf(file, "pier: %s %s: %s\n", level_name(level), area, text);
	fflush(file);
}

/* One line, whatever a peer or a file put into it. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

void pier__log(enum pier_log_level level, const char *area, const char *fmt,
	       ...)
{
	char text[1024];
	int saved = errno;
	va_list ap;

	if (inside || !pier__log_enabled(level))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	make_plain(text);

	pthread_mutex_lock(&sink.lock);
	inside = true;
	write_message(level, area, text);
	inside = false;
	pthread_mutex_unlock(&sink.lock);
	errno = saved;
}

int pier_log_set_level(enum pier_log_level level)
{
	if (!level_name(level))
		return pier__fail(-EINVAL, "log level %d: 10 to 70 in tens",
				  (int)level);
	pthread_once(&env_once, read_env);

	pthread_mutex_lock(&sink.lock);
	atomic_store(&level_set, level);
	set_threshold();
	pthread_mutex_unlock(&sink.lock);
	return 0;
}

enum pier_log_level pier_log_level(void)
{
	pthread_once(&env_once, read_env);
	return atomic_load(&level_set);
}

int pier_log_parse_level(const char *text, enum pier_log_level *ret)
{
	if (!find_level(text, ret))
		return pier__fail(-EINVAL, "log level \"%s\": %s", text,
				  LEVELS);
	return 0;
}

static void set_sink(pier_log_fn *fn, void *arg, FILE *file)
{
	pthread_once(&env_once, read_env);

	pthread_mutex_lock(&sink.lock);
	sink.fn = fn;
	sink.arg = arg;
	sink.file = file;
	sink.discards = !fn && !file;
	set_threshold();
	pthread_mutex_unlock(&sink.lock);
}

void pier_log_set_callback(pier_log_fn *fn, void *arg)
{
	set_sink(fn, arg, NULL);
}

void pier_log_set_file(FILE *file)
{
	set_sink(NULL, NULL, file);
}

void pier__log_to_stderr(void)
{
	pthread_once(&env_once, read_env);

	pthread_mutex_lock(&sink.lock);
	if (!sink.fn && !sink.file)
		sink.file = stderr;
	sink.discards = false;
	set_threshold();
	pthread_mutex_unlock(&sink.lock);
}
