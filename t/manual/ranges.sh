#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The range and the default of each number in a configuration are in its page.
# They are those of the library: an error message has them when the number is
# too large.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"

installed_tools
include=$top/lib/include/pier
man=$top/docs/man

# Names, of which the page has each; and defaults that are those of the device,
# of the context or of another member.
named="rdma access
cm type"
# Yes or no, bits, places, and a number without a limit: there is no range.
no_range="cm rate
cm raw
copy flags
mmap access
mmap flags
mmap numa_node
rdma empty_bufs
rdma no_hello
sync_event publisher
sync_event subscriber"
derived="cm retry_pause_max_ms
cm timeout_ms
rdma inline_size
rdma recv_tasks
rdma send_tasks"

# tries PAGE STRUCT CALL - C code that tries each number of the struct
tries()
{
	awk -v page="$1" -v type="$2" -v call="$3" -v element="$element" '
	/^}/ { on = 0 }
	on && /^\tuint32_t [a-z_]+(\[PIER_TASK_TYPES\])?;/ {
		sub(/;.*/, "", $2)
		at = sub(/\[.*/, "", $2) ? "[" element "]" : ""
		printf "\tTRY(\"%s\", %s, %s, %s, %s);\n", page, type, $2,
		    $2 at, call
	}
	$0 == "struct " type " {" { on = 1 }' "$include/$1.h"
}

cd "$tmp" || exit
{
	element=PIER_TASK_SEND
	tries rdma pier_rdma_config "pier_rdma_configure(rdma, &cfg)"
	element=PIER_TASK_SYNC_SET
	for page in comch copy dma func graph sha sync_event; do
		tries $page pier_${page}_config \
		    "pier_${page}_configure($page, &cfg)"
	done
	tries comch_data pier_comch_data_config \
	    "pier_comch_consumer_configure(consumer, &cfg)"
	tries cm pier_listen_config "pier_rdma_listen(other, &cfg, &listener)"
	tries cm pier_connect_config \
	    '(cfg.peer = "127.0.0.1", pier_rdma_connect_to(other, &cfg, &conn))'
} >tries.h

cat >ranges.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <pier/pier.h>

static struct pier_comch *server, *comch;
static struct pier_comch_consumer *consumer;
static struct pier_copy *copy;
static struct pier_dev *dev;
static struct pier_dma *dma;
static struct pier_func *func;
static struct pier_graph *graph;
static struct pier_mmap *mmap;
static struct pier_pe *pe;
static struct pier_rdma *rdma, *other;
static struct pier_sha *sha;
static struct pier_sync_event *sync_event;

#define TRY(page, type, name, member, call) \
	do { \
		struct type cfg = { .size = sizeof(cfg) }; \
		cfg.member = UINT32_MAX - 1; \
		report(page, #name, call); \
	} while (0)

/* "PAGE MEMBER MIN MAX DEFAULT", the last only if it is a number */
static void report(const char *page, const char *name, int err)
{
	const char *text = err ? strstr(pier_last_error(), name) : NULL;
	char def[20] = "";
	unsigned int min, max;

	if (text && sscanf(text + strlen(name), " 4294967294: %u to %u, 0 for "
			   "%19[0-9]", &min, &max, def) >= 2)
		printf("%s %s %u %u %s\n", page, name, min, max, def);
}

static void request(struct pier_conn *conn, void *data, void *ctx_data)
{
	(void)data, (void)ctx_data;
	pier_conn_reject(conn, NULL, 0);
}

/* A consumer is on a connection of a client. */
static int create_consumer(void)
{
	struct pier_comch *client = NULL;
	int err = pier_comch_create_client(dev, "ranges", NULL, &client) ?:
		  pier_ctx_start(pier_comch_ctx(client), pe);

	while (err == -EINPROGRESS || (!err && !pier_comch_conn(client)))
		err = pier_pe_wait(pe, 20000) ?: pier_comch_error(client, NULL);
	err = err ? err : pier_comch_consumer_create(pier_comch_conn(client),
						     mmap, &consumer);
	return err;
}

static int create(void)
{
	static char memory[4096];

	return pier_dev_open(NULL, &dev) ?: pier_pe_create(&pe) ?:
	       pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap) ?:
	       pier_comch_create_server(dev, NULL, "ranges", &server) ?:
	       pier_ctx_start(pier_comch_ctx(server), pe) ?:
	       pier_comch_create_server(dev, NULL, "others", &comch) ?:
	       create_consumer() ?: pier_copy_create(dev, &copy) ?:
	       pier_dma_create(dev, &dma) ?: pier_func_create(&func) ?:
	       pier_graph_create(&graph) ?: pier_rdma_create(dev, &rdma) ?:
	       pier_sha_create(&sha) ?: pier_sync_event_create(&sync_event) ?:
	       pier_rdma_create(dev, &other) ?:
	       pier_ctx_start(pier_rdma_ctx(other), pe) ?:
	       pier_rdma_set_conn_callbacks(other, request, NULL, NULL, NULL);
}

