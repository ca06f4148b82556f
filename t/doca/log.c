/* SPDX-License-Identifier: BSD-2-Clause */
#define DOCA_LOGGING_ALLOW_TRACE

#include <unistd.h>

#include <doca_buf_inventory.h>
#include <doca_log.h>

#include "t/lib/tap.h"

/* Which message goes to which backend, and what a line looks like. */

DOCA_LOG_REGISTER(TEST::LOG);

static char app[4096], sdk[4096], app_line[512], sdk_line[512];
static struct doca_log_backend *app_backend, *sdk_backend;

static void on_app(char *line)
{
	strncat(app, line, sizeof(app) - strlen(app) - 1);
}

static void on_sdk(char *line)
{
	strncat(sdk, line, sizeof(sdk) - strlen(sdk) - 1);
}

static void forget(void)
{
	app[0] = sdk[0] = '\0';
}

static void without_a_backend_nothing_happens(void)
{
	DOCA_LOG_ERR("not logged %d", 1);
	IS(doca_buf_inventory_create(0, NULL), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	IS(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_CRIT);
	IS(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
}

static void backends_take_lines(void)
{
	IS(doca_log_backend_create_with_buf(app_line, sizeof(app_line), on_app,
					    &app_backend), DOCA_SUCCESS);
	IS(doca_log_backend_create_with_buf_sdk(sdk_line, sizeof(sdk_line),
						on_sdk, &sdk_backend),
	   DOCA_SUCCESS);
	DOCA_LOG_INFO("value %d", 42);
	LIKE(app, "][DOCA][INF][log.c:");
	LIKE(app, "][backends_take_lines] value 42\n");
	IS(app[0], '[');
	IS(app[3], ':');
	IS(app[9], ':');		/* before the microseconds */
	IS_STR(sdk, "");
	forget();
}

static void levels_are_limited(void)
{
	DOCA_LOG_DBG("debug");
	IS_STR(app, "");
	IS(doca_log_backend_set_level_lower_limit(app_backend,
						  DOCA_LOG_LEVEL_DEBUG),
	   DOCA_SUCCESS);
	DOCA_LOG_DBG("debug");
	LIKE(app, "[DBG]");
	forget();
	IS(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	DOCA_LOG_TRC("trace");
	LIKE(app, "[TRC]");
	forget();
	IS(doca_log_backend_set_level_lower_limit_strict(app_backend),
	   DOCA_SUCCESS);
	IS(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR),
	   DOCA_SUCCESS);
	DOCA_LOG_TRC("trace");
	LIKE(app, "[TRC]");
	forget();
	IS(doca_log_backend_set_level_upper_limit(app_backend,
						  DOCA_LOG_LEVEL_WARNING),
	   DOCA_SUCCESS);
	DOCA_LOG_ERR("error");
	IS_STR(app, "");
	DOCA_LOG_WARN("warning");
	LIKE(app, "[WRN]");
	forget();
	IS(doca_log_backend_set_level_upper_limit(app_backend,
						  DOCA_LOG_LEVEL_CRIT),
	   DOCA_SUCCESS);
}

static void what_is_no_level_is_refused(void)
{
	IS(doca_log_level_set_global_lower_limit(0), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_set_global_lower_limit(55), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_level_set_global_sdk_limit(80), DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_sdk_level(app_backend, DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	IS(doca_log_backend_set_level_lower_limit(sdk_backend,
						  DOCA_LOG_LEVEL_INFO),
	   DOCA_ERROR_INVALID_VALUE);
	forget();
}

static void the_library_logs_to_its_own_backends(void)
{
	struct doca_buf_inventory *inv;

	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	LIKE(sdk, "[DOCA][ERR]");
	LIKE(sdk, "inventory: ");
	IS_STR(app, "");
	forget();
	IS(doca_log_backend_set_sdk_level(sdk_backend, DOCA_LOG_LEVEL_CRIT),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	IS_STR(sdk, "");
	IS(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR),
	   DOCA_SUCCESS);
	IS(doca_buf_inventory_create(SIZE_MAX, &inv), DOCA_ERROR_NO_MEMORY);
	LIKE(sdk, "[ERR]");
	forget();
}

static void lines_are_flushed_to_files(void)
{
	struct doca_log_backend *backend;
	char text[256] = "";
	int fds[2];
	FILE *file;

	if (!IS(pipe(fds), 0))
		return;
	file = fdopen(fds[1], "w");
	IS(doca_log_backend_create_with_file(file, &backend), DOCA_SUCCESS);
	DOCA_LOG_ERR("through a pipe");
	OK(read(fds[0], text, sizeof(text) - 1) > 0);
	LIKE(text, "through a pipe\n");
	IS(doca_log_backend_set_level_upper_limit(backend,
						  DOCA_LOG_LEVEL_TRACE),
	   DOCA_SUCCESS);
	IS(doca_log_backend_create_with_fd(-1, &backend),
	   DOCA_ERROR_INVALID_VALUE);
	forget();
}

static void a_long_message_is_cut(void)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	DOCA_LOG_ERR("%s", text);
	IS(strlen(app), sizeof(app_line) - 1);
	forget();
}

int main(void)
{
	TEST(without_a_backend_nothing_happens);
	TEST(backends_take_lines);
	TEST(levels_are_limited);
	TEST(what_is_no_level_is_refused);
	TEST(the_library_logs_to_its_own_backends);
	TEST(lines_are_flushed_to_files);
	TEST(a_long_message_is_cut);
	return tap_done();
}
