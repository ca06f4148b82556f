#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The headers and sources compile with the headers of musl: they use nothing
# that is glibc's alone.
. "${0%/*}/../lib/tap.sh"

command -v musl-gcc >/dev/null || skip_all "there is no musl-gcc"
cd "$top" || exit

# The headers of the kernel and of the libraries that pier uses, without those
# of glibc beside them.
multiarch=$(gcc -print-multiarch)
within=
for dir in "/usr/include/$multiarch" /usr/include; do
	include=$tmp/include${within:+-2}
	mkdir "$include"
	within="$within -idirafter $include"
	for name in ares asm infiniband isa-l jansson libmnl liburing linux \
	    msgpack openssl rdma uv xxh; do
		for path in "$dir/$name"*; do
			[ ! -e "$path" ] || ln -sf "$path" "$include/"
		done
	done
done

# check FLAG...: musl-gcc has nothing to say about the files on stdin.
check()
{
	cat >"$tmp/checked"
	xargs musl-gcc -fsyntax-only -Wall -Wextra -Wshadow $within "$@" \
	    <"$tmp/checked" 2>&1 || echo "they do not compile"
}

public_headers_compile_alone()
{
	for header in lib/include/pier/*.h; do
		file=$tmp/$(basename "$header" .h).c
		echo "#include <pier/${header##*/}>" >"$file"
		echo "$file"
	done | check -std=c11 -pedantic-errors -Ilib/include
	[ "$(wc -l <"$tmp/checked")" -gt 30 ] || echo "few headers"
}

# sources LEAST FOLDERS FLAG...: at least so many.
sources()
{
	least=$1 folders=$2
	shift 2
	find $folders -name '*.c' | sort |
	    check -std=gnu11 -D_GNU_SOURCE -Ilib/include -Ilib -I. "$@"
	[ "$(wc -l <"$tmp/checked")" -ge "$least" ] || echo "few sources"
}

sources_compile()
{
	sources 200 "lib cm dropin tools" -DDROPIN_DIR='""'
}

sources_of_samples_compile()
{
	sources 30 samples -Ibindings/doca-2.0/include \
	    -Ibindings/doca/include
}

sources_of_bindings_compile()
{
	sources 50 bindings/doca -Ibindings/doca/include -Ibindings/doca
	sources 15 bindings/doca-2.0 -Ibindings/doca-2.0/include \
	    -Ibindings/doca/include -Ibindings/doca
}

none public_headers_compile_alone
none sources_compile
none sources_of_samples_compile
none sources_of_bindings_compile
tap_done
