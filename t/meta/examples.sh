#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the manual and README show of a program is compiled and run as it is
# there.  Whole programs, those in EXAMPLES, are in t/manual/pages.sh.
. "${0%/*}/../lib/tap.sh"

cc=${CC:-gcc}
command -v "$cc" >/dev/null || skip_all "there is no compiler"
[ -f "$build/lib/libpier.la" ] || skip_all "the library is not built"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")

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
example pier_rdma.3 Connecting 1 >"$tmp/connect.h"
sed '1,/^```c$/d; /^```$/,$d' "$top/README.md" >"$tmp/readme.h"

cat >"$tmp/example.c" <<'EOF'
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <pier/pier.h>

static char memory[100];
static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_rdma *rdma;
static struct pier_mmap *mmap, *remote;
static struct pier_buf_inventory *inv;
static int pair[2];

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

#include "options.h"

/* What an option sets. */
static int parse(int argc, char *argv[])
{
	int err;
#include "args.h"
	printf("%s on %s\n", text, args.device);
	return 0;
}

static int message(struct pier_conn *conn, int child)
{
	struct pier_task *task;
	struct pier_buf *buf;
	int err;

	strcpy(memory, child ? "hello" : "");
	err = child ? pier_buf_by_data(inv, mmap, memory, 5, &buf) :
		      pier_buf_by_addr(inv, mmap, memory, 100, &buf);
	if (err)
		return err;
	err = child ? pier_rdma_task_send(conn, buf, &task) :
		      pier_rdma_task_receive(rdma, buf, &task);
	err = err ? err : pier_task_once(task, 20000);
	pier_buf_put(buf);
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
	err = err ? err : message(conn, child);
	if (!err && !child)
		printf("received %s\n", memory);
	return err;
}

/* From the memory of a process with another program. */
static int ten_lines(int argc, char *argv[])
{
#define local mmap	/* which main() destroys */
	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	struct pier_buf *src = NULL, *dst = NULL;
	struct pier_conn *conn;
	struct pier_task *task;
	static char text[4096];
	int err = pier_args_parse(&args, argc, argv);

	if (err)
		return err;
#include "readme.h"
#undef local
	if (!err)
		printf("read %s\n", text);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

static int start(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_rdma_create(dev, &rdma);
	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory),
					PIER_LOCAL_WRITE, &mmap);
	return err ? err : pier_buf_inventory_create(8, &inv);
}

/* parse, meet or read, with options */
int main(int argc, char *argv[])
{
	const char *what = argv[1];
	int err, child = 0;

	if (!strcmp(what, "parse"))
		return parse(argc - 1, argv + 1);
	if (!strcmp(what, "read")) {
		err = ten_lines(argc - 1, argv + 1);
	} else {
		err = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
		child = !err && !fork();
		if (child)
			pair[0] = pair[1];
		err = err ? err : start();
		err = err ? err : meet(child);
	}
	if (err)
		printf("%s: %s: %s\n", what, pier_error_name(err),
		       pier_last_error());
	pier_rdma_destroy(rdma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(remote);
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

# Connected as pier_rdma(3) has it.
programs_meet_by_descriptors()
{
	PIER_LOG=critical "$tmp/example" meet >"$tmp/out" 2>&1 &&
	    [ "$(cat "$tmp/out")" = "received hello" ] && return
	cat "$tmp/out"
	return 1
}

# Ten of them, which read.
ten_lines_of_readme_read_what_a_sample_offers()
{
	responder=$build/samples/rdma_read_responder
	[ -x "$responder" ] || skip "the samples are not built"
	[ "$(wc -l <"$tmp/readme.h")" -eq 10 ] &&
	    grep -q pier_rdma_task_read "$tmp/readme.h" || return
	cd "$tmp" || return
	"$responder" -d soft_lo -ld a -re b -m m -r "any text" >out2 2>&1 &
	"$tmp/example" read -ld b -re a -m m >out 2>&1
	[ "$(cat out)" = "read any text" ] && return
	cat out out2
	return 1
}

run they_compile
if [ -x "$tmp/example" ]; then
	run options_are_read
	run programs_meet_by_descriptors
	run ten_lines_of_readme_read_what_a_sample_offers
fi
tap_done
