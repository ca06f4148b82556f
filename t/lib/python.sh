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

# An interpreter that no sanitizer was linked with loads it first.  What it does
# not free before it ends is none of pier's: python.supp has it, by the caller
# of malloc(), beyond which no report goes.  A struct of pier that the package
# has forgotten is a leak.
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$build/Makefile")
case $sanitize in
*address*)
	LD_PRELOAD=$(cc -print-file-name=libasan.so)
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}malloc_context_size=2
	LSAN_OPTIONS=suppressions=$top/t/lib/python.supp:print_suppressions=0
	PYTHONMALLOC=malloc	# LeakSanitizer finds no pointers in arenas
	export LD_PRELOAD ASAN_OPTIONS LSAN_OPTIONS PYTHONMALLOC ;;
?*)
	skip_all "CPython does not run with $sanitize" ;;
esac
