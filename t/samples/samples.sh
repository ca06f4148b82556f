#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every sample, by real processes, with peers good and bad.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
take_ports

bin=$build/samples
[ -x "$bin/rdma_send" ] || skip_all "the samples are not built"

# The passive one of a pair, and what moves the text.
pairs="read_responder:read_requester
write_responder:write_requester
receive:send
receive_immediate:send_immediate
write_immediate_responder:write_immediate_requester
atomic_responder:atomic_requester
sync_event_responder:sync_event_requester"

# end WHICH SAMPLE OPTION... - run a sample as end a or b of $dir
end()
{
	end=$1 sample=$2
	shift 2
	case $end in
	a)	other=b ;;
	*)	other=a ;;
	esac
	timeout 60 "$bin/rdma_$sample" -ld "$dir/$end" -re "$dir/$other" \
		-m "$dir/m" --timeout "${limit:-20}" "$@" \
		>"$dir/$end.out" 2>"$dir/$end.err"
}

# A new $dir for a pair.
fresh()
{
	dir=$(mktemp -d "$tmp/pair.XXXXXX")
}

# vanishes FILE - within ten seconds
vanishes()
{
	tries=0
	while [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -le 500 ] || { echo "$1 never went"; return 1; }
		sleep 0.02
	done
}

# says FILE TEXT... - the file has each text
says()
{
	file=$1
	shift
	for part; do
		grep -qF -- "$part" "$file" || {
			echo "not in $file: $part"
			cat "$file"
			return 1
		}
	done
}

# What SAMPLE prints when TEXT has been moved, with a number, or when the number
# $old was added to and $new was stored.
line_of()
{
	with="with immediate ${immediate:-43981}"
	sum=$((${old:-5} + ${add:-1}))
	case $1 in
	read_requester)		echo "read \"$2\"" ;;
	read_responder)		echo "done: the peer has disconnected" ;;
	write_requester)	echo "wrote \"$2\"" ;;
	write_responder)	echo "the peer has written \"$2\"" ;;
	send)			echo "sent \"$2\"" ;;
	receive)		echo "received \"$2\"" ;;
	send_immediate)		echo "sent \"$2\" $with" ;;
	receive_immediate)	echo "received \"$2\" $with" ;;
	write_immediate_requester)
				echo "wrote \"$2\" $with" ;;
	write_immediate_responder)
				echo "the peer has written \"$2\" $with" ;;
	atomic_requester)	echo "compare and swap: old $sum," \
					"new ${new:-100}" ;;
	atomic_responder)	echo "the number was ${old:-5}," \
					"is ${new:-100}" ;;
	sync_event_requester)	echo "set 1, read 2, set 3" ;;
	sync_event_responder)	echo "seen 1, set 2, seen 3" ;;
	esac
}

# The option that gives SAMPLE its text; in long form with LONG.
text_option()
{
	case $1 in
	read_responder)		echo "-r --read-string" ;;
	write_requester | write_immediate_requester)
				echo "-w --write-string" ;;
	send | send_immediate)	echo "-s --send-string" ;;
	esac
}

