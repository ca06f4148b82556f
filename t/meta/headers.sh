#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs get by with the installed headers, in C and in C++.
. "${0%/*}/../lib/tap.sh"

# Nothing else of the tree is in reach.
mkdir "$tmp/include" && cp -R "$top/lib/include/pier" "$tmp/include/" || exit
headers=$(cd "$tmp/include" && find pier -name '*.h' | sort)

# each_header SUFFIX COMMAND...: compile a file with nothing but the header.
each_header()
{
	file=$tmp/alone.$1
	shift
	for header in $headers; do
		echo "#include <$header>" >"$file"
		"$@" -Wall -Wextra -Werror -fsyntax-only -I"$tmp/include" \
		    "$file" || echo "$header does not compile alone"
	done
}

# libuv's own header, which pier/uv.h includes, wants POSIX by name.
each_compiles_alone_in_c()
{
	each_header c "${CC:-gcc}" -std=c11 -pedantic-errors \
	    -Wstrict-prototypes -D_POSIX_C_SOURCE=200809L
}

each_compiles_alone_in_cxx()
{
	command -v g++ >/dev/null || skip "there is no g++"
	each_header cc g++ -std=c++11 -pedantic-errors
}

# compiles_in_cxx HEADER FLAG...
compiles_in_cxx()
{
	echo "#include <$1>" >"$tmp/alone.cc"
	header=$1
	shift
	g++ "$@" -Wall -Wextra -Werror -pedantic-errors -fsyntax-only \
	    -I"$tmp/include" "$tmp/alone.cc" || echo "$header: $*"
}

# The C++ binding, by itself and without what embedded programs go without.
binding_compiles_alone()
{
	command -v g++ >/dev/null || skip "there is no g++"
	chmod -R u+w "$tmp/include" &&
	    cp -R "$top/bindings/cpp/include/pier" "$tmp/include/" || return
	for header in $(cd "$tmp/include" && find pier -name '*.hpp'); do
		compiles_in_cxx $header -std=c++17
	done
	compiles_in_cxx pier/pier.hpp -std=c++20
	compiles_in_cxx pier/pier.hpp -std=c++17 -fno-exceptions -fno-rtti
	compiles_in_cxx pier/pier.hpp -std=c++20 -fno-exceptions -fno-rtti
}

# doca_headers SUFFIX COMMAND...: the same of DOCA's, of both architectures.
doca_headers()
{
	doca_headers_in bindings/doca "$@"
	doca_headers_in bindings/doca-2.0 "$@"
}

# doca_headers_in FOLDER SUFFIX COMMAND...
doca_headers_in()
{
	folder=$1 file=$tmp/doca.$2
	shift 2
	for header in "$top/$folder"/include/*.h; do
		for arch in HOST DPU; do
			printf '#include <%s>\nextern int doca;\n' \
			    "${header##*/}" >"$file"
			"$@" -Wall -Wextra -Werror -fsyntax-only \
			    -DDOCA_ARCH_$arch -I"$top/$folder/include" \
			    -I"$top/bindings/doca/include" \
			    "$file" || echo "$folder: ${header##*/} for $arch"
		done
	done
}

doca_headers_compile_alone_in_c()
{
	doca_headers c "${CC:-gcc}" -std=c11 -pedantic-errors \
	    -Wstrict-prototypes -D_POSIX_C_SOURCE=200809L
}

doca_headers_compile_alone_in_cxx()
{
	command -v g++ >/dev/null || skip "there is no g++"
	doca_headers cc g++ -std=c++11 -pedantic-errors
}

# The macros that have values, as a program uses them.
macros_are_of_use()
{
	cat >"$tmp/macros.$1" <<-'EOF'
	#include <pier/pier.h>

	struct pier_args args = PIER_ARGS_RENDEZVOUS;
	const char *text = PIER_ARGS_TEXT;
	const unsigned int zero = PIER_ZERO;
	EOF
	cat >"$tmp/doca_macros.$1" <<-'EOF'
	#include <doca_compat.h>

	struct versioned {
		DOCA_STRUCT_START;
		int value;
	};
	DOCA_STRUCT_DEF(struct versioned, defined);
	struct versioned assign(void);
	struct versioned assign(void)
	{
		return DOCA_STRUCT_CTOR(struct versioned);
	}
	EOF
	shift
	"$@" -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
	    -I"$tmp/include" "$tmp/macros".* || return
	"$@" -Wall -Wextra -pedantic-errors -Werror -fsyntax-only \
	    -I"$top/bindings/doca/include" "$tmp/doca_macros".* ||
	    return
	rm "$tmp/macros".* "$tmp/doca_macros".*
}

macros_are_of_use_in_c()
{
	macros_are_of_use c "${CC:-gcc}" -std=c11
}

macros_are_of_use_in_cxx()
{
	command -v g++ >/dev/null || skip "there is no g++"
	macros_are_of_use cc g++ -std=c++17
	macros_are_of_use cc g++ -std=c++11
}

# But for those of libpier-uv, which are for programs that link it.
pier_h_has_them_all()
{
	for header in $headers; do
		case $header in
		pier/exchange.h|pier/pier.h|pier/uv.h|pier/verbs.h) continue ;;
		esac
		grep -q "^#include <$header>" "$tmp/include/pier/pier.h" ||
		    echo "$header"
	done
}

# Whatever can be called is a symbol, so that any language can call it.
there_are_no_functions_in_headers()
{
	(cd "$tmp/include" && grep -nE '^(static|inline)|^\{' $headers)
	return 0
}

# Services use signals, threads and epoll, which are not in C11 alone.
samples_need_nothing_else()
{
	need_nothing_else c11 "$top"/samples/*.c
	need_nothing_else gnu11 "$top"/samples/services/*.c
}

# need_nothing_else STANDARD SAMPLE...
need_nothing_else()
{
	std=$1
	shift
	for sample; do
		"${CC:-gcc}" -std="$std" -Wall -Wextra -Werror -fsyntax-only \
		    -I"$tmp/include" \
		    -I"$top/bindings/doca-2.0/include" \
		    -I"$top/bindings/doca/include" "$sample" || echo "$sample"
	done
}

none each_compiles_alone_in_c
none doca_headers_compile_alone_in_c
none doca_headers_compile_alone_in_cxx
none each_compiles_alone_in_cxx
none binding_compiles_alone
none macros_are_of_use_in_c
none macros_are_of_use_in_cxx
none pier_h_has_them_all
none there_are_no_functions_in_headers
none samples_need_nothing_else
tap_done
