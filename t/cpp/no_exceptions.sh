#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs of the C++ binding that have neither exceptions nor RTTI: they run,
# and a failure that nothing looks at is printed and ends them.
. "${0%/*}/../lib/tap.sh"

cxx=${CXX:-g++}
lib=$build/lib/.libs
command -v "$cxx" >/dev/null || skip_all "there is no $cxx"
[ -f "$lib/libpier.so" ] || skip_all "the library is not built"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
without="-fno-exceptions -fno-rtti"

# program STANDARD SOURCE FLAG... - make $tmp/program
program()
{
	std=$1 source=$2
	shift 2
	# shellcheck disable=SC2086 # words
	"$cxx" -std="$std" -Wall -Wextra -Werror "$@" $sanitize \
	    -I"$top/bindings/cpp/include" -I"$top/lib/include" \
	    -o "$tmp/program" "$source" -L"$lib" -lpier
}

in_time()
{
	LD_LIBRARY_PATH=$lib timeout 60 "$@"
}

the_example_without_exceptions_works_without_them()
{
	requester=$build/samples/rdma_read_requester
	[ -x "$requester" ] || skip "the samples are not built"
	# shellcheck disable=SC2086 # words
	program c++17 "$top/bindings/cpp/examples/rdma_read_responder.cpp" \
	    $without || return
	in_time "$tmp/program" -d soft_lo -ld "$tmp/a" -re "$tmp/b" \
	    -m "$tmp/m" --timeout 20 -r "$$" >"$tmp/a.out" 2>&1 </dev/null &
	in_time "$requester" -d soft_lo -ld "$tmp/b" -re "$tmp/a" \
	    -m "$tmp/m" --timeout 20 >"$tmp/b.out" 2>&1
	status=$?
	wait $! && [ $status -eq 0 ] &&
	    grep -qxF "read \"$$\"" "$tmp/b.out" || {
		cat "$tmp/a.out" "$tmp/b.out"
		return 1
	}
}

a_coroutine_works_without_exceptions()
{
	"$cxx" -std=c++20 -dM -E -x c++ /dev/null 2>/dev/null |
	    grep -q __cpp_impl_coroutine || skip "$cxx has no coroutines"
	cat >"$tmp/copy.cpp" <<-'END'
	#include <cstdio>
	#include <pier/pier.hpp>

	static char memory[2][8] = { "copied" };

	static pier::coro<int> copy(pier::dma_ref dma, pier::buf_ref src,
				    pier::buf_ref dst)
	{
		auto done = co_await dma.copy(src, dst);

		co_return done.code();
	}

	int main()
	{
		auto dev = pier::device::open("soft_lo").value();
		auto pe = pier::engine::create().value();
		auto dma = pier::dma::create(dev).value();
		auto mmap = pier::mmap::map(dev, memory, sizeof(memory),
					    PIER_LOCAL_WRITE).value();
		auto inv = pier::inventory::create(2).value();
		auto src = inv.by_data(mmap, memory[0], 8).value();
		auto dst = inv.by_addr(mmap, memory[1], 8).value();

		dma.start(pe).or_throw();
		int err = pier::run(pe, copy(dma, src, dst), 20000).value();

		std::puts(memory[1]);
		return err ? 1 : 0;
	}
	END
	# shellcheck disable=SC2086 # words
	program c++20 "$tmp/copy.cpp" $without || return
	[ "$(in_time "$tmp/program" 2>&1)" = copied ] || echo "not copied"
}

# aborts CALL TEXT FLAG... - a program that makes the call prints the text
aborts()
{
	call=$1 text=$2
	shift 2
	cat >"$tmp/aborts.cpp" <<-END
	#include <pier/pier.hpp>

	int main()
	{
		$call;
		return 0;
	}
	END
	program c++17 "$tmp/aborts.cpp" "$@" || return
	(ulimit -c 0 && in_time "$tmp/program") >"$tmp/out" 2>&1
	status=$?
	[ $status -eq 134 ] || echo "$call: exit $status"
	grep -q "^pier: $text" "$tmp/out" || cat "$tmp/out"
}

a_failure_is_printed_and_aborts()
{
	value='static_cast<void>(pier::device::open("no_such0").value())'
	# shellcheck disable=SC2086 # words
	{
		aborts "$value" 'ENODEV: .*no_such0' $without
		aborts 'pier::task().submit().or_throw()' 'EINVAL: .*NULL' \
		    $without
	}
	aborts "$value" 'ENODEV: .*no_such0' -DPIER_CPP_EXCEPTIONS=0
}

none the_example_without_exceptions_works_without_them
none a_coroutine_works_without_exceptions
none a_failure_is_printed_and_aborts
tap_done
