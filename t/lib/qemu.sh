# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # $tmp, $port and those of peers.sh
#
# A virtual machine of QEMU that migrates, while it runs, from one end to the
# other by RDMA: source it after peers.sh.
need qemu-system-x86 qemu-system-x86_64
need python3 python3

# machine NAME END OPTION... - without a disk or a kernel: its firmware runs
machine()
{
	name=$1
	where_it_is=$2
	shift 2
	program "$where_it_is" qemu-system-x86_64 -accel tcg -M microvm -m 32 \
	    -nodefaults -display none \
	    -qmp "unix:$tmp/$name.qmp,server=on,wait=off" "$@" \
	    >"$tmp/$name" 2>&1
}

# tell NAME COMMAND... - its answer is in $tmp/answer
tell()
{
	name=$1
	shift
	python3 "$top/t/dropin/qmp.py" "$tmp/$name.qmp" "$@" \
	    >"$tmp/answer" 2>&1
}

answers()
{
	tell "$1" '{"execute": "query-status"}'
}

has_migrated()
{
	tell client '{"execute": "query-migrate"}' &&
	    grep -q '"status": "\(completed\|failed\)"' "$tmp/answer"
}

# migrate PIN-ALL - memory that the client alone was given is at the server then
migrate()
{
	next_port
	capability='{"execute": "migrate-set-capabilities", "arguments":
	    {"capabilities": [{"capability": "rdma-pin-all", "state": '$1'}]}}'
	machine server "$server_at" -incoming defer &
	server=$!
	machine client "$client_at" \
	    -device "loader,file=$tmp/pattern,addr=0x1000000" &
	client=$!
	wait_for 30 answers server && wait_for 30 answers client &&
	    tell server "$capability" '{"execute": "migrate-incoming",
		"arguments": {"uri": "rdma:'"$address:$port"'"}}' &&
	    tell client "$capability" '{"execute": "migrate",
		"arguments": {"uri": "rdma:'"$address:$port"'"}}' &&
	    wait_for 50 has_migrated &&
	    says "$tmp/answer" '"status": "completed"' &&
	    wait_for 10 runs_at_server && has_memory
}

runs_at_server()
{
	answers server && grep -q '"running": true' "$tmp/answer"
}

has_memory()
{
	tell server '{"execute": "pmemsave", "arguments": {"val": 16777216,
	    "size": 8000000, "filename": "'"$tmp/memory"'"}}' &&
	    cmp "$tmp/memory" "$tmp/pattern"
}

# ends - both processes exit with 0
ends()
{
	held=$?
	tell server '{"execute": "quit"}'
	tell client '{"execute": "quit"}'
	wait "$client"
	client=$?
	both_succeed && [ $held -eq 0 ] || {
		cat "$tmp/answer" "$tmp/client" "$tmp/server"
		return 1
	}
}

a_machine_migrates()
{
	migrate false
	ends
}

a_machine_whose_memory_is_registered_at_once_migrates()
{
	migrate true
	ends
}

# run_qemu [WHERE]
run_qemu()
{
	head -c 8000000 /dev/urandom >"$tmp/pattern"
	run_all "${1:-}" a_machine_migrates \
	    a_machine_whose_memory_is_registered_at_once_migrates
}
