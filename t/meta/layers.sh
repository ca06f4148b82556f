#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Who may include whom.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

# Room, the rooms it may include, the foreign headers it may include.  The
# installed headers, those of the system, and <infiniband/verbs.h> for its
# types are open to every room of the library.
cat >"$tmp/rooms" <<'END'
lib/include/pier : :
lib/core : core :
lib/fabric : core fabric :
lib/fabric/verbs : core fabric fabric/verbs : infiniband/ rdma/
lib/fabric/soft : core fabric fabric/soft :
lib/dev : core fabric dev :
lib/mem : core fabric dev mem :
lib/engine : core engine :
cm : core fabric dev mem engine cm :
lib/ops : core fabric dev mem engine cm ops :
lib/app : core fabric dev mem engine cm ops app :
lib/uv : uv : uv.h
tools : tools : jansson.h uv.h
samples : :
END

# File, the foreign or internal header that it alone may include.
cat >"$tmp/files" <<'END'
cm/rdmacm/lookup.c ares.h
lib/app/args_json.c jansson.h
lib/core/crc.c isa-l.h
lib/core/crc.c isa-l/
lib/core/wire.c msgpack.h
lib/core/wire.c msgpack/
lib/fabric/registry.c fabric/soft/
lib/fabric/registry.c fabric/verbs/
lib/fabric/soft/io/netif.c libmnl/
lib/include/pier/uv.h uv.h
lib/include/pier/verbs.h infiniband/verbs.h
END

# uv is another library; it uses a few headers of the inside, whose calls are
# in the PIER_PRIVATE node of lib/libpier.map.
uv_extra="core/copy.h core/fail.h core/file.h core/wire.h"

includes()
{
	find lib cm tools samples -name '*.[ch]' | sort | while read -r file; do
		sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*'\
'\([<"]\)\([^>"]*\)[>"].*/\1 \2/p' "$file" | sed "s|^|$file |"
	done
}

judge()
{
	awk -v uv_extra="$uv_extra" \
	    -v rooms='^(core|fabric|dev|mem|engine|ops|app|uv|cm)' '
	# The longest room that @path is below.
	function room_of(path,	r, best) {
		best = ""
		for (r in may)
			if (index(path, r "/") == 1 && length(r) > length(best))
				best = r
		return best
	}
	# The room that the internal header @inc is in, as the table says it.
	function target(inc,	n, part) {
		n = split(inc, part, "/")
		if (n == 1)
			return ""
		if (n > 2 && part[1] == "fabric")
			return part[1] "/" part[2]
		return part[1]
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
		return inc ~ /^(infiniband|rdma|isa-l|msgpack|libmnl)\// ||
			inc ~ /^(ares|isa-l|msgpack|jansson|uv|zlib|crc)\.h$/
	}
	function refuse(why) {
		print $1 ": " $3 ": " why
	}
	FILENAME ~ /rooms$/ {
		split($0, col, " *: *")
		may[col[1]] = col[2]
		ext[col[1]] = col[3]
		next
	}
	FILENAME ~ /files$/ { own[$1] = own[$1] " " $2; next }
	{
		room = room_of($1)
		inside = room ~ /^(lib|cm)/ && room != "lib/include/pier"
		if (room == "") {
			refuse("the file is in no room of the table")
		} else if (open_to(own[$1], $3)) {
			next
		} else if ($2 == "<" && target($3) ~ rooms) {
			refuse("internal headers stand in quotes")
		} else if ($2 == "<") {
			if (index($3, "pier/") == 1 || !foreign($3))
				next
			if ($3 == "infiniband/verbs.h" && inside)
				next
			if (!open_to(ext[room], $3))
				refuse("not open to " room)
		} else if (room == "tools" && target($3) == "") {
			next
		} else if (room == "lib/uv" && listed(uv_extra, $3)) {
			next
		} else if (target($3) == "") {
			refuse("internal headers are named as room/name.h")
		} else if (!listed(may[room], target($3))) {
			refuse(room " may not include " target($3))
		}
	}' "$tmp/rooms" "$tmp/files" -
}

rooms_include_only_what_the_table_allows()
{
	includes | judge
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
lib/fabric/soft/soft_dev.c < libmnl/libmnl.h
lib/fabric/verbs/verbs_qp.c " dev/dev.h
lib/include/pier/rdma.h < infiniband/verbs.h
lib/include/pier/rdma.h " core/op.h
lib/mem/mmap.c " cm/conn_impl.h
lib/ops/rdma.c " fabric/soft/ep.h
lib/ops/rdma.c " rdma.h
lib/new/rdma.c " core/op.h
cm/conn.c " ops/rdma.h
lib/uv/adapter.c " cm/conn_impl.h
lib/uv/adapter.c " core/log.h
samples/rdma_read_requester.c " core/fail.h
samples/rdma_read_requester.c < core/fail.h
samples/rdma_read_requester.c < jansson.h
tools/info.c " core/fail.h
tools/info.c < infiniband/verbs.h
END
	judge <"$tmp/bad" >"$tmp/judged"
	sed 's/^\([^ ]*\) . /\1: /' "$tmp/bad" | while read -r line; do
		grep -q "^$line: " "$tmp/judged" || echo "let pass: $line"
	done
}

there_is_something_to_judge()
{
	[ "$(includes | wc -l)" -gt 100 ]
}

none rooms_include_only_what_the_table_allows
none the_table_refuses_what_it_should
run there_is_something_to_judge
tap_done
