#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The short examples of the manual and of README compile.  Whole programs are in
# t/manual/pages.sh.
. "${0%/*}/../lib/tap.sh"

cc=${CC:-gcc}
command -v "$cc" >/dev/null || skip_all "there is no compiler"
[ -f "$build/lib/libpier.la" ] || skip_all "the library is not built"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
man=$top/docs/man

# example PAGE N - the Nth literal text among its examples, to stdout
example()
{
	awk -v n="$2" '
	/^\.Sh / { on = /EXAMPLES/ }
	on && /^\.Bd -literal/ { text = ++seen == n; next }
	/^\.Ed/ { text = 0 }
	text' "$man/$1" | sed 's/\\e/\\/g; s/\\&//g; s/\\-/-/g'
}

# One file for each page.
pages="buf_array comch comch_data copy counters desc dev dma_export exchange
host rep service uv verbs"
for page in $pages; do
	example pier_$page.3 1 >"$tmp/$page.h"
done
example pier_comch_request.3 1 >"$tmp/comch_request.h"
example pier_comch_request.3 2 >"$tmp/request.h"

sed '1,/^```c$/d; /^```$/,$d' "$top/README.md" >"$tmp/readme.h"

cat >"$tmp/others.c" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>
#include <infiniband/verbs.h>
#include <pier/exchange.h>
#include <pier/pier.h>
#include <pier/uv.h>
#include <pier/verbs.h>

#include "dma_export.h"

#include "copy.h"

int (*const stores)(struct pier_dev *, const char *, const char *) = store;

int (*const offers)(struct pier_dev *, void *, size_t, const char *) = offer;

int ten_lines(const struct pier_args args)
{
	static char text[4096];
	struct pier_buf_inventory *inv;
	struct pier_mmap *local, *remote;
	struct pier_buf *src, *dst;
	struct pier_rdma *rdma;
	struct pier_conn *conn;
	struct pier_task *task;
	struct pier_dev *dev;
	struct pier_pe *pe;
	int err;
#include "readme.h"
	return err;
}

int serve(struct pier_dev *dev, struct pier_pe *pe, pier_comch_msg_fn *received,
	  struct pier_comch *comch)
{
	int err;
#include "comch.h"
	return err;
}

int take_messages(struct pier_comch_conn *conn, struct pier_mmap *mmap,
		  struct pier_pe *pe, struct pier_comch_consumer *consumer)
{
	int err;
#include "comch_data.h"
	return err;
}

#include "comch_request.h"

pier_comch_request_fn *const replies = requested;

int ask(struct pier_comch_conn *conn)
{
	struct pier_task *task = NULL;
	char reply[100];
	int err;
#include "request.h"
	return err;
}

void packets(struct pier_conn *conn)
{
#include "counters.h"
}

int read_slot(struct pier_conn *conn, struct pier_mmap *remote,
	      struct pier_buf *dst, pier_task_fn *done)
{
	struct pier_buf_array *slots;
	struct pier_buf *src = NULL;
	int err;
#include "buf_array.h"
	return err;
}

void print_descriptor(const char *path)
{
#include "desc.h"
}

void list_devices(void)
{
#include "dev.h"
}

void list_services(void)
{
#include "service.h"
}

int list_representors(struct pier_dev *dev)
{
	int err;
#include "rep.h"
	return err;
}

int carry(void)
{
#include "exchange.h"
	return n;
}

int loop_of_uv(uv_loop_t *loop, struct pier_pe *pe, struct pier_uv *uv)
{
	int err;
#include "uv.h"
	return err;
}

struct ibv_mr *own_region(struct pier_dev *dev, void *addr, size_t len)
{
#include "verbs.h"
	return mr;
}

END

cat >"$tmp/host.c" <<'END'
#include <stdio.h>
#include <pier/pier.h>

#include "host.h"

int serve_all(struct pier_pe *pe)
{
	return serve(pe);
}
END

# The headers of the examples are apart from the system's: "..." finds them.
compile()
{
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror \
	    $sanitize -I"$top/lib/include" "$@"
}

examples_compile()
{
	compile -fsyntax-only "$tmp/others.c" "$tmp/host.c"
}

# Ten of them, which read.
readme_shows_ten_lines()
{
	[ "$(wc -l <"$tmp/readme.h")" -eq 10 ] &&
	    grep -q pier_rdma_task_read "$tmp/readme.h"
}

# Here, in t/meta/examples.sh or in t/manual/pages.sh.
each_page_with_an_example_is_tested()
{
	grep -l '^\.Sh EXAMPLES' "$man"/*.3 | while read -r page; do
		name=${page##*/pier_}
		printf '%s\n' $pages | grep -qx "${name%.3}" ||
		    grep -q "example pier_$name" "$top/t/meta/examples.sh" \
			"$0" || grep -q '^#include' "$page" || echo "$page"
	done
}

run examples_compile
run readme_shows_ten_lines
none each_page_with_an_example_is_tested
tap_done
