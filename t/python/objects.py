# SPDX-License-Identifier: BSD-2-Clause
"""Devices, memory, connections and tasks, by blocking calls."""
import array
import contextlib
import errno
import gc
import mmap
import weakref

import pier
from pier._time import ms_of
from tap import LIMIT, fails, pair, run, skip

LINK = pier.Access.REMOTE_READ | pier.Access.REMOTE_WRITE


def memory(conn, what, access=pier.Access.LOCAL_WRITE):
    """Register what on the device of the connection."""
    return conn.rdma.dev.register(what, access)


def remote(conn, mem):
    """What the peer of conn makes of the export of mem."""
    return pier.Mmap.from_descriptor(conn.rdma.dev, mem.export())


def a_slice_of_the_peers_memory_is_read():
    with pair() as (one, other):
        local = bytearray(8)
        with memory(other, bytearray(range(100)), pier.Access.REMOTE_READ) \
                as mem, memory(one, local) as dst:
            far = remote(one, mem)
            assert one.read(far[40:44], dst[2:6]).wait(LIMIT) == 4
            assert local == bytes([0, 0, 40, 41, 42, 43, 0, 0]), local


def a_write_changes_the_object_itself():
    with pair() as (one, other):
        numbers = array.array("i", [0] * 4)
        with memory(other, numbers, pier.Access.REMOTE_WRITE) as mem, \
                memory(one, array.array("i", [7, 8])) as src:
            one.write(src, remote(one, mem)[4:]).wait(LIMIT)
        assert numbers.tolist() == [0, 7, 8, 0], numbers


def a_message_is_received_with_its_number_and_connection():
    with pair() as (one, other):
        with memory(other, 16) as dst, memory(one, b"hello",
                                              pier.Access.LOCAL_READ) as src:
            receive = other.rdma.receive(dst[4:])
            one.send_imm(src, 0x12345678).wait(LIMIT)
            message = receive.wait(LIMIT)
            assert bytes(dst[4:9]) == b"hello", bytes(dst[:])
            assert len(message) == 5 and message.imm == 0x12345678
            assert message.conn is other and not message.is_write
            receive = other.rdma.receive(dst)
            one.send(src[:2]).wait(LIMIT)
            assert receive.wait(LIMIT).imm is None
            assert bytes(dst[:2]) == b"he"


def a_write_with_a_number_completes_a_receive():
    with pair() as (one, other):
        with memory(other, 8, pier.Access.REMOTE_WRITE) as mem, \
                memory(one, bytearray(b"abc")) as src:
            receive = other.rdma.receive(None)
            one.write_imm(src, remote(one, mem)[:3], 5).wait(LIMIT)
            message = receive.wait(LIMIT)
            assert message.is_write and message.imm == 5
            assert bytes(mem[:4]) == b"abc\0"


def parts_are_gathered_and_scattered():
    with pair() as (one, other):
        with memory(one, bytearray(b"0123456789")) as src, \
                memory(other, 10) as dst:
            receive = other.rdma.receive([dst[8:10], dst[0:4]])
            one.send([src[5:7], src[:1], src[9:]]).wait(LIMIT)
            assert receive.wait(LIMIT).length == 4
            assert bytes(dst[:]) == b"09\0\0\0\0\0\x0056", bytes(dst[:])


def atomics_return_the_number_before():
    with pair() as (one, other):
        number = array.array("Q", [40])
        with memory(other, number, pier.Access.REMOTE_ATOMIC) as mem:
            far = remote(one, mem)
            assert one.fetch_add(far, 2).wait(LIMIT) == 40
            assert one.compare_swap(far, 41, 7).wait(LIMIT) == 42
            assert one.compare_swap(far, 42, 7).wait(LIMIT) == 42
            assert number[0] == 7, number


def more_atomics_than_a_slab_has_words_are_in_flight():
    with pair(conn_send_queue=700, send_queue=700) as (one, other):
        with memory(other, 8, pier.Access.REMOTE_ATOMIC) as mem:
            far = remote(one, mem)
            tasks = [one.fetch_add(far, 1) for _ in range(600)]
            seen = [task.wait(LIMIT) for task in tasks]
            assert seen == list(range(600)), seen


