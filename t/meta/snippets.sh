#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The short examples of the manual and of README compile, and those of contexts
# run.  The longer ones are in t/meta/examples.sh.
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

# One file for each page; pier_func.3 has a function and then a call.
pages="buf_array buf_pool comch comch_data copy counters ctx desc dev dma
dma_export error exchange graph host mmap pe rep service sha sync_event uv verbs
version"
for page in $pages; do
	example pier_$page.3 1 >"$tmp/$page.h"
done
example pier_func.3 1 >"$tmp/func.h"
example pier_func.3 2 >"$tmp/call.h"
example pier_comch_request.3 1 >"$tmp/comch_request.h"
example pier_comch_request.3 2 >"$tmp/request.h"
example pier_log.3 2 | sed '/^}/q' >"$tmp/log.h"
example pier_log.3 2 | sed '1,/^}/d' >"$tmp/set_log.h"

sed '1,/^```c$/d; /^```$/,$d' "$top/README.md" >"$tmp/readme.h"

cat >"$tmp/contexts.c" <<'END'
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <pier/pier.h>

static struct pier_dev *dev;
static struct pier_pe *pe;
static struct pier_buf_inventory *inv;
static struct pier_mmap *mmap;
static struct pier_dma *dma;
static struct pier_sha *sha;
static struct pier_func *func;
static struct pier_graph *graph;
static int done, error;
static char memory[1 << 19];

#include "dma.h"
#include "func.h"

static void ended(struct pier_task *task, void *arg)
{
	error = pier_task_status(task);
	done = 1;
}

static int compare(void *arg)
{
	return strcmp(memory, memory + 1000);
}

static struct pier_buf *text(void)
{
	struct pier_buf *buf = NULL;

	strcpy(memory, "text");
	pier_buf_by_data(inv, mmap, memory, 5, &buf);
	return buf;
}

static struct pier_buf *space(size_t at)
{
	struct pier_buf *buf = NULL;

	pier_buf_by_addr(inv, mmap, memory + at, 64, &buf);
	return buf;
}

/* Until a task has called ended(). */
static int until_done(int err)
{
	while (!err && !done)
		err = pier_pe_wait(pe, 10000);
	done = 0;
	return err ? err : error;
}

static int try_dma(void)
{
	struct pier_buf *src = text(), *dst = space(1000);
	int err = copy(dma, src, dst);

	pier_buf_put(src);
	pier_buf_put(dst);
	return err ? err : compare(NULL);
}

static int try_sha(void)
{
	struct pier_buf *src = text(), *dst = space(2000);
	int err;
#define hashed ended
#include "sha.h"
#undef hashed
	err = until_done(err);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err ? err : (unsigned char)memory[2000] != 0x61;
}

static int try_func(void)
{
	atomic_bool flag = false;
	int err;
	{
		pier_task_fn *done = ended;
#include "call.h"
	}
	for (int i = 0; i < 100; i++)
		pier_pe_progress(pe, 0);
	if (done)
		return -EPROTO;		/* before the flag is set */
	atomic_store(&flag, true);
	return until_done(err);
}

static int try_graph(void)
{
	struct pier_buf *buf[3] = { text(), space(1000), space(2000) };
	struct pier_graph_node *hash, *copy, *last;
	struct pier_task *task[3];
	int err = pier_graph_create(&graph);

	memory[1000] = 0;
	if (err)
		return err;
#include "graph.h"
	err = pier_ctx_start(pier_graph_ctx(graph), pe);
	err = err ? err : pier_sha_task_hash(sha, PIER_SHA_1, buf[0], buf[2],
					     &task[0]);
	err = err ? err : pier_dma_task_copy(dma, buf[0], buf[1], &task[1]);
	err = err ? err : pier_graph_task(graph, &task[2]);
	err = err ? err : pier_graph_task_set_task(task[2], hash, task[0]);
	err = err ? err : pier_graph_task_set_task(task[2], copy, task[1]);
	if (err)
		return err;
	pier_task_set_done(task[2], ended, NULL);
	err = until_done(pier_task_submit(task[2], 0));
	for (int i = 3; i--; pier_buf_put(buf[i]))
		pier_task_free(task[i]);
	pier_graph_destroy(graph);
	return err ? err : compare(NULL);
}

static int try_pe(void)
{
	struct pier_buf *src = text(), *dst = space(1000);
	int err = pier_dma_copy(dma, src, dst, ended, NULL);

	if (err)
		return err;
#include "pe.h"
	pier_buf_put(src);
	pier_buf_put(dst);
	return until_done(0);
}

static int try_sync_event(void)
{
	struct pier_sync_event *event = NULL;
	int err;

	/* as by another thread, before the wait */
#define pier_sync_event_wait_gt pier_sync_event_set(event, 1) ? 1 : \
	pier_sync_event_wait_gt
#include "sync_event.h"
#undef pier_sync_event_wait_gt
	pier_sync_event_destroy(event);
	return err;
}

