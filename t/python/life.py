# SPDX-License-Identifier: BSD-2-Clause
"""The life of objects: no copies, cycles of garbage, close() and its time."""
import array
import asyncio
import copy
import contextlib
import errno
import gc
import os
import pickle
import subprocess
import sys
import threading
import time

import pier
from tap import LIMIT, fails, pair, run

NAME = f"python life {os.getpid()}"

CYCLE = """
import gc
import pier

class Service:
    pass

def make():
    it = Service()
    it.dev, it.engine = pier.Device("soft_lo"), pier.Engine()
    it.rdma = pier.Rdma(it.dev, it.engine)
    it.what = what(it)
    it.itself = it

def what(it):
    {what}

for _ in range(10):
    make()
    gc.collect()
    dev = pier.Device("soft_lo")
    assert not dev.users(), dev.users()
    dev.close()
print("ended")
"""

FINALLY = """
import errno
import gc
import pier

def session(holder):
    dev, engine = pier.Device("soft_lo"), pier.Engine()
    rdma = pier.Rdma(dev, engine)
    conn = rdma.export()
    try:
        yield
    finally:
        try:
            conn.disconnect()
            conn.send(None)
        except pier.PierError as error:
            assert error.errno == errno.ENOTCONN, error

for _ in range(10):
    holder = []
    holder.append(session(holder))
    next(holder[0])
    del holder
    gc.collect()
print("ended")
"""


PREPARED = """
import gc
import threading
import pier

with pier.Device("soft_lo") as dev, pier.Engine() as engine, \\
        dev.register(64) as memory:
    with pier.Dma(dev, engine) as dma:
        gc.disable()
        cycle = [pier.prepare(dma.copy, memory, memory)]
        cycle.append(cycle)
        del cycle
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
        assert memory.users() == 2, memory.users()
    assert not memory.users(), memory.users()
print("ended")
"""


VIEW = """
import pier

def make():
    dev = pier.Device("soft_lo")
    return pier.Mmap.allocate(dev, 4096)[:].view()

view = make()
view[0] = 7
assert view[0] == 7
print("ended")
"""


def ends_quietly(text):
    """The program ends, and prints no other line than that."""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", text],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=5 * LIMIT, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout)
    assert done.stdout == b"ended\n", done.stdout


def cycle(what):
    """A cycle with what, a device, an engine and a context is collected."""
    ends_quietly(CYCLE.replace("{what}", what))


def a_cycle_with_a_listener_is_collected():
    cycle('return it.rdma.listen(address="127.0.0.1")')


def a_cycle_with_a_connection_is_collected():
    cycle("return it.rdma.export()")


def a_cycle_with_contexts_is_collected():
    cycle("return pier.Sha(it.engine), pier.Dma(it.dev, it.engine)")


def a_cycle_with_a_comm_channel_is_collected():
    cycle('return pier.ComchServer(it.engine, it.dev, "python life")')


def a_cycle_with_a_receive_in_flight_is_collected():
    cycle("return it.rdma.receive(pier.Mmap(it.dev, bytearray(64)))")


def a_connection_is_used_by_a_finally_of_a_cycle():
    ends_quietly(FINALLY)


def a_view_outlives_its_device():
    ends_quietly(VIEW)


class Noting(pier.Rdma):
    """An RDMA context that notes the threads that close it."""

    closed_by: list

    def close(self):
        if self.is_open():
            self.closed_by.append(threading.get_ident())
        super().close()

    def is_open(self):
        """Was it not closed?"""
        return bool(getattr(self, "_rdma", None))


class Cycle:
    """Garbage that the garbage collector alone finds."""

    def __init__(self, *what):
        self.what = what
        self.itself = self


def in_thread(function):
    """Run function in another thread, to its end; returns its ident."""
    thread = threading.Thread(target=function)
    thread.start()
    ident = thread.ident
    thread.join(LIMIT)
    assert not thread.is_alive()
    return ident


def wait_until(is_over):
    """Wait for what another thread does."""
    for _ in range(LIMIT * 100):
        if is_over():
            return
        time.sleep(0.01)


