"""Figures as a Markdown table, with the machine that they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

Row = tuple[str, str]  # what was measured, and the figure with its unit


def middle(values: Sequence[float]) -> float:
    """The median; not a number where nothing was measured."""
    return median(values) if values else float("nan")


def part(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    return sorted(values)[int(share * (len(values) - 1))] if values else float("nan")


def kilobytes(size: float) -> str:
    """Bytes in kB."""
    return f"{size / 1000:.0f} kB"


def machine(browser: str) -> list[Row]:
    """When and on what the figures were measured."""
    load = f"{os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return [
        ("date", datetime.now(UTC).date().isoformat()),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("browser", f"Chromium {browser}, headless, without a GPU"),
        ("programs running, 5-minute mean", load),
    ]


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        "| what | figure |",
        "| --- | --- |",
        *(f"| {name} | {value} |" for name, value in rows),
    ]
    return "\n".join(lines)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
