#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Run benchmarks in the build tree, one after the other, and write what they
# print into docs/benchmarks.md.  Peers that are not there are installed by
# quickstart, or left out.  Their output is in bench-results/.
# usage: all.sh SOURCES PAGE NAME...
set -u
PATH=$PATH:/usr/sbin:/sbin
sources=$1 page=$2
shift 2
results=bench-results
make=${MAKE:-make}
begun=$(date +%s)
failed=''
mkdir -p $results || exit

# with NAME COMMAND... - "NAME, VERSION", if it is there
with()
{
	name=$1
	shift
	version=$("$@" 2>/dev/null | grep -o '[0-9][0-9.]*[0-9]' | head -n 1)
	[ -z "$version" ] || echo "$name $version"
}

nng_version()
{
	sed -n 's/^#define NNG_[A-Z]*_VERSION \([0-9]*\).*/\1/p' \
	    /usr/include/nng/nng.h | paste -sd .
}

peers()
{
	with UCX ucx_info -v
	with libfabric fi_info --version
	with ZeroMQ pkg-config --modversion libzmq
	with NNG nng_version
	with iperf3 iperf3 --version
	with rsync rsync --version
	with perftest dpkg-query -W -f '${Version}' perftest
	with gnuplot gnuplot --version
}

load()
{
	cut -d ' ' -f 1 /proc/loadavg
}

today()
{
	LC_ALL=C date -u '+%-d %B %Y'
}

commit()
{
	git -C "$sources" describe --always --dirty 2>/dev/null ||
	    echo "unknown"
}

# What it was measured on; the load before, which a quiet machine has not.
machine()
{
	echo "Measured on $(today) with" \
	    "\`make -C build bench${BENCH_TURNS:+ BENCH_TURNS=$BENCH_TURNS}\`:"
	echo
	echo "| | |"
	echo "|---|---|"
	echo "| processor |" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo |
	    head -n 1), $(nproc) cores |"
	echo "| virtual | $(grep -q '^flags.* hypervisor' /proc/cpuinfo &&
	    echo yes || echo no) |"
	echo "| system | $(. /etc/os-release; echo "$PRETTY_NAME")," \
	    "Linux $(uname -r) |"
	echo "| compiler | $(cc --version | head -n 1) |"
	echo "| Python | $(command -v python3)," \
	    "$(python3 --version | sed 's/^Python //') |"
	echo "| beside | $(peers | paste -sd , | sed 's/,/, /g') |"
	echo "| load before | $before |"
	echo "| seconds | $(($(date +%s) - begun)) |"
}

# The seconds that it may take: the guest's processors are emulated.
limit()
{
	case $1 in
	vm) echo 3000 ;;
	*) echo 900 ;;
	esac
}

# run NAME - what it prints; it has no result if it does not come to its end
run()
{
	begin=$(date +%s)
	file=$results/$1.txt
	rm -f "$file"
	timeout -k 10 "${BENCH_LIMIT:-$(limit "$1")}" $make -s \
	    --no-print-directory "bench-$1" </dev/null \
	    >$results/part 2>$results/"$1".log
	seconds=$(($(date +%s) - begin))
	cat $results/part
	if grep -q '^targets: ' $results/part; then
		{
			echo "## command: make -C build bench-$1"
			echo "## measured: $(today), commit $(commit)"
			echo "## seconds: $seconds"
			grep -v '^make\[' $results/part
		} >"$file"
	else
		tail -n 3 "$results/$1.log"
		failed="$failed $1"
	fi
	rm -f $results/part
}

# of_run NAME... - their results, of those that have one
of_run()
{
	for name; do
		[ ! -f "$results/$name.txt" ] || echo "$results/$name.txt"
	done
}

# pictures NAME... - beside the page, of the benchmarks that have one
pictures()
{
	folder=$(dirname "$page")
	for name; do
		case $name in
		peers)
			[ ! -f bench-sizes.svg ] ||
			    cp bench-sizes.svg "$folder/bench-sizes.svg" ;;
		net)
			! command -v gnuplot >/dev/null ||
			    [ ! -f $results/net.txt ] ||
			    sh "$sources/t/bench/net_plot.sh" \
				"$folder/bench-net.svg" <$results/net.txt ;;
		esac
	done
}

(cd "$sources" && ./quickstart peers) ||
    echo "# some peers are left out: those that need root to be installed"
before=$(load)
for name; do
	echo "== bench-$name"
	run "$name"
done
machine >$results/machine.txt
echo "== all"
pictures "$@"
sh "$sources/t/bench/tables.sh" $results "$page" ||
    failed="$failed tables"
of_run "$@" | xargs -r grep -h ': MISSED$'
echo "# $(($(date +%s) - begun)) s; $page has the tables"
for name in $failed; do
	echo "# without a result: $name"
done
of_run "$@" | xargs -r cat | awk '/^targets: / { met += $2; missed += $4 }
	END { printf "targets: %d met, %d missed\n", met, missed }'
[ -z "$failed" ]
