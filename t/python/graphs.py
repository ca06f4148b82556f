# SPDX-License-Identifier: BSD-2-Clause
"""Functions as tasks, and graphs."""
import asyncio
import contextlib
import errno
import gc
import hashlib

import pier
from tap import LIMIT, fails, run


@contextlib.contextmanager
def base():
    """A device, an engine, and contexts on it."""
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Dma(dev, engine) as dma, pier.Sha(engine) as sha:
        yield dev, engine, dma, sha


def raises(kind, call, *args):
    """call raises an exception of that kind, which is returned."""
    try:
        call(*args)
    except kind as error:
        return error
    raise AssertionError("nothing was raised")


def a_function_is_called_with_arguments():
    with pier.Engine() as engine, pier.Func(engine) as func:
        task = func.call(lambda *args: sum(args), 1, 2, 39)
        assert not task.done()
        assert task.wait(LIMIT) == 42
        assert func.call(dict).wait(LIMIT) == {}


def an_exception_is_that_of_the_function():
    def fail(error):
        raise error

    with pier.Engine() as engine, pier.Func(engine) as func:
        for error in ValueError("no value"), OSError(errno.ENOSPC, "full"):
            raised = raises(type(error), func.call(fail, error).wait, LIMIT)
            assert raised is error, raised


def a_function_is_called_again():
    def count():
        calls.append(None)
        return "third" if len(calls) == 3 else pier.AGAIN

    calls = []
    with pier.Engine() as engine, pier.Func(engine) as func:
        assert func.call(count).wait(LIMIT) == "third"
        assert len(calls) == 3, calls


def functions_are_awaited():
    async def program(func):
        return await asyncio.gather(*(func.call(pow, 2, n)
                                      for n in range(10)))

    with pier.Engine() as engine, pier.Func(engine) as func:
        powers = asyncio.run(asyncio.wait_for(program(func), LIMIT))
        assert powers == [2 ** n for n in range(10)], powers


def a_function_that_waits_is_an_error():
    with pier.Engine() as engine, pier.Func(engine) as func:
        other = func.call(int)
        waiting = func.call(lambda: func.call(int).wait(LIMIT))
        raised = raises(pier.PierError, waiting.wait, LIMIT)
        assert raised.errno == errno.EBUSY, raised
        assert other.wait(LIMIT) == 0


def nodes_run_in_their_order():
    order = []
    with base() as (_, engine, dma, _), pier.Graph(engine) as graph, \
            dma._dev.register(8) as mem:
        nodes = [graph.add(order.append) for _ in range(5)]
        copy = graph.add(dma)
        for before, after in zip(nodes[1:], nodes):
            graph.order(before, after)
        graph.order(nodes[0], copy)
        graph.start()
        for _ in range(2):
            work = {node: (i,) for i, node in enumerate(nodes)}
            work[copy] = pier.prepare(dma.copy, mem[:4], mem[4:])
            graph.run(work).wait(LIMIT)
    assert order == [4, 3, 2, 1, 0] * 2, order


def digest_and_copy_run_beside_each_other():
    text = bytes(range(256)) * 16
    with base() as (dev, engine, dma, sha), dev.register(bytearray(text)) as \
            src, dev.register(32) as digest, dev.register(4096) as copy, \
            pier.Graph(engine) as graph:
        hashing, copying = graph.add(sha), graph.add(dma)
        last = graph.add(lambda: bytes(copy[:]) == text)
        graph.order(hashing, last)
        graph.order(copying, last)
        graph.start()
        work = {hashing: pier.prepare(sha.hash, src, digest),
                copying: pier.prepare(dma.copy, src, copy)}
        result = graph.run(work).wait(LIMIT)
        assert result[last] is True and result[copying] is None
        assert bytes(digest[:]) == hashlib.sha256(text).digest()
        assert work[hashing].done()


def what_depends_on_a_failure_does_not_begin():
    def fail():
        raise KeyError("node")

    calls = []
    with base() as (dev, engine, dma, _), dev.register(8) as mem, \
            pier.Graph(engine) as graph:
        first, second = graph.add(fail), graph.add(dma)
        third = graph.add(calls.append)
        graph.order(first, second)
        graph.order(second, third)
        graph.start()
        copy = pier.prepare(dma.copy, mem[:4], mem[4:])
        instance = graph.run({second: copy, third: (1,)})
        raises(KeyError, instance.wait, LIMIT)
        fails(errno.ECANCELED, copy.result)
        assert not calls
        for unused in copy, pier.prepare(dma.copy, mem[:4], mem[4:]):
            unused.cancel()
            fails(errno.ECANCELED, unused.result)


