#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The lists of CONTRIBUTING.md, followed on a copy of the tree: an example of
# each changes the files that its list names and no others, is built, and works.
. "${0%/*}/../lib/tap.sh"

[ -f "$build/config.status" ] || skip_all "there is no build tree"
command -v automake >/dev/null || skip_all "there is no automake"

tree=$tmp/tree
case $build in
"$top"/*) copied=$tree${build#"$top"} ;;
*) copied=$tmp/build ;;
esac
unset MAKEFLAGS MFLAGS MAKELEVEL

# copy FROM TO TAR-OPTION...: with times of modification, writable.
copy()
{
	from=$1 to=$2
	shift 2
	mkdir -p "$to" &&
	    tar -C "$from" --format=posix -cf - "$@" . | tar -C "$to" -xf - &&
	    chmod -R u+w "$to"
}

# Copy the sources without any build tree, and the build tree without tests and
# what they have installed.  Paths within it that are absolute lead to the copy.
copy_tree()
{
	(cd "$top" && find . -mindepth 2 -maxdepth 3 -name config.status) |
	    sed 's|/config.status$||' >"$tmp/builds"
	copy "$top" "$tree" --exclude=./.git --exclude=./installed \
	    --exclude='*.t' --exclude-from="$tmp/builds" &&
	    copy "$build" "$copied" --exclude=./.git --exclude=./installed \
		--exclude='*.t' || return
	grep -rlIF -e "$build" -e "$top" "$copied" | while read -r file; do
		touch -r "$file" "$tmp/time"
		sed -i "s|$build|$copied|g; s|$top|$tree|g" "$file"
		touch -r "$tmp/time" "$file"
	done
}

# create FILE: with what stdin has.
create()
{
	echo "$1" >>"$tmp/changed"
	mkdir -p "$(dirname "$tree/$1")"
	cat >"$tree/$1"
}

# insert FILE LINE: what stdin has, before the first that begins like LINE.
insert()
{
	echo "$1" >>"$tmp/changed"
	cat >"$tmp/text"
	awk -v text="$tmp/text" -v line="$2" '
	!done && index($0, line) == 1 {
		while ((getline s < text) > 0)
			print s
		done = 1
	}
	{ print }
	END { exit !done }' "$tree/$1" >"$tmp/new" &&
	    cat "$tmp/new" >"$tree/$1" || echo "$1: has no line \"$2\""
}

# append FILE LINE TEXT: TEXT behind the first line that is LINE.
append()
{
	echo "$1" >>"$tmp/changed"
	grep -qxF "$2" "$tree/$1" || echo "$1: has no line \"$2\""
	sed -i "s|^$2\$|&\\n$3|" "$tree/$1"
}

# page NAME SECTION CALL: a man page, of a call unless CALL is "".
page()
{
	create "docs/man/$1.$2" <<-END
	.\\" SPDX-License-Identifier: BSD-2-Clause
	.Dd November 21, 2026
	.Dt $(echo "$1" | tr a-z A-Z) $2
	.Os
	.Sh NAME
	.Nm $1
	.Nd an example
	.Sh SYNOPSIS
	${3:-.Nm}
	.Sh DESCRIPTION
	An example.$([ "$2" = 1 ] || printf '\n.Sh RETURN VALUES\nTwo.')
	.Sh SEE ALSO
	.Xr pier 7
	END
}

# What the list of section $1 names, with examples for the words in capitals.
listed()
{
	awk -v title="## $1" '
	/^## / { on = $0 == title }
	on && /^[0-9]+\. / { item = 1 }
	/^$/ { item = 0 }
	on && item' "$tree/CONTRIBUTING.md" | grep -o '`[^` ]*/[^` ]*`' |
	    tr -d '`' | sed "s|NAME|$2|g; s|LAYER|core|g" | sort -u
}

# follow SECTION NAME FUNCTION: FUNCTION changes what the list has.
follow()
{
	: >"$tmp/changed"
	$3
	listed "$1" "$2" >"$tmp/listed"
	[ -s "$tmp/listed" ] || echo "CONTRIBUTING.md has no list \"$1\""
	sort -u "$tmp/changed" | diff "$tmp/listed" - |
	    sed -n 's/^</not changed:/p; s/^>/not listed:/p'
}

