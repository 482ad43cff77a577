"""A stand-in for the package ``spaces`` on ZeroGPU, as far as its source shows what it does.

``GPU`` runs a generator in a forked process; arguments and yields cross by pickle; exceptions come
back as ``gr.Error`` with no more than the name of their class; after ``close`` the process ends its
generator at the next yield. Unlike ``spaces`` it starts a process per call, and there is no GPU.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import gradio as gr
import torch

FORK = multiprocessing.get_context("fork")
JOIN_S = 20.0


class FakeSpaces(ModuleType):
    """To be put into ``sys.modules``.

    Attributes:
        refusal: raised instead of lending a GPU.
        asked: seconds that each call asked for.
        exits: exit status of each process, None for one that had to be killed.
        closed: for each process, whether it closed its generator before the end.
    """

    def __init__(self) -> None:
        super().__init__("spaces")
        self.refusal: Exception | None = None
        self.asked: list[int] = []
        self.exits: list[int | None] = []
        self.closed: list[bool] = []

    def GPU(  # noqa: N802 (its name)
        self, task: Callable[..., Iterator[Any]], *, duration: Callable[..., int]
    ) -> Callable[..., Iterator[Any]]:
        def lent(*given: Any) -> Iterator[Any]:
            self.asked.append(duration(*given))
            if self.refusal is not None:
                raise self.refusal
            yield from self._run(task, pickle.dumps(given))

        return lent

    def _run(self, task: Callable[..., Iterator[Any]], given: bytes) -> Iterator[Any]:
        ours, theirs = FORK.Pipe(duplex=False)
        stop = FORK.Event()
        child = FORK.Process(target=_child, args=(task, given, ours, theirs, stop), daemon=True)
        child.start()
        theirs.close()
        try:
            for kind, value in _received(ours):
                if kind == "raised":
                    raise gr.Error(value, print_exception=False)
                if kind == "item":
                    yield value
                else:
                    self.closed.append(value)
        except GeneratorExit:
            stop.set()
            self.closed += [value for kind, value in _received(ours) if kind == "end"]
            raise
        finally:
            self._join(child)

    def _join(self, child: Any) -> None:
        child.join(JOIN_S)
        self.exits.append(child.exitcode)
        if child.is_alive():
            child.kill()
            child.join()


def _received(pipe: Connection) -> Iterator[tuple[str, Any]]:
    kind = ""
    while kind != "end":
        try:
            kind, value = pickle.loads(pipe.recv_bytes())
        except EOFError:
            kind, value = "raised", "GPU task aborted"
            yield kind, value
            return
        yield kind, value


def _child(task: Any, given: bytes, unused: Connection, pipe: Connection, stop: Any) -> None:
    unused.close()
    torch.set_num_threads(1)
    torch.set_num_threads = lambda count: None  # threads of OpenMP do not survive a fork
    generator = task(*pickle.loads(given))
    early = False
    try:
        for item in generator:
            if stop.is_set():
                generator.close()
                early = True
                break
            pipe.send_bytes(pickle.dumps(("item", item)))
    except Exception as error:  # noqa: BLE001 (as ``spaces`` does)
        pipe.send_bytes(pickle.dumps(("raised", type(error).__name__)))
    pipe.send_bytes(pickle.dumps(("end", early)))