@contextlib.contextmanager
def no_collection():
    """The garbage collector does not run by itself."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def noting(dev, engine):
    """A new one, in a cycle with what is on it; the list of its threads."""
    rdma = Noting(dev, engine)
    rdma.closed_by = []
    Cycle(rdma, rdma.export(), rdma.listen(address="127.0.0.1"),
          pier.Dma(dev, engine))
    return rdma.closed_by


def a_cycle_is_closed_by_the_thread_of_its_engine():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            no_collection():
        closed_by = noting(dev, engine)
        in_thread(gc.collect)
        assert not closed_by and dev.users() == 2, closed_by
        engine.progress()
        assert closed_by == [threading.get_ident()]
        assert not dev.users(), dev.users()


def what_is_on_a_context_is_closed_by_the_thread_of_its_engine():
    with pair() as (one, _), no_collection(), \
            one.rdma.dev.register(64) as memory:
        holder = [one.rdma.export(), one.rdma.listen(address="127.0.0.1"),
                  pier.prepare(one.rdma.receive, memory)]
        owns = [it._own for it in holder[:2]]
        in_thread(holder.clear)
        assert all(own.pointer for own in owns), owns
        assert memory.users() == 1, memory.users()
        one.engine.progress()
        assert not any(own.pointer for own in owns), owns
        assert not memory.users(), memory.users()
        one.send(None)


def a_task_that_another_thread_has_dropped_goes_with_its_context():
    ends_quietly(PREPARED)


def a_cycle_is_closed_by_a_thread_that_waits():
    ready = threading.Event()
    over = threading.Event()
    closed_by = []

    def drive(engine):
        ready.set()
        engine.wait_for(over.is_set, LIMIT)

    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            no_collection():
        rdma = Noting(dev, engine)
        rdma.closed_by = closed_by
        driver = threading.Thread(target=drive, args=(engine,))
        driver.start()
        ready.wait(LIMIT)
        wait_until(engine.is_elsewhere)
        Cycle(rdma)
        del rdma
        gc.collect()
        wait_until(lambda: not dev.users())
        over.set()
        driver.join(LIMIT)
        assert closed_by == [driver.ident], (closed_by, driver.ident)


def a_cycle_is_closed_by_a_loop_that_sleeps():
    async def main():
        with pier.Device("soft_lo") as dev, pier.Engine() as engine:
            engine.attach()
            await asyncio.sleep(0.01)       # the engine is idle, and armed
            closed_by = noting(dev, engine)
            await asyncio.to_thread(gc.collect)
            for _ in range(LIMIT * 100):
                if not dev.users():
                    break
                await asyncio.sleep(0.01)
            assert closed_by == [threading.get_ident()], closed_by

    with no_collection():
        asyncio.run(main())


def what_another_thread_has_dropped_is_closed_with_its_engine():
    with pier.Device("soft_lo") as dev, no_collection():
        with pier.Engine() as engine:
            closed_by = noting(dev, engine)
            in_thread(gc.collect)
            assert not closed_by
        assert closed_by == [threading.get_ident()]
        assert not dev.users(), dev.users()


def a_cycle_with_its_engine_is_closed_by_any_thread():
    with pier.Device("soft_lo") as dev, no_collection():
        engine = pier.Engine()
        closed_by = noting(dev, engine)
        del engine
        collector = in_thread(gc.collect)
        assert closed_by == [collector], (closed_by, collector)
        assert not dev.users(), dev.users()


def a_cycle_of_a_thread_that_has_ended_is_closed_by_any():
    made = []

    def make():
        engine = pier.Engine()
        made.extend((engine, noting(dev, engine)))

    with pier.Device("soft_lo") as dev, no_collection():
        in_thread(make)
        with made[0]:
            gc.collect()
            assert made[1] == [threading.get_ident()], made[1]
            assert not dev.users(), dev.users()


def nothing_that_owns_a_struct_is_copied():
    with pair() as (one, _):
        rdma = one.rdma
        with rdma.dev.register(64) as mem, pier.Func(rdma.engine) as func, \
                rdma.listen(address="127.0.0.1") as listener, \
                pier.SyncEvent() as event:
            for it in (rdma.dev, rdma.engine, rdma, mem, one, func, listener,
                       event, func.call(int)):
                for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
                    try:
                        duplicate(it)
                    except TypeError as error:
                        assert "neither copied" in str(error), error
                        continue
                    raise AssertionError(f"{type(it)} is copied")


def what_is_closed_in_a_function_is_busy():
    for which in range(4):
        with pair() as (one, other), pier.Func(one.engine) as func, \
                pier.Dma(one.rdma.dev, one.engine) as dma:
            it = (one.rdma, dma, func, one.engine)[which]
            fails(errno.EBUSY, func.call(it.close).wait, LIMIT)
            assert it.handle and other.rdma.handle
            it.close()
            it.close()


def what_is_dropped_in_a_function_is_closed_after_it():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Func(engine) as func:
        dropped = [pier.Dma(dev, engine), pier.Rdma(dev, engine)]
        assert dev.users() == 2, dev.users()
        func.call(dropped.clear).wait(LIMIT)
        engine.progress()
        func.call(int).wait(LIMIT)
        assert not dev.users(), dev.users()


def ends_with(it, *waits):
    """What waits for it, and what does once it is closed, is ESHUTDOWN."""
    async def waited(wait):
        return await wait()

    async def main(wait):
        waiting = asyncio.create_task(waited(wait))
        await asyncio.sleep(0)
        assert not waiting.done()
        it.close()
        await asyncio.wait_for(waiting, LIMIT)

    fails(errno.ESHUTDOWN, lambda: asyncio.run(main(waits[0])))
    for wait in waits:
        fails(errno.ESHUTDOWN, wait().wait, LIMIT)


def a_wait_ends_with_its_listener():
    with pair() as (one, _):
        with one.rdma.listen(address="127.0.0.1") as listener:
            ends_with(listener, listener.request)


def a_wait_ends_with_the_context_of_its_listener():
    with pair() as (one, _):
        listener = one.rdma.listen(address="127.0.0.1")
        ends_with(one.rdma, listener.request)


def a_wait_ends_with_its_comm_channel():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine:
        for first in range(2):
            with pier.ComchServer(engine, dev, NAME) as server:
                waits = [server.connection, server.request]
                ends_with(server, waits[first], waits[1 - first])


def a_wait_of_another_task_ends_with_its_connection():
    async def main(conn, wait):
        waiting = asyncio.ensure_future(waited(wait))
        await asyncio.sleep(0.05)       # the engine is idle, and armed
        assert not waiting.done()
        conn.close()
        await asyncio.wait({waiting}, timeout=LIMIT)
        assert waiting.done(), wait
        waiting.exception()

    async def waited(wait):
        return await wait()

    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Mmap.allocate(dev, 64) as memory, \
            pier.Rdma(dev, engine) as one:
        for number in range(3):
            conn = one.export()
            wait = (conn.connected, conn.disconnected,
                    lambda: one.receive(memory))[number]
            asyncio.run(main(conn, wait))


def private_data_is_bytes_of_items_of_any_size():
    data = array.array("I", [1, 2, 3])
    with pair() as (one, other):
        with one.rdma.listen(address="127.0.0.1") as listener:
            connecting = other.rdma.connect("127.0.0.1", listener.port, data)
            request = listener.request().wait(LIMIT)
            assert request.private_data == data.tobytes()
            request.accept(data)
            conn = connecting.wait(LIMIT)
            assert conn.private_data == data.tobytes()


run(a_cycle_with_a_listener_is_collected,
    a_cycle_with_a_connection_is_collected,
    a_cycle_with_contexts_is_collected,
    a_cycle_with_a_comm_channel_is_collected,
    a_cycle_with_a_receive_in_flight_is_collected,
    a_connection_is_used_by_a_finally_of_a_cycle,
    a_view_outlives_its_device,
    a_cycle_is_closed_by_the_thread_of_its_engine,
    what_is_on_a_context_is_closed_by_the_thread_of_its_engine,
    a_task_that_another_thread_has_dropped_goes_with_its_context,
    a_cycle_is_closed_by_a_thread_that_waits,
    a_cycle_is_closed_by_a_loop_that_sleeps,
    what_another_thread_has_dropped_is_closed_with_its_engine,
    a_cycle_with_its_engine_is_closed_by_any_thread,
    a_cycle_of_a_thread_that_has_ended_is_closed_by_any,
    nothing_that_owns_a_struct_is_copied,
    what_is_closed_in_a_function_is_busy,
    what_is_dropped_in_a_function_is_closed_after_it,
    a_wait_ends_with_its_listener,
    a_wait_ends_with_the_context_of_its_listener,
    a_wait_ends_with_its_comm_channel,
    a_wait_of_another_task_ends_with_its_connection,
    private_data_is_bytes_of_items_of_any_size)
