#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the manual, as they are there, compiled and run.
. "${0%/*}/../lib/tap.sh"

cc=${CC:-gcc}
command -v "$cc" >/dev/null || skip_all "there is no compiler"
[ -f "$build/lib/libpier.la" ] || skip_all "the library is not built"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
port=$((32000 + $$ % 700))

# example PAGE TITLE N - the Nth literal text of that section, to stdout
example()
{
	awk -v title="$2" -v n="$3" '
	/^\.S[hs] / { on = substr($0, 5) == title; seen = 0 }
	on && /^\.Bd -literal/ { text = ++seen == n; next }
	/^\.Ed/ { text = 0 }
	text' "$top/docs/man/$1" | sed 's/\\e/\\/g; s/\\&//g; s/\\-/-/g'
}

example pier_args.3 DESCRIPTION 1 >"$tmp/args.h"
example pier_args.3 "Own options" 1 >"$tmp/options.h"
example pier_conn.3 EXAMPLES 1 >"$tmp/changed.h"
example pier_rdma.3 Connecting 1 >"$tmp/connect.h"
example pier_rdma.3 EXAMPLES 1 >"$tmp/receive.h"
for n in 1 2; do
	example pier_cm.3 EXAMPLES $n | sed "s/\<13579\>/$port/"
done >"$tmp/cm.h"

cat >"$tmp/example.c" <<'EOF'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <pier/pier.h>

#define SIZE 100	/* of a receive */

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_mmap *mmap;
static struct pier_buf_inventory *inv;
static char memory[4096];
static int arrived, pair[2];

static void handle(struct pier_conn *conn, struct pier_buf *buf)
{
	printf("received %.*s\n", (int)pier_buf_data_len(buf),
	       (char *)pier_buf_data(buf));
	arrived = conn != NULL;
}

static int send_to_peer(const void *desc, size_t len)
{
	return send(pair[0], desc, len, 0) == (ssize_t)len ? 0 : -EIO;
}

static int recv_from_peer(void *desc, size_t *len)
{
	ssize_t got = recv(pair[0], desc, *len, 0);

	*len = got > 0 ? (size_t)got : 0;
	return got > 0 ? 0 : -EIO;
}

#include "changed.h"
#include "cm.h"
#include "options.h"
#include "receive.h"

/* What an option sets. */
static int parse(int argc, char *argv[])
{
	int err;
#include "args.h"
	printf("%s on %s\n", text, args.device);
	return 0;
}

/* Two places of the memory, each with its text. */
static int send_chain(struct pier_conn *conn)
{
	char *header = memory, *body = memory + 1000;
	size_t body_len = strlen(strcpy(body, "body"));
	struct pier_buf *msg, *rest;
	int err;

	memcpy(header, "head and", 8);
	err = pier_buf_by_data(inv, mmap, header, 8, &msg);
	if (!err)
		err = pier_buf_by_data(inv, mmap, body, body_len, &rest);
	if (!err)
		err = pier_buf_chain(msg, rest);
	if (!err)
		err = pier_rdma_send(conn, msg, sent, NULL);
	if (!err)
		pier_buf_put(msg);	/* the task has it */
	return err;
}

/* By descriptors, with a process that does the same. */
static int meet(int child)
{
	char peer_desc[4096];
	size_t len, peer_len = sizeof(peer_desc);
	struct pier_conn *conn;
	const void *desc;
	int err;

#include "connect.h"
	if (!err)
		pier_conn_set_state_changed(conn, changed);
	if (!err && child)
		err = send_chain(conn);
	while (!err && (child ? pier_conn_state(conn) == PIER_CONN_CONNECTED :
				!arrived))
		err = pier_pe_wait(pe, 20000);
	return err;
}

static int post_some(void)
{
	struct pier_buf *buf;
	int i, err = 0;

	for (i = 0; !err && i < 2; i++) {
		err = pier_buf_by_addr(inv, mmap, memory + 2000 + SIZE * i,
				       SIZE, &buf);
		err = err ? err : post(rdma, buf);
	}
	return err;
}

static int run(const char *what, size_t len)
{
	struct pier_buf *msg;
	int err;

	if (!strcmp(what, "meet"))
		return meet(0);
	if (!strcmp(what, "child"))
		return meet(1);
	if (!strcmp(what, "serve"))
		return serve(rdma, pe);
	memset(memory, 'x', len);
	err = pier_buf_by_data(inv, mmap, memory, len, &msg);
	return err ? err : tell(rdma, pe, msg);
}

/* WHAT [LENGTH] */
int main(int argc, char *argv[])
{
	const char *what = argv[1];
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "parse"))
		return parse(argc - 1, argv + 1);
	if (!strcmp(what, "meet")) {
		err = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
		if (!err && !fork()) {
			pair[0] = pair[1];
			what = "child";
		}
	}
	err = pier_dev_open("soft_lo", &dev);
	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory),
					PIER_LOCAL_WRITE, &mmap);
	err = err ? err : pier_buf_inventory_create(8, &inv);
	err = err ? err : post_some();
	err = err ? err : run(what, argc > 2 ? (size_t)atoi(argv[2]) : 0);
	if (err)
		printf("%s: %s: %s\n", what, pier_error_name(err),
		       pier_last_error());
	pier_rdma_destroy(rdma);
	if (inv && !strcmp(what, "meet"))
		printf("%zu of 8 buffers are free\n",
		       pier_buf_inventory_free_count(inv));
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
EOF

# A program of its own with what is installed: headers and library.
they_compile()
{
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror \
	    $sanitize -I"$top/lib/include" -c -o "$tmp/example.o" \
	    "$tmp/example.c" &&
	    "$build/libtool" --quiet --tag=CC --mode=link "$cc" $sanitize \
		-no-install -o "$tmp/example" "$tmp/example.o" \
		"$build/lib/libpier.la"
}

options_are_read()
{
	"$tmp/example" parse -d soft_lo -r hello >"$tmp/out" 2>&1 &&
	    [ "$(cat "$tmp/out")" = "hello on soft_lo" ] &&
	    "$tmp/example" parse -h | grep -q "text that the peer shall read" &&
	    return
	cat "$tmp/out"
	return 1
}

# Connected as pier_rdma(3) has it, a message as in pier_buf(3) is received.
programs_meet_and_move_a_chain()
{
	PIER_LOG=critical "$tmp/example" meet >"$tmp/out" 2>&1 &&
	    [ "$(cat "$tmp/out")" = "received head andbody
8 of 8 buffers are free" ] && return
	cat "$tmp/out"
	return 1
}

listening()
{
	grep -q "received ." "$tmp/server" ||
	    "$tmp/example" tell 10 >/dev/null 2>&1
}

# The server has two receives; each bad client takes one and loses it.
a_server_hears_on_after_messages_that_are_too_long()
{
	PIER_LOG=critical "$tmp/example" serve >"$tmp/server" 2>&1 &
	wait_for 20 listening || return
	for i in 1 2 3; do
		"$tmp/example" tell 1000 >"$tmp/bad" && return 1
	done
	"$tmp/example" tell 20 >"$tmp/good" &&
	    [ "$(cat "$tmp/good")" = welcome ] &&
	    wait_for 20 grep -q "received x\{20\}$" "$tmp/server" && return
	cat "$tmp/server" "$tmp/bad" "$tmp/good"
	return 1
}

run they_compile
if [ -x "$tmp/example" ]; then
	run options_are_read
	run programs_meet_and_move_a_chain
	run a_server_hears_on_after_messages_that_are_too_long
fi
tap_done
