# SPDX-License-Identifier: BSD-2-Clause
"""The engine in the loop of asyncio."""
import asyncio
import errno
import functools

import pier
from tap import LIMIT, fails, pair, run


def in_loop(test):
    """A test that is a coroutine, with two connections, within the limit."""
    @functools.wraps(test)
    def runs():
        with pair() as (one, other):
            asyncio.run(asyncio.wait_for(test(one, other), LIMIT))
    return runs


@in_loop
async def messages_go_there_and_back(one, other):
    dev = one.rdma.dev
    with dev.register(8) as here, dev.register(8) as there:
        async def echo():
            for _ in range(100):
                await other.rdma.receive(there)
                await other.send(there)

        echoing = asyncio.create_task(echo())
        for number in range(100):
            await asyncio.sleep(0)
            back = one.rdma.receive(here)
            with dev.register(number.to_bytes(8, "little"),
                              pier.Access.LOCAL_READ) as src:
                await one.send(src)
            message = await back
            assert message.conn is one
            assert int.from_bytes(here[:], "little") == number
        await echoing


class Clock:
    """A clock that stands but for the steps of a test."""

    def __init__(self):
        self.now = 1

    def monotonic_ns(self):
        """The time."""
        return self.now


@in_loop
async def others_have_their_turn_between_what_ends_at_once(one, other):
    turns, clock = 0, Clock()

    async def takes_turns():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    with other.rdma.dev.register(8, pier.Access.REMOTE_ATOMIC) as mem:
        far = pier.Mmap.from_descriptor(None, mem.export())
        beside = asyncio.create_task(takes_turns())
        module, pier._engine.time = pier._engine.time, clock
        try:
            for number in range(200):
                assert await one.fetch_add(far, 1) == number
                clock.now += pier._engine.TURN_NS // 10
        finally:
            pier._engine.time = module
        beside.cancel()
        assert turns >= 10, turns


class Soon:
    """What ends when the engine has worked once."""

    has_ended = False


@in_loop
async def an_await_after_a_turn_of_the_loop_polls(one, other):
    engine, clock, soon, limits = one.engine, Clock(), Soon(), []

    def works(_limit_ns=0):
        soon.has_ended = True
        return 1

    def waits(limit_ns=0):
        limits.append(limit_ns)
        return 0

    engine.attach()
    engine._turn, engine._polls = 0, True       # of the other clock
    slow = other.disconnected()
    module, pier._engine.time = pier._engine.time, clock
    try:
        engine.progress = works
        engine.poll_for(soon)
        assert soon.has_ended
        engine.progress = waits
        clock.now += 5 * pier._engine.TURN_NS
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        limits.clear()
        engine._polls = True
        engine.poll_for(slow)
        assert len(limits) == 1, limits
    finally:
        pier._engine.time = module
        del engine.progress


# Of another connection, say: it comes before the polling is over.
@in_loop
async def an_await_beside_steady_traffic_polls_no_longer(one, other):
    engine, clock, limits = one.engine, Clock(), []

    def traffic(limit_ns=0):
        limits.append(limit_ns)
        clock.now += pier._engine.POLL_NS * 9 // 10
        return 1

    engine.attach()
    slow = other.disconnected()
    module, pier._engine.time = pier._engine.time, clock
    try:
        engine.progress = traffic
        engine.poll_for(slow)
        assert len(limits) == 2 and limits[1] <= limits[0] // 10, limits
        engine.poll_for(slow)
        assert len(limits) == 2, "it polls again after it was in vain"
    finally:
        pier._engine.time = module
        del engine.progress


@in_loop
async def many_tasks_are_awaited_at_once(one, other):
    with other.rdma.dev.register(8, pier.Access.REMOTE_ATOMIC) as mem:
        far = pier.Mmap.from_descriptor(None, mem.export())
        seen = await asyncio.gather(*(one.fetch_add(far, 2)
                                      for _ in range(50)))
        assert seen == list(range(0, 100, 2)), seen


@in_loop
async def what_waits_is_cancelled_and_the_receive_goes_on(one, other):
    dev = one.rdma.dev
    with dev.register(8) as dst, dev.register(bytearray(5)) as src:
        receive = other.rdma.receive(dst)
        waiting = asyncio.ensure_future(receive)
        await asyncio.sleep(0)
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            pass
        assert not receive.done()
        await one.send(src)
        assert (await receive).length == 5


