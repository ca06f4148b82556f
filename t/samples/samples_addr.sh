#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every sample by address: IPv4, IPv6 and GID, each as server and as client.
. "${0%/*}/../lib/tap.sh"
take_ports

bin=$build/samples
[ -x "$bin/rdma_send" ] || skip_all "the samples are not built"

# Server and client, each pair both ways.
pairs="read_responder:read_requester
read_requester:read_responder
write_responder:write_requester
write_requester:write_responder
receive:send
send:receive
send_immediate:receive_immediate
write_immediate_responder:write_immediate_requester
atomic_requester:atomic_responder
sync_event_responder:sync_event_requester
sync_event_requester:sync_event_responder
multi_conn_receive:multi_conn_send
multi_conn_send:multi_conn_receive"

# fresh_port - one that no other run is likely to have
fresh_port()
{
	ports=$((${ports:-0} + 1))
	port=$((first_port + ports))
}

# sample FILE NAME OPTION...
sample()
{
	file=$tmp/$1 name=$2
	shift 2
	timeout 60 "$bin/rdma_$name" -cm -lp "$port" \
	    --timeout "${limit:-20}" "$@" >"$file.out" 2>"$file.err"
}

# One of them has moved the text, or changed the number.
moved()
{
	grep -qE -e '^(read|wrote|sent|received) "Hi DOCA RDMA!"' \
	    -e '^the number|^set 1, read 2' "$tmp/a.out" "$tmp/b.out"
}

# meet SERVER CLIENT OPTION... - the client's; the server has $server_options
meet()
{
	server=$1 client=$2
	shift 2
	fresh_port
	# shellcheck disable=SC2086
	sample a "$server" ${server_options:--d soft_lo} &
	sample b "$client" "$@"
	client_status=$?
	wait $!
	server_status=$?
	[ $client_status -eq 0 ] && [ $server_status -eq 0 ] && moved && return
	echo "$server, the server: exit $server_status, $client $*:" \
	    "exit $client_status"
	cat "$tmp"/[ab].out "$tmp"/[ab].err
	return 1
}

# all_meet OPTION...
all_meet()
{
	for names in $pairs; do
		meet "${names%:*}" "${names#*:}" "$@" || return 1
	done
}

# Has the machine IPv6 on its loopback interface?
wants_ipv6()
{
	"$build/tools/pier" info -d soft_lo | grep -q 'roce_v2 *::1$' ||
		skip "no IPv6 on the loopback interface"
}

all_samples_meet_by_an_ipv4_address()
{
	all_meet -d soft_lo -sa 127.0.0.1 -sat IPv4
}

all_samples_meet_by_an_ipv6_address()
{
	wants_ipv6
	all_meet -d soft_lo -sa ::1 -sat IPv6
}

all_samples_meet_by_the_gid_of_an_ipv4_address()
{
	all_meet -d soft_lo -sa ::ffff:127.0.0.1 -sat GID
}

all_samples_meet_by_the_gid_of_an_ipv6_address()
{
	wants_ipv6
	all_meet -d soft_lo -sa ::1 -sat GID
}

all_samples_meet_on_the_default_device()
{
	server_options=" "
	all_meet -sa 127.0.0.1
}

a_name_is_looked_up_in_the_family_that_was_asked_for()
{
	meet read_responder read_requester -d soft_lo -sa localhost \
	    -sat ipv4 || return 1
	if getent ahostsv6 localhost | grep -q '^::1 '; then
		meet read_responder read_requester -d soft_lo \
		    -sa localhost -sat ipv6
	else
		fails read_requester localhost -sa localhost -sat ipv6
	fi
}

# fails NAME TEXT OPTION... - the sample fails with TEXT, at once
fails()
{
	name=$1 text=$2
	shift 2
	sample b "$name" -d soft_lo "$@"
	[ $? -eq 1 ] && grep -q -- "$text" "$tmp/b.err" && return
	echo "$name $*: not \"$text\""
	cat "$tmp/b.err"
	return 1
}

an_address_of_another_type_is_refused_by_all()
{
	for names in $pairs; do
		client=${names#*:}
		fresh_port
		fails "$client" "type is IPv6" -sa 127.0.0.1 -sat IPv6 &&
			fails "$client" "type is IPv4" -sa ::1 -sat IPv4 &&
			fails "$client" GID -sa localhost -sat GID || return 1
	done
}

a_type_that_there_is_not_is_a_usage_error_of_all()
{
	for names in $pairs; do
		fresh_port
		sample b "${names#*:}" -sa 127.0.0.1 -sat IPv5
		[ $? -eq 2 ] && grep -q "IPv4, IPv6" "$tmp/b.err" || return 1
	done
}

natively run all_samples_meet_by_an_ipv4_address
natively run all_samples_meet_by_an_ipv6_address
natively run all_samples_meet_by_the_gid_of_an_ipv4_address
natively run all_samples_meet_by_the_gid_of_an_ipv6_address
run all_samples_meet_on_the_default_device
natively run a_name_is_looked_up_in_the_family_that_was_asked_for
natively run an_address_of_another_type_is_refused_by_all
natively run a_type_that_there_is_not_is_a_usage_error_of_all
tap_done
