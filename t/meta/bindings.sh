#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The bindings have every public call of C, or a reason why not.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/api.sh"

cd "$top" || exit
api_functions pier lib/include/pier/*.h | sort -u >"$tmp/api"

# judge BINDING SOURCE... - calls that are neither in the sources nor left out,
# and what is left out without need
judge()
{
	binding=$1
	shift
	grep -ohE 'pier_[a-z0-9_]+' "$@" | sort -u >"$tmp/used"
	awk -v binding="$binding" '
	function matches(name, pattern) {
		gsub(/\*/, ".*", pattern)
		return name ~ "^" pattern "$"
	}
	FILENAME ~ /used$/ { used[$1] = 1; next }
	FILENAME ~ /left-out$/ {
		if ($0 !~ /^#/ && NF) {
			if (NF < 2)
				print binding ": no reason: " $1
			left[$1] = 0
		}
		next
	}
	{
		in_left = 0
		for (pattern in left)
			if (matches($1, pattern)) {
				in_left = 1
				if (!($1 in used))
					left[pattern]++
			}
		if (!($1 in used) && !in_left)
			print binding ": neither called nor left out: " $1
	}
	END {
		for (pattern in left)
			if (!left[pattern])
				print binding ": left out in vain: " pattern
	}' "$tmp/used" "bindings/$binding/left-out" "$tmp/api"
}

the_binding_of_cpp_is_complete()
{
	judge cpp bindings/cpp/include/pier/*.hpp \
		bindings/cpp/include/pier/cpp/*.hpp
}

the_package_for_python_is_complete()
{
	judge python bindings/python/pier/*.py bindings/python/build_pier.py
}

there_are_calls()
{
	[ "$(wc -l <"$tmp/api")" -gt 300 ] || echo "few calls are found"
}

none there_are_calls
none the_binding_of_cpp_is_complete
none the_package_for_python_is_complete
tap_done
