#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The line of docs/ci.md that runs a project's tests, as it is there, on what
# `make install` has installed: as a user without privileges, in a network that
# is loopback and no more.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"
need ibverbs-utils ibv_devices ibv_rc_pingpong

installed=$build/installed
[ -f "$installed/stamp" ] || skip_all "nothing is installed: run make tests"
prefix=$(sed -n 's/^prefix = *//p' "$build/Makefile")
[ -d "$installed$prefix/lib" ] || skip_all "$prefix/lib is not the libraries'"
unshare -rmn true 2>/dev/null || skip_all "no namespace can be made"

# A project, whose tests need RDMA.
cat >"$tmp/Makefile" <<'END'
check:
	ibv_devices | grep soft_lo
	ibv_rc_pingpong -d soft_lo -g 0 -n 100 -c -p 18515 & server=$$!; \
	until grep -q ':4853 [0-9A-F]*:0000 0A' /proc/net/tcp*; do \
	    kill -0 $$server || exit; sleep 0.05; done; \
	ibv_rc_pingpong -d soft_lo -g 0 -n 100 -c -p 18515 127.0.0.1 && \
	    wait $$server
	id -u >user
	grep CapEff /proc/self/status >rights
END

# Its line: the last of the two.
line=$(sed -n 's/^ *- run: //p' "$top/docs/ci.md" | tail -n 1)

# in_container COMMAND - with the installation in its place
in_container()
{
	unshare -mn sh -c '
		mount --bind "$1" "$2" && ip link set lo up || exit
		cd "$3" && exec setpriv --reuid=65534 --regid=65534 \
		    --clear-groups --no-new-privs --bounding-set=-all \
		    --inh-caps=-all env PATH="$2/bin:$PATH" \
		    LD_LIBRARY_PATH="$2/lib" sh -c "$4"' sh \
	    "$installed$prefix" "$prefix" "$tmp" "$1" >"$tmp/out" 2>&1
}

the_guide_has_two_lines()
{
	sed -n 's/^ *- run: //p' "$top/docs/ci.md" >"$tmp/lines"
	[ "$(wc -l <"$tmp/lines")" -eq 2 ] &&
	    says "$tmp/lines" quickstart "make -C /opt/pier/build install" \
		"pier run -- "
}

the_tests_of_a_project_have_devices()
{
	[ "$(id -u)" -eq 0 ] || skip "only root becomes another user"
	chmod 777 "$tmp"
	in_container "$line" || {
		cat "$tmp/out"
		return 1
	}
	says "$tmp/out" soft_lo "100 iters in" && says "$tmp/user" 65534 &&
	    says "$tmp/rights" 0000000000000000
}

# It is pier run that makes the difference.
without_it_they_have_none()
{
	[ "$(id -u)" -eq 0 ] || skip "only root becomes another user"
	! in_container "${line#pier run -- }"
}

run the_guide_has_two_lines
run the_tests_of_a_project_have_devices
run without_it_they_have_none
tap_done
