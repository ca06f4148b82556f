#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files in /sys and /dev, where programs under `pier run` look for devices.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/dropin.sh"

# Such files of the machine are hidden in a mount namespace.
if [ -e /sys/class/infiniband ] && [ "${1:-}" != hidden ]; then
	for rights in -m -rm; do
		unshare $rights true 2>/dev/null || continue
		unshare $rights sh "$0" hidden
		exit
	done
	skip_all "the machine has such files"
fi
[ ! -e /sys/class/infiniband ] || mount -t tmpfs none /sys/class/infiniband ||
    skip_all "the machine has such files"

port=/sys/class/infiniband/soft_lo/ports/1

# has FILE TEXT - and no more than that
has()
{
	status 0 "$pier" run -- cat "$1" || return
	[ "$(cat "$tmp/out")" = "$2" ] || {
		echo "$1 has $(cat "$tmp/out"), not $2"
		return 1
	}
}

# node - the name in /dev of soft_lo, in $node
node()
{
	for number in 0 1 2 3 4 5 6 7; do
		node=uverbs$number
		[ "$("$pier" run -- cat \
			"/sys/class/infiniband_verbs/$node/ibdev" 2>&1)" \
			= soft_lo ] && return
	done
	echo "soft_lo is none of them"
	return 1
}

a_port_is_described()
{
	has $port/state "4: ACTIVE" &&
	    has $port/link_layer Ethernet &&
	    has $port/gids/0 0000:0000:0000:0000:0000:ffff:7f00:0001 &&
	    has $port/gid_attrs/types/0 "RoCE v2" &&
	    has $port/gid_attrs/ndevs/0 lo
}

a_device_has_a_node()
{
	node && status 0 "$pier" run -- test -c "/dev/infiniband/$node" &&
	    status 0 "$pier" run -- sh -c ": >/dev/infiniband/$node" &&
	    has /sys/class/infiniband_verbs/abi_version 6
}

# lists FOLDER NAME...
lists()
{
	folder=$1
	shift
	status 0 "$pier" run -- ls "$folder" || return
	[ "$(echo $(cat "$tmp/out"))" = "$*" ] || {
		echo "$folder has $(cat "$tmp/out"), not $*"
		return 1
	}
}

folders_are_listed()
{
	node && lists $port gid_attrs gids lid link_layer phys_state pkeys \
	    rate state && lists $port/pkeys/ 0 &&
	    lists /sys/class/infiniband/soft_lo device node_guid node_type \
		ports sys_image_guid &&
	    lists /sys/class/infiniband_verbs/$node ibdev &&
	    status 0 "$pier" run -- ls /sys/class/infiniband /dev/infiniband &&
	    says "$tmp/out" soft_lo "$node"
}

folders_are_looked_at()
{
	for folder in /sys/class/infiniband $port /dev/infiniband; do
		status 0 "$pier" run -- test -d $folder || return
	done
	status 0 "$pier" run -- ls -l $port/state &&
	    says "$tmp/out" "-r--r--r--"
}

# Calls that are not in the headers any more: a program that prints the mode of
# a file by one of them.
build_old()
{
	cat >"$tmp/old.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/stat.h>

		#ifdef __x86_64__
		enum { VERSION = 1 };
		#else
		enum { VERSION = 0 };
		#endif

		int main(int argc, char *argv[])
		{
			int (*call)() = dlsym(RTLD_DEFAULT, argv[1]), err;
			struct stat64 large = { 0 };
			struct stat st = { 0 };
			void *ret = &st;

			if (strstr(argv[1], "64"))
				ret = &large;
			if (strstr(argv[1], "statat"))
				err = call(VERSION, AT_FDCWD, argv[2], ret,
					   AT_SYMLINK_NOFOLLOW);
			else
				err = call(VERSION, argv[2], ret);
			printf("%o\n", err ? 0 : large.st_mode | st.st_mode);
			return 0;
		}
	END
	"${CC:-cc}" -w "$tmp/old.c" -o "$tmp/old" 2>"$tmp/err" ||
		skip "the C library has no stat64()"
}

