#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A peer that shares no code with pier, python_peer.py, and a server of pier's.
. "${0%/*}/../lib/tap.sh"

[ -x "$build/tools/pier" ] || skip_all "pier is not built"
command -v python3 >/dev/null || skip_all "there is no python3"

"$build/tools/pier" ping -d soft_lo --listen 127.0.0.1:0 >"$tmp/server" 2>&1 &
server=$!

listens()
{
	port=$(sed -n 's/.* listens on port \([0-9]*\),.*/\1/p' "$tmp/server")
	[ "$port" ]
}

wait_for 20 listens || {
	cat "$tmp/server"
	echo "Bail out! pier ping does not listen"
	exit 1
}
python3 "$top/t/soft/python_peer.py" 127.0.0.1 "$port"
status=$?
kill -0 $server || status=1
[ $status -eq 0 ] || sed 's/^/# server: /' "$tmp/server"
exit $status