@in_loop
async def a_task_that_fails_raises_where_it_is_awaited(one, other):
    dev = one.rdma.dev
    with dev.register(8) as dst:
        with dev.register(8, pier.Access.REMOTE_READ) as mem:
            far = pier.Mmap.from_descriptor(dev, mem.export())
        try:
            await one.read(far, dst)
        except pier.PierConnectionError as error:
            assert error.name == "PIER_EREMACCESS", error
        else:
            raise AssertionError("it was read")
        ended = await one.disconnected()
        assert ended.name == "PIER_EREMACCESS", ended
        await other.disconnected()


@in_loop
async def a_receive_fails_when_the_peer_disconnects(one, other):
    with one.rdma.dev.register(8) as dst:
        receive = other.rdma.receive(dst)
        one.disconnect()
        try:
            await receive
        except pier.PierError as error:
            assert error.errno == errno.ENOTCONN, error
        else:
            raise AssertionError("it was received")


@in_loop
async def memory_is_used_while_the_program_awaits_nothing(one, other):
    one.engine.attach()
    with one.rdma.dev.register(8, pier.Access.REMOTE_WRITE) as mem, \
            one.rdma.dev.register(b"x" * 8, pier.Access.LOCAL_READ) as src:
        task = one.write(src, pier.Mmap.from_descriptor(None, mem.export()))
        while not task.done():
            await asyncio.sleep(0.001)
        task.result()
        assert bytes(mem[:]) == b"x" * 8
        assert other.is_alive


@in_loop
async def a_blocking_wait_works_within_a_coroutine(one, other):
    dev = one.rdma.dev
    with dev.register(8) as dst, dev.register(bytearray(8)) as src:
        for _ in range(3):
            receive = other.rdma.receive(dst)
            one.send(src).wait(LIMIT)
            await receive


@in_loop
async def clients_connect_to_a_server_by_address(one, _):
    rdma = one.rdma
    with pier.Rdma(rdma.dev, rdma.engine) as server, \
            server.listen(address="127.0.0.1") as listener:
        async def serve():
            for _ in range(3):
                request = await listener.request()
                conns.append(await request.accept())

        conns = []
        serving = asyncio.create_task(serve())
        clients = await asyncio.gather(*(
            rdma.connect("127.0.0.1", listener.port) for _ in range(3)))
        await serving
        assert all(conn.state == pier.ConnState.CONNECTED
                   for conn in conns + clients)


def an_engine_moves_from_one_loop_to_the_next():
    with pair() as (one, other), one.rdma.dev.register(8) as dst, \
            one.rdma.dev.register(bytearray(8)) as src:
        async def message():
            receive = other.rdma.receive(dst)
            await one.send(src)
            await receive

        for _ in range(3):
            asyncio.run(asyncio.wait_for(message(), LIMIT))
        sending = one.send(src)
        other.rdma.receive(dst).wait(LIMIT)
        sending.wait(LIMIT)


def break_callbacks(rdma):
    """Have what runs in callbacks of the context raise."""
    def raises():
        raise ZeroDivisionError("in a callback")

    rdma.look_for_hope = raises


def an_exception_in_a_callback_is_raised_by_the_wait():
    with pair() as (one, other):
        break_callbacks(other.rdma)
        one.disconnect()
        try:
            other.disconnected().wait(LIMIT)
        except ZeroDivisionError as error:
            assert str(error) == "in a callback"
        else:
            raise AssertionError("it was lost")


def an_exception_in_a_callback_reaches_the_loops_handler():
    async def program(one, other):
        seen = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: seen.set_result(context["exception"]))
        break_callbacks(other.rdma)
        one.engine.attach()
        one.disconnect()
        assert isinstance(await seen, ZeroDivisionError)
        await one.disconnected()

    with pair() as (one, other):
        asyncio.run(asyncio.wait_for(program(one, other), LIMIT))


@in_loop
async def the_loop_drives_the_engine_after_an_exception(one, other):
    seen = []
    dispatch = one.engine._dispatch

    def raises():
        one.engine._dispatch = dispatch
        dispatch()
        raise ZeroDivisionError("in a callback")

    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: seen.append(context["exception"]))
    one.engine.attach()
    one.engine._dispatch = raises
    with other.rdma.dev.register(8, pier.Access.REMOTE_ATOMIC) as mem:
        far = pier.Mmap.from_descriptor(None, mem.export())
        for number in range(3):
            assert await one.fetch_add(far, 1) == number
    assert isinstance(seen[0], ZeroDivisionError), seen


