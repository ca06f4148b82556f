#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every public call that returns int answers -EINVAL if the object that it is
# for, its first parameter, is NULL, but two; those that answer yes or no answer
# no.
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
unchecked='pier_pe_progress pier_task_status'

# "NAME ARGUMENTS" of each call that returns int and is for an object: a
# pointer to a struct whose members are not public.
calls()
{
	cat "$headers"/*.h | awk '
	/^struct pier_[a-z_]+ \{/ { public[$2] = 1 }
	text == "" && /^int pier_[a-z0-9_]+\(/ { text = $0; begun = 1 }
	text != "" && !begun { text = text " " $0 }
	{ begun = 0 }
	text ~ /;/ { decl[++n] = text; text = "" }
	END {
		for (i = 1; i <= n; i++) {
			name = params = decl[i]
			gsub(/^int |\(.*/, "", name)
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

# A program that makes each call in a process of its own.
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
		wanted=-EINVAL
		case " $(echo $yes_or_no) " in *" $name "*) wanted=0 ;; esac
		cat <<-END
		if (!fork()) {
			alarm(20);
			judge("$name", $wanted, $name($args));
			_exit(0);
		}
		reap("$name");
		END
	done
	printf 'return 0;\n}\n'
}

calls_refuse_null_as_their_object()
{
	calls >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -gt 170 ] || echo "few calls"
	program <"$tmp/calls" >"$tmp/null.c"
	lib=$build/lib/.libs uv=$build/lib/uv/.libs
	"$cc" -I"$top/lib/include" "$tmp/null.c" -o "$tmp/null" $sanitize \
	    -L"$lib" -L"$uv" -lpier -lpier-uv &&
	    LD_LIBRARY_PATH=$lib:$uv "$tmp/null"
}

# They are calls of the headers still.
exceptions_are_calls()
{
	calls | sed 's/ .*//' | sort >"$tmp/names"
	for name in $allowed $unchecked $yes_or_no; do
		grep -qx "$name" "$tmp/names" || echo "$name"
	done
}

none calls_refuse_null_as_their_object
none exceptions_are_calls
tap_done
