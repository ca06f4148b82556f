/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cm/conn_impl.h"
#include "t/lib/peer.h"
#include "t/lib/tap.h"

/* The state machine refuses what its table lacks. */
#define LEN 4096

static struct pier_dev *dev;
static struct peer a, b;
static char logged[256];

static void keep(enum pier_log_level level, const char *area, const char *text,
		 void *user_data)
{
	(void)area;
	(void)user_data;
	if (level == PIER_LOG_CRITICAL)
		strncpy(logged, text, sizeof(logged) - 1);
}

static void a_transition_that_the_table_lacks_fails_the_connection(void)
{
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	logged[0] = '\0';
	pier_log_set_callback(keep, NULL);
	pier__conn_transition(a.conn, PIER__CONN_REQ_SENT);
	pier_log_set_callback(NULL, NULL);
	LIKE(logged, "no transition from state up to req_sent");
	IS(pier_conn_state(a.conn), PIER_CONN_ERROR);
	IS(pier_conn_error(a.conn), -ENOTRECOVERABLE);
	LIKE(pier_conn_error_text(a.conn), "from state up to req_sent");
	peer_unpair(&a, &b);
}

static void a_connection_that_ends_goes_on_ending(void)
{
	if (!peer_pair(&a, &b, dev, NULL, LEN))
		return;
	IS(pier_conn_abort(a.conn), 0);
	IS(a.conn->state, PIER__CONN_FLUSHING);
	pier__conn_transition(a.conn, PIER__CONN_UP);
	IS(a.conn->state, PIER__CONN_FLUSHING);
	OK(peer_conn(a.conn, PIER_CONN_RESET));
	IS(pier_conn_error(a.conn), 0);
	peer_unpair(&a, &b);
}

int main(void)
{
	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_transition_that_the_table_lacks_fails_the_connection);
	TEST(a_connection_that_ends_goes_on_ending);
	pier_dev_close(dev);
	return tap_done();
}
