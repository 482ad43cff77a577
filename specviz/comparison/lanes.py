"""The lanes of a comparison: plain decoding first, then what was asked, refusals with a reason.

All lanes have the same prompt, target, limits and sampling; only the method and the settings of a
method may differ. What cannot run on the target stays in the list and says why and where it could.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

from specviz import runs
from specviz.config import RunRequest
from specviz.errors import MethodError, ModelError, SettingError
from specviz.method_cards import find_card
from specviz.plans import METHOD_SETTINGS, make_plan

PLAIN = "plain"
OWN_FIELDS = ("method", "draft", "drafter", "config")
NEAR = ("embedded", "wheel", "path")  # sources that need no download


@dataclass(frozen=True, slots=True)
class Lane:
    """One method in a comparison.

    Attributes:
        index: place in the table; 0 is plain decoding.
        label: the method's key, with a number where it occurs twice.
        request: what runs in each repeat.
        refusal: the sentence why it cannot run, None where it can.
    """

    index: int
    label: str
    request: RunRequest
    refusal: str | None = None


def lanes_of(requests: Sequence[RunRequest]) -> tuple[Lane, ...]:
    """The lanes for these requests; plain decoding is added unless it is asked for.

    Raises:
        SettingError: the requests differ in what must be the same in all lanes, or there is none.
        MethodError: a method does not exist.
        SpecvizError: plain decoding itself is refused: prompt, target or settings do not do.
    """
    if not requests:
        raise SettingError("a comparison needs at least one method, got none; name some")
    _check_same(requests)
    for request in requests:
        find_card(request.method)
    plain = replace(requests[0], method=PLAIN, draft=None, drafter=None)
    rest = list(requests)
    asked = next((request for request in rest if request.method == PLAIN), None)
    if asked is not None:
        rest.remove(asked)
        plain = asked
    make_plan(plain)
    all_requests = [plain, *rest]
    labels = _labels(request.method for request in all_requests)
    return tuple(
        Lane(index, label, request, _refusal(request))
        for index, (label, request) in enumerate(zip(labels, all_requests, strict=True))
    )


def with_hint(request: RunRequest, sentence: str) -> str:
    """A refusal, and which models at hand serve the method instead."""
    others = [name for name in _serving(request.method) if name != target_id(request)]
    if not others:
        return sentence
    return f"{sentence} ({request.method!r} runs on {', '.join(others)}: --target {others[0]})"


def target_id(request: RunRequest) -> str:
    """The id of the target, the default filled in."""
    return request.target or runs.targets()[0].id


def _refusal(request: RunRequest) -> str | None:
    try:
        make_plan(request)
    except (MethodError, ModelError) as error:
        return with_hint(request, str(error))
    return None


def _serving(method: str) -> list[str]:
    """Targets on this machine that can run a method."""
    return [
        target.id
        for target in runs.targets()
        if target.source in NEAR and runs.availability(target.id).get(method, "") is None
    ]


def _labels(methods: Iterable[str]) -> list[str]:
    seen: Counter[str] = Counter()
    labels = []
    for method in methods:
        seen[method] += 1
        labels.append(method if seen[method] == 1 else f"{method} ({seen[method]})")
    return labels


def _check_same(requests: Sequence[RunRequest]) -> None:
    first = requests[0]
    shared = [field.name for field in fields(RunRequest) if field.name not in OWN_FIELDS]
    settings = [f.name for f in fields(first.config) if f.name not in METHOD_SETTINGS]
    for other in requests[1:]:
        pairs = [(name, getattr(first, name), getattr(other, name)) for name in shared]
        pairs += [(n, getattr(first.config, n), getattr(other.config, n)) for n in settings]
        for name, ours, theirs in pairs:
            if ours != theirs:
                raise SettingError(
                    f"all methods of a comparison need the same {name}, got {ours!r:.60} and "
                    f"{theirs!r:.60}; make them equal"
                )