change_for_a_subcommand()
{
	create tools/again.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "tool.h"

int tool_again(int argc, char *argv[])
{
	printf("%s %d\n", argv[0], argc);
	return 0;
}
END
	insert tools/tool.h 'int tool_copy(' <<'END'
int tool_again(int argc, char *argv[]);
END
	insert tools/pier.c '	{ "copy", ' <<'END'
	{ "again", "pier again", tool_again, "an example" },
END
	insert tools/local.mk '	%D%/brief.c' <<'END'
	%D%/again.c \
END
	page pier-again 1 ""
	insert docs/man/pier.1 '.It Ic copy' <<'END'
.It Ic again
is an example; see
.Xr pier-again 1 .
END
	insert docs/local.mk '	%D%/man/pier-copy.1' <<'END'
	%D%/man/pier-again.1 \
END
}

change_for_a_header()
{
	create lib/include/pier/twice.h <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_TWICE_H
#define PIER_TWICE_H

#ifdef __cplusplus
extern "C" {
#endif

int pier_twice(void);

#ifdef __cplusplus
}
#endif

#endif
END
	create lib/core/twice.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#include <pier/twice.h>

int pier_twice(void)
{
	return 2;
}
END
	insert lib/include/pier/pier.h '#include <pier/error.h>' <<'END'
#include <pier/twice.h>
END
	insert lib/local.mk '	%D%/core/version.c' <<'END'
	%D%/core/twice.c \
END
	insert lib/local.mk '	%D%/include/pier/uv.h' <<'END'
	%D%/include/pier/twice.h \
END
	insert lib/libpier.map '	pier_version;' <<'END'
	pier_twice;
END
	page pier_twice 3 '.In pier/twice.h
.Ft int
.Fn pier_twice "void"'
	insert docs/local.mk '	%D%/man/pier_uv.3' <<'END'
	%D%/man/pier_twice.3 \
END
}

# One that passes all on to soft.
change_for_a_device()
{
	create lib/fabric/echo/echo.h <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_FABRIC_ECHO_ECHO_H
#define PIER_FABRIC_ECHO_ECHO_H

#include "fabric/fabric.h"

extern const struct pier__fabric pier__echo;

#endif
END
	create lib/fabric/echo/echo.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "fabric/echo/echo.h"
#include "fabric/soft/soft.h"

static struct pier__fabric_dev dev;
static struct pier__fabric_qp qp;
static struct pier__fabric_cm cm;

static int echo_list(struct pier__ports *ports)
{
	size_t i = ports->count;
	int err = pier__soft.dev->list(ports);

	for (; i < ports->count; i++) {
		ports->port[i].fabric = &pier__echo;
		memcpy(ports->port[i].name, "echo", 4);
	}
	return err;
}

static int echo_open(const struct pier__port *port, struct pier__fdev **ret)
{
	struct pier__port soft = *port;
	int err;

	soft.fabric = &pier__soft;
	memcpy(soft.name, "soft", 4);
	err = pier__soft.dev->open(&soft, ret);
	if (err)
		return err;
	(*ret)->fabric = &pier__echo;
	(*ret)->port.fabric = &pier__echo;
	return 0;
}

static void __attribute__((constructor)) fill_tables(void)
{
	dev = *pier__soft.dev;
	dev.list = echo_list;
	dev.open = echo_open;
	qp = *pier__soft.qp;
	cm = *pier__soft.cm;
}

const struct pier__fabric pier__echo = {
	.name = "echo",
	.dev = &dev,
	.qp = &qp,
	.cm = &cm,
};
END
	insert lib/local.mk '	%D%/fabric/fabric.c' <<'END'
	%D%/fabric/echo/echo.c \
	%D%/fabric/echo/echo.h \
END
	insert lib/fabric/registry.c '#include "fabric/registry.h"' <<'END'
#include "fabric/echo/echo.h"
END
	insert lib/fabric/registry.c '	NULL,' <<'END'
	&pier__echo,
END
	insert t/meta/layers.sh 'lib/fabric/registry :' <<'END'
lib/fabric/echo : fabric fabric/soft :
END
	sed -i 's|^lib/fabric/registry : fabric|& fabric/echo|' \
	    "$tree/t/meta/layers.sh"
}

# The folder and its files are one entry of the list.
device()
{
	change_for_a_device
	sed -i 's|^\(lib/fabric/echo/\).*|\1|' "$tmp/changed"
}

