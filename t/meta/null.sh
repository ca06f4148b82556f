#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every public call that returns int answers -EINVAL if the object that it is
# for, its first parameter, is NULL, but two; those that answer yes or no answer
# no, and those that return something else return 0, NULL or "".
. "${0%/*}/../lib/tap.sh"

cc=${CC:-gcc}
command -v "$cc" >/dev/null || skip_all "there is no compiler"
[ -f "$build/lib/.libs/libpier.so" ] || skip_all "the library is not built"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
headers=$top/lib/include/pier

# NULL is allowed there, as the headers have it.
allowed='pier_conn_abort pier_conn_disconnect pier_dma_import
pier_mmap_create_from_export pier_sync_event_create_from_export
pier_sync_event_import_process pier_task_free'
# These answer yes or no.
yes_or_no='pier_conn_peer_is_pier pier_devinfo_active pier_mmap_is_remote
pier_repinfo_is_pci'

# These are made for each task, or again and again, and have no instruction to
# spare.
unchecked='pier_buf_reset pier_pe_progress pier_task_status'
# The only one whose neutral value is not 0, NULL or "".
scope=pier_task_error_scope

# "NAME ARGUMENTS" of each call of KIND that is for an object: a pointer to a
# struct whose members are not public.
# usage: calls int|void|text|other, by what they return
calls()
{
	cat "$headers"/*.h | awk -v wanted="$1" '
	function kind(text)
	{
		if (text == "int ")
			return "int"
		if (text == "void ")
			return "void"
		return text == "const char *" ? "text" : "other"
	}
	/^struct pier_[a-z_]+ \{/ { public[$2] = 1 }
	# a type on a line of its own
	/^(void|(const )?struct pier_[a-z_]+ \*)$/ {
		type = $0 == "void" ? "void " : $0
		next
	}
	{ $0 = type $0; type = "" }
	text == "" && !/^(static|typedef|extern) / &&
	match($0, /^[a-z][a-z0-9_ ]*[ *]pier_[a-z0-9_]+\(/) {
		returned = $0
		sub(/pier_[a-z0-9_]+\(.*/, "", returned)
		if (kind(returned) == wanted) {
			text = substr($0, length(returned) + 1)
			begun = 1
		}
	}
	text != "" && !begun { text = text " " $0 }
	{ begun = 0 }
	text ~ /;/ { decl[++n] = text; text = "" }
	END {
		for (i = 1; i <= n; i++) {
			name = params = decl[i]
			sub(/\(.*/, "", name)
			sub(/^[^(]*\(/, "", params)
			first = params
			sub(/[,)].*/, "", first)
			sub(/^const /, "", first)
			if (first !~ /^struct pier_[a-z_]+ \*[a-z_]+$/)
				continue
			split(first, word, " ")
			if (word[2] in public)
				continue
			while (match(params, /\([^()]*\)/))
				params = substr(params, 1, RSTART - 1) \
				    substr(params, RSTART + RLENGTH)
			rest = gsub(/,/, "", params)
			args = "NULL"
			while (rest-- > 0)
				args = args ", 0"
			print name, args
		}
	}'
}

# A program that makes each call in a process of its own; "$1" prints the
# statement that judges what it returns.
program()
{
	cat <<-'END'
	#include <errno.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <pier/pier.h>
	#include <pier/exchange.h>
	#include <pier/uv.h>
	#include <pier/verbs.h>

	#define NOTHING(name, got) \
		do { if (got) printf("%s: not 0\n", name); } while (0)

	static void empty(const char *name, const char *got)
	{
		if (got && *got)
			printf("%s: %s\n", name, got);
	}

	static void judge(const char *name, int wanted, int got)
	{
		if (got != wanted)
			printf("%s: %d\n", name, got);
		else if (wanted && !strstr(pier_last_error(), "NULL"))
			printf("%s: %s\n", name, pier_last_error());
	}

	static void reap(const char *name)
	{
		int status = 0;

		wait(&status);
		if (status)
			printf("%s: status %#x\n", name, (unsigned)status);
	}

	int main(void)
	{
		setvbuf(stdout, NULL, _IONBF, 0);
	END
	while read -r name args; do
		case " $(echo $allowed $unchecked) " in
		*" $name "*) continue ;;
		esac
		cat <<-END
		if (!fork()) {
			alarm(20);
			$("$1" "$name" "$name($args)");
			_exit(0);
		}
		reap("$name");
		END
	done
	printf 'return 0;\n}\n'
}

# judged_KIND NAME CALL
judged_int()
{
	wanted=-EINVAL
	case " $(echo $yes_or_no) " in *" $1 "*) wanted=0 ;; esac
	echo "judge(\"$1\", $wanted, $2)"
}

judged_void()
{
	echo "$2"
}

judged_text()
{
	echo "empty(\"$1\", $2)"
}

judged_other()
{
	case $1 in
	"$scope") echo "NOTHING(\"$1\", $2 != PIER_SCOPE_TASK)" ;;
	*) echo "NOTHING(\"$1\", $2)" ;;
	esac
}

# run KIND NUMBER: those of KIND, of which there are at least NUMBER
run()
{
	calls "$1" >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -ge "$2" ] || echo "few calls"
	program "judged_$1" <"$tmp/calls" >"$tmp/null.c"
	lib=$build/lib/.libs uv=$build/lib/uv/.libs
	"$cc" -I"$top/lib/include" "$tmp/null.c" -o "$tmp/null" $sanitize \
	    -L"$lib" -L"$uv" -lpier -lpier-uv &&
	    LD_LIBRARY_PATH=$lib:$uv "$tmp/null"
}

calls_refuse_null_as_their_object()
{
	run int 170
}

calls_that_return_nothing_do_nothing_for_null()
{
	run void 50
}

calls_that_return_a_text_return_none_for_null()
{
	run text 15
}

calls_that_return_anything_else_return_0_for_null()
{
	run other 75
}

# They are calls of the headers still.
exceptions_are_calls()
{
	for kind in int void other; do
		calls $kind
	done | sed 's/ .*//' | sort >"$tmp/names"
	for name in $allowed $unchecked $yes_or_no $scope; do
		grep -qx "$name" "$tmp/names" || echo "$name"
	done
}

none calls_refuse_null_as_their_object
none calls_that_return_nothing_do_nothing_for_null
none calls_that_return_a_text_return_none_for_null
none calls_that_return_anything_else_return_0_for_null
none exceptions_are_calls
tap_done
