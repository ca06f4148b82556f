#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The packages that deb.sh has built, in a clean root of Debian: mmdebstrap
# makes it, apt installs pier there by name, and programs are built and run
# there, without network but loopback.  It needs root and a mirror.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/deb.sh"

root=$dir/root
home=/root
slower=${PIER_TEST_SLOWER:-1}
repo=$dir/repo
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
[ "$(id -u)" -eq 0 ] || skip_all "a root for chroot(2) needs root"
command -v mmdebstrap >/dev/null || skip_all "there is no mmdebstrap"
command -v dpkg-scanpackages >/dev/null || skip_all "there is no dpkg-dev"

# A repository that apt takes as it is.
make_repo()
{
	rm -rf "$repo" && mkdir "$repo" &&
		cp "$dir/first"/*.deb "$repo" || return 1
	(cd "$repo" && dpkg-scanpackages -m . >Packages) &&
		chmod -R a+rX "$dir"
}

# What programs of C and C++ are built with comes from the mirror.
apt_installs_them_by_name()
{
	rm -rf "$root" && make_repo || return 1
	names=$(echo $packages cmake g++ gcc ibverbs-utils libc6-dev meson \
		pkg-config | tr ' ' ,)
	timeout $((600 * slower)) mmdebstrap --mode=root --variant=minbase \
	    --dpkgopt=force-unsafe-io --include="$names" \
	    --setup-hook='mkdir -p "$1/etc/apt/sources.list.d" &&
		echo "deb [trusted=yes] copy:'"$repo"' ./" \
		>"$1/etc/apt/sources.list.d/pier.list"' \
	    "$suite" "$root" >"$dir/root.log" 2>&1 || {
		tail -n 30 "$dir/root.log"
		return 1
	}
}

# in_root COMMAND - sh runs it in the root, with proc, devices and loopback
in_root()
{
	unshare --mount --net --pid --fork sh -c '
		mount -t proc proc "$0/proc" &&
		mount --rbind /dev "$0/dev" && ip link set lo up &&
		exec chroot "$0" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin \
			HOME="$2" LC_ALL=C timeout "$3" \
			sh -c "$1"' "$root" "$1" "$home" $((200 * slower))
}

every_package_is_configured()
{
	in_root 'dpkg --audit'
	for package in $packages; do
		status=$(in_root "dpkg-query -W -f \
			'\${db:Status-Status} \${Version}' $package")
		[ "$status" = "installed $version-1" ] ||
			echo "$package: $status"
	done
}

the_tool_runs()
{
	[ "$(in_root 'pier --version')" = "pier $version" ] &&
		in_root 'pier info -d soft_lo' | grep 'kind  *soft'
}

pier_run_finds_its_libraries()
{
	in_root 'pier run -- ibv_devinfo -d soft_lo' | grep PORT_ACTIVE
}

# By the names of links, as NCCL does it.
programs_find_them_by_their_names()
{
	in_root 'pier run -- python3 -c "import ctypes
for name in \"libibverbs.so\", \"librdmacm.so\":
    ctypes.CDLL(name)"' 2>&1
}

# built DIRECTORY - a program in build/ of each source there
built()
{
	in_root "cd $1 && rm -rf build &&
		meson setup build && ninja -C build" >"$dir/meson" 2>&1 || {
		tail -n 20 "$dir/meson"
		return 1
	}
	find "$root$1" -name '*.c*' ! -path '*/build/*' |
	    while read -r source; do
		program=${source%.*}
		program=$root$1/build${program#"$root$1"}
		[ -x "$program" ] || echo "no $program"
	done
}

meson_builds_the_samples()
{
	rm -rf "$root$home/samples" "$root$home/cpp"
	cp -r "$root/usr/share/doc/pier/samples" "$root$home" &&
		mv "$root$home/samples/cpp" "$root$home" || return 1
	built "$home/samples"
	built "$home/cpp"
}

# A sample is one file; as many at a time as there are processors.
pkg_config_builds_the_samples()
{
	cat >"$root$home/build-one" <<-'END'
		case $1 in
		*.cpp) set -- "$1" c++ -std=c++17 pier-cpp ;;
		doca*) set -- "$1" cc -std=gnu11 doca-2.0 pier ;;
		*/uv*) set -- "$1" cc -std=gnu11 pier-uv pier ;;
		*) set -- "$1" cc -std=gnu11 pier ;;
		esac
		source=$1 cc="$2 $3"
		shift 3
		flags=$(pkg-config --cflags --libs "$@") &&
			$cc -o "$(mktemp)" "$source" $flags || echo "$source"
	END
	in_root 'cd && cd samples &&
		ls *.c services/*.c ../cpp/*.cpp |
		xargs -n 1 -P "$(nproc)" sh ../build-one' 2>&1
}

# One in C and one in C++, as programs of other projects find pier.
cmake_builds_programs()
{
	doc=$root/usr/share/doc/pier/samples
	rm -rf "$root$home/cmake" && mkdir "$root$home/cmake" &&
		cp "$doc/rdma_read_requester.c" \
		    "$doc/cpp/rdma_read_responder.cpp" "$root$home/cmake" ||
		return 1
	cat >"$root$home/cmake/CMakeLists.txt" <<-'END'
		cmake_minimum_required(VERSION 3.10)
		project(programs C CXX)
		find_package(pier 0.1 REQUIRED)
		add_executable(requester rdma_read_requester.c)
		add_executable(responder rdma_read_responder.cpp)
		target_compile_features(responder PRIVATE cxx_std_17)
		target_link_libraries(requester pier::pier)
		target_link_libraries(responder pier::pier)
	END
	in_root 'cd && cd cmake && cmake -G Ninja -S . -B build &&
		cmake --build build' >"$dir/cmake" 2>&1 || {
		tail -n 20 "$dir/cmake"
		return 1
	}
	for program in requester responder; do
		in_root "\"\$HOME\"/cmake/build/$program --help" |
			grep -q -- --device || return 1
	done
}

# The commands are README's, which builds elsewhere.
the_pair_of_the_readme_runs()
{
	sed -n '/^Run two processes/,/^The second/s/^    //p' \
	    "$root/usr/share/doc/pier/README.md" |
	    sed 's,build/samples/,build/,' >"$root$home/samples/pair.sh"
	[ "$(wc -l <"$root$home/samples/pair.sh")" -eq 2 ] || return 1
	in_root 'cd && cd samples && { cat pair.sh && echo wait; } | sh' |
		tee "$dir/pair" | grep -qx 'read "any text"' || {
		cat "$dir/pair"
		return 1
	}
}

python_opens_a_device()
{
	[ "$(in_root 'python3 -c "import pier
with pier.Device(\"soft_lo\") as device: print(device.name)"')" = soft_lo ]
}

run apt_installs_them_by_name
none every_package_is_configured
run the_tool_runs
run pier_run_finds_its_libraries
none programs_find_them_by_their_names
none meson_builds_the_samples
none pkg_config_builds_the_samples
run cmake_builds_programs
run the_pair_of_the_readme_runs
run python_opens_a_device
tap_done
