#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Pairs of samples without RDMA tasks, one end in Python and the other in C:
# Comm Channels, DMA, copies of files; and a graph, beside that in C.
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
run exported_memory_is_copied_either_way_round
run files_are_copied_either_way_round
run a_graph_prints_what_that_in_c_prints
tap_done
