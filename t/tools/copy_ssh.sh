#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `pier copy --ssh`, by a real sshd on 127.0.0.1.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/toolbox.sh"
. "$top/t/lib/device.sh"
. "$top/t/lib/sshd.sh"

"$pier" copy --help | grep -q ssh-command || skip_all "it has no --ssh"
cd "$tmp" || exit
[ "$sshd_file" ] || skip_all "there is no sshd"
sshd_start 127.0.0.1 || skip_all "ssh: $(cat "$keys/log")"

# copy WORD... - what it prints is in $tmp/err
copy()
{
	timeout 60 "$pier" copy -d "$device" --ssh --ssh-command "$ssh" \
	    --program "env PIER_DEVICE=$device $pier" "$@" 2>"$tmp/err"
}

files_arrive_in_both_directions()
{
	head -c 3000000 /dev/urandom >source
	copy source "$user@127.0.0.1:$tmp/there" && cmp source there &&
	    copy "127.0.0.1:$tmp/there" back && cmp source back ||
	    { cat "$tmp/err"; return 1; }
}

# It is no name of a host.
a_name_of_the_configuration_of_ssh_is_enough()
{
	head -c 3000000 /dev/urandom >source
	! getent hosts pier-test-host >/dev/null || skip "it is a host"
	copy source "pier-test-host:$tmp/there" && cmp source there &&
	    copy "$user@pier-test-host:$tmp/there" back && cmp source back ||
	    { cat "$tmp/err"; return 1; }
}

relative_paths_begin_at_home()
{
	name=.pier-test-$$
	echo 1 >source
	home=$($ssh "$user@127.0.0.1" pwd)
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

# Nor what a login script prints: the host's name is used.
what_is_no_address_is_not_used()
{
	cat >"$tmp/far" <<END
#!/bin/sh
echo "pier copy listens at nowhere"
exec env -u SSH_CONNECTION PIER_DEVICE=$device $pier "\$@"
END
	echo 1 >source
	copy --program "sh $tmp/far" source "127.0.0.1:$tmp/there" &&
	    cmp source there || { cat "$tmp/err"; return 1; }
	copy --program "sh $tmp/far" --timeout 2 source \
	    "pier-test-host:$tmp/there" && return 1
	says "$tmp/err" "pier-test-host"
}

# As behind NAT: ssh gets there, but the address that the server has does not.
an_address_that_leads_nowhere_is_explained()
{
	cat >"$tmp/far" <<'END'
#!/bin/sh
echo "pier copy listens at 192.0.2.7"
echo "pier copy listens as pier copy 7"
END
	echo 1 >source
	copy --program "sh $tmp/far" --timeout 1 source 127.0.0.1:there &&
		return 1
	says "$tmp/err" "between the device here and 192.0.2.7" \
	    "no address translation (NAT)"
}

# The client does not wait for it to come back.
a_far_side_that_has_died_is_no_network_error()
{
	cat >"$tmp/far" <<'END'
#!/bin/sh
echo "pier copy listens at 127.0.0.1"
echo "pier copy listens as pier copy 7"
END
	echo 1 >source
	timeout 30 "$pier" copy -d "$device" --ssh --ssh-command "$ssh" \
	    --program "sh $tmp/far" --timeout 100 source 127.0.0.1:there \
	    2>"$tmp/err"
	[ $? -eq 1 ] && says "$tmp/err" 'no server "pier copy 7"' &&
	    ! grep NAT "$tmp/err"
}

# The server's name is a secret: another client does not find it.
the_far_side_ends_with_its_client()
{
	"$pier" copy -d "$device" --listen --once --timeout 1 >out 2>err
	[ $? -eq 1 ] && says err "no client came within 1000 ms" &&
	    grep -qx 'pier copy listens as pier copy [0-9a-f]\{32\}' out
}

run files_arrive_in_both_directions
run a_name_of_the_configuration_of_ssh_is_enough
run relative_paths_begin_at_home
run errors_of_the_far_side_are_reported
run without_pier_there_it_says_so
run a_host_is_no_option_of_ssh
run what_is_no_address_is_not_used
run an_address_that_leads_nowhere_is_explained
run a_far_side_that_has_died_is_no_network_error
run the_far_side_ends_with_its_client
tap_done
