#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pier counters --prometheus: a parser of its format reads the values that
# --json prints, of two processes that have ended, so that both see the same.
. "${0%/*}/../lib/tap.sh"
device=soft_lo
. "$top/t/lib/toolbox.sh"

for python in python3 /usr/bin/python3 ""; do
	[ "$python" ] || skip_all "there is no python3"
	"$python" -c pass 2>/dev/null && break
done

take_ports

# One of the two is called pi"e\r and a newline, which the library replaces.
strange=$(printf 'pi"e\\r\nx')
# On the file system of the counters files.
PIER_COUNTERS_DIR=$(mktemp -d /dev/shm/kept.XXXXXX) || exit
export PIER_COUNTERS_DIR
trap 'tap_reap; rm -rf "$tmp" "$PIER_COUNTERS_DIR" "$tap_link"' EXIT

# The grammar of the format; fails with the first line that is not of it, and
# compares each value with that of JSON.
cat >"$tmp/parse.py" <<'END'
import json, re, sys

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(r'(%s)(?:\{((?:%s,?)*)\})? (\S+)$' % (NAME, LABEL))

def unescape(text):
    return re.sub(r'\\(.)', lambda m: {'n': '\n'}.get(m[1], m[1]), text)

def parse(text):
    types, helps, samples, current = {}, {}, {}, None
    assert text.endswith('\n'), 'the last line does not end'
    for line in text.splitlines():
        if line.startswith('# HELP '):
            name, words = line[7:].split(' ', 1)
            assert re.fullmatch(NAME, name) and words, line
            assert name not in helps, 'second HELP: ' + line
            helps[name], current = words, name
        elif line.startswith('# TYPE '):
            name, kind = line[7:].split(' ')
            assert kind in ('counter', 'gauge', 'untyped'), line
            assert name == current and name not in types, line
            types[name] = kind
        else:
            match = SAMPLE.match(line)
            assert match, 'no sample: ' + line
            assert match[1] == current, 'not in its group: ' + line
            labels = tuple((m[1], unescape(m[2])) for m in
                           re.finditer(LABEL, match[2] or ''))
            names = [name for name, _ in labels]
            assert len(set(names)) == len(names), line
            assert (match[1], labels) not in samples, 'twice: ' + line
            assert types[match[1]] != 'counter' or \
                match[1].endswith('_total'), line
            samples[match[1], labels] = float(match[5])
    assert set(types) == set(helps)
    return samples

UNITS = {'window': ('window_bytes', 1), 'rtt_ns': ('rtt_seconds', 1e-9)}

def wanted(root):
    def add(group, counters, **labels):
        for key, value in counters.items():
            name, scale = UNITS.get(key, (key + '_total', 1))
            if key == 'rtt_ns' and not value:
                continue
            yield ('pier_%s_%s' % (group, name),
                   tuple(labels.items())), value * scale
    for process in root['processes']:
        for dev in process['devices']:
            one = dict(pid=str(process['pid']),
                       pid_namespace=str(process['pid_namespace']),
                       start=str(process['start']),
                       program=process['program'], device=dev['name'])
            yield from add('device', dev['counters'], **one)
            for conn in dev['connections']:
                more = dict(one, qpn=hex(conn['qpn']))
                if 'peer_qpn' in conn:
                    more.update(peer_qpn=hex(conn['peer_qpn']),
                                local=conn['local'], peer=conn['peer'])
                yield from add('connection', conn['counters'], **more)

samples = parse(open(sys.argv[1], newline='\n').read())
info = [key for key in samples if key[0] == 'pier_info']
assert len(info) == 1 and samples.pop(info[0]) == 1
want = dict(wanted(json.load(open(sys.argv[2]))))
for key in sorted(set(want) | set(samples)):
    if key[0].startswith('pier_adapter_'):
        continue
    assert key in samples, 'lacks %s' % (key,)
    assert key in want, 'not in JSON: %s' % (key,)
    assert abs(samples[key] - want[key]) < 1e-9, key
