#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Which layer may include and call which, and that a name means one thing.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

# A layer is a folder, or the files of one name in it, without what has a row
# of its own.  The columns: the layer, the layers that it may include and call
# besides itself, the foreign headers that it may include.  A layer is
# below those it uses.  Open to every layer of the library are the installed
# headers, those of the system, and <infiniband/verbs.h> for its types.
soft=fabric/soft
rc="core fabric $soft/wire $soft/stats"
below_cm="core fabric dev mem engine"
cat >"$tmp/layers" <<END
lib/include/pier : :
lib/core : :
lib/engine : core :
lib/fabric : core :
lib/fabric/verbs : core fabric : infiniband/ rdma/
lib/fabric/soft/wire : core :
lib/fabric/soft/stats : core fabric $soft/wire :
lib/fabric/soft/rc : $rc :
lib/fabric/soft/cm : $rc $soft/rc :
lib/fabric/soft/shm : $rc $soft/rc :
lib/fabric/soft/io : $rc $soft/rc $soft/cm $soft/shm :
lib/fabric/soft : $rc $soft/rc $soft/cm $soft/io :
dropin : $rc $soft/rc $soft/io $soft : infiniband/
dropin/cma : core fabric dropin : infiniband/ rdma/
dropin/files : core fabric dropin : infiniband/
dropin/rsocket : core fabric dropin dropin/cma : infiniband/ rdma/
lib/fabric/registry : fabric fabric/verbs fabric/soft :
lib/dev : core fabric fabric/registry :
lib/mem : core fabric dev :
cm : $below_cm :
cm/rdmacm : $below_cm cm :
lib/ops : $below_cm cm cm/rdmacm :
lib/copy : core engine dev mem ops :
lib/app : $below_cm cm cm/rdmacm ops :
lib/uv : : uv.h
bindings/cpp : :
bindings/doca : :
bindings/doca-2.0 : bindings/doca :
tools : : jansson.h uv.h
samples : :
END

# File, the foreign header that it alone may include.
cat >"$tmp/files" <<'END'
bindings/doca/doca_argp_json.c jansson.h
cm/rdmacm/lookup.c ares.h
lib/app/args_json.c jansson.h
lib/copy/copy_flight.c liburing.h
lib/copy/copy_hash.c xxhash.h
lib/core/crc.c isa-l.h
lib/core/crc.c isa-l/
lib/core/probe.h sys/sdt.h
lib/core/wire.c msgpack.h
lib/core/wire.c msgpack/
lib/fabric/soft/io/netif.c libmnl/
lib/include/pier/uv.h uv.h
lib/ops/digest.c openssl/
lib/include/pier/verbs.h infiniband/verbs.h
END

# uv is another library; it uses a few headers of the inside, whose calls are
# in the PIER_PRIVATE node of lib/libpier.map.
uv_extra="core/copy.h core/fail.h core/file.h core/wire.h"

