# SPDX-License-Identifier: BSD-2-Clause
"""TAP for tests in Python: functions, in the order of a list."""
import contextlib
import inspect
import os
import sys
import traceback

import pier

LIMIT = 20      # seconds that no test comes near


@contextlib.contextmanager
def pair(**config):
    """Two connections of this process that are connected to each other."""
    with pier.Device(os.environ.get("PIER_DEVICE", "soft_lo")) as dev, \
            pier.Engine() as engine, \
            pier.Rdma(dev, engine, **config) as left, \
            pier.Rdma(dev, engine) as right:
        one, other = left.export(), right.export()
        changes = [one.connect(other.descriptor),
                   other.connect(one.descriptor)]
        for change in changes:
            change.wait(LIMIT)
        yield one, other


def fails(error, call, *args, kind=pier.PierError):
    """call raises the PierError of that errno."""
    try:
        call(*args)
    except kind as raised:
        assert raised.errno == error, raised
        assert raised.strerror, raised.args
        return raised
    raise AssertionError(f"no error {error} is raised")


class Skipped(Exception):
    """A test that cannot run here."""


def skip(reason):
    """End the test that runs."""
    raise Skipped(reason)


def run(*tests):
    """Run the tests; does not return."""
    failed = 0
    for number, test in enumerate(tests, 1):
        outcome, note = "ok", ""
        try:
            test()
        except Skipped as reason:
            if os.environ.get("PIER_TEST_REQUIRE"):
                outcome = "not ok"
                failed += 1
            note = f" # SKIP {reason}"
        except Exception:  # pylint: disable=broad-except
            outcome = "not ok"
            failed += 1
            for line in traceback.format_exc().splitlines():
                print("#", line, file=sys.stderr)
        print(f"{outcome} {number} - {test.__name__}{note}", flush=True)
    every = {name for name, value in sys.modules["__main__"].__dict__.items()
             if inspect.isfunction(value) and value.__doc__ is None}
    forgotten = every - {test.__name__ for test in tests}
    print(f"1..{len(tests)}")
    sys.exit(bool(failed or forgotten))
