#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A program that CMake builds finds pier by find_package().
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/install.sh"

command -v cmake >/dev/null || skip_all "there is no cmake"
lib=$(find "$root" -type d -path '*/cmake/pier')
lib=${lib%/cmake/pier}
doc=$(find "$root" -type d -path '*/doc/pier')
sanitize=$(sed -n 's/^SANITIZE_FLAGS = *//p' "$build/Makefile")
version=$(sed -n 's/.*PIER_VERSION "\(.*\)"/\1/p' \
    "$top/lib/include/pier/version.h")

# project VERSION - of a sample and of a program of libpier-uv
project()
{
	cp "$doc/samples/rdma_read_requester.c" "$tmp" &&
		cp "$doc/samples/services/uv_echo.c" "$tmp" || return 1
	cat >"$tmp/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.10)
		project(programs C)
		find_package(pier $1 REQUIRED)
		add_executable(sample rdma_read_requester.c)
		target_link_libraries(sample pier::pier)
		add_executable(echo uv_echo.c)
		target_link_libraries(echo pier::uv)
	END
}

configure()
{
	cmake -S "$tmp" -B "$tmp/$1" -Dpier_DIR="$lib/cmake/pier" \
	    -DCMAKE_C_FLAGS="$sanitize" -DCMAKE_CXX_FLAGS="$sanitize"
}

programs_are_built()
{
	project 0.1 && configure b && cmake --build "$tmp/b" || return 1
	for program in sample echo; do
		LD_LIBRARY_PATH=$lib "$tmp/b/$program" --help |
			grep -q -- --device || return 1
	done
}

a_program_in_cpp_is_built()
{
	command -v "${CXX:-c++}" >/dev/null || skip "there is no C++ compiler"
	cp "$doc/samples/cpp/rdma_read_requester.cpp" "$tmp" || return 1
	cat >"$tmp/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.10)
		project(programs CXX)
		find_package(pier 0.1 REQUIRED)
		add_executable(sample rdma_read_requester.cpp)
		target_compile_features(sample PRIVATE cxx_std_17)
		target_link_libraries(sample pier::pier)
	END
	configure f && cmake --build "$tmp/f" || return 1
	LD_LIBRARY_PATH=$lib "$tmp/f/sample" --help | grep -q -- --device
}

# refused VERSION - the words are wrapped
refused()
{
	project "$1" && ! configure c >"$tmp/out" 2>&1 || return 1
	tr -s ' \n' ' ' <"$tmp/out" | grep "version: $version"
}

a_version_that_may_be_incompatible_is_refused()
{
	refused 99 && refused 0.0
}

the_exact_version_is_taken()
{
	project "$version EXACT" && configure d
}

a_missing_library_is_reported()
{
	mkdir -p "$tmp/none/lib/cmake" &&
		cp -r "$lib/cmake/pier" "$tmp/none/lib/cmake" &&
		project 0.1 || return 1
	! cmake -S "$tmp" -B "$tmp/e" \
	    -Dpier_DIR="$tmp/none/lib/cmake/pier" >"$tmp/out" 2>&1 &&
		grep 'libpier.so' "$tmp/out"
}

run programs_are_built
run a_program_in_cpp_is_built
run a_version_that_may_be_incompatible_is_refused
run the_exact_version_is_taken
run a_missing_library_is_reported
tap_done
