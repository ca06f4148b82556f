# SPDX-License-Identifier: BSD-2-Clause
"""Copies of files."""
import contextlib
import errno
import os
import signal
import tempfile
import threading

import pier
from tap import LIMIT, fails, run

NAME = f"python copies {os.getpid()}"


@contextlib.contextmanager
def serving(**options):
    """A server, of a root with a file; yields a device, folder and root."""
    with tempfile.TemporaryDirectory() as folder, \
            pier.Device("soft_lo") as dev:
        root = os.path.join(folder, "root")
        os.makedirs(os.path.join(root, "sub"))
        with open(os.path.join(root, "sub", "file"), "wb") as file:
            file.write(bytes(range(256)) * 2000)
        ready = threading.Event()
        with pier.Copy(dev, name=NAME, root=root, **options) as copy:
            thread = threading.Thread(target=copy.serve, args=(ready.set,))
            thread.start()
            try:
                assert ready.wait(LIMIT)
                yield dev, folder, root
            finally:
                copy.stop()
                thread.join()


def files_are_sent_and_received():
    with serving() as (dev, folder, root), \
            pier.Copy(dev, name=NAME, recursive=True) as copy:
        result = copy.receive(["sub"], folder)
        assert (result.files, result.failed) == (1, 0), result
        assert result.bytes == 512000
        with open(os.path.join(folder, "sub", "file"), "rb") as file:
            data = file.read()
        assert data == bytes(range(256)) * 2000
        copy.send([os.path.join(folder, "sub", "file")], "back")
        with open(os.path.join(root, "back"), "rb") as file:
            assert file.read() == data


def what_fails_is_reported():
    seen = []
    with serving() as (dev, folder, _), \
            pier.Copy(dev, name=NAME,
                      failed=lambda *args: seen.append(args)) as copy:
        raised = fails(errno.ENOENT, copy.receive, ["none", "sub/file"],
                       folder)
        assert raised.strerror
        assert os.path.exists(os.path.join(folder, "file"))
    assert len(seen) == 1 and seen[0][1].errno == errno.ENOENT, seen


def an_exception_in_a_callback_ends_the_copy():
    def failed(*_):
        raise KeyError("mine")

    with serving() as (dev, folder, _), \
            pier.Copy(dev, name=NAME, failed=failed) as copy:
        try:
            copy.receive(["none", "sub/file"], folder)
        except KeyError:
            return
    raise AssertionError("no exception")


def a_signal_ends_a_server():
    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    with pier.Device("soft_lo") as dev, \
            pier.Copy(dev, name=NAME, root=".") as copy:
        try:
            copy.serve(interrupt)
        except KeyboardInterrupt:
            return
    raise AssertionError("it was not interrupted")


def misuse_is_an_error():
    with pier.Device("soft_lo") as dev:
        try:
            pier.Copy(dev, nothing=1)
        except TypeError:
            pass
        else:
            raise AssertionError("it was taken")
        fails(errno.EINVAL, lambda: pier.Copy(dev, max_clients=1000))
        with pier.Copy(dev, name=NAME, once=True) as copy:
            raised = fails_somehow(copy)
            assert raised.strerror


def fails_somehow(copy):
    """The error of a copy without a server."""
    try:
        copy.receive(["a"], "/tmp")
    except pier.PierError as error:
        return error
    raise AssertionError("there is no server")


run(files_are_sent_and_received,
    what_fails_is_reported,
    an_exception_in_a_callback_ends_the_copy,
    a_signal_ends_a_server,
    misuse_is_an_error)