print(len(want), *sorted({dict(key[1])['program'] for key in want}))
END

# agrees OPERAND... - both forms do; $tmp/programs are the names
agrees()
{
	status 0 "$pier" counters --json "$@" && cp "$tmp/out" "$tmp/json" &&
		status 0 "$pier" counters --prometheus "$@" &&
		"$python" "$tmp/parse.py" "$tmp/out" "$tmp/json" \
			>"$tmp/programs"
}

# The files of a pair that is killed, with their connections; the name of the
# program in one of them is changed, as other programs have other names.
it_prints_what_json_does()
{
	begin "--respond" "-n 100000000" || return 1
	wait_for 10 moved $side_a && wait_for 10 moved $side_b
	held=$?
	kill -KILL $side_a $side_b
	wait $side_a $side_b
	[ $held -eq 0 ] || return 1
	file=$(echo "$PIER_COUNTERS_DIR/"*".$side_b."*)
	"$python" - "$file" "$strange" <<-'END' || return 1
		import sys
		path, name = sys.argv[1:]
		data = bytearray(open(path, "rb").read())
		at = data.index(b"pier\0" + bytes(10), 16)
		data[at:at + 16] = name.encode().ljust(16, b"\0")
		open(path, "wb").write(data)
	END
	agrees && [ "$(cut -d ' ' -f 1 "$tmp/programs")" -gt 100 ] &&
		grep -qF 'program="pi\"e\\r?x"' "$tmp/out" &&
		says "$tmp/out" "# TYPE pier_device_tx_packets_total counter" \
			"# TYPE pier_connection_rtt_seconds gauge" \
			"# HELP pier_connection_window_bytes " \
			'peer="127.0.0.1:' &&
		agrees all && agrees -d soft_lo $side_a &&
		[ "$(cut -d ' ' -f 2 "$tmp/programs")" = pier ]
}

# in_container PORT - a server that is process 1 of its namespace
in_container()
{
	unshare -pf --kill-child "$pier" ping -d soft_lo --listen="$1" \
		>"$tmp/serve.$1" 2>&1 &
	wait_for 20 grep -q 'listens on port' "$tmp/serve.$1"
}

# Both have the same pid, program and device.
processes_of_two_containers_have_their_own_series()
{
	unshare -pf true 2>/dev/null || skip "no PID namespace can be made"
	PIER_COUNTERS_DIR=$PIER_COUNTERS_DIR/two
	mkdir "$PIER_COUNTERS_DIR" && in_container "$first_port" &&
		in_container $((first_port + 1)) && agrees || return 1
	[ "$(grep -c '"pid": 1,' "$tmp/json")" -eq 2 ] &&
		[ "$(grep -c '^pier_device_rx_packets_total{pid="1",' \
			"$tmp/out")" -eq 2 ]
}

# moved PID - it has received
moved()
{
	"$pier" counters "$1" 2>/dev/null | grep -q '^    rtt_ns  *[1-9]'
}

nothing_in_use_is_no_error()
{
	mkdir "$tmp/empty" &&
		status 0 env PIER_COUNTERS_DIR="$tmp/empty" "$pier" counters \
			--prometheus -d soft_lo &&
		[ "$(grep -cv '^#' "$tmp/out")" -eq 1 ] &&
		says "$tmp/out" 'pier_info{version="'
}

one_format_is_printed()
{
	status 2 "$pier" counters --prometheus --json &&
		says "$tmp/err" "--prometheus and --json" &&
		status 2 "$pier" counters --prometheus --events &&
		says "$tmp/err" "--prometheus and --events" &&
		status 2 "$pier" counters --prometheus some &&
		says "$tmp/err" '"some"' "or all" &&
		status 1 "$pier" counters --prometheus $$ &&
		says "$tmp/err" "process $$ has no counters file in" \
			"$PIER_COUNTERS_DIR"
}

run it_prints_what_json_does
run processes_of_two_containers_have_their_own_series
run nothing_in_use_is_no_error
run one_format_is_printed
tap_done