# pair ORDER TEXT PASSIVE ACTIVE OPTION... - both succeed, and print so
pair()
{
	order=$1 text=$2 passive=$3 active=$4
	shift 4
	fresh
	if [ "$order" = passive_first ]; then
		end a "$passive" "$@" &
		appears "$dir/a" || return 1
		end b "$active" "$@"
		active_status=$?
		wait $!
		passive_status=$?
	else
		end b "$active" "$@" &
		appears "$dir/b" || return 1
		end a "$passive" "$@"
		passive_status=$?
		wait $!
		active_status=$?
	fi
	if [ $active_status -ne 0 ] || [ $passive_status -ne 0 ]; then
		echo "$active: exit $active_status, $passive:" \
			"exit $passive_status"
		cat "$dir"/*.out "$dir"/*.err
		return 1
	fi
	says "$dir/a.out" "$(line_of "$passive" "$text")" &&
		says "$dir/b.out" "$(line_of "$active" "$text")" || return 1
	left=$(ls "$dir")
	[ "$left" = "$(printf 'a.err\na.out\nb.err\nb.out')" ] || {
		echo "files are left:" $left
		return 1
	}
}

# all_pairs ORDER OPTION...
all_pairs()
{
	order=$1
	shift
	for names in $pairs; do
		pair "$order" "Hi DOCA RDMA!" "${names%:*}" "${names#*:}" \
			"$@" || return 1
	done
}

# cm_end WHICH SAMPLE OPTION... - as end(), by address and without files
cm_end()
{
	end=$1 sample=$2
	shift 2
	timeout 60 "$bin/rdma_$sample" -d soft_lo -cm -lp "$port" \
		--timeout "${limit:-20}" "$@" \
		>"$dir/$end.out" 2>"$dir/$end.err"
}

# A new $dir, and a $port that no other run is likely to have.
fresh_port()
{
	fresh
	ports=$((${ports:-0} + 1))
	port=$((first_port + ports))
}

# cm_pair ORDER SERVER CLIENT OPTION... - the client's options; both succeed
cm_pair()
{
	order=$1 server=$2 client=$3
	shift 3
	fresh_port
	if [ "$order" = server_first ]; then
		cm_end a "$server" &
		cm_end b "$client" "$@"
		client_status=$?
		wait $!
		server_status=$?
	else
		cm_end b "$client" "$@" &
		cm_end a "$server"
		server_status=$?
		wait $!
		client_status=$?
	fi
	if [ $client_status -ne 0 ] || [ $server_status -ne 0 ]; then
		echo "$order: $server, the server: exit $server_status," \
			"$client: exit $client_status"
		cat "$dir"/*.out "$dir"/*.err
		return 1
	fi
	says "$dir/a.out" "$(line_of "$server" "Hi DOCA RDMA!")" &&
		says "$dir/b.out" "$(line_of "$client" "Hi DOCA RDMA!")"
}

# all_by_address ORDER OPTION... - each pair, with either as the server
all_by_address()
{
	order=$1
	shift
	for names in $pairs; do
		cm_pair "$order" "${names%:*}" "${names#*:}" "$@" &&
			cm_pair "$order" "${names#*:}" "${names%:*}" "$@" ||
			return 1
	done
}

samples_have_at_most_80_lines()
{
	for file in "$top"/samples/*.c; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 80 ] || echo "$file: $lines lines"
	done
}

# Those of several connections are in t/samples/samples_many.sh, those of the
# engine in t/samples/engine.sh, others without a peer in one of their own.
each_sample_is_run_here()
{
	for file in "$top"/samples/*.c; do
		case $file in
		*_multi_conn_* | */pe_* | */workq.c)
				continue ;;
		*/rdma_*)	;;
		*)	own=$(basename "$file" .c |
			    sed -E 's/_(host|dpu|server|client)$//')
			own=$top/t/samples/$own.sh
			[ -x "$own" ] || echo "$file has no $own"
			continue ;;
		esac
		name=${file##*/rdma_}
		echo "$pairs" | tr : '\n' | grep -qx "${name%.c}" ||
			echo "$file is not in the list of pairs"
	done
}

