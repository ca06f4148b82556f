#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The static probes are in the library, and the scripts for bpftrace use those
# that are.
. "${0%/*}/../lib/tap.sh"

library=$build/lib/.libs/libpier.so
[ -f "$library" ] || skip_all "libpier is not built"
command -v readelf >/dev/null || skip_all "there is no readelf"
readelf -n "$library" >"$tmp/notes" 2>/dev/null
grep -q '#include <sys/sdt.h>' "$top/lib/core/probe.h" || exit
echo '#include <sys/sdt.h>' >"$tmp/x.c"
sed -n "s/^CC = //p" "$build/Makefile" >"$tmp/cc"
$(cat "$tmp/cc") -E "$tmp/x.c" >/dev/null 2>&1 ||
	skip_all "pier was built without sys/sdt.h"
! grep -q '^DEBUG_FLAGS = .*NO_PROBES' "$build/Makefile" ||
	skip_all "probes were disabled by configure"

names="submit completion retransmission state event"

each_probe_is_a_note()
{
	for name in $names; do
		awk -v name="$name" '
		/Provider: / { ours = $2 == "pier" }
		/Name: / && ours && $2 == name { found = 1 }
		END { exit !found }' "$tmp/notes" && continue
		echo "no note of $name"
		cat "$tmp/notes"
		return 1
	done
}

# As many arguments as the page and the scripts have.
arguments_are_those_of_the_documents()
{
	for probe in submit:2 completion:2 retransmission:2 state:4 event:3; do
		awk -v name="${probe%:*}" -v wanted="${probe#*:}" '
		/Name: / { it = $2 == name }
		/Arguments: / && it && NF - 1 != wanted { print; bad = 1 }
		END { exit bad }' "$tmp/notes" || return 1
	done
}

scripts_use_probes_that_exist()
{
	used=$(sed -n 's/^usdt:\*:pier:\([a-z]*\)$/\1/p' \
	    "$top"/tools/bpftrace/*.bt | sort -u)
	[ "$(echo "$used" | wc -l)" -ge 4 ] || return 1
	for name in $used; do
		case " $names " in
		*" $name "*) ;;
		*) echo "$name"; return 1 ;;
		esac
	done
}

# The numbers of events are those of the recorder.
events_have_the_names_of_the_recorder()
{
	sed -n 's/^	\[SOFT_EVENT_\([A-Z_]*\)\] = "\([a-z_]*\)",$/\2/p' \
	    "$top/lib/fabric/soft/stats/recorder.c" >"$tmp/names"
	[ -s "$tmp/names" ] &&
	    sed -n 's/^	@kind\[[0-9]*\] = "\([a-z_]*\)";$/\1/p' \
		"$top/tools/bpftrace/pier-events.bt" | cmp - "$tmp/names"
}

# Those of states, with their numbers, are those of the table and of the enum.
states_have_the_names_of_the_table()
{
	sed -n 's/^	\[PIER__CONN_\([A-Z_]*\)\] = .*/\1/p
		s/^		\.name = "\([a-z_]*\)",.*/\1/p' \
	    "$top/cm/conn_state.c" | paste - - >"$tmp/table"
	sed -n 's/^	PIER__CONN_\([A-Z_]*\),.*/\1/p' \
	    "$top/cm/conn_state.h" |
	    awk '
	    NR == FNR { name[$1] = $2; next }
	    { print FNR - 1, name[$1] }' "$tmp/table" - >"$tmp/states"
	[ "$(wc -l <"$tmp/states")" -ge 16 ] &&
	    sed -n 's/^	@state\[\([0-9]*\)\] = "\([a-z_]*\)";$/\1 \2/p' \
		"$top/tools/bpftrace/pier-events.bt" | diff - "$tmp/states"
}

run each_probe_is_a_note
run arguments_are_those_of_the_documents
run scripts_use_probes_that_exist
run events_have_the_names_of_the_recorder
run states_have_the_names_of_the_table
tap_done
