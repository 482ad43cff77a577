"""Cuts records into numbered messages of bounded size. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from specviz.ui.protocol import VERSION, Record, dumps, light


class Outbox:
    """Collects records and cuts them into numbered messages of bounded size.

    Args:
        run_id: whose messages these are.
        max_bytes: a message holds at most so many bytes, but at least one record.
    """

    def __init__(self, run_id: str, max_bytes: int = 64_000) -> None:
        self.run_id = run_id
        self.max_bytes = max_bytes
        self.seq = 0
        self._waiting: deque[tuple[str, float | None]] = deque()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, record: Record, at: float | None = None) -> None:
        """Queue a record of time ``at``, without alternatives when too much waits already."""
        text = dumps(light(record) if self._bytes > self.max_bytes else record)
        self._waiting.append((text, at))
        self._bytes += len(text)

    def pop(self) -> str:
        """The next message, with as many waiting records as fit."""
        return self._message("")

    def close(self, end: str, error: Sequence[str] | None = None) -> list[str]:
        """All that is waiting, then the end: at least one message."""
        messages = []
        while self._bytes > self.max_bytes and len(self._waiting) > 1:
            messages.append(self.pop())
        tail = f',"end":{dumps(end)}' + (f',"error":{dumps(list(error))}' if error else "")
        return [*messages, self._message(tail)]

    def _message(self, tail: str) -> str:
        records: list[str] = []
        size, oldest = 0, None
        while self._waiting and (not records or size + len(self._waiting[0][0]) <= self.max_bytes):
            text, at = self._waiting.popleft()
            records.append(text)
            size += len(text)
            oldest = at if oldest is None else oldest
        self._bytes -= size
        head = f'{{"v":{VERSION},"run":{dumps(self.run_id)},"seq":{self.seq},"ev":['
        time = "" if oldest is None else f',"at":{1e3 * oldest:.0f}'
        self.seq += 1
        return head + ",".join(records) + "]" + time + tail + "}"