def no_buffer_is_left_of_tasks_that_have_ended_or_failed_to_begin():
    with pair() as (one, other):
        with memory(other, 8, pier.Access.REMOTE_WRITE |
                    pier.Access.REMOTE_ATOMIC) as mem, \
                memory(one, 8) as src:
            far = remote(one, mem)
            tasks = []
            try:
                while True:
                    tasks.append(one.write(src, far))
            except pier.PierError as error:
                assert error.errno == errno.EAGAIN, error
            assert tasks and src.users() == len(tasks), src.users()
            fails(errno.ERANGE, one.write, src, pier.Buf(far, 4, 8))
            fails(errno.ERANGE, one.send, pier.Buf(src, 4, 8))
            try:
                one.fetch_add(far, -1)
            except OverflowError:
                pass
            else:
                raise AssertionError("less than zero was added")
            for task in tasks:
                task.wait(LIMIT)
            assert (src.users(), far.users()) == (0, 0)


class Interrupting:
    """The calls of C; at the end of one of them comes an interrupt."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        call = getattr(pier._pier.lib, name)
        if name != self._name:
            return call

        def interrupted(*args):
            call(*args)
            raise KeyboardInterrupt
        return interrupted


@contextlib.contextmanager
def interrupt(module, name):
    """One comes within the body, which it ends."""
    lib, module.lib = module.lib, Interrupting(name)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        module.lib = lib
    raise AssertionError(f"{name} was not called")


def a_task_whose_submit_is_interrupted_is_in_flight_and_ends():
    with pair() as (one, other), memory(other, 8) as dst, \
            memory(one, bytearray(8)) as src:
        receive = other.rdma.receive(dst)
        with interrupt(pier._operation, "pier_py_submit"):
            one.send(src)
        assert len(one.engine.tasks) == 2 and src.users() == 1
        assert len(receive.wait(LIMIT)) == 8
        assert one.engine.wait_for(lambda: not src.users(), LIMIT)
        assert not one.engine.tasks


def a_task_whose_call_is_interrupted_leaves_nothing():
    with pair(send_tasks=8) as (one, other), memory(other, 8) as dst, \
            memory(one, bytearray(8)) as src:
        for _ in range(20):
            call = Interrupting("pier_rdma_task_send").pier_rdma_task_send
            buf = pier._memory.source(one.engine, src)
            try:
                pier._operation.Task.make(one.engine, call,
                                          (one.handle, buf), (), src=buf)
            except KeyboardInterrupt:
                continue
        assert not src.users()
        receive = other.rdma.receive(dst)
        one.send(src).wait(LIMIT)
        receive.wait(LIMIT)


def a_bytearray_is_not_resized_while_it_is_registered():
    with pair() as (one, _):
        data = bytearray(100)
        with memory(one, data):
            try:
                data.append(1)
            except BufferError:
                pass
            else:
                raise AssertionError("it was resized")
        data.append(1)


def a_mapped_file_is_not_closed_while_it_is_registered():
    with pair() as (one, _):
        mapped = mmap.mmap(-1, 4096)
        with memory(one, mapped):
            try:
                mapped.close()
            except BufferError:
                pass
            else:
                raise AssertionError("it was closed")
        mapped.close()


def a_numpy_array_is_registered_and_not_resized():
    try:
        import numpy
    except ImportError:
        skip("there is no numpy")
    with pair() as (one, other):
        grid = numpy.arange(12, dtype="i8").reshape(3, 4)
        row = numpy.zeros(4, dtype="i8")
        with memory(other, grid, pier.Access.REMOTE_READ) as mem, \
                memory(one, row) as dst:
            one.read(remote(one, mem)[32:64], dst).wait(LIMIT)
            assert row.tolist() == [4, 5, 6, 7], row
            try:
                row.resize(8)
            except ValueError:
                pass
            else:
                raise AssertionError("it was resized")
        try:
            memory(one, grid[:, 1:2])
        except TypeError:
            return
        raise AssertionError("what is not contiguous was registered")


def an_object_lives_as_long_as_its_registration():
    class Bytes(bytearray):
        """One that has weak references."""
    with pair() as (one, _):
        data = Bytes(10)
        lives = weakref.ref(data)
        mem = memory(one, data)
        del data
        gc.collect()
        assert lives() is not None
        mem.close()
        gc.collect()
        assert lives() is None


def what_is_read_only_is_registered_for_reading_alone():
    with pair() as (one, _):
        memory(one, b"abc", pier.Access.REMOTE_READ).close()
        for access in pier.Access.LOCAL_WRITE, pier.Access.REMOTE_WRITE:
            try:
                memory(one, b"abc", access)
            except BufferError:
                continue
            raise AssertionError(f"{access!r} of bytes")


def memory_in_use_is_neither_closed_nor_freed():
    with pair() as (one, other):
        mem = memory(other, 64)
        receive = other.rdma.receive(mem)
        fails(errno.EBUSY, mem.close)
        lives = weakref.ref(mem)
        del mem, receive
        gc.collect()
        assert lives() is not None
        with memory(one, bytearray(b"late")) as src:
            one.send(src).wait(LIMIT)
            one.engine.wait_for(lambda: lives() is None, LIMIT)
        assert lives() is None


def memory_is_held_when_the_list_of_its_parts_changes():
    with pair() as (one, other), memory(one, bytearray(b"late")) as src:
        parts = [memory(other, 2)[:], memory(other, 2)]
        first = weakref.ref(parts[0].mmap)
        receive = other.rdma.receive(parts)
        parts.clear()
        gc.collect()
        assert first() is not None
        one.send(src).wait(LIMIT)
        assert len(receive.wait(LIMIT)) == 4
        assert first() is None


def a_device_in_use_is_not_closed():
    dev = pier.Device("soft_lo")
    mem = dev.register(8)
    raised = fails(errno.EBUSY, dev.close)
    assert "1 open" in str(raised), raised
    mem.close()
    dev.close()
    fails(errno.EINVAL, dev.register, 8)


def an_error_has_its_number_name_scope_and_message():
    raised = fails(errno.ENODEV, pier.Device, "no_such_device")
    assert raised.name == "ENODEV" and raised.code == -errno.ENODEV
    assert "no_such_device" in raised.strerror
    assert isinstance(raised, OSError)
    raised = fails(pier_errno("PIER_EDESC"), pier.Mmap.from_descriptor, None,
                   b"garbage")
    assert raised.name == "PIER_EDESC" and raised.scope == pier.Scope.TASK


def pier_errno(name):
    """The number of an error that errno lacks."""
    return getattr(pier._pier.lib, name)


def a_task_that_fails_raises_and_ends_its_connection():
    with pair() as (one, other):
        with memory(other, 8, pier.Access.REMOTE_READ) as mem, \
                memory(one, 8) as dst:
            far = remote(one, mem)
            mem.close()
            task = one.read(far, dst)
            raised = fails(pier_errno("PIER_EREMACCESS"), task.wait, LIMIT,
                           kind=pier.PierConnectionError)
            assert isinstance(raised, ConnectionError)
            assert one.state == pier.ConnState.ERROR
            assert one.error.errno == raised.errno
            fails(errno.ENOTCONN, one.read, far, dst)


def a_receive_fails_once_no_connection_is_alive():
    with pair() as (one, other):
        with memory(other, 8) as dst:
            receive = other.rdma.receive(dst)
            one.disconnect()
            fails(errno.ENOTCONN, receive.wait, LIMIT)
            one.engine.wait_for(lambda: not dst.users(), LIMIT)


def a_message_comes_before_the_end_of_its_connection():
    with pier.Device("soft_lo") as dev, pier.Engine() as near, \
            pier.Engine() as far, pier.Rdma(dev, near) as left, \
            pier.Rdma(dev, far) as right, dev.register(8) as memory:
        one, other = left.export(), right.export()
        changes = [one.connect(other.descriptor),
                   other.connect(one.descriptor)]
        while not all(change.done() for change in changes):
            near.progress()
            far.progress()
        receive = right.receive(memory[:4])
        one.send(memory[4:7]).wait(LIMIT)
        one.disconnect()
        one.disconnected().wait(LIMIT)
        assert len(receive.wait(LIMIT)) == 3    # far sees both at once


def a_receive_waited_for_after_the_last_connection_fails():
    with pair() as (one, other), memory(other, 8) as dst:
        receive = other.rdma.receive(dst)
        one.disconnect().wait(LIMIT)
        other.disconnected().wait(LIMIT)
        fails(errno.ENOTCONN, receive.wait, LIMIT)
        assert other.engine.wait_for(lambda: not dst.users(), LIMIT)


def the_exception_of_a_body_is_not_hidden_by_close():
    with pair() as (_, other):
        try:
            with memory(other, 8) as dst:
                receive = other.rdma.receive(dst)
                raise ZeroDivisionError("of the body")
        except ZeroDivisionError:
            pass
        receive.cancel()
        assert other.engine.wait_for(lambda: not dst.users(), LIMIT)
        dst.close()


def a_wait_without_an_end_times_out_and_can_be_repeated():
    with pair() as (one, other):
        with memory(other, 8) as dst, memory(one, bytearray(8)) as src:
            receive = other.rdma.receive(dst)
            raised = fails(errno.ETIMEDOUT, receive.wait, 0.01,
                           kind=TimeoutError)
            assert "receive" in str(raised), raised
            one.send(src).wait(LIMIT)
            assert receive.wait(LIMIT).length == 8


def a_receive_can_be_cancelled():
    with pair() as (_, other):
        with memory(other, 8) as dst:
            receive = other.rdma.receive(dst)
            receive.cancel()
            fails(errno.ECANCELED, receive.wait, LIMIT)


def misuse_is_refused():
    with pair() as (one, _):
        with memory(one, 8) as mem:
            for wrong in 7, b"bytes", [b"bytes"], iter([mem]):
                try:
                    one.send(wrong)
                except TypeError:
                    continue
                raise AssertionError(f"{wrong!r} was sent")
            try:
                mem[::2]
            except TypeError:
                pass
            else:
                raise AssertionError("every second byte")
            fails(errno.EACCES, mem.export)
        fails(errno.EINVAL, one.send, mem)
        try:
            pier.Rdma(one.rdma.dev, one.engine, max_connections=7)
        except TypeError as error:
            assert "max_connections" in str(error)
        else:
            raise AssertionError("an unknown member was accepted")
        fails(errno.EINVAL, lambda: pier.Rdma(one.rdma.dev, one.engine,
                                              retry_count=9))


def clients_connect_by_address():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Rdma(dev, engine) as server, \
            pier.Rdma(dev, engine) as client, \
            server.listen(address="127.0.0.1") as listener:
        connecting = client.connect("127.0.0.1", listener.port, b"who")
        request = listener.request().wait(LIMIT)
        assert request.private_data == b"who"
        assert request.peer_address.startswith("127.0.0.1")
        request.accept(b"you").wait(LIMIT)
        conn = connecting.wait(LIMIT)
        assert conn.private_data == b"you"
        with dev.register(bytearray(b"x")) as src, dev.register(1) as dst:
            receive = server.receive(dst)
            conn.send(src).wait(LIMIT)
            assert receive.wait(LIMIT).conn is request
        conn.disconnect().wait(LIMIT)
        assert request.disconnected().wait(LIMIT) is None


def a_rejected_client_raises():
    with pier.Device("soft_lo") as dev, pier.Engine() as engine, \
            pier.Rdma(dev, engine) as server, \
            pier.Rdma(dev, engine) as client, \
            server.listen(address="127.0.0.1") as listener:
        connecting = client.connect(f"127.0.0.1:{listener.port}")
        request = listener.request().wait(LIMIT)
        request.reject(b"full")
        fails(errno.ECONNREFUSED, connecting.wait, LIMIT)
        fails(errno.ENOTCONN, request.accept)


def everything_is_closed_in_any_order():
    dev = pier.Device("soft_lo")
    engine = pier.Engine()
    rdma = pier.Rdma(dev, engine)
    conn = rdma.export()
    mem = dev.register(8)
    receive = rdma.receive(mem)
    engine.close()
    fails(errno.ECANCELED, receive.wait, 0)
    assert conn.state == pier.ConnState.RESET
    fails(errno.ENOTCONN, conn.connect, b"x")
    fails(errno.EINVAL, rdma.export)
    for closable in conn, rdma, mem, engine, dev, dev:
        closable.close()


def raises(kind, call, *args):
    """call raises exactly that."""
    try:
        call(*args)
    except Exception as error:  # pylint: disable=broad-except
        assert type(error) is kind, repr(error)
        return
    raise AssertionError(f"no {kind} is raised")


def misuse_is_a_type_error():
    with pair() as (one, _):
        dev, engine = one.rdma.dev, one.engine
        raises(TypeError, pier.Device, 5)
        raises(TypeError, pier.Rdma, dev, None)
        raises(TypeError, pier.Rdma, None, engine)
        raises(TypeError, pier.Dma, dev, None)
        raises(TypeError, pier.Mmap, None, 64)
        raises(TypeError, pier.Mmap, dev, 3.5)
        raises(TypeError, pier.ComchServer, engine, dev, 5)
        raises(TypeError, one.rdma.connect, 5)


def the_number_of_an_event_has_64_bits():
    with pair() as (one, _):
        with pier.SyncEvent(one.rdma.dev, remote_publisher=True) as event:
            far = pier.RemoteSyncEvent(one.rdma.dev, event.export())
            for call in one.event_set, one.event_add:
                raises(OverflowError, call, far, -1)
                raises(OverflowError, call, far, 2 ** 64)
                raises(TypeError, call, far, "x")


def a_timeout_is_a_number_of_seconds_of_any_size():
    with pier.SyncEvent() as event:
        raises(ValueError, lambda: event.wait_eq(5, timeout=float("nan")))
        event.wait_eq(0, timeout=float("inf"))
    # Of await_descriptor(), which would wait for a file so long.
    times = [ms_of(limit) for limit in (None, -1, 0.0001, 1e9)]
    assert times == [-1, 0, 1, 2 ** 31 - 1], times


def no_memory_is_an_error_of_pier():
    with pier.Device("soft_lo") as dev:
        fails(errno.EINVAL, pier.Mmap, dev, 0)
        fails(errno.EINVAL, pier.Mmap, dev, bytearray())


def an_error_of_the_program_is_printed():
    assert str(pier.PierError("x")) == "x"
    assert str(pier.PierError()) == "" and pier.PierError().code == 0


def memory_of_a_peer_is_forgotten_while_a_task_uses_it():
    with pair() as (one, other):
        with memory(other, bytearray(b"x" * 2 ** 20), LINK) as mem, \
                memory(one, 2 ** 20) as dst:
            far = remote(one, mem)
            task = one.read(far, dst)
            fails(errno.EBUSY, dst.close)
            far.close()
            task.wait(LIMIT)
            assert bytes(dst[-3:]) == b"xxx"


def memory_is_c_contiguous():
    view = memoryview(bytearray(16))[::2]
    with pier.Device("soft_lo") as dev:
        raises(TypeError, dev.register, view)


run(a_slice_of_the_peers_memory_is_read,
    a_write_changes_the_object_itself,
    a_message_is_received_with_its_number_and_connection,
    a_write_with_a_number_completes_a_receive,
    parts_are_gathered_and_scattered,
    atomics_return_the_number_before,
    more_atomics_than_a_slab_has_words_are_in_flight,
    no_buffer_is_left_of_tasks_that_have_ended_or_failed_to_begin,
    a_task_whose_submit_is_interrupted_is_in_flight_and_ends,
    a_task_whose_call_is_interrupted_leaves_nothing,
    a_bytearray_is_not_resized_while_it_is_registered,
    a_mapped_file_is_not_closed_while_it_is_registered,
    a_numpy_array_is_registered_and_not_resized,
    an_object_lives_as_long_as_its_registration,
    what_is_read_only_is_registered_for_reading_alone,
    memory_in_use_is_neither_closed_nor_freed,
    memory_is_held_when_the_list_of_its_parts_changes,
    a_device_in_use_is_not_closed,
    an_error_has_its_number_name_scope_and_message,
    a_task_that_fails_raises_and_ends_its_connection,
    a_receive_fails_once_no_connection_is_alive,
    a_message_comes_before_the_end_of_its_connection,
    a_receive_waited_for_after_the_last_connection_fails,
    the_exception_of_a_body_is_not_hidden_by_close,
    a_wait_without_an_end_times_out_and_can_be_repeated,
    a_receive_can_be_cancelled,
    misuse_is_refused,
    clients_connect_by_address,
    a_rejected_client_raises,
    everything_is_closed_in_any_order,
    misuse_is_a_type_error,
    the_number_of_an_event_has_64_bits,
    a_timeout_is_a_number_of_seconds_of_any_size,
    no_memory_is_an_error_of_pier,
    an_error_of_the_program_is_printed,
    memory_of_a_peer_is_forgotten_while_a_task_uses_it,
    memory_is_c_contiguous)
