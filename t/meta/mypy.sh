#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The types of the package for Python, by mypy: what it declares is consistent,
# and the examples use it as a strict program does.
. "${0%/*}/../lib/tap.sh"

command -v mypy >/dev/null || skip_all "mypy is not installed"
cd "$top/bindings/python" || exit
export MYPY_CACHE_DIR="$tmp/cache" MYPYPATH=.:examples

the_package_is_consistent()
{
	mypy pier >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}

examples_and_the_stub_are_strict()
{
	mypy --strict --follow-imports=silent pier/_pier.pyi examples \
		>"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
}

# Without the annotations of the package all of them would be of any type.
a_wrong_use_is_found()
{
	cat >"$tmp/wrong.py" <<-'END'
	import pier

	count: str = pier.Engine().progress()
	pier.Device(1.5)
	END
	! mypy --strict --follow-imports=silent "$tmp/wrong.py" \
		>"$tmp/out" 2>&1 && grep -q 'wrong.py:3: error' "$tmp/out" &&
		grep -q 'wrong.py:4: error' "$tmp/out" || {
		cat "$tmp/out"
		return 1
	}
}

# Each line that has a mistake has its number in the list.
mistakes_of_a_program_are_found()
{
	cat >"$tmp/program.py" <<-'END'
	import pier

	def copy(dev: pier.Device, engine: pier.Engine) -> None:
	    with pier.Dma(dev, engine) as dma, pier.Mmap(dev, 64) as a:
	        dma.copi(a, a).wait(1)
	        with pier.Sha(engine) as sha:
	            sha.hash(a, a, "5").wait()

	async def serve(rdma: pier.Rdma) -> None:
	    conn = await rdma.connect("127.0.0.1", 5)
	    conn.sendd(None)
	    m = pier.Mmap(rdma.dev, 3.5)
	    message = await rdma.receive(m)
	    print(message.lenght)
	    with rdma.listen() as listener:
	        request = await listener.request()
	        request.acept()
	    n: str = conn.fetch_add(m, 1).wait()
	    server = pier.ComchServer(rdma.engine, rdma.dev, "name")
	    (await server.request()).repply(b"")
	    (await server.connection()).sendd(b"")
	    with pier.Func(rdma.engine) as func:
	        length: str = await func.call(len, b"")
	END
	! mypy --strict --follow-imports=silent "$tmp/program.py" \
		>"$tmp/out" 2>&1 || return 1
	for line in 5 7 11 12 14 17 18 20 21 23; do
		grep -q "program.py:$line: error" "$tmp/out" || {
			echo "no mistake in line $line"
			cat "$tmp/out"
			return 1
		}
	done
}

run the_package_is_consistent
run examples_and_the_stub_are_strict
run a_wrong_use_is_found
run mistakes_of_a_program_are_found
tap_done