def what_is_prepared_ends_with_its_context():
    with base() as (dev, _, dma, _), dev.register(8) as mem:
        copy = pier.prepare(dma.copy, mem[:4], mem[4:])
        fails(errno.EBUSY, mem.close)
        dma.close()
        fails(errno.ECANCELED, copy.result)
    with base() as (dev, _, dma, _), dev.register(8) as mem:
        pier.prepare(dma.copy, mem[:4], mem[4:])
        gc.collect()


def the_error_of_a_task_is_that_of_the_instance():
    with base() as (dev, engine, dma, _), dev.register(8) as mem, \
            pier.Graph(engine) as graph:
        node = graph.add(dma)
        graph.start()
        too_long = pier.prepare(dma.copy, mem[:4], mem[6:])
        fails(errno.EMSGSIZE, graph.run({node: too_long}).wait, LIMIT)
        fails(errno.EMSGSIZE, too_long.result)


def a_graph_is_a_node_of_another():
    with base() as (dev, engine, dma, _), dev.register(8) as mem, \
            pier.Graph(engine) as inner, pier.Graph(engine) as outer:
        mem[:].view()[:4] = b"abcd"
        copy, number = inner.add(dma), inner.add(lambda: 7)
        node, last = outer.add(inner), outer.add(lambda: bytes(mem[4:]))
        outer.order(node, last)
        fails(errno.ELOOP, inner.add, outer)
        inner.start()
        outer.start()
        result = outer.run({node: pier.prepare(inner.run, {
            copy: pier.prepare(dma.copy, mem[:4], mem[4:])})}).wait(LIMIT)
        assert result[last] == b"abcd", result
        assert result[node][number] == 7, result


def instances_are_awaited():
    async def program(graph, node, dma, mem):
        await asyncio.gather(*(graph.run({node: pier.prepare(
            dma.copy, mem[i:i + 1], mem[15 - i:16 - i])}) for i in range(8)))

    with base() as (dev, engine, dma, _), pier.Graph(engine) as graph, \
            dev.register(bytearray(b"01234567........")) as mem:
        node = graph.add(dma)
        graph.start()
        asyncio.run(asyncio.wait_for(program(graph, node, dma, mem), LIMIT))
        assert bytes(mem[8:]) == b"76543210", bytes(mem[:])


def misuse_of_a_graph_is_an_error():
    with base() as (dev, engine, dma, sha), dev.register(8) as mem, \
            pier.Graph(engine) as graph:
        raises(TypeError, graph.add, 5)
        node, other = graph.add(dma), graph.add(int)
        graph.order(node, other)
        fails(errno.EEXIST, graph.order, node, other)
        fails(errno.ELOOP, graph.order, other, node)
        graph.start()
        fails(errno.EBUSY, graph.add, sha)
        fails(errno.EINVAL, graph.run, {})
        copy = pier.prepare(dma.copy, mem[:4], mem[4:])
        fails(errno.EINVAL, graph.run, {node: copy, 5: copy})
        wrong = pier.prepare(sha.hash, mem[:4], mem)
        fails(errno.EINVAL, graph.run, {node: wrong})
        instance = graph.run({node: copy})
        fails(errno.EBUSY, copy.submit)
        instance.wait(LIMIT)
        wrong.cancel()


def what_is_prepared_is_submitted_later():
    with base() as (dev, _, dma, _), dev.register(bytearray(b"ab")) as mem:
        copy = pier.prepare(dma.copy, mem[:1], mem[1:])
        assert bytes(mem[:]) == b"ab"
        copy.submit()
        copy.wait(LIMIT)
        assert bytes(mem[:]) == b"aa"
        fails(errno.EBUSY, copy.submit)


run(a_function_is_called_with_arguments,
    an_exception_is_that_of_the_function,
    a_function_is_called_again,
    functions_are_awaited,
    a_function_that_waits_is_an_error,
    nodes_run_in_their_order,
    digest_and_copy_run_beside_each_other,
    what_depends_on_a_failure_does_not_begin,
    what_is_prepared_ends_with_its_context,
    the_error_of_a_task_is_that_of_the_instance,
    a_graph_is_a_node_of_another,
    instances_are_awaited,
    misuse_of_a_graph_is_an_error,
    what_is_prepared_is_submitted_later)
