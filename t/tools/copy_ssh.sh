#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier copy --ssh`, by a real sshd on 127.0.0.1.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"

PATH=$PATH:/usr/sbin
daemon=$(command -v sshd) && command -v ssh >/dev/null ||
    skip_all "there is no sshd"
"$pier" copy --help | grep -q ssh-command || skip_all "it has no --ssh"
port=$((22000 + $$ % 9000))
keys=$tmp/keys
mkdir "$keys" && cd "$tmp" || exit
ssh-keygen -q -t ed25519 -N '' -f "$keys/host"
ssh-keygen -q -t ed25519 -N '' -f "$keys/user"
cat >"$keys/conf" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $keys/host
AuthorizedKeysFile $keys/user.pub
StrictModes no
UsePAM no
PidFile none
END
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
"$daemon" -D -e -f "$keys/conf" 2>"$tmp/log" &
command="ssh -p $port -i $keys/user -o StrictHostKeyChecking=no \
-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes"
user=$(id -un)
wait_for 20 grep -q "listening on" "$tmp/log" || skip_all "sshd: $(cat log)"
$command "$user@127.0.0.1" true 2>"$tmp/err" ||
    skip_all "ssh: $(cat "$tmp/err")"

# copy WORD... - what it prints is in $tmp/err
copy()
{
	timeout 60 "$pier" copy -d "$device" --ssh --ssh-command "$command" \
	    --program "env PIER_DEVICE=$device $pier" "$@" 2>"$tmp/err"
}

files_arrive_in_both_directions()
{
	head -c 3000000 /dev/urandom >source
	copy source "$user@127.0.0.1:$tmp/there" && cmp source there &&
	    copy "127.0.0.1:$tmp/there" back && cmp source back ||
	    { cat "$tmp/err"; return 1; }
}

relative_paths_begin_at_home()
{
	name=.pier-test-$$
	echo 1 >source
	home=$($command "$user@127.0.0.1" pwd)
	copy source "127.0.0.1:$name" && cmp source "$home/$name"
	status=$?
	rm -f "$home/$name"
	return $status
}

errors_of_the_far_side_are_reported()
{
	echo 1 >source
	copy source "127.0.0.1:$tmp/none/file" && return 1
	says "$tmp/err" "none/file: No such file"
}

without_pier_there_it_says_so()
{
	copy --program no-such-program source 127.0.0.1: && return 1
	says "$tmp/err" "no server was started on 127.0.0.1"
}

# Names that look like options of ssh are none.
a_host_is_no_option_of_ssh()
{
	copy source "-oProxyCommand=touch$tmp/touched:x"
	[ $? -ne 0 ] && [ ! -e touched ]
}

# The server's name is a secret: another client does not find it.
the_far_side_ends_with_its_client()
{
	"$pier" copy -d "$device" --listen --once --timeout 1 >out 2>err
	[ $? -eq 1 ] && says err "no client came within 1000 ms" &&
	    grep -qx 'pier copy listens as pier copy [0-9a-f]\{32\}' out
}

run files_arrive_in_both_directions
run relative_paths_begin_at_home
run errors_of_the_far_side_are_reported
run without_pier_there_it_says_so
run a_host_is_no_option_of_ssh
run the_far_side_ends_with_its_client
tap_done