/* What is created ends with the process. */
int main(void)
{
	struct pier_listener *listener;
	struct pier_conn *conn;

	if (create()) {
		fprintf(stderr, "%s\n", pier_last_error());
		return 1;
	}
#include "tries.h"
	fflush(stdout);
	_Exit(0);
}
END

the_library_reports_its_ranges()
{
	cc -o ranges ranges.c -I. $(pkg-config --cflags --libs pier) &&
	    PIER_LOG=critical ./ranges >ranges.out &&
	    [ "$(wc -l <ranges.out)" -ge 40 ] && return
	cat ranges.out
	return 1
}

# Each number of a configuration was compared, or has no range.
every_number_is_compared()
{
	for header in "$include"/*.h; do
		awk -v page="$(basename "$header" .h)" '
		/^}/ { on = 0 }
		on && /^\tuint32_t / {
			gsub(/[^a-z_].*/, "", $2)
			print page, $2
		}
		/^struct pier_[a-z_]*config \{/ { on = 1 }' "$header"
	done | grep -v ' stop_on_task_error$' | sort -u >numbers
	{
		echo "$no_range"
		cut -d ' ' -f 1,2 ranges.out
	} | sort -u | comm -23 numbers -
	[ "$(wc -l <numbers)" -ge 50 ] || echo "few numbers were found"
}

# item PAGE MEMBER - the text of the items of that member, in one line, with
# the values of constants
item()
{
	awk -v member="$2" '
	/^\.(El|Ss|Sh)/ { on = 0 }
	/^\.It/ { on = / Va / && (" " $0 " ") ~ "[ ,]" member "[ ,]" }
	on && !/^\.It/ { sub(/^\.[A-Z][a-z] /, ""); printf "%s ", $0 }
	END { print "" }' "$man/pier_$1.3" | sed -f constants.sed
}

# among LIST WORDS - they are a line of it
among()
{
	echo "$1" | grep -qxF "$2"
}

pages_have_the_ranges_of_the_library()
{
	sed -n 's/^#define \(PIER_[A-Z_]*\) \([0-9]*\)$/s,\1,\2,g/p' \
	    "$include"/*.h >constants.sed
	while read -r page member min max default; do
		among "$named" "$page $member" && continue
		item "$page" "$member" >item
		if [ "$min" = 0 ] || among "$derived" "$page $member"; then
			grep -qwE "([01] to|at most) $max" item
		else
			grep -qw "$min to $max" item
		fi || echo "pier_$page.3: $member: lacks $min to $max"
		among "$derived" "$page $member" ||
		    [ "${default:-0}" -eq 0 ] || grep -qw "$default" item ||
		    echo "pier_$page.3: $member: lacks the default $default"
	done <ranges.out
}

# Where a comment has a range: "1..31".
headers_have_the_same_ranges()
{
	while read -r page member min max default; do
		awk -v member="$member" '
		/;/ { on = $2 == member ";" }
		on' "$include/$page.h" | grep -oE '[0-9]+\.\.[0-9]+' |
		    head -n 1 >range
		[ ! -s range ] || grep -qx "$min\.\.$max" range ||
		    { [ "$min" = 0 ] && grep -qx "1\.\.$max" range; } ||
		    echo "$page.h: $member: $(cat range), not $min..$max"
	done <ranges.out
}

run the_library_reports_its_ranges
none every_number_is_compared
none headers_have_the_same_ranges
none pages_have_the_ranges_of_the_library
tap_done