# The line of the last type: a new one may not change the value of another.
last_task_type()
{
	grep '^	PIER_TASK_[A-Z_]*,$' "$top/lib/include/pier/task.h" | tail -n 1
}

change_for_a_task_type()
{
	append lib/include/pier/task.h "$(last_task_type)" \
	    '	PIER_TASK_STORE,'
	insert lib/include/pier/rdma.h 'int pier_rdma_task_write_imm(' <<'END'
int pier_rdma_task_store(struct pier_conn *conn, struct pier_buf *src,
			 struct pier_buf *dst, struct pier_task **ret);
END
	insert lib/libpier.map '	pier_rdma_task_write;' <<'END'
	pier_rdma_task_store;
END
	insert lib/ops/task_type.h 'int pier__rdma_build_write(' <<'END'
int pier__rdma_build_store(struct pier__rdma_task *t);
END
	insert lib/ops/task_type.c '	[PIER_TASK_COMPARE_SWAP] =' <<'END'
	[PIER_TASK_STORE] = {
		.name = "store",
		.key = "store",
		.opcode = IBV_WR_RDMA_WRITE,
		.src = PIER__BUF_LOCAL,
		.dst = PIER__BUF_REMOTE,
		.access = PIER_REMOTE_WRITE,
		.build = pier__rdma_build_store,
		.kind = &pier__rdma_copy,
		.empty = &pier__rdma_nothing,
	},
END
	create lib/ops/rdma_store.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#include "ops/rdma_build.h"
#include "ops/rdma_task.h"

int pier__rdma_build_store(struct pier__rdma_task *t)
{
	return pier__rdma_build_write(t);
}

int pier_rdma_task_store(struct pier_conn *conn, struct pier_buf *src,
			 struct pier_buf *dst, struct pier_task **ret)
{
	return pier__rdma_take_send(conn, PIER_TASK_STORE, src, dst, 0, ret);
}
END
	insert lib/local.mk '	%D%/ops/rdma_submit.c' <<'END'
	%D%/ops/rdma_store.c \
END
	create t/ops/store.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

#define LEN 4096

static struct peer a, b;

static void a_store_writes(void)
{
	struct pier_buf *src = peer_data(&a, 0, LEN);
	struct pier_buf *dst = peer_far_tail(&a, 0, LEN);
	int status = -EINPROGRESS;
	struct pier_task *task;

	peer_fill(&a, 1);
	if (!IS(pier_rdma_task_store(a.conn, src, dst, &task), 0))
		return;
	pier_task_set_done(task, peer_done, &status);
	IS(pier_task_submit(task, 0), 0);
	IS(peer_await(&status), 0);
	OK(peer_holds(&b, 0, LEN, 1, 0));
	pier_task_free(task);
	pier_buf_put(dst);
	pier_buf_put(src);
}

int main(void)
{
	struct pier_dev *dev;

	if (pier_dev_open(NULL, &dev))
		return tap_skip_all(pier_last_error());
	if (peer_pair(&a, &b, dev, NULL, LEN))
		TEST(a_store_writes);
	peer_unpair(&a, &b);
	pier_dev_close(dev);
	return tap_done();
}
END
	insert t/local.mk '	%D%/ops/sync_event.t' <<'END'
	%D%/ops/store.t \
END
	insert t/vm/tests 't/ops/sync_event_process.t' <<'END'
t/ops/store.t
END
	insert docs/man/pier_rdma.3 '.Nm pier_rdma_task_write_imm ,' <<'END'
.Nm pier_rdma_task_store ,
END
	insert docs/man/pier_rdma.3 '.Sh DESCRIPTION' <<'END'
.Ft int
.Fo pier_rdma_task_store
.Fa "struct pier_conn *conn"
.Fa "struct pier_buf *src"
.Fa "struct pier_buf *dst"
.Fa "struct pier_task **ret"
.Fc
END
}

the_list_for_a_subcommand_names_what_changes()
{
	follow "Add a subcommand of \`pier\`" again change_for_a_subcommand
}

the_list_for_a_public_header_names_what_changes()
{
	follow "Add a public header" twice change_for_a_header
}

the_list_for_a_kind_of_device_names_what_changes()
{
	follow "Add a kind of device" echo device
}

