#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of pier in bash and zsh agrees with the tool.  No shell here is
# interactive: the functions are called with the words of a line.
. "${0%/*}/../lib/tap.sh"
device=soft_lo
. "$top/t/lib/toolbox.sh"

shells=
for shell in bash zsh; do
	command -v $shell >/dev/null && shells="$shells $shell"
done
[ "$shells" ] || skip_all "there is neither bash nor zsh"
[ -z "${PIER_TEST_REQUIRE:-}" ] || shells="bash zsh"

# The function is called as bash does it, for the last word.
cat >"$tmp/bash" <<'END'
. "$1" || exit
pier=$2
shift 2
COMP_WORDS=(pier "$@")
COMP_CWORD=$#
_pier "$pier" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
END

# What the file needs of zsh's completion prints what it is given.
cat >"$tmp/zsh" <<'END'
compadd()
{
	[[ $1 != -a ]] || set -- ${(P)2}
	print -rl -- "$@"
}
_describe() { print -rl -- ${(P)2%%:*} }
_files() { print files }
_command_names() { print commands }
_hosts() { print hosts }
_message() { print -r -- "message=$1" }
compset() { words[CURRENT]=${words[CURRENT]#*=} }
file=$1
words=("${@:2}")
CURRENT=$#words
. $file
END

# complete SHELL WORD... - what the last word can be, in lines
complete()
{
	shell=$1
	shift
	case $shell in
	bash) bash "$tmp/bash" "$top/tools/completion/pier" "$pier" "$@" ;;
	zsh) zsh -f "$tmp/zsh" "$top/tools/completion/_pier" "$pier" "$@" ;;
	esac >"$tmp/found" 2>"$tmp/err" && [ ! -s "$tmp/err" ] && return
	echo "$shell: $*"
	cat "$tmp/found" "$tmp/err"
	return 1
}

# completes SHELL "WANTED..." WORD... - the same words, in any order
completes()
{
	wanted=$2 with=$1
	shift 2
	complete "$with" "$@" || return 1
	got=$(sort -u "$tmp/found" | tr '\n' ' ')
	set_of=$(printf '%s\n' $wanted | sort -u | tr '\n' ' ')
	[ "$got" = "$set_of" ] && return
	echo "$with: $*"
	echo "got:  $got"
	echo "want: $set_of"
	return 1
}

# The names in the table of commands.
commands()
{
	sed -n 's/^	{ "\([a-z]*\)", "pier .*/\1/p' "$top/tools/pier.c"
}

# What the parser of the command takes, by its own help.
options_of()
{
	"$pier" "$@" --help | grep '^  -' | sed 's/   .*//' |
		grep -oE -- '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,'
}

each_command_is_completed()
{
	[ "$(commands | wc -l)" -ge 7 ] || return 1
	for shell in $shells; do
		complete $shell "" || return 1
		for command in $(commands) help; do
			grep -qx "$command" "$tmp/found" || {
				echo "$shell: lacks $command"
				return 1
			}
		done
		complete $shell help "" || return 1
		for command in $(commands); do
			grep -qx "$command" "$tmp/found" || return 1
		done
	done
}

# has_options COMMAND... - each shell completes those of its help
has_options()
{
	options=$(options_of "$@")
	[ "$(echo "$options" | wc -l)" -ge 6 ] || return 1
	for shell in $shells; do
		completes $shell "$options" "$@" - || return 1
	done
}

options_are_those_of_each_command()
{
	for command in $(commands); do
		has_options "$command" || return 1
	done
	has_options perf plot
}

devices_are_completed()
{
	all=$("$pier" info --brief | sed 's/ .*//')
	for shell in $shells; do
		completes $shell "$all" info -d "" &&
			completes $shell "$all" ping --device "" || return 1
	done
	completes bash soft_lo perf --device = soft_lo || return 1
	case $shells in
	*zsh*) completes zsh "$all" perf --device=soft ;;
	esac
}

words_are_completed_by_their_place()
{
	for shell in $shells; do
		completes $shell "lat bw plot" perf --json "" &&
			completes $shell "send send-imm write write-imm read \
				fetch-add compare-swap connect comch request \
				copy" \
				perf -n 3 lat "" &&
			completes $shell "send write read atomic" ping -o "" &&
			completes $shell all counters --json "" &&
			completes $shell "critical error warning info debug \
				trace" info -l "" || return 1
	done
}

files_are_completed()
{
	mkdir "$tmp/dir" "$tmp/dir/sub" && : >"$tmp/dir/file" &&
		cd "$tmp/dir" || return 1
	completes bash "file sub" desc "" &&
		completes bash sub copy --root "" &&
		completes bash "file sub" perf plot "" &&
		completes bash file perf plot -o f &&
		completes bash "file sub" exchange host --send file "" &&
		completes bash file info -j f || return 1
	case $shells in
	*zsh*)
		completes zsh files desc "" &&
			completes zsh files perf plot x "" &&
			completes zsh files perf plot -o "" &&
			completes zsh files copy --root "" &&
			completes zsh files copy a "" &&
			completes zsh message=SECONDS ping -i "" ;;
	esac
}

# Behind it all words are the program's.
the_program_of_run_is_completed()
{
	for shell in $shells; do
		complete $shell run -- ibv_devinfo -v - || return 1
		! grep -e --json "$tmp/found" || return 1
	done
	complete bash run -l info tru && says "$tmp/found" true || return 1
	case $shells in
	*zsh*)
		completes zsh commands run -- "" &&
			completes zsh files run cat -n "" ;;
	esac
}

nothing_is_completed_for_what_is_no_command()
{
	for shell in $shells; do
		completes $shell "" nothing - || return 1
	done
}

they_are_installed_where_shells_look()
{
	root=$build/installed
	[ -f "$root/stamp" ] || skip "nothing is installed: run make tests"
	share=$(find "$root" -type d -path '*/share/bash-completion')
	cmp "$top/tools/completion/pier" "$share/completions/pier" &&
		cmp "$top/tools/completion/_pier" \
			"$share/../zsh/site-functions/_pier"
}

run each_command_is_completed
run options_are_those_of_each_command
run devices_are_completed
run words_are_completed_by_their_place
run files_are_completed
run the_program_of_run_is_completed
run nothing_is_completed_for_what_is_no_command
run they_are_installed_where_shells_look
tap_done
