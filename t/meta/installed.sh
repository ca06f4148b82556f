#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What is installed is complete: the modules of pkg-config need nothing that a
# program does not use, and documents lead to files that are there.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"

lib=$(find "$root" -name pkgconfig -path '*/lib*/pkgconfig' \
    ! -path '*/pier-doca-2.0/*')
lib=${lib%/pkgconfig}
doc=$(find "$root" -type d -path '*/doc/pier')

# module ARGUMENT... - pkg-config where the system has no other module
module()
{
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH='' \
	    PKG_CONFIG_LIBDIR=$lib/pkgconfig pkg-config "$@"
}

need_pkg_config()
{
	command -v pkg-config >/dev/null || skip "there is no pkg-config"
}

modules_need_no_others_but_pier()
{
	need_pkg_config
	for pc in "$lib"/pkgconfig/*.pc; do
		name=$(basename "$pc" .pc)
		[ "$name" = pier-uv ] ||
		    module --cflags --libs "$name" >/dev/null || echo "$name"
	done
}

the_flags_are_those_of_pier_alone()
{
	need_pkg_config
	for flag in $(module --cflags --libs pier); do
		case $flag in
		-I"$root"/*/include|-L"$root"/*|-lpier) ;;
		*) echo "$flag" ;;
		esac
	done
}

# All that libpier is linked with.
static_programs_get_every_library()
{
	need_pkg_config
	flags=" $(module --static --libs pier) "
	for library in cares crypto ibverbs isal jansson mnl rdmacm uring \
	    xxhash; do
		case $flags in
		*" -l$library "*) ;;
		*) echo "no -l$library: $flags" ;;
		esac
	done
}

a_program_builds_with_the_line_of_the_manual()
{
	need_pkg_config
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	"${CC:-cc}" -Wall -Wextra -Werror \
	    "$doc/samples/rdma_read_requester.c" -o "$tmp/program" $sanitize \
	    $(module --cflags --libs pier) &&
	    LD_LIBRARY_PATH=$lib "$tmp/program" --help >"$tmp/help" &&
	    grep -q -- --device "$tmp/help"
}

a_program_in_cpp_builds_with_what_is_installed()
{
	need_pkg_config
	command -v g++ >/dev/null || skip "there is no g++"
	sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
	g++ -std=c++17 -Wall -Wextra -Werror \
	    "$doc/samples/cpp/rdma_read_requester.cpp" -o "$tmp/program" \
	    $sanitize $(module --cflags --libs pier-cpp) &&
	    LD_LIBRARY_PATH=$lib "$tmp/program" --help >"$tmp/help" &&
	    grep -q -- --device "$tmp/help"
}

# The package itself is installed by pip.
an_example_in_python_runs_where_it_is_installed()
{
	site=$build/bindings/python/built
	[ -d "$site/pier" ] || skip "the package for Python is not built"
	[ -z "$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")" ] ||
		skip "python3 loads no sanitizer"
	PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 "$(sed -n \
	    's/^PYTHON3 = //p' "$build/Makefile")" \
	    "$doc/samples/python/graph.py" -d soft_lo -t "a text" >"$tmp/out"
	grep -q " a text$" "$tmp/out"
}

# Relative paths, without what begins at #.
links_of_documents_lead_to_files()
{
	find "$doc" -name '*.md' >"$tmp/documents"
	[ "$(wc -l <"$tmp/documents")" -gt 10 ] || echo "few documents"
	while read -r file; do
		grep -oE '\]\([^)]*\)' "$file" |
		    sed 's/^](//; s/)$//; s/#.*//' |
		    grep -v -e '^https\{0,1\}:' -e '^$' |
		    while read -r link; do
			[ -e "${file%/*}/$link" ] || echo "${file##*/}: $link"
		done
	done <"$tmp/documents"
}

# The index names each page and each call, and no link leads nowhere.
the_manual_is_there_as_html()
{
	[ -n "$(sed -n 's/^MANDOC = //p' "$build/Makefile")" ] ||
	    skip "there was no mandoc when pier was configured"
	grep -oE 'href="[^"#]+' "$doc/html/index.html" | sed 's/href="//' |
	    sort -u >"$tmp/index"
	for page in "$doc"/docs/man/*.[1-7]; do
		grep -qx "${page##*/}.html" "$tmp/index" || echo "${page##*/}"
	done
	[ "$(grep -c '>pier_[a-z_0-9]*</a>$' "$doc/html/index.html")" -gt \
	    300 ] || echo "few calls are in the index"
	cat "$doc"/html/*.html | grep -oE 'href="[^"#]+' | sort -u |
	    sed 's/href="//' | while read -r link; do
		[ -f "$doc/html/$link" ] || echo "$link"
	done
}

# `make install prefix=DIR` installs no library that was linked for another one.
libraries_are_linked_again_for_another_prefix()
{
	MAKEFLAGS='' make -C "$build" -n prefix=/elsewhere all >"$tmp/steps" \
	    2>/dev/null || { echo "make -n has failed"; return; }
	find "$root" -name '*.la' | sed 's,.*/,,' | sort >"$tmp/libraries"
	[ "$(wc -l <"$tmp/libraries")" -gt 3 ] || cat "$tmp/libraries"
	while read -r library; do
		grep -q -- "-o [^ ]*/$library .*-rpath /elsewhere/" \
		    "$tmp/steps" || echo "$library is not linked again"
	done <"$tmp/libraries"
}

none modules_need_no_others_but_pier
none the_flags_are_those_of_pier_alone
none static_programs_get_every_library
run a_program_builds_with_the_line_of_the_manual
run a_program_in_cpp_builds_with_what_is_installed
run an_example_in_python_runs_where_it_is_installed
none links_of_documents_lead_to_files
none the_manual_is_there_as_html
none libraries_are_linked_again_for_another_prefix
tap_done
