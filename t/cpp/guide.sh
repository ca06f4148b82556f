#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# docs/cpp.md: what it has in C++ is compiled, and what it names exists.
. "${0%/*}/../lib/tap.sh"

guide=$top/docs/cpp.md
cxx=${CXX:-g++}

# part NUMBER - of the programs of the guide
part()
{
	awk -v wanted="$1" '
	/^```/ {
		within = /^```cpp$/
		n += within
		next
	}
	within && n == wanted' "$guide"
}

# Declarations of calls, as calls.
calls()
{
	part "$1" | sed 's/> read(/> taken = conn.read(/
		s/status read(/status once = conn.read(/'
}

# All parts, each with what it takes for granted.
program()
{
	cat <<-END
	#include <array>
	#include <string>
	#include <vector>
	#include <pier/pier.hpp>

	void first(const pier_args &args)
	{
	$(part 1)
	}

	static int log(const std::string &text)
	{
		return text.empty();
	}

	int second()
	{
	$(part 2)
		return 0;
	}

	void third(pier::conn_ref conn, pier::buf_ref src, pier::buf_ref dst)
	{
		auto fn = [](pier::task_ref) { };

	$(calls 3)
	}

	void fourth(pier::engine_ref pe, pier::conn_ref conn,
		    pier::buf_ref src, pier::buf_ref dst)
	{
		int completed = 0;

	$(part 4)
	}

	$(part 5)

	$(part 6)

	server the_server;
	pier::coro<> (*the_echo)(pier::rdma_ref, pier::conn_ref,
				 pier::buf_ref) = echo;
	END
}

the_programs_of_the_guide_are_compiled()
{
	command -v "$cxx" >/dev/null || skip "there is no $cxx"
	"$cxx" -std=c++20 -dM -E -x c++ /dev/null 2>/dev/null |
	    grep -q __cpp_impl_coroutine || skip "$cxx has no coroutines"
	[ "$(grep -c '^```cpp$' "$guide")" -eq 6 ] || echo "another number"
	program >"$tmp/guide.cpp"
	"$cxx" -std=c++20 -Wall -Wextra -Werror -Wno-unused -c \
	    -I"$top/bindings/cpp/include" -I"$top/lib/include" \
	    -o "$tmp/guide.o" "$tmp/guide.cpp"
}

# The first one is a part of an example, which has comments.
the_first_program_is_that_of_the_example()
{
	sed 's/^	*//; s,	*/\*.*\*/$,,' \
	    "$top/bindings/cpp/examples/rdma_read_requester.cpp" >"$tmp/lines"
	part 1 | grep . | grep -vxFf "$tmp/lines"
	return 0
}

# But what is of the standard library, of the page's own, or of a man page.
what_the_guide_names_exists()
{
	cat "$top"/bindings/cpp/include/pier/cpp/*.hpp >"$tmp/headers"
	grep -oE '[a-z_]+\(' "$guide" | sort -u >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -gt 20 ] || echo "few names"
	while read -r name; do
		name=${name%(}
		case $name in
		clear|cpp|echo|emplace_back|log) continue ;;
		esac
		grep -qw -- "$name" "$tmp/headers" || echo "no $name"
	done <"$tmp/names"
}

none the_programs_of_the_guide_are_compiled
none the_first_program_is_that_of_the_example
none what_the_guide_names_exists
tap_done