the_list_for_a_type_of_task_names_what_changes()
{
	follow "Add a type of task" store change_for_a_task_type
}

# What a changed header is included by is compiled again, quickly.
the_copy_is_built()
{
	make -s -C "$copied" -j2 CFLAGS=-O0 lib/libpier.la \
	    lib/uv/libpier-uv.la tools/pier t/fabric/fabric.t \
	    t/ops/store.t t/ops/task.t >"$tmp/log" 2>&1 && return
	grep -E 'error|\*\*\*' "$tmp/log" || tail "$tmp/log"
	return 1
}

the_subcommand_runs()
{
	"$copied/tools/pier" --help | grep -q '^  again  *an example' &&
	    [ "$("$copied/tools/pier" again 1)" = "pier again 2" ]
}

# What `make install prefix=DIR` does, without what the copy has not built.
another_prefix_is_installed_in()
{
	prefix=$tmp/prefix
	make -s -C "$copied" CFLAGS=-O0 prefix="$prefix" \
	    lib_LTLIBRARIES="lib/libpier.la lib/uv/libpier-uv.la" \
	    install-binPROGRAMS install-pkgconfigDATA install-modules \
	    >"$tmp/log" 2>&1 || { tail "$tmp/log"; return 1; }
	ldd "$prefix/bin/pier" >"$tmp/log"
	[ "$(grep -c " => $prefix/lib/libpier" "$tmp/log")" -eq 2 ] &&
	    "$prefix/bin/pier" --help >/dev/null ||
	    { cat "$tmp/log"; return 1; }
	for module in pier pier-uv; do
		module=$prefix/lib/pkgconfig/$module.pc
		grep -qx "prefix=$prefix" "$module" &&
		    grep -qx 'libdir=${exec_prefix}/lib' "$module" ||
		    { cat "$module"; return 1; }
	done
}

the_header_is_installed_and_its_call_linked()
{
	make -s -C "$copied" install-pierincludeHEADERS \
	    DESTDIR="$tmp/dest" includedir=/include >/dev/null || return
	cat >"$tmp/twice.c" <<-'END'
	#include <pier/pier.h>

	int main(void)
	{
		return pier_twice() != 2;
	}
	END
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$copied/Makefile")
	(cd "$copied" && ./libtool --quiet --tag=CC --mode=link \
	    "${CC:-gcc}" $sanitize -I"$tmp/dest/include" -o "$tmp/twice" \
	    "$tmp/twice.c" lib/libpier.la) && "$tmp/twice"
}

the_device_is_listed()
{
	"$copied/tools/pier" info >"$tmp/info" &&
	    grep -q '^echo_' "$tmp/info" &&
	    grep -q '^  kind  *echo$' "$tmp/info"
}

# passes TEST: in the copy.
passes()
{
	(cd "$copied" && PIER_TEST_REQUIRE='' sh "$tree/t/run" "$1") \
	    >"$tmp/tap" 2>&1 && grep -q '^ok' "$tmp/tap" &&
	    ! grep -E '^not ok|^1\.\.0' "$tmp/tap" && return
	grep -A9 '^not ok\|^Bail\|^#' "$tmp/tap"
	return 1
}

the_device_holds_its_contract()
{
	device=$(sed -n '/^echo_/{p;q;}' "$tmp/info")
	PIER_DEVICE=$device
	export PIER_DEVICE
	passes t/fabric/fabric.t
}

the_type_of_task_is_listed()
{
	"$copied/tools/pier" info --json | grep -q '"store": true'
}

the_type_of_task_works()
{
	passes t/ops/store.t && passes t/ops/task.t
}

the_rules_hold_on_the_copy()
{
	for rule in docs layers style symbols; do
		passes "$tree/t/meta/$rule.sh"
	done
}

run copy_tree
none the_list_for_a_subcommand_names_what_changes
none the_list_for_a_public_header_names_what_changes
none the_list_for_a_kind_of_device_names_what_changes
none the_list_for_a_type_of_task_names_what_changes
run the_copy_is_built
run the_subcommand_runs
run the_header_is_installed_and_its_call_linked
run the_device_is_listed
run the_device_holds_its_contract
run the_type_of_task_is_listed
run the_type_of_task_works
none the_rules_hold_on_the_copy
run another_prefix_is_installed_in
tap_done
