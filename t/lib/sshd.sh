# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# A real sshd for tests in sh: source it after tap.sh.  $ssh is the client's
# command, to which the host is known as pier-test-host, a name of its
# configuration alone.

PATH=$PATH:/usr/sbin
sshd_file=$(command -v sshd) && command -v ssh >/dev/null || sshd_file=
user=$(id -un)
take_ports
sshd_port=$((first_port + 63))

# sshd_start ADDRESS [COMMAND...] - there, by the command; false: there is none
sshd_start()
{
	[ "$sshd_file" ] || return
	sshd_address=$1
	shift
	keys=$tmp/keys
	ssh="ssh -F $keys/client"
	mkdir "$keys" || return
	ssh-keygen -q -t ed25519 -N '' -f "$keys/host"
	ssh-keygen -q -t ed25519 -N '' -f "$keys/user"
	cat >"$keys/conf" <<END
Port $sshd_port
ListenAddress $sshd_address
HostKey $keys/host
AuthorizedKeysFile $keys/user.pub
StrictModes no
UsePAM no
PidFile none
END
	cat >"$keys/client" <<END
Host pier-test-host
HostName $sshd_address
Host *
Port $sshd_port
User $user
IdentityFile $keys/user
IdentitiesOnly yes
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
BatchMode yes
END
	: >"$keys/log"
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
	"$@" "$sshd_file" -D -e -f "$keys/conf" 2>"$keys/log" &
	wait_for 20 grep -q "listening on" "$keys/log" &&
	    $ssh "$sshd_address" true 2>>"$keys/log"
}