# FILE QUOTE HEADER of every include.
includes()
{
	find bindings dropin lib cm tools samples -name '*.[ch]' \
	    -o -name '*.[ch]pp' | sort | while read -r file; do
		sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*'\
'\([<"]\)\([^>"]*\)[>"].*/\1 \2/p' "$file" | sed "s|^|$file |"
	done
}

# The objects below the folders $@ of the build tree whose sources are here.
objects()
{
	for dir; do
		(cd "$dir" && find . -name '*.c') | sed "s|^\.|$dir|;s|\.c\$||"
	done | while read -r base; do
		for obj in "${base%/*}/.libs/${base##*/}.o" "$base.o"; do
			[ -f "$build/$obj" ] && echo "$obj" && break
		done
	done
}

# SOURCE TYPE SYMBOL of what the objects below $@ define and want.
symbols()
{
	(cd "$build" && nm -A -g $(cd "$top" && objects "$@")) |
	    sed -n 's|/\.libs/|/|
s|^\([^:]*\)\.o:[0-9a-f ]* \([A-Za-z]\) \([^ ]*\)$|\1.c \2 \3|p'
}

# CALLER () SOURCE SYMBOL of every call, and use of data, between sources.
# Calls of libibverbs and librdmacm are made to those of rdma-core, not to
# dropin/.
calls()
{
	symbols lib cm dropin | awk '
	$2 == "U" { wants[++n] = $1; what[n] = $3; next }
	$3 !~ /^(_?ibv|rdma)_/ { source[$3] = $1 }
	END {
		for (i = 1; i <= n; i++)
			if (what[i] in source)
				print wants[i], "()", source[what[i]], what[i]
	}'
}

judge()
{
	awk -v uv_extra="$uv_extra" '
	# The layer of @path, as other rows name it.
	function layer_of(path,	l, best) {
		best = ""
		for (l in may)
			if (index(path, l) == 1 &&
			    substr(path, length(l) + 1, 1) ~ /[\/.]/ &&
			    length(l) > length(best))
				best = l
		sub(/^lib\//, "", best)
		return best
	}
	function listed(list, word) {
		return index(" " list " ", " " word " ") > 0
	}
	# Is one of the words of @list the header @inc or a directory above?
	function open_to(list, inc,	n, i, part) {
		n = split(list, part, " ")
		for (i = 1; i <= n; i++)
			if (part[i] == inc || (part[i] ~ /\/$/ &&
			    index(inc, part[i]) == 1))
				return 1
		return 0
	}
	function foreign(inc) {
		return inc ~ /^(infiniband|rdma|msgpack|libmnl)\// ||
			inc ~ /^(openssl|isa-l)\// ||
			inc ~ /^(ares|isa-l|msgpack|jansson|uv)\.h$/ ||
			inc ~ /^(xxhash|zlib|crc)\.h$/
	}
	# The source that the include @inc names.
	function source_of(inc) {
		return inc ~ /^(bindings|cm|dropin)\// ? inc : "lib/" inc
	}
	function refuse(message) {
		print $1 ": " $3 ": " message
	}
	function judge_use(layer, target) {
		if (layer != target && !listed(use[layer], target))
			refuse(layer " may not use " target)
	}
	function judge_call(layer) {
		if (layer == "uv" && ($4 !~ /^pier__/ || $3 ~ /^lib\/core\//))
			return
		judge_use(layer, layer_of($3))
	}
	function judge_bracket(layer) {
		if ($3 ~ /\// && layer_of(source_of($3)))
			refuse("internal headers stand in quotes")
		else if (index($3, "pier/") == 1 || !foreign($3))
			return
		else if ($3 == "infiniband/verbs.h" && $1 ~ /^(lib|cm)/ &&
			 layer != "include/pier")
			return
		else if (!open_to(ext[layer], $3))
			refuse("not open to " layer)
	}
	function judge_quote(layer) {
		if (layer ~ /^(tools|bindings\/.*)$/ && $3 !~ /\//)
			return
		if (layer == "uv" && listed(uv_extra, $3))
			return
		if ($3 !~ /\//)
			refuse("internal headers are named as layer/name.h")
		else
			judge_use(layer, layer_of(source_of($3)))
	}
	FILENAME ~ /layers$/ {
		split($0, col, " *: *")
		may[col[1]]
		sub(/^lib\//, "", col[1])
		use[col[1]] = col[2]
		ext[col[1]] = col[3]
		next
	}
	FILENAME ~ /files$/ { own[$1] = own[$1] " " $2; next }
	{
		layer = layer_of($1)
		if (layer == "")
			refuse("the file is in no layer of the table")
		else if (open_to(own[$1], $3))
			next
		else if ($2 == "()")
			judge_call(layer)
		else if ($2 == "<")
			judge_bracket(layer)
		else
			judge_quote(layer)
	}' "$tmp/layers" "$tmp/files" -
}

# So that there is no cycle.
layers_use_only_what_stands_above_them_in_the_table()
{
	awk -F ' *: *' '{
		n = split($2, word, " ")
		for (i = 1; i <= n; i++)
			if (!(word[i] in seen))
				print $1 ": " word[i]
		sub(/^lib\//, "", $1)
		seen[$1]
	}' "$tmp/layers"
}

layers_include_only_what_the_table_allows()
{
	includes >"$tmp/includes"
	[ "$(wc -l <"$tmp/includes")" -gt 100 ] || echo "few includes"
	judge <"$tmp/includes"
}

need_objects()
{
	[ -n "$(objects lib)" ] || skip "nothing is built"
}

layers_call_only_what_the_table_allows()
{
	need_objects
	calls >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -gt 500 ] || echo "few calls"
	judge <"$tmp/calls"
}

# The judge itself: each of these lines breaks a rule.
the_table_refuses_what_it_should()
{
	cat >"$tmp/bad" <<'END'
lib/core/log.c " dev/dev.h
lib/core/log.c < msgpack.h
lib/core/log.c < jansson.h
cm/conn.c < ares.h
lib/engine/pe.c " fabric/fabric.h
lib/fabric/soft/rc/qp.c " fabric/verbs/qp.h
lib/fabric/soft/rc/qp.c < rdma/rdma_cma.h
lib/fabric/soft/rc/qp.c " fabric/soft/io/chan.h
lib/fabric/soft/soft_dev.c < libmnl/libmnl.h
lib/fabric/soft/wire/mad.c () lib/fabric/soft/rc/qp.c pier__soft_qp
lib/fabric/fabric.c () lib/fabric/registry.c pier__fabrics
lib/fabric/soft/soft.c () lib/fabric/registry.c pier__fabrics
lib/fabric/verbs/verbs_qp.c " dev/dev.h
lib/dev/dev.c " fabric/soft/soft.h
lib/fabric/soft/soft.c " dropin/dropin.h
dropin/ibv_qp.c " cm/conn_impl.h
dropin/ibv_qp.c < rdma/rdma_cma.h
dropin/ibv_qp.c " dropin/cma/cma.h
dropin/cma/cma_qp.c " fabric/soft/soft.h
lib/dev/dev.c () lib/fabric/soft/soft.c pier__soft
lib/engine/task.c () lib/ops/task_type.c pier_task_type_name
lib/include/pier/rdma.h < infiniband/verbs.h
lib/include/pier/rdma.h " core/op.h
lib/mem/mmap.c " cm/conn_impl.h
lib/ops/rdma.c " fabric/soft/ep.h
lib/ops/rdma.c " rdma.h
lib/new/rdma.c " core/op.h
cm/conn.c " ops/rdma.h
cm/conn.c () lib/ops/rdma.c pier_rdma_ctx
lib/uv/adapter.c " cm/conn_impl.h
lib/uv/adapter.c " core/log.h
lib/uv/adapter.c () cm/conn.c pier__conn_drop
bindings/doca/doca_ctx.c " core/fail.h
bindings/doca/doca_ctx.c < core/fail.h
bindings/doca/doca_ctx.c < jansson.h
bindings/cpp/include/pier/cpp/ctx.hpp " core/fail.h
bindings/cpp/include/pier/cpp/ctx.hpp < infiniband/verbs.h
samples/rdma_read_requester.c " core/fail.h
samples/rdma_read_requester.c < core/fail.h
samples/rdma_read_requester.c < jansson.h
tools/info.c " core/fail.h
tools/info.c < infiniband/verbs.h
END
	judge <"$tmp/bad" >"$tmp/judged"
	cut -d ' ' -f 1,3 "$tmp/bad" | sed 's/ /: /' | while read -r line; do
		grep -q "^$line: " "$tmp/judged" || echo "let pass: $line"
	done
}

# Helpers of tests are linked with libpier.
a_symbol_is_defined_once()
{
	need_objects
	symbols lib cm dropin t/lib >"$tmp/symbols"
	[ "$(wc -l <"$tmp/symbols")" -gt 1000 ] || echo "few symbols"
	awk '
	$2 == "U" || $3 ~ /^(__odr_asan|_\.stapsdt\.base)/ { next }
	$3 in source { print $3 ": " source[$3] " and " $1 }
	{ source[$3] = $1 }' "$tmp/symbols"
}

# A tag is defined twice where two bodies differ.
structs_of()
{
	awk '
	match($0, /^(static |const )*struct [a-z0-9_]+ \{$/) {
		tag = $(NF - 1)
		body = ""
	}
	tag && /^}/ {
		if (tag in seen && seen[tag] != body)
			print "struct " tag ": " file[tag] " and " FILENAME
		seen[tag] = body
		file[tag] = FILENAME
		tag = ""
	}
	tag { body = body $0 }' "$@"
}

a_struct_has_one_body()
{
	structs_of $(find lib cm dropin t -name '*.[ch]' | sort)
	printf 'struct one {\n\tint a;\n};\n' >"$tmp/a.h"
	printf 'struct one {\n\tint b;\n};\n' >"$tmp/b.h"
	[ -n "$(structs_of "$tmp/a.h" "$tmp/b.h")" ] || echo "let pass: two"
}

no_two_sources_of_the_library_share_a_name()
{
	find bindings dropin lib cm -name '*.[ch]' ! -path '*/include/*' |
	    sed 's|.*/||' | sort | uniq -d
}

none layers_use_only_what_stands_above_them_in_the_table
none layers_include_only_what_the_table_allows
none layers_call_only_what_the_table_allows
none the_table_refuses_what_it_should
none a_symbol_is_defined_once
none a_struct_has_one_body
none no_two_sources_of_the_library_share_a_name
tap_done