# A pair is in one line, which abbreviates the second name.
each_sample_is_in_the_readme()
{
	for file in "$top"/samples/*.c; do
		name=$(basename "$file" .c | sed 's/_responder$/_requester/')
		grep -q "^|.*\`$name\`" "$top/README.md" ||
			echo "$file is not in the tables of README.md"
	done
}

pairs_work_on_soft_lo_with_the_passive_side_first()
{
	all_pairs passive_first -d soft_lo
}

pairs_work_on_soft_lo_with_the_active_side_first()
{
	all_pairs active_first -d soft_lo
}

pairs_work_on_the_default_device_with_the_passive_side_first()
{
	all_pairs passive_first
}

pairs_work_on_the_default_device_with_the_active_side_first()
{
	all_pairs active_first
}

pairs_meet_by_address_with_the_server_first()
{
	all_by_address server_first -sa 127.0.0.1
}

pairs_meet_by_address_with_the_client_first()
{
	all_by_address client_first -sa 127.0.0.1 -sat IPv4
}

a_server_has_a_name_a_gid_or_an_address_with_its_port()
{
	cm_pair server_first read_responder read_requester -sa localhost &&
		cm_pair server_first read_responder read_requester \
			--server-addr=::ffff:127.0.0.1 \
			--server-addr-type gid || return 1
	fresh_port
	cm_end a read_responder &
	timeout 60 "$bin/rdma_read_requester" -d soft_lo \
		-sa "127.0.0.1:$port" >"$dir/b.out" || return 1
	wait $! && says "$dir/b.out" 'read "Hi DOCA RDMA!"'
}

a_server_that_never_comes_is_named_when_the_time_is_up()
{
	fresh_port
	limit=1 cm_end b read_requester -sa 127.0.0.1
	fails $? "$dir/b.err" read_requester "after 1 s" \
		"127.0.0.1 port $port" || return 1
	limit=1 cm_end a read_responder
	fails $? "$dir/a.err" read_responder "no client has connected" \
		"port $port"
}

two_requesters_have_nothing_to_read()
{
	fresh_port
	cm_end a read_requester &
	cm_end b write_requester -sa 127.0.0.1
	fails $? "$dir/b.err" write_requester "offers no memory" || return 1
	wait $!
	fails $? "$dir/a.err" read_requester "offers no memory"
}

an_address_of_another_type_is_refused()
{
	fresh_port
	cm_end b read_requester -sa 127.0.0.1 -sat ipv6
	fails $? "$dir/b.err" read_requester "address type is IPv6" || return 1
	cm_end b read_requester -sa 127.0.0.1 -sat ipv5
	[ $? -eq 2 ] && says "$dir/b.err" "-sat" "IPv4, IPv6, GID"
}

# with_texts TEXT - each pair with the text given, short and long
with_texts()
{
	for form in 1 2; do
		for names in $pairs; do
			passive=${names%:*} active=${names#*:}
			fresh
			giver=$active
			[ "$(text_option "$giver")" ] || giver=$passive
			[ "$(text_option "$giver")" ] || continue
			option=$(text_option "$giver" | cut -d' ' -f$form)
			give_text "$option" "$1" || return 1
		done
	done
}

# As pair(), with the option for the end that has it.
give_text()
{
	if [ "$giver" = "$passive" ]; then
		end a "$passive" -d soft_lo "$1" "$2" &
		end b "$active" -d soft_lo || { cat "$dir/b.err"; return 1; }
	else
		end a "$passive" -d soft_lo &
		end b "$active" -d soft_lo "$1" "$2" ||
			{ cat "$dir/b.err"; return 1; }
	fi
	ended_with "$2"
}

# ended_with TEXT - end a has succeeded too, and both say what was moved
ended_with()
{
	wait $! || { cat "$dir/a.err"; return 1; }
	says "$dir/a.out" "$(line_of "$passive" "$1")" &&
		says "$dir/b.out" "$(line_of "$active" "$1")"
}

# random BYTES - a number
random()
{
	od -An -N"$1" -tu8 /dev/urandom | tr -d ' '
}

# moves PASSIVE OPTIONS ACTIVE OPTIONS TEXT - on the default device
moves()
{
	passive=$1 active=$3
	fresh
	# shellcheck disable=SC2086 # several words
	end a "$passive" $2 &
	# shellcheck disable=SC2086
	end b "$active" $4 || { cat "$dir/b.err"; return 1; }
	ended_with "$5"
}

any_text_and_number_arrive()
{
	for _ in 1 2 3; do
		text=$(head -c 180 /dev/urandom | base64 -w 0)
		immediate=$(random 4)
		moves receive_immediate "" send_immediate \
			"-s $text -i $immediate" "$text" &&
			moves write_immediate_responder "" \
			write_immediate_requester \
			"-w $text --immediate $immediate" "$text" || return 1
	done
}

any_number_is_added_to_and_replaced()
{
	for _ in 1 2 3; do
		old=$(random 7) add=$(random 7) new=$(random 8)
		moves atomic_responder "-n $old" \
			atomic_requester "-a $add -s $new" "" || return 1
		says "$dir/b.out" "fetch and add: old $old, new $sum" ||
			return 1
	done
}

the_least_and_the_largest_immediate_arrive()
{
	for immediate in 0 2147483648 4294967295; do
		moves receive_immediate "" send_immediate \
			"-s text -i $immediate" text &&
			moves write_immediate_responder "" \
			write_immediate_requester \
			"-w text -i $immediate" text || return 1
	done
}

an_immediate_out_of_range_is_a_usage_error()
{
	for sample in send_immediate write_immediate_requester; do
		for number in -1 4294967296 x; do
			fresh
			end a $sample -i $number
			[ $? -eq 2 ] || { echo "$sample $number"; return 1; }
		done
	done
}

the_text_is_given_by_a_short_or_a_long_option()
{
	with_texts "one two \"three\""
}

# ESC, and C1's CSI as UTF-8 and as a byte; none of it is printed as it came.
a_text_of_a_peer_is_printed_without_control_characters()
{
	text=$(printf 'a\033[2J\302\233m\233m\303\244')
	for names in $pairs; do
		passive=${names%:*} active=${names#*:}
		option=$(text_option "$active" | cut -d' ' -f1)
		fresh
		if [ "$option" ]; then
			end a "$passive" -d soft_lo &
			end b "$active" -d soft_lo "$option" "$text"
		elif [ "$(text_option "$passive")" ]; then
			end b "$active" -d soft_lo &
			end a "$passive" -d soft_lo -r "$text"
		else
			continue
		fi
		wait $! || return 1
		file=$dir/a.out
		[ "$option" ] || file=$dir/b.out
		says "$file" "$(printf \
		    '"a\\x1b[2J\\xc2\\x9bm\\x9bm\303\244"')" || return 1
	done
}

# 255 characters.
longest()
{
	printf '%0255d' 7
}

a_text_may_have_255_characters()
{
	with_texts "$(longest)"
}

a_text_of_1_character_is_enough()
{
	with_texts "x"
}

a_text_of_no_or_256_characters_is_a_usage_error()
{
	for sample in read_responder write_requester send send_immediate \
	    write_immediate_requester; do
		option=$(text_option $sample | cut -d' ' -f1)
		for text in "" "x$(longest)"; do
			fresh
			end a $sample "$option" "$text"
			[ $? -eq 2 ] || { echo "$sample"; return 1; }
			[ -s "$dir/a.err" ] || { echo silent; return 1; }
		done
	done
}

options_may_be_long()
{
	fresh
	timeout 60 "$bin/rdma_receive" --device soft_lo \
		--local-descriptor-path "$dir/a" \
		--remote-descriptor-path "$dir/b" --timeout=20 \
		>"$dir/a.out" 2>"$dir/a.err" &
	timeout 60 "$bin/rdma_send" --device=soft_lo \
		--local-descriptor-path="$dir/b" \
		--remote-descriptor-path="$dir/a" --timeout 20 \
		--send-string="long words" || return 1
	wait $! || { cat "$dir/a.err"; return 1; }
	says "$dir/a.out" 'received "long words"'
}

options_may_stand_in_a_json_file()
{
	fresh
	cat >"$dir/a.json" <<-END
		{ "device": "soft_lo", "timeout": 20,
		  "local-descriptor-path": "$dir/a",
		  "remote-descriptor-path": "$dir/b",
		  "remote-resource-descriptor-path": "$dir/m",
		  "read-string": "from the file" }
	END
	cat >"$dir/b.json" <<-END
		{ "device": "soft_lo", "timeout": 20,
		  "local-descriptor-path": "$dir/b",
		  "remote-descriptor-path": "$dir/a",
		  "remote-resource-descriptor-path": "$dir/m" }
	END
	timeout 60 "$bin/rdma_read_responder" -j "$dir/a.json" \
		>"$dir/a.out" 2>"$dir/a.err" &
	timeout 60 "$bin/rdma_read_requester" --json "$dir/b.json" \
		>"$dir/b.out" || return 1
	wait $! || { cat "$dir/a.err"; return 1; }
	says "$dir/b.out" 'read "from the file"'
}

samples()
{
	echo "$pairs" | tr : '\n'
}

help_is_printed_and_a_bad_option_is_a_usage_error()
{
	for sample in $(samples); do
		"$bin/rdma_$sample" --help >"$tmp/out" || return 1
		says "$tmp/out" --device --local-descriptor-path --timeout \
			|| return 1
		"$bin/rdma_$sample" --no-such-thing 2>"$tmp/out"
		[ $? -eq 2 ] && says "$tmp/out" --no-such-thing || return 1
	done
}

# All but the one that takes its arguments as texts.
help_of_each_sample_has_at_most_80_columns()
{
	count=0
	for sample in "$bin"/* "$bin"/services/*; do
		case $sample in
		*.o|*/doca_workq) continue ;;
		esac
		[ -f "$sample" ] && [ -x "$sample" ] || continue
		"$sample" --help >"$tmp/out" &&
			awk 'length > 80 { print; wide = 1 }
				END { exit wide }' "$tmp/out" || return 1
		count=$((count + 1))
	done
	[ $count -ge 40 ]
}

