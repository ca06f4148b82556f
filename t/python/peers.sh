#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Pairs of samples without RDMA tasks, one end in Python and the other in C:
# Comm Channels, requests and replies, DMA, copies of files; and a graph, beside
# that in C.
. "${0%/*}/../lib/alone.sh"
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"
. "$top/t/lib/device.sh"

c=$build/samples
[ -x "$c/dma_copy" ] || skip_all "the samples are not built"
preload=${LD_PRELOAD:-}
unset LD_PRELOAD
text="Grüße, $$"

# end LANGUAGE SAMPLE OPTION... - run it, in py or c
end()
{
	language=$1 sample=$2
	shift 2
	case $language in
	py)	LD_PRELOAD=$preload timeout 60 "$python" \
			"$top/bindings/python/examples/$sample.py" "$@" ;;
	c)	timeout 60 "$c/$sample" "$@" ;;
	esac
}

# talk SERVER CLIENT - the languages
talk()
{
	end "$1" comch_ctrl_path_server -p soft_lo -t back >"$tmp/a" 2>&1 &
	device=soft_lo wait_for 20 has_name
	end "$2" comch_ctrl_path_client -p soft_lo -t there >"$tmp/b" 2>&1
	status=$?
	wait $! && [ $status -eq 0 ] &&
		grep -qx 'received "there"' "$tmp/a" &&
		grep -qx 'sent "back"' "$tmp/a" &&
		grep -qx 'sent "there", received "back"' "$tmp/b" ||
		{ cat "$tmp/a" "$tmp/b"; return 1; }
}

messages_pass_either_way_round()
{
	talk c py && talk py c && talk py py
}

# produce SERVER CLIENT - the languages
produce()
{
	end "$1" comch_data_path_server -p soft_lo -t back >"$tmp/a" 2>&1 &
	device=soft_lo wait_for 20 has_name
	end "$2" comch_data_path_client -p soft_lo -t "$text" >"$tmp/b" 2>&1
	status=$?
	printf 'sent "back"\nreceived "%s"\n' "$text" >"$tmp/a.want"
	printf 'received "back"\nsent "%s"\n' "$text" >"$tmp/b.want"
	wait $! && [ $status -eq 0 ] &&
		cmp "$tmp/a" "$tmp/a.want" && cmp "$tmp/b" "$tmp/b.want" ||
		{ cat "$tmp/a" "$tmp/b"; return 1; }
}

a_producer_sends_to_a_consumer_either_way_round()
{
	produce c py && produce py c && produce py py
}

# serve LANGUAGE - request_reply_server, which SIGINT ends
serve()
{
	case $1 in
	py)	LD_PRELOAD=$preload "$python" \
		    "$top/bindings/python/examples/request_reply_server.py" \
		    -d soft_lo >"$tmp/server" 2>&1 & ;;
	c)	"$c/services/request_reply_server" -d soft_lo \
		    >"$tmp/server" 2>&1 & ;;
	esac
	server=$!
	device=soft_lo wait_for 20 has_name
}

# request LANGUAGE NAME OPTION... - the client; its output is in $tmp/NAME
request()
{
	language=$1 name=$2 sample=request_reply_client
	shift 2
	[ "$language" = py ] || sample=services/$sample
	end "$language" "$sample" -d soft_lo "$@" >"$tmp/$name" \
		2>"$tmp/$name.err"
}

# listed LANGUAGE LINE... - those who have met so far
listed()
{
	language=$1
	shift
	request "$language" list --meetings && printf '%s\n' "$@" |
		cmp - "$tmp/list"
}

