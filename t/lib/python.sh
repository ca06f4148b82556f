# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# For tests of the package for Python: source it after tap.sh.  $python is the
# interpreter that it was built for.

[ -f "$build/bindings/python/built/pier/stamp" ] ||
	skip_all "the package for Python is not built: no cffi or no Python.h"
python=$(sed -n 's/^PYTHON3 = //p' "$build/Makefile")
PYTHONPATH=$build/bindings/python/built
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# An interpreter that no sanitizer was linked with loads it first; what CPython
# does not free before it ends is none of pier's.
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$build/Makefile")
case $sanitize in
*address*)
	LD_PRELOAD=$(cc -print-file-name=libasan.so)
	ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
	export LD_PRELOAD ASAN_OPTIONS ;;
?*)
	skip_all "CPython does not run with $sanitize" ;;
esac