# fails STATUS FILE SAMPLE TEXT... - exit 1, an error message with each TEXT
fails()
{
	status=$1 file=$2 sample=$3
	shift 3
	[ "$status" -eq 1 ] || {
		echo "$sample: exit $status"
		cat "$file"
		return 1
	}
	says "$file" "rdma_$sample: " "$@"
}

a_peer_that_never_comes_is_named_when_the_time_is_up()
{
	for sample in $(samples); do
		fresh
		limit=1 end a $sample -d soft_lo
		status=$?
		case $sample in
		*_requester)	missing=$dir/m ;;
		*)		missing=$dir/b ;;
		esac
		fails $status "$dir/a.err" $sample "$missing" || return 1
		[ -z "$(ls "$dir" | grep -v '^a\.')" ] || {
			echo "$sample has left:" "$dir"/*
			return 1
		}
	done
}

memory_that_never_comes_is_named_when_the_time_is_up()
{
	for sample in read_requester write_requester atomic_requester \
	    sync_event_requester; do
		fresh
		limit=2 end b receive -d soft_lo &
		limit=1 end a $sample -d soft_lo
		fails $? "$dir/a.err" $sample "$dir/m" || return 1
		wait
	done
}

# save_descriptors SECONDS - leave in $dir/saved and $dir/saved-m what a read
# responder wrote, good for so long, before it was killed
save_descriptors()
{
	fresh
	"$bin/rdma_read_responder" -d soft_lo -ld "$dir/saved" -re "$dir/b" \
		-m "$dir/saved-m" --timeout "$1" &
	appears "$dir/saved"
	kill -KILL $!
	wait $!
	[ -e "$dir/saved" ] && [ -e "$dir/saved-m" ]
}

an_old_descriptor_is_refused_and_its_age_is_reported()
{
	save_descriptors 1 || return 1
	# until it is older than the second it was good for
	while [ -z "$(find "$dir/saved" ! -newermt '-2 seconds')" ]; do
		sleep 0.1
	done
	cp "$dir/saved" "$dir/a"
	broken send "$dir/a" "old"
}

# broken SAMPLE TEXT... - it does not take what it finds, and prints why
broken()
{
	sample=$1
	shift
	limit=3 end b "$sample" -d soft_lo
	fails $? "$dir/b.err" "$sample" "$@"
}

a_truncated_descriptor_is_refused()
{
	save_descriptors 20 || return 1
	head -c 40 "$dir/saved" >"$dir/a"
	broken send "40 bytes"
}

garbage_is_no_descriptor()
{
	for size in 1 100 5000; do
		fresh
		head -c $size /dev/urandom >"$dir/a"
		broken send || return 1
	done
}

an_empty_file_is_no_descriptor()
{
	fresh
	: >"$dir/a"
	broken send "$dir/a"
}

a_descriptor_of_memory_is_no_connection()
{
	save_descriptors 20 || return 1
	cp "$dir/saved-m" "$dir/a"
	broken send "memory descriptor"
}

a_descriptor_of_a_connection_is_no_memory()
{
	fresh
	limit=3 end a read_responder -d soft_lo &
	appears "$dir/a" || return 1
	cp "$dir/a" "$dir/n"
	timeout 60 "$bin/rdma_read_requester" -d soft_lo -ld "$dir/b" \
		-re "$dir/a" -m "$dir/n" --timeout 2 2>"$dir/b.err"
	fails $? "$dir/b.err" read_requester "connection descriptor" ||
		return 1
	wait
}

an_unknown_device_is_named()
{
	for sample in $(samples); do
		fresh
		end a $sample -d no_such0
		fails $? "$dir/a.err" $sample no_such0 || return 1
	done
}

a_gid_index_out_of_range_is_named()
{
	for sample in $(samples); do
		fresh
		end a $sample -d soft_lo -g 200
		fails $? "$dir/a.err" $sample 200 || return 1
	done
}

a_peer_that_reads_instead_of_writing_is_refused_and_reported()
{
	fresh
	end a write_responder -d soft_lo &
	end b read_requester -d soft_lo
	fails $? "$dir/b.err" read_requester || return 1
	wait $!
	fails $? "$dir/a.err" write_responder "the peer has written no text"
}

a_text_without_an_immediate_is_reported()
{
	fresh
	end a receive_immediate -d soft_lo &
	end b send -d soft_lo || return 1
	wait $!
	fails $? "$dir/a.err" receive_immediate "text with an immediate" ||
		return 1
	fresh
	end a write_immediate_responder -d soft_lo &
	end b write_requester -d soft_lo || return 1
	wait $!
	fails $? "$dir/a.err" write_immediate_responder \
		"text with an immediate"
}

# Two receivers, which wait for each other once connected: $pid_a, $pid_b.
connected()
{
	fresh
	"$bin/rdma_receive" -d soft_lo -ld "$dir/a" -re "$dir/b" \
		--timeout 15 >"$dir/a.out" 2>"$dir/a.err" &
	pid_a=$!
	appears "$dir/a" || return 1
	"$bin/rdma_receive" -d soft_lo -ld "$dir/b" -re "$dir/a" \
		--timeout 15 >"$dir/b.out" 2>"$dir/b.err" &
	pid_b=$!
	vanishes "$dir/a" && vanishes "$dir/b"	# each has read the other's
}

a_killed_peer_is_noticed()
{
	connected || return 1
	kill -KILL $pid_a
	wait $pid_a
	wait $pid_b
	fails $? "$dir/b.err" receive
}

a_peer_that_is_killed_while_it_waits_leaves_a_bounded_one()
{
	fresh
	"$bin/rdma_read_responder" -d soft_lo -ld "$dir/a" -re "$dir/b" \
		-m "$dir/m" 2>"$dir/a.err" >"$dir/a.out" &
	pid_a=$!
	appears "$dir/a" && appears "$dir/m" || return 1
	kill -KILL $pid_a
	wait $pid_a
	limit=3 end b read_requester -d soft_lo
	fails $? "$dir/b.err" read_requester
}

a_stream_of_pairs_loses_nothing()
{
	round=0
	while [ $round -lt 20 ]; do
		round=$((round + 1))
		pair passive_first "Hi DOCA RDMA!" receive send -d soft_lo ||
			return 1
	done
}

natively none samples_have_at_most_80_lines
natively none each_sample_is_run_here
natively none each_sample_is_in_the_readme
run pairs_work_on_soft_lo_with_the_passive_side_first
natively run pairs_work_on_soft_lo_with_the_active_side_first
run pairs_work_on_the_default_device_with_the_passive_side_first
run pairs_work_on_the_default_device_with_the_active_side_first
natively run pairs_meet_by_address_with_the_server_first
natively run pairs_meet_by_address_with_the_client_first
natively run a_server_has_a_name_a_gid_or_an_address_with_its_port
natively run a_server_that_never_comes_is_named_when_the_time_is_up
natively run two_requesters_have_nothing_to_read
natively run an_address_of_another_type_is_refused
run any_text_and_number_arrive
run the_least_and_the_largest_immediate_arrive
run any_number_is_added_to_and_replaced
natively run an_immediate_out_of_range_is_a_usage_error
natively run the_text_is_given_by_a_short_or_a_long_option
natively run a_text_of_a_peer_is_printed_without_control_characters
natively run a_text_may_have_255_characters
natively run a_text_of_1_character_is_enough
natively run a_text_of_no_or_256_characters_is_a_usage_error
natively run options_may_be_long
natively run options_may_stand_in_a_json_file
natively run help_is_printed_and_a_bad_option_is_a_usage_error
natively run help_of_each_sample_has_at_most_80_columns
natively run a_peer_that_never_comes_is_named_when_the_time_is_up
natively run memory_that_never_comes_is_named_when_the_time_is_up
natively run an_old_descriptor_is_refused_and_its_age_is_reported
natively run a_truncated_descriptor_is_refused
natively run garbage_is_no_descriptor
natively run an_empty_file_is_no_descriptor
natively run a_descriptor_of_memory_is_no_connection
natively run a_descriptor_of_a_connection_is_no_memory
natively run an_unknown_device_is_named
natively run a_gid_index_out_of_range_is_named
natively run a_peer_that_reads_instead_of_writing_is_refused_and_reported
natively run a_text_without_an_immediate_is_reported
natively run a_killed_peer_is_noticed
natively run a_peer_that_is_killed_while_it_waits_leaves_a_bounded_one
natively run a_stream_of_pairs_loses_nothing
tap_done
