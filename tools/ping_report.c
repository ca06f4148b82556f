/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ping.h"
#include "tool.h"

void ping_report_begin(const struct ping *p)
{
	char size[TOOL_SIZE_TEXT], peer[80];
	int column;

	if (p->json)
		return;
	snprintf(peer, sizeof(peer), "(%s),", pier_conn_peer_address(p->conn));
	column = printf("PIER PING %s", p->args.argv[0]);
	column = tool_word(stdout, peer, " ", column, 1);
	column = tool_word(stdout, tool_bytes(p->size, size), " ", column, 1);
	column += printf(", device");
	tool_word(stdout, pier_devinfo_name(pier_dev_info(p->dev)), " ", column,
		  1);
	putchar('\n');
	fflush(stdout);
}

/* The peer's address is in the first line. */
void ping_report_round(const struct ping *p, uint64_t seq,
		       const double us[PING_OPS])
{
	int op;

	if (p->json)
		return;
	printf("seq=%" PRIu64, seq);
	for (op = 0; op < PING_OPS; op++)
		if (p->ops[op])
			printf(" %s=%.1f us", ping_op_name(op), us[op]);
	putchar('\n');
	fflush(stdout);
}

static double average(const struct ping_stat *stat)
{
	return stat->sum / (double)stat->count;
}

/* The standard deviation. */
static double deviation(const struct ping_stat *stat)
{
	double mean = average(stat);
	double variance = stat->squares / (double)stat->count - mean * mean;

	return variance > 0 ? sqrt(variance) : 0;
}

static double lost_percent(const struct ping *p)
{
	uint64_t lost = p->sent - p->answered;

	return p->sent ? 100 * (double)lost / (double)p->sent : 0;
}

static void report_json(const struct ping *p, double ms)
{
	json_t *root = json_object(), *ops = json_object();
	int op;

	tool_json_set(root, "host", tool_json_text(p->args.argv[0]));
	tool_json_set(root, "size", json_integer((json_int_t)p->size));
	tool_json_set(root, "sent", json_integer((json_int_t)p->sent));
	tool_json_set(root, "answered", json_integer((json_int_t)p->answered));
	tool_json_set(root, "lost_percent", json_real(lost_percent(p)));
	tool_json_set(root, "time_ms", json_real(ms));
	tool_json_set(root, "unit", json_string("us"));
	for (op = 0; op < PING_OPS; op++) {
		const struct ping_stat *stat = &p->stats[op];
		json_t *one;

		if (!stat->count)
			continue;
		one = json_object();
		tool_json_set(one, "count",
			      json_integer((json_int_t)stat->count));
		tool_json_set(one, "min", json_real(stat->min));
		tool_json_set(one, "avg", json_real(average(stat)));
		tool_json_set(one, "max", json_real(stat->max));
		tool_json_set(one, "mdev", json_real(deviation(stat)));
		tool_json_set(ops, ping_op_name(op), one);
	}
	tool_json_set(root, "operations", ops);
	tool_json_print(root);
}

void ping_report_all(const struct ping *p)
{
	double ms = (ping_now() - p->begun) / 1e3;
	int op;

	if (p->json) {
		report_json(p, ms);
		return;
	}
	printf("\n--- %s ping statistics ---\n"
	       "%" PRIu64 " rounds, %" PRIu64 " answered, %.4g%% lost, "
	       "time %.0f ms\n", p->args.argv[0], p->sent, p->answered,
	       lost_percent(p), ms);
	for (op = 0; op < PING_OPS; op++) {
		const struct ping_stat *stat = &p->stats[op];

		if (stat->count)
			printf("%-6s min/avg/max/mdev = "
			       "%.1f/%.1f/%.1f/%.1f us\n", ping_op_name(op),
			       stat->min, average(stat), stat->max,
			       deviation(stat));
	}
}

/* Those that the server listens on. */
static json_t *devices(const struct pier_host *host)
{
	json_t *names = json_array();

	for (size_t i = 0; i < pier_host_count(host); i++)
		if (!pier_host_error(host, i))
			tool_json_append(names, tool_json_text(
				pier_host_name(host, i)));
	return names;
}

void ping_report_server(const struct ping *p)
{
	json_t *root = json_object();

	if (p->host)
		tool_json_set(root, "devices", devices(p->host));
	else
		tool_json_set(root, "device",
			      tool_json_text(pier_devinfo_name(
				      pier_dev_info(p->dev))));
	tool_json_set(root, "port", json_integer((json_int_t)p->port));
	tool_json_set(root, "clients", json_integer((json_int_t)p->clients));
	tool_json_print(root);
}
