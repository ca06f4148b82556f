#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# docs/python.md: its program runs, its names exist, and pip installs.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/python.sh"

guide=$top/docs/python.md

the_program_of_the_guide_runs()
{
	sed -n '/^    import asyncio$/,/^[^ ]/s/^    //p' "$guide" \
		>"$tmp/program.py"
	timeout 60 "$python" -W error "$tmp/program.py" >"$tmp/out" || return 1
	[ "$(cat "$tmp/out")" = "received b'hello'" ] || cat "$tmp/out"
}

# Objects and methods, `Name(...)` and `name()` in the tables and the text.
what_the_guide_names_exists()
{
	cat >"$tmp/names.py" <<-'END'
	import re
	import sys
	import pier

	text = open(sys.argv[1]).read()
	known = set(dir(pier))
	for kind in vars(pier).values():
	    known.update(dir(kind) if isinstance(kind, type) else ())
	names = re.findall(r"`(?:[a-z]+\.)?([A-Za-z]\w*)\(", text)
	assert len(names) > 25, names
	for name in sorted(set(names)):
	    if name not in known and not name.startswith("pier_") \
	            and name != "resize":
	        print("docs/python.md: there is no", name)
	END
	"$python" "$tmp/names.py" "$guide"
}

# An interpreter that has what pip needs to build.
builder()
{
	for builder in "$python" /usr/bin/python3; do
		"$builder" -c 'import setuptools, pip, wheel, cffi' \
			2>/dev/null && return
	done
	return 1
}

pip_installs_the_package_for_an_installed_pier()
{
	. "$top/t/lib/install.sh"
	[ -z "${sanitize:-}" ] || skip "pip builds without sanitizers"
	builder || skip "no python3 has pip, setuptools, wheel and cffi"
	installed_tools
	mkdir "$tmp/src" && cp -r "$top/bindings/python/pier" \
		"$top/bindings/python/"*.py "$top/bindings/python/"*.toml \
		"$tmp/src/" && chmod -R u+w "$tmp/src" || return 1
	unset PYTHONPATH
	CC=cc "$builder" -m pip install -q --no-build-isolation --no-deps \
		--no-index --root-user-action=ignore --target "$tmp/site" \
		"$tmp/src" >"$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	cd / && PYTHONPATH=$tmp/site "$builder" -c '
import pier
assert pier.__file__.startswith("'"$tmp"'/site/"), pier.__file__
with pier.Device("soft_lo") as dev, dev.register(8) as mmap:
    print("open", dev.name, len(mmap), pier.__version__)' >"$tmp/out"
	[ "$(cat "$tmp/out")" = "open soft_lo 8 $(sed -n \
		's/.*PIER_VERSION "\(.*\)".*/\1/p' \
		"$top/lib/include/pier/version.h")" ] || cat "$tmp/out"
	[ -f "$tmp/site/pier/py.typed" ] || echo "no py.typed is installed"
}

the_version_of_the_package_is_that_of_pier()
{
	grep -q "^version = \"$("$python" -c \
		'import pier; print(pier.__version__)')\"" \
		"$top/bindings/python/pyproject.toml" ||
		echo "pyproject.toml has another version"
}

# What a type checker reads: py.typed, and annotations of all that is public.
all_that_is_public_has_types()
{
	cat >"$tmp/public.py" <<-'END'
	import inspect
	import pier

	def look(name, function):
	    if function.__name__ in ("__init__", "__exit__"):
	        return
	    if inspect.signature(function).return_annotation is \
	            inspect.Signature.empty:
	        print("no type:", name)

	for name in pier.__all__:
	    thing = getattr(pier, name)
	    if inspect.isfunction(thing):
	        look(name, thing)
	    if not inspect.isclass(thing) or issubclass(thing, tuple):
	        continue
	    for method, value in vars(thing).items():
	        value = getattr(value, "fget", None) or getattr(
	            value, "__func__", value)
	        if inspect.isfunction(value) and method[0] != "_" \
	                and method not in ("handle", "context", "pointer",
	                                   "begun", "take"):
	            look(f"{name}.{method}", value)
	END
	"$python" "$tmp/public.py"
	[ -f "$PYTHONPATH/pier/_pier.pyi" ] || echo "no _pier.pyi"
}

none all_that_is_public_has_types
none the_program_of_the_guide_runs
none what_the_guide_names_exists
none the_version_of_the_package_is_that_of_pier
none pip_installs_the_package_for_an_installed_pier
tap_done
