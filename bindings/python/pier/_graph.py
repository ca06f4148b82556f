# SPDX-License-Identifier: BSD-2-Clause
"""Graphs: tasks and functions with an order, as a task of their own."""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Callable, Union

from ._context import Context
from ._errors import check, configuration, create, error_of
from ._func import Call
from ._operation import Task
from ._pier import lib

if TYPE_CHECKING:
    from ._engine import Engine
    from ._rdma import Rdma


class Node:
    """A node of a graph; Graph.add() makes it."""

    __slots__ = ("graph", "handle", "what")

    def __init__(self, graph: Graph, handle, what) -> None:
        self.graph = graph
        self.handle = handle    # the struct pier_graph_node
        self.what = what        # a context, a graph or a function


class Instance(Task[dict]):
    """One run of a graph.  Its result: of each node, that of its task."""

    def __init__(self, graph: Graph, task, work: dict) -> None:
        super().__init__(graph.engine, task, (graph, work))
        self._take = self._results
        self._work: dict = work

    def set_parts(self) -> None:
        """Give each node of it its work."""
        for node, part in self._work.items():
            if isinstance(part, Call):
                err = lib.pier_graph_task_set_arg(self.pointer, node.handle,
                                                  part.pointer)
            else:
                err = lib.pier_graph_task_set_task(self.pointer, node.handle,
                                                   part.pointer)
            if err:
                error = error_of(err)
                self._work = {}
                super().give_up()
                raise error

    def error_for(self, status: int) -> BaseException:
        """What the function of a node has raised, or else the error."""
        for part in self._work.values():
            if isinstance(part, Call) and part.error is not None:
                return part.error
        return super().error_for(status)

    def ended(self, status: int) -> None:
        """The engine has retrieved it; the tasks of its nodes follow."""
        super().ended(status)
        for part in self._work.values():
            if isinstance(part, Task):
                part.give_up()
        self._work = {}

    def _results(self, _task) -> dict:
        results = {}
        for node, part in self._work.items():
            if isinstance(part, Task):
                part.ended(0)
                results[node] = part.result()
            else:
                results[node] = part.value
        return results

    def give_up(self) -> None:
        """It has not run, or its graph has failed."""
        for part in self._work.values():
            if isinstance(part, Task):
                part.give_up()
        super().give_up()


class Graph(Context):
    """A graph, pier_graph(3): add() nodes, order() them, start(), run() it.

    config has members of struct pier_graph_config.
    """

    def __init__(self, engine: Engine, **config: int) -> None:
        cfg = configuration("graph", config)
        graph = create(lib.pier_graph_create)
        super().__init__(engine, graph, lib.pier_graph_ctx(graph),
                         lib.pier_graph_destroy)
        self._nodes: list[Node] = []
        check(lib.pier_graph_configure(graph, cfg))

    def add(self, what: Union[Context, Rdma, Graph, Callable[..., Any]]
            ) -> Node:
        """Add a node: of a context, which runs a task of it; of a graph,
        which runs an instance of that; or one that calls a function.

        Raises EBUSY, it was started; ELOOP, that graph contains this one.
        """
        if isinstance(what, Graph):
            handle = create(lib.pier_graph_add_graph, self.handle,
                            what.handle)
        elif hasattr(what, "context"):
            handle = create(lib.pier_graph_add_ctx, self.handle,
                            what.context)
        elif callable(what):
            handle = create(lib.pier_graph_add_user, self.handle,
                            lib.pier_py_call)
        else:
            raise TypeError("a node is of a context, a graph or a function, "
                            f"not {type(what).__name__}")
        node = Node(self, handle, what)
        self._nodes.append(node)
        return node

    def order(self, before: Node, after: Node) -> None:
        """after begins when before has succeeded.

        Raises EBUSY, it was started; EINVAL, nodes of another graph; ELOOP,
        a cycle; EEXIST.
        """
        check(lib.pier_graph_add_dependency(self.handle, before.handle,
                                            after.handle))

    def run(self, work: dict) -> Instance:
        """Run it once, with work for each node.

        Of a node of a context or a graph that is a task, or an instance, that
        prepare() has made; of a function a tuple, its arguments, which may be
        left out.  The result has that of each node.  When a node fails, those
        behind it do not begin, and this fails with its error, or what its
        function has raised.
        Raises ENOBUFS, EINVAL, a node has no task; EBUSY, a task is in use.
        """
        parts = self._parts(work)
        instance = Instance(self, create(lib.pier_graph_task, self.handle),
                            parts)
        instance.set_parts()
        return instance.begun()

    def _parts(self, work: dict) -> dict:
        parts = {}
        for node in self._nodes:
            part = work.get(node, ())
            if not isinstance(part, Task):
                if isinstance(node.what, Context) or \
                        hasattr(node.what, "context"):
                    raise error_of(-errno.EINVAL, "graph: a node of "
                                   f"a {type(node.what).__name__} "
                                   "has no task")
                part = Call(self.engine, node.what, part)
            parts[node] = part
        if len(parts) != len({*parts, *work}):
            raise error_of(-errno.EINVAL,
                           "graph: there is work for a node of another graph")
        return parts
