"""What holds for every test: no network, one thread, and the embedded models loaded once."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny models and shared cores: more is slower
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
LOOPBACK = ("127.0.0.1", "::1", "localhost", "0.0.0.0")


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Connections that leave this machine fail, unless the test is marked ``network``."""
    if request.node.get_closest_marker("network") is not None:
        yield
        return
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family == socket.AF_UNIX or str(address[0]) in LOOPBACK:
            return connect(self, address)
        raise OSError(f"a test without the mark 'network' asked for {address!r}")

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    yield
