# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# A server of pier perf that stays, and its clients: source it after
# toolbox.sh and device_known.
take_ports
port=$first_port

# some WORDS... - the first alone in the guest, where each takes seconds
some()
{
	echo "$1"
	shift
	[ -f /run/vm/job ] || printf '%s\n' "$@"
}

# Before a command in the background: a shell lets that ignore Ctrl-C.
interruptible="env --default-signal=INT"

# serve OPTION... - a server at a new port, $server
serve()
{
	port=$((port + 1))
	"$pier" perf -d "$device" --listen "$@" $port >"$tmp/a.out" \
		2>"$tmp/a.err" &
	server=$!
	wait_for 20 grep -q waiting "$tmp/a.err" || {
		cat "$tmp/a.err"
		return 1
	}
}

# measures WORD... - with the server
measures()
{
	timeout 50 "$pier" perf -d "$device" --timeout 20 "$@" \
		"$address:$port" >"$tmp/b.out" 2>"$tmp/b.err" && return
	cat "$tmp"/[ab].out "$tmp"/[ab].err
	return 1
}

# A processor that this process may use.
allowed_cpu()
{
	sed -n 's/^Cpus_allowed_list:\t\([0-9]*\).*/\1/p' /proc/self/status
}

# counts N TEXT - so many lines of the server's output have the text
counts()
{
	wait_for 20 eval "[ \$(grep -c -- '$2' $tmp/a.out) -eq $1 ]" && return
	cat "$tmp/a.out" "$tmp/a.err"
	return 1
}

# sends - so many requests of the client of before are complete
sends()
{
	"$pier" counters "$client" >"$tmp/counted" 2>&1 &&
		awk '$1 == "completions" && $2 > 300 { found = 1 }
			END { exit !found }' "$tmp/counted"
}

# holds PYTHON - a condition on d, the JSON of b.out, and r, its results
holds()
{
	python3 - "$tmp/b.out" "$1" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		r = d["results"]
		assert eval(sys.argv[2]), (sys.argv[2], d)
	END
}
