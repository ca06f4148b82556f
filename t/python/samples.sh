#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Pairs of samples of which one end is in Python and the other one in C.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"
take_ports

c=$build/samples
[ -x "$c/rdma_send" ] || skip_all "the samples are not built"
preload=${LD_PRELOAD:-}
unset LD_PRELOAD

# end LANGUAGE WHICH SAMPLE OPTION... - run it as end a or b, in py or c
end()
{
	language=$1 end=$2 sample=$3
	shift 3
	where="-ld $tmp/$end -re $tmp/$(echo "$end" | tr ab ba) -m $tmp/m"
	[ -z "$port" ] || where="-cm -lp $port"
	case $language in
	py)	set -- "$python" "$top/bindings/python/examples/$sample.py" "$@"
		LD_PRELOAD=$preload timeout 60 "$@" -d soft_lo $where \
			--timeout 20 ;;
	c)	timeout 60 "$c/$sample" -d soft_lo $where --timeout 20 "$@" ;;
	esac >"$tmp/$end.out" 2>&1
}

# meet PASSIVE ACTIVE LINE LINE OPTION... - Python and C, either way round; the
# options are those of the active end
meet()
{
	passive=$1 active=$2 passive_line=$3 active_line=$4
	shift 4
	case $language in
	py)	other=c ;;
	*)	other=py ;;
	esac
	side=$language
	end "$side" a "$passive" &
	end $other b "$active" "$@"
	status=$?
	wait $!
	[ $? -eq 0 ] && [ $status -eq 0 ] &&
		grep -qF "$passive_line" "$tmp/a.out" &&
		grep -qF "$active_line" "$tmp/b.out" && return
	echo "$passive in $side, $active in $other:"
	cat "$tmp/a.out" "$tmp/b.out"
	return 1
}

text="Hi DOCA RDMA!"

all()
{
	for way in c py; do
		for what in reads writes sends atomics events; do
			language=$way
			$what "$@" || return 1
		done
	done
}

reads()
{
	meet rdma_read_responder rdma_read_requester \
		"done: the peer has disconnected" "read \"$text\"" "$@"
}

writes()
{
	meet rdma_write_responder rdma_write_requester \
		"the peer has written \"$text\"" "wrote \"$text\"" "$@"
}

sends()
{
	meet rdma_receive rdma_send "received \"$text\"" "sent \"$text\"" "$@"
}

atomics()
{
	meet rdma_atomic_responder rdma_atomic_requester \
		"the number was 5, is 100" "compare and swap: old 6, new 100" \
		"$@"
}

events()
{
	meet rdma_sync_event_responder rdma_sync_event_requester \
		"seen 5, set 6, seen 7" "set 5, read 6, set 7" -n 5 "$@"
}

pairs_meet_by_files()
{
	port=
	all
}

pairs_meet_by_address()
{
	port=$first_port
	all -sa 127.0.0.1
}

immediates_pass_from_python_to_c()
{
	port= language=c
	end c a rdma_receive_immediate &
	end py b rdma_send -i 305419896 || cat "$tmp/b.out"
	wait $!
	grep -F "received \"$text\" with immediate 305419896" "$tmp/a.out" ||
		{ cat "$tmp/a.out"; return 1; }
	end c a rdma_write_immediate_responder &
	end py b rdma_write_requester -i 77 || cat "$tmp/b.out"
	wait $!
	grep -F "written \"$text\" with immediate 77" "$tmp/a.out" ||
		{ cat "$tmp/a.out"; return 1; }
}

immediates_pass_from_c_to_python()
{
	port= language=c
	end py a rdma_receive &
	end c b rdma_send_immediate -i 305419896 || cat "$tmp/b.out"
	wait $!
	grep -F "received \"$text\" with immediate 305419896" "$tmp/a.out" ||
		{ cat "$tmp/a.out"; return 1; }
}

a_peer_that_never_comes_is_an_error_message()
{
	port=
	! timeout 60 env LD_PRELOAD="$preload" "$python" \
		"$top/bindings/python/examples/rdma_send.py" -d soft_lo \
		-ld "$tmp/x" -re "$tmp/y" --timeout 0.2 2>"$tmp/out" &&
		grep -qF "ETIMEDOUT: no descriptor in $tmp/y" "$tmp/out" ||
		{ cat "$tmp/out"; return 1; }
}

# Several connections on one context.
many_connections_meet()
{
	port=
	for language in c py; do
		end $language a rdma_multi_conn_receive -nc 3 &
		case $language in
		py) end c b rdma_multi_conn_send -nc 3 ;;
		*) end py b rdma_multi_conn_send -nc 3 ;;
		esac
		wait $!
		[ "$(grep -cF "received \"$text\"" "$tmp/a.out")" -eq 3 ] &&
			grep -qF "sent \"$text\" on 3" "$tmp/b.out" || {
			echo "$language receives:"
			cat "$tmp/a.out" "$tmp/b.out"
			return 1
		}
	done
}

# event LANGUAGE SIDE OPTION... - of a sync event
event()
{
	language=$1 side=$2
	shift 2
	case $language in
	py) set -- env LD_PRELOAD="$preload" "$python" \
		"$top/bindings/python/examples/sync_event_$side.py" "$@" ;;
	c) set -- "$c/sync_event_$side" "$@" ;;
	esac
	timeout 60 "$@" -d soft_lo -f "$tmp/event" >"$tmp/$side.out" 2>&1
}

# The DPU, which is first, removes what is there before.
a_sync_event_is_shared()
{
	for sides in "py c" "c py"; do
		for how in "" --atomic; do
			echo >"$tmp/event"
			event "${sides% *}" dpu -n 7 $how &
			until [ ! -f "$tmp/event" ] || ! kill -0 $!; do
				sleep 0.05
			done
			event "${sides#* }" host -n 7 $how
			wait $!
			grep -qx "seen 7, signalled 8" "$tmp/dpu.out" &&
			    grep -qx "signalled 7, seen 8" "$tmp/host.out" &&
				continue
			echo "$sides $how:"
			cat "$tmp/dpu.out" "$tmp/host.out"
			return 1
		done
	done
}

run pairs_meet_by_files
run pairs_meet_by_address
run many_connections_meet
run a_sync_event_is_shared
run immediates_pass_from_python_to_c
run immediates_pass_from_c_to_python
run a_peer_that_never_comes_is_an_error_message
tap_done