# by CALL FILE MODE - in octal; 0: it is not there
by()
{
	status 0 "$pier" run -- "$tmp/old" "$1" "$2" || return
	[ "$(cat "$tmp/out")" = "$3" ] || {
		echo "$1: $2 has $(cat "$tmp/out"), not $3"
		return 1
	}
}

programs_of_an_older_glibc_look_at_files()
{
	build_old
	ln -s nosuch "$tmp/link"
	for call in xstat xstat64 lxstat lxstat64 fxstatat fxstatat64; do
		mode=120777
		[ $call = "${call#x}" ] || mode=0
		by __$call $port/state 100444 && by __$call $port/nosuch 0 &&
		    by __$call "$tmp/link" $mode || return
	done
}

# Calls of programs that are built with _FORTIFY_SOURCE, and for threads.
programs_with_other_calls_look_at_files()
{
	cat >"$tmp/other.c" <<-'END'
		#define _GNU_SOURCE
		#include <dirent.h>
		#include <limits.h>
		#include <stdio.h>
		#include <stddef.h>
		#include <stdlib.h>
		#include <string.h>

		int main(int argc, char *argv[])
		{
			DIR *dir = opendir(argv[1]);
			struct dirent entry[2], *ret;
			char path[PATH_MAX], *end = (char *)entry;

			end += offsetof(struct dirent, d_name) + NAME_MAX + 1;
			memset(end, 7, 64);
			if (!dir || !realpath(argv[1], path))
				return 1;
			while (!readdir_r(dir, entry, &ret) && ret)
				if (ret->d_name[0] != '.')
					printf("%s/%s\n", path, ret->d_name);
			for (int i = 0; i < 64; i++)
				if (end[i] != 7)
					return 2;
			return closedir(dir);
		}
	END
	"${CC:-cc}" -w -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
	    "$tmp/other.c" -o "$tmp/other" || return
	mkdir "$tmp/folder" && : >"$tmp/folder/file"
	status 0 "$pier" run -- "$tmp/other" $port/pkeys &&
	    [ "$(cat "$tmp/out")" = $port/pkeys/0 ] &&
	    status 0 "$pier" run -- "$tmp/other" "$tmp/folder" &&
	    [ "$(cat "$tmp/out")" = "$(realpath "$tmp/folder")/file" ]
}

a_device_has_an_interface()
{
	lists /sys/class/infiniband/soft_lo/device/net lo &&
	    has /sys/class/infiniband/soft_lo/device/net/lo/address \
		00:00:00:00:00:00 || return
	for file in nosuch netlo net/nosuch net/lonely/address; do
		status 1 "$pier" run -- test -e \
		    /sys/class/infiniband/soft_lo/device/$file || return
	done
}

# The interface of a device is the one whose folder its own has.
a_device_has_no_other_interface()
{
	for other in /sys/class/net/*; do
		[ "$other" != /sys/class/net/lo ] || continue
		file=soft_lo/device/net/${other##*/}/address
		status 1 "$pier" run -- test -e \
		    "/sys/class/infiniband/$file" || return
	done
}

what_is_not_there_is_not_found()
{
	for file in $port/nosuch $port/stat $port/states $port/gids/99 \
	    $port/gids/ $port/gids/0x /sys/class/infiniband/soft_l/node_type \
	    /dev/infiniband/uverbs99; do
		status 1 "$pier" run -- cat $file &&
		    says "$tmp/err" "No such file" || return
	done
}

files_are_not_written()
{
	! "$pier" run -- sh -c "echo text >$port/state" 2>"$tmp/err" &&
	    has $port/state "4: ACTIVE"
}

files_of_others_are_as_they_were()
{
	echo text >"$tmp/file"
	has "$tmp/file" text &&
	    status 0 "$pier" run -- sh -c "umask 077; : >$tmp/new" &&
	    [ "$(stat -c %a "$tmp/new")" = 600 ] &&
	    status 1 "$pier" run -- cat /sys/class/infiniband_nosuch
}

run a_port_is_described
run a_device_has_a_node
run folders_are_listed
run folders_are_looked_at
run programs_of_an_older_glibc_look_at_files
run programs_with_other_calls_look_at_files
run a_device_has_an_interface
run a_device_has_no_other_interface
run what_is_not_there_is_not_found
run files_are_not_written
run files_of_others_are_as_they_were
tap_done
