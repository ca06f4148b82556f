# SPDX-License-Identifier: BSD-2-Clause
"""Copies of files between two processes."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Union

from ._callbacks import user_data
from ._data import device_of
from ._errors import check, configuration, create, error_of, text
from ._life import Closable, close_dropped
from ._pier import ffi, lib

if TYPE_CHECKING:
    from ._device import Device
    from ._rep import Representor


class CopyResult(NamedTuple):
    """What a copy, or all copies of a server, have done."""

    files: int      # that are complete
    failed: int     # files and directories that are not
    bytes: int      # of data that was received
    broken: int     # of a server: clients that have ended with an error


class Copy(Closable):
    """Copies of files, pier_copy(3), between a server and clients.

    Calls block, but other threads of Python run, and Ctrl-C ends them.
    failed(path, error) is called for each file that was not copied,
    progress(path, size, done) about every 200 ms.  config has members of
    struct pier_copy_config: name, address, root, timeout_ms, max_clients.
    """

    # pylint: disable=too-many-arguments
    def __init__(self, dev: Device, *, recursive: bool = False,
                 preserve: bool = False, resume: bool = False,
                 once: bool = False, anywhere: bool = False,
                 rep: Optional[Representor] = None,
                 failed: Optional[Callable[[str, OSError], Any]] = None,
                 progress: Optional[Callable[[str, int, int], Any]] = None,
                 **config: Union[str, int]) -> None:
        self._copy = ffi.NULL
        self._thread: Optional[threading.Thread] = None
        self._dev = dev
        self._rep = rep
        self._failed = failed
        self._progress = progress
        self._listening: Optional[Callable[[], Any]] = None
        self._error: Optional[BaseException] = None
        self._strings = {name: ffi.new("char[]", value.encode())
                         for name, value in config.items()
                         if isinstance(value, str)}
        cfg = configuration("copy", {**config, **self._strings})
        cfg.rep = ffi.NULL if rep is None else rep.handle
        cfg.flags = (recursive * lib.PIER_COPY_RECURSIVE |
                     preserve * lib.PIER_COPY_PRESERVE |
                     resume * lib.PIER_COPY_RESUME |
                     once * lib.PIER_COPY_ONCE |
                     anywhere * lib.PIER_COPY_ANYWHERE)
        self._copy = create(lib.pier_copy_create, device_of(dev))
        check(lib.pier_copy_configure(self._copy, cfg))
        self._pointer = user_data(self)
        lib.pier_copy_set_callbacks(
            self._copy, lib.pier_py_copy_failed,
            lib.pier_py_copy_progress, self._pointer)

    def send(self, sources: list[str], target: str = "") -> CopyResult:
        """Copy files here to target of the server; "" is its root.

        Raises the error of the first that failed; ECANCELED, stopped.
        """
        return self._many(lib.pier_copy_send, sources, target)

    def receive(self, sources: list[str], target: str) -> CopyResult:
        """Copy files of the server to target here."""
        return self._many(lib.pier_copy_receive, sources, target)

    def serve(self, listening: Optional[Callable[[], Any]] = None
              ) -> CopyResult:
        """Serve clients until stop(), or one with once.

        listening() is called when clients can connect.
        """
        self._listening = listening
        return self._run(lib.pier_copy_serve, lib.pier_py_copy_listening,
                         self._pointer)

    def file(self, path: str) -> CopyResult:
        """Copy one file from or to the peer, which calls serve_file().

        Of the two paths the one that exists is the source.
        Raises EEXIST, both exist; ENOENT, neither.
        """
        return self._run(lib.pier_copy_file, path.encode())

    def serve_file(self, path: str) -> CopyResult:
        """The other end of file()."""
        return self._run(lib.pier_copy_serve_file, path.encode())

    def stop(self) -> None:
        """End the call in progress, or the next one.  Any thread."""
        lib.pier_copy_stop(self._copy)

    def close(self) -> None:
        """Destroy it.  It may be repeated."""
        copy, self._copy = self._copy, ffi.NULL
        thread, self._thread = self._thread, None
        if thread is not None and thread.is_alive():
            lib.pier_copy_stop(copy)    # the wait for it was interrupted
            thread.join()
        lib.pier_copy_destroy(copy)
        close_dropped()

    def __del__(self) -> None:
        if getattr(self, "_copy", ffi.NULL) != ffi.NULL:
            self.close()

    def _many(self, call, sources: list[str], target: str) -> CopyResult:
        chars = [ffi.new("char[]", path.encode()) for path in sources]
        return self._run(call, ffi.new("char *[]", chars), len(chars),
                         target.encode())

    # In a thread, so that this one sees signals.
    def _run(self, call, *args) -> CopyResult:
        errors: list = []
        ended = threading.Event()

        def work() -> None:
            try:
                err = call(self._copy, *args)
                errors.append(error_of(err) if err else None)
            except BaseException as error:
                errors.append(error)
            finally:
                ended.set()

        self._thread = threading.Thread(target=work)
        self._thread.start()
        try:
            ended.wait()
        finally:
            if not ended.is_set():
                self.stop()
                ended.wait()
        problem, self._error = self._error or errors[0], None
        if problem is not None:
            raise problem
        ret = ffi.new("struct pier_copy_result *")
        lib.pier_copy_get_result(self._copy, ret)
        return CopyResult(ret.files, ret.failed, ret.bytes, ret.broken)

    # Callbacks.

    def file_failed(self, path, code: int, message) -> None:
        """A file was not copied."""
        if self._failed is not None:
            self._guard(self._failed, text(path),
                        error_of(code, text(message)))

    def file_progress(self, path, size: int, done: int) -> None:
        """A file is being copied."""
        if self._progress is not None:
            self._guard(self._progress, text(path), size, done)

    def is_listening(self) -> None:
        """Clients can connect."""
        if self._listening is not None:
            self._guard(self._listening)

    # An exception ends the copy, and is what its call raises.
    def _guard(self, function: Callable[..., Any], *args: Any) -> None:
        try:
            function(*args)
        except BaseException as error:  # pylint: disable=broad-except
            self._error = error
            self.stop()