def interrupt_next(engine, after):
    """Have a round of the engine raise, the one after so many."""
    progress = engine.progress

    def interrupted(limit_ns=0):
        nonlocal after
        if after:
            after -= 1
            return progress(limit_ns)
        engine.progress = progress
        raise KeyboardInterrupt
    engine.progress = interrupted


def the_next_run_of_the_loop_drives_the_engine_after_an_interrupt():
    async def program(one, far, number):
        one.engine.attach()
        while not number.has_ended:
            await asyncio.sleep(0)
        assert number.result() == 0
        assert await one.fetch_add(far, 1) == 1

    async def waits(engine, operation, after):
        interrupt_next(engine, after)
        await operation

    for after in 0, 1:      # the loop's own round, and that of an await
        loop = asyncio.new_event_loop()
        with pair() as (one, other), \
                other.rdma.dev.register(8, pier.Access.REMOTE_ATOMIC) as mem:
            far = pier.Mmap.from_descriptor(None, mem.export())
            try:
                loop.run_until_complete(waits(
                    one.engine, other.disconnected(), after))
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError("it was not interrupted")
            loop.run_until_complete(asyncio.wait_for(
                program(one, far, one.fetch_add(far, 1)), LIMIT))
            one.engine.detach()
        loop.close()


@in_loop
async def a_receive_awaited_after_the_last_connection_fails(one, other):
    with one.rdma.dev.register(8) as dst:
        receive = other.rdma.receive(dst)
        one.disconnect()
        await other.disconnected()
        try:
            await receive
        except pier.PierError as error:
            assert error.errno == errno.ENOTCONN, error
        else:
            raise AssertionError("it was received")


@in_loop
async def a_request_is_not_taken_by_an_abandoned_wait(one, _):
    rdma = one.rdma
    with pier.Rdma(rdma.dev, rdma.engine) as server, \
            server.listen(address="127.0.0.1") as listener:
        dropped = [listener.request() for _ in range(30)]
        waiting = asyncio.ensure_future(listener.request())
        await asyncio.sleep(0)
        waiting.cancel()
        client = asyncio.ensure_future(
            rdma.connect("127.0.0.1", listener.port))
        request = await listener.request()
        await request.accept()
        await client
        assert not any(change.done() for change in dropped)


@in_loop
async def a_wait_that_is_cancelled_leaves_nothing(one, other):
    rdma = one.rdma
    with pier.Rdma(rdma.dev, rdma.engine) as server, \
            server.listen(address="127.0.0.1") as listener:
        for operation in other.disconnected(), listener.request():
            changes = set(rdma.engine.changes)
            for _ in range(3):
                waiting = asyncio.ensure_future(operation)
                while not operation._futures:
                    await asyncio.sleep(0)
                waiting.cancel()
                while not waiting.done():
                    await asyncio.sleep(0)
                assert waiting.cancelled() and not operation._futures
                assert rdma.engine.changes == changes


def a_closed_engine_ends_what_is_awaited():
    async def program(one, other):
        waiting = asyncio.ensure_future(other.disconnected())
        await asyncio.sleep(0)
        one.engine.close()
        await waiting
        fails(errno.ENOTCONN, one.send, None)

    with pair() as (one, other):
        asyncio.run(asyncio.wait_for(program(one, other), LIMIT))


run(messages_go_there_and_back,
    others_have_their_turn_between_what_ends_at_once,
    an_await_after_a_turn_of_the_loop_polls,
    an_await_beside_steady_traffic_polls_no_longer,
    many_tasks_are_awaited_at_once,
    what_waits_is_cancelled_and_the_receive_goes_on,
    a_task_that_fails_raises_where_it_is_awaited,
    a_receive_fails_when_the_peer_disconnects,
    memory_is_used_while_the_program_awaits_nothing,
    a_blocking_wait_works_within_a_coroutine,
    clients_connect_to_a_server_by_address,
    an_engine_moves_from_one_loop_to_the_next,
    an_exception_in_a_callback_is_raised_by_the_wait,
    an_exception_in_a_callback_reaches_the_loops_handler,
    the_loop_drives_the_engine_after_an_exception,
    the_next_run_of_the_loop_drives_the_engine_after_an_interrupt,
    a_receive_awaited_after_the_last_connection_fails,
    a_request_is_not_taken_by_an_abandoned_wait,
    a_wait_that_is_cancelled_leaves_nothing,
    a_closed_engine_ends_what_is_awaited)
