# SPDX-License-Identifier: BSD-2-Clause
"""Let examples run from the source tree: import in_tree, then pier.

Without an installed package pier the one that was built in build/ is used.
"""
import importlib.util
import pathlib
import sys

BUILT = (pathlib.Path(__file__).resolve().parents[3] /
         "build/bindings/python/built")

if importlib.util.find_spec("pier") is None:
    if not (BUILT / "pier").is_dir():
        sys.exit(f"{BUILT}/pier is missing: ./quickstart builds it, if "
                 "python3 has cffi and Python.h")
    sys.path.insert(0, str(BUILT))