# pair SERVER FIRST SECOND - the languages; a list of ten long lines is more
# than a message, and seventeen of them are more than a client has memory for
pair()
{
	short="Hi DOCA RDMA!" long=$(head -c 4000 /dev/zero | tr '\0' x)
	serve "$1"
	request "$2" list --meetings && [ ! -s "$tmp/list" ] || return
	request "$2" first -t "$text" &
	request "$3" second -t "$text" && wait $! &&
		[ "$(cat "$tmp/first" "$tmp/second")" = "met $text
met $text" ] && grep -qx "waiting for the server; Ctrl-C ends it" \
		"$tmp/first.err" && listed "$2" "$text met $text" || return
	request "$2" first -t "$long" -c 10 && request "$3" second -c 2 &&
		[ "$(grep -cx "met $long" "$tmp/first")" -eq 10 ] &&
		[ "$(grep -cxF "met $short" "$tmp/second")" -eq 2 ] ||
		return
	listed "$3" "$text met $text" "$long met $long" "$long met $long" \
		"$long met $long" "$long met $long" "$long met $long" \
		"$short met $short" &&
		request "$3" first -t "$long" -c 16 &&
		request "$2" list --meetings &&
		[ "$(head -n 1 "$tmp/list")" = "$short met $short" ] &&
		[ "$(grep -cx "$long met $long" "$tmp/list")" -eq 8 ] &&
		kill -INT $server && wait $server && [ ! -s "$tmp/server" ]
}

requests_and_replies_pass_either_way_round()
{
	for ends in "c py c" "py c py" "py py c" "c c py"; do
		# shellcheck disable=SC2086 # words
		pair $ends && continue
		echo "$ends:"
		cut -c 1-200 "$tmp"/first* "$tmp"/second* "$tmp"/list* \
			"$tmp/server"
		return 1
	done
}

# With a server in C, which prints what has ended.
a_request_of_python_has_a_deadline()
{
	serve c
	! request py late -t late --timeout 0.5 &&
		grep -q "ETIMEDOUT: .*not finished after 500 ms" \
		    "$tmp/late.err" &&
		wait_for 20 grep -q "^a request ended" "$tmp/server" &&
		kill -INT $server && wait $server ||
		{ cat "$tmp/late.err" "$tmp/server"; return 1; }
}

a_client_without_a_server_is_an_error_message()
{
	! request py alone && cat "$tmp/alone.err" &&
		grep -q '^request_reply_client.py: .*no server "request_' \
			"$tmp/alone.err"
}

# offer HOST DPU - the languages
offer()
{
	rm -f "$tmp/desc" "$tmp/info"
	end "$1" dma_copy_host -p soft_lo -t "$text" -d "$tmp/desc" \
		-b "$tmp/info" </dev/null >"$tmp/a" 2>&1 &
	wait_for 20 test -e "$tmp/desc"
	end "$2" dma_copy_dpu -p soft_lo -d "$tmp/desc" -b "$tmp/info" \
		>"$tmp/b" 2>&1
	status=$?
	wait $! && [ $status -eq 0 ] &&
		grep -qxF "copied \"$text\"" "$tmp/b" ||
		{ cat "$tmp/a" "$tmp/b"; return 1; }
}

exported_memory_is_copied_either_way_round()
{
	offer c py && offer py c
}

# copy SERVER CLIENT - the languages; each end has the file once
copy()
{
	for source in a b; do
		rm -f "$tmp/da/file" "$tmp/db/file"
		cp "$c/dma_copy" "$tmp/d$source/file"
		(cd "$tmp/da" && end "$1" dma_copy -p soft_lo -r pf0 \
			-f file) >"$tmp/a.out" 2>&1 &
		device=soft_lo wait_for 20 has_name
		(cd "$tmp/db" && end "$2" dma_copy -p soft_lo \
			-f file) >"$tmp/b.out" 2>&1
		status=$?
		wait $! && [ $status -eq 0 ] &&
			cmp "$tmp/da/file" "$tmp/db/file" &&
			grep -q '^copied [1-9][0-9]* bytes' "$tmp/b.out" ||
			{ cat "$tmp/a.out" "$tmp/b.out"; return 1; }
	done
}

files_are_copied_either_way_round()
{
	mkdir "$tmp/da" "$tmp/db"
	copy c py && copy py c
}

a_graph_prints_what_that_in_c_prints()
{
	end c graph -d soft_lo -t "$text" >"$tmp/a" &&
		end py graph -d soft_lo -t "$text" >"$tmp/b" &&
		cmp "$tmp/a" "$tmp/b"
}

an_event_of_two_threads_prints_what_that_in_c_prints()
{
	for mode in "" --async "--async --qdepth 2"; do
		for more in "" --atomic "-d soft_lo"; do
			# shellcheck disable=SC2086 # words
			end c sync_event_local -n 7 $mode $more >"$tmp/a" &&
				end py sync_event_local -n 7 $mode $more \
				    >"$tmp/b" && cmp "$tmp/a" "$tmp/b" || return
		done
	done
}

run messages_pass_either_way_round
run a_producer_sends_to_a_consumer_either_way_round
run an_event_of_two_threads_prints_what_that_in_c_prints
run requests_and_replies_pass_either_way_round
run a_request_of_python_has_a_deadline
run a_client_without_a_server_is_an_error_message
run exported_memory_is_copied_either_way_round
run files_are_copied_either_way_round
run a_graph_prints_what_that_in_c_prints
tap_done