static int try_receives(void)
{
	pier_task_fn *received = ended;
	struct pier_buf_pool *pool = NULL;
	struct pier_rdma *rdma = NULL;
	int err = pier_rdma_create(dev, &rdma);

	err = err ? err : pier_ctx_start(pier_rdma_ctx(rdma), pe);
	if (!err) {
		struct pier_buf *buf = NULL;
#include "buf_pool.h"
	}
	if (!err && (pier_buf_pool_count(pool) != 64 ||
		     pier_ctx_inflight(pier_rdma_ctx(rdma)) != 64))
		err = -EPROTO;
	pier_rdma_destroy(rdma);
	pier_buf_pool_destroy(pool);
	done = 0;
	return err;
}

static int try_ctx(void)
{
	struct pier_rdma *rdma = NULL;
	int err = pier_rdma_create(dev, &rdma);

	if (err)
		return err;
#include "ctx.h"
	pier_rdma_destroy(rdma);
	return err;
}

static int report(const char *what, int err)
{
	printf("%s: %s\n", what, err ? pier_error_name(err) : "0");
	return err;
}

int main(void)
{
	int err = pier_dev_open("soft_lo", &dev);

	err = err ? err : pier_pe_create(&pe);
	err = err ? err : pier_mmap_map(dev, memory, sizeof(memory), 0, &mmap);
	err = err ? err : pier_buf_inventory_create(8, &inv);
	err = err ? err : pier_dma_create(dev, &dma);
	err = err ? err : pier_sha_create(&sha);
	err = err ? err : pier_func_create(&func);
	err = err ? err : pier_ctx_start(pier_dma_ctx(dma), pe);
	err = err ? err : pier_ctx_start(pier_sha_ctx(sha), pe);
	err = err ? err : pier_ctx_start(pier_func_ctx(func), pe);
	err = err ? err : report("dma", try_dma());
	err = err ? err : report("sha", try_sha());
	err = err ? err : report("func", try_func());
	err = err ? err : report("graph", try_graph());
	err = err ? err : report("pe", try_pe());
	err = err ? err : report("sync_event", try_sync_event());
	err = err ? err : report("buf_pool", try_receives());
	err = err ? err : report("ctx", try_ctx());
	if (err)
		puts(pier_last_error());
	pier_func_destroy(func);
	pier_sha_destroy(sha);
	pier_dma_destroy(dma);
	pier_buf_inventory_destroy(inv);
	pier_mmap_destroy(mmap);
	pier_pe_destroy(pe);
	pier_dev_close(dev);
	return err ? 1 : 0;
}
END

cat >"$tmp/others.c" <<'END'
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <uv.h>
#include <infiniband/verbs.h>
#include <pier/exchange.h>
#include <pier/pier.h>
#include <pier/uv.h>
#include <pier/verbs.h>

#include "log.h"
#include "dma_export.h"

#include "copy.h"

int (*const stores)(struct pier_dev *, const char *, const char *) = store;

int (*const offers)(struct pier_dev *, void *, size_t, const char *) = offer;

void log_of_its_own(void)
{
#include "set_log.h"
}

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

int open_device(const char *name, struct pier_dev *dev)
{
	int err;
#include "error.h"
	return err;
}

int carry(void)
{
#include "exchange.h"
	return n;
}

int map(struct pier_dev *dev, struct pier_mmap *mmap)
{
	int err;
#include "mmap.h"
	return err;
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

void versions(void)
{
#include "version.h"
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
	compile -c -o "$tmp/contexts.o" "$tmp/contexts.c" &&
	    compile -fsyntax-only "$tmp/others.c" "$tmp/host.c"
}

examples_of_contexts_run()
{
	# shellcheck disable=SC2086
	"$build/libtool" --quiet --tag=CC --mode=link "$cc" $sanitize \
	    -no-install -o "$tmp/contexts" "$tmp/contexts.o" \
	    "$build/lib/libpier.la" && "$tmp/contexts"
}

# Ten of them, which read.
readme_shows_ten_lines()
{
	[ "$(wc -l <"$tmp/readme.h")" -eq 10 ] &&
	    grep -q pier_rdma_task_read "$tmp/readme.h"
}

# But those of pier.7, which are commands.
each_page_with_an_example_is_tested()
{
	grep -l '^\.Sh EXAMPLES' "$man"/*.3 | while read -r page; do
		name=${page##*/pier_}
		printf '%s\n' $pages | grep -qx "${name%.3}" ||
		    grep -q "example pier_$name" "$top/t/meta/examples.sh" \
			"$0" || echo "$page"
	done
}

run examples_compile
[ ! -f "$tmp/contexts.o" ] || run examples_of_contexts_run
run readme_shows_ten_lines
none each_page_with_an_example_is_tested
tap_done
