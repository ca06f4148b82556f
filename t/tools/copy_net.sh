#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier copy` between two network namespaces of the test's own, as between two
# hosts, where packets are lost and where the device goes away.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/netns.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/sshd.sh"

[ "${1:-}" = inside ] || command -v nft >/dev/null ||
    skip_all "there is no nft(8)"
two_hosts "$@"

# lose PERCENT - of all packets that arrive, at both
lose()
{
	for at in "" in_far; do
		$at nft -f - <<END || return
table inet lossy {
	chain in {
		type filter hook input priority 0;
		numgen random mod 100 < $1 counter drop
	}
}
END
	done
}

lose_no_more()
{
	nft delete table inet lossy
	in_far nft delete table inet lossy
}

# serve - the root, with the old target; $server
serve()
{
	rm -rf "$tmp/root" "$tmp/here" "$tmp/server"
	mkdir "$tmp/root" "$tmp/here" && cd "$tmp/here" || return
	echo old >"$tmp/root/file"
	nsenter -t $far -n "$pier" copy -d soft_far0 --listen --timeout "$1" \
	    --root "$tmp/root" 2>"$tmp/server" &
	server=$!
	wait_for 20 grep -q listens "$tmp/server" || cat "$tmp/server"
}

# copy WORD...
copy()
{
	timeout 50 "$pier" copy -d soft_near0 "$@" >"$tmp/out" 2>"$tmp/err" ||
	    { status=$?; cat "$tmp/err" "$tmp/server"; return $status; }
}

a_copy_survives_the_loss_of_20_of_100_packets()
{
	serve 30
	head -c 3000000 /dev/urandom >file
	lose 20 || skip "packets cannot be lost here"
	copy file 10.77.0.2: && cmp file ../root/file &&
	    copy 10.77.0.2:file back && cmp file back
	status=$?
	nft list ruleset | grep -q 'packets [1-9]' || status=1
	lose_no_more
	return $status
}

# tries - the client has sent a request
tries()
{
	"$pier" counters -d soft_near0 "$client" 2>/dev/null |
		grep -q '^ *tx_packets  *[1-9]'
}

# On another host without a process that uses RDMA: for a quarter of the time.
a_client_waits_for_a_server_that_is_not_there_yet()
{
	echo 1 >"$tmp/source"
	"$pier" copy -d soft_near0 --timeout 40 "$tmp/source" 10.77.0.2:new \
	    2>"$tmp/err" &
	client=$!
	wait_for 8 tries || { "$pier" counters "$client"; return 1; }
	serve 30
	wait $client || { cat "$tmp/err" "$tmp/server"; return 1; }
	cmp "$tmp/source" "$tmp/root/new"
}

# by_ssh PROGRAM DEVICE - a file, both ways, of a host that ssh alone knows
by_ssh()
{
	rm -rf "$tmp/here" "$tmp/root"
	mkdir "$tmp/here" "$tmp/root" && cd "$tmp/here" || return
	head -c 3000000 /dev/urandom >file
	for words in "file pier-test-host:$tmp/root/there" \
	    "pier-test-host:$tmp/root/there back"; do
		timeout 50 "$pier" copy -d "$2" --ssh --ssh-command "$ssh" \
		    --program "$1" $words 2>"$tmp/err" ||
		    { cat "$tmp/err"; return 1; }
	done
	cmp file ../root/there && cmp file back
}

# By the device that has the address to which ssh has connected, though it is
# not the default one; then by a network of its own, whose address ssh does not
# have.
the_far_side_reports_its_address_by_ssh()
{
	[ "$sshd_file" ] || skip "there is no sshd"
	connect_both 1 || return
	sshd_start 10.77.1.2 nsenter -t "$far" -n ||
		skip "ssh: $(cat "$keys/log")"
	by_ssh "$pier" soft_near1 &&
	    by_ssh "env PIER_DEVICE=soft_far0 $pier" soft_near0
	status=$?
	ip link del near1
	return $status
}

# has BYTES FOLDER - a file there has so many, or the client has ended
has()
{
	size=$(find "$2" -type f -name '.pier-*' -printf '%s\n' | tail -n 1)
	[ "${size:-0}" -ge "$1" ] || ! kill -0 "$client" 2>/dev/null
}

# is_cut FOLDER SOURCE TARGET - a copy into the folder whose cable is taken
# away, both ends of it; false if it was complete before.  Its status is in
# $status
is_cut()
{
	timeout 50 "$pier" copy -d soft_near0 --timeout 3 "$2" "$3" \
	    >"$tmp/out" 2>"$tmp/err" &
	client=$!
	until has 1000000 "$1"; do
		:
	done
	ip link del near0
	wait $client
	status=$?
	wait_for 20 grep -q "pier copy: a client: " "$tmp/server"
	cat "$tmp/err" "$tmp/server"
	[ "$(stat -c %s "$1/file")" -eq 4 ]
}

# cut FROM TO SOURCE TARGET - until it was in the middle of a copy of FROM/file
# to TO/file: both ends report it, and nothing else of the target changes
cut()
{
	truncate -s 3G "$tmp/large"
	printf x | dd of="$tmp/large" bs=1 seek=2999999999 conv=notrunc \
	    2>/dev/null
	head -c 400000000 /dev/zero | tr '\0' x | dd of="$tmp/large" \
	    conv=notrunc bs=1M 2>/dev/null
	while :; do
		serve 3
		rm -f "$1/file"
		ln "$tmp/large" "$1/file" && echo old >"$2/file" || return
		! is_cut "$2" "$3" "$4" || break
		kill $server
		wait $server
		connect_both || return
	done
	rm "$tmp/large"
	[ $status -eq 1 ] && says "$tmp/err" "pier copy: " &&
	    ! grep "copy: copy:" "$tmp/err" &&
	    says "$tmp/server" "pier copy: a client: " &&
	    [ "$(cat "$2/file")" = old ] && wait_for 20 is_removed "$2"
}

# is_removed FOLDER - no part of a file is left
is_removed()
{
	[ "$(ls -A "$1")" = file ]
}

a_device_that_goes_away_ends_the_copy()
{
	cut "$tmp/here" "$tmp/root" file 10.77.0.2:
}

a_device_that_goes_away_ends_the_copy_from_the_server()
{
	connect_both || return
	cut "$tmp/root" "$tmp/here" 10.77.0.2:file .
}

an_idle_server_ends_with_its_device()
{
	connect_both || return
	serve 30
	ip link del near0
	wait_for 20 grep -q "soft_far0 was removed" "$tmp/server" || return
	wait $server
	[ $? -eq 1 ]
}

run a_copy_survives_the_loss_of_20_of_100_packets
run a_client_waits_for_a_server_that_is_not_there_yet
run the_far_side_reports_its_address_by_ssh
run a_device_that_goes_away_ends_the_copy
run a_device_that_goes_away_ends_the_copy_from_the_server
run an_idle_server_ends_with_its_device
tap_done
