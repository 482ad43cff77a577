"""Real refusals, word for word, as pages in five languages show them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from specviz.catalog.pairing import check_exit_layer, check_vocabularies
from specviz.comparison.lanes import with_hint
from specviz.config import DecodeConfig, RunRequest
from specviz.errors import SpecvizError
from specviz.export import parse_query
from specviz.method_cards import find_card
from specviz.plans import check_length, check_prompt, make_plan
from specviz.trace.schema import validate
from specviz.trace.store import loads
from tests.ui.told import needs_node, told

pytestmark = needs_node

RECORDED = next((Path(__file__).parents[2] / "assets" / "traces").glob("04-*.json"))
HEAD = '"format": "specviz.trace"'


def refusal(act: Callable[[], object]) -> str:
    """The sentence that an act is refused with."""
    with pytest.raises(SpecvizError) as caught:
        act()
    return str(caught.value)


def broken(proposed: object) -> object:
    """A recorded run whose step 3 proposes something else."""
    document = json.loads(RECORDED.read_text("utf-8"))
    document["steps"][3]["proposed"] = proposed
    return document


def page(sentence: str, tag: str) -> str:
    """What a page in a language shows for a sentence."""
    return str(told([sentence])[0]["shown"][tag])


CASES: list[tuple[Callable[[], object], str, str]] = [
    (
        lambda: DecodeConfig(gamma=40),
        "en",
        '“Draft length γ” must be a whole number from 1 to 16, got 40; change "Draft length"',
    ),
    (
        lambda: DecodeConfig(gamma=40),
        "zh-CN",
        "“草稿长度 γ”必须是 1 到 16 的整数，收到的是 40；请更改“草稿长度”",
    ),
    (
        lambda: DecodeConfig(max_new_tokens=9999),
        "ru",
        "«Новые токены»: нужно целое число от 1 до 4096, получено 9999",
    ),
    (
        lambda: DecodeConfig(top_k=10**5000),
        "pt-BR",
        "“Top-k” deve ser um número inteiro de 0 a 1000000, recebido um número enorme",
    ),
    (
        lambda: DecodeConfig(ensemble_weight=1),
        "ko",
        "“타깃의 가중치”: 0 초과 1 미만의 수여야 하는데 받은 것은 1입니다",
    ),
    (
        lambda: DecodeConfig(schedule="got 'a'; b"),
        "ru",
        "«Изменение γ»: нужно одно из: constant, heuristic, auto; получено \"got 'a'; b\"",
    ),
    (
        lambda: check_length("big", 90, 20, 100),
        "en",
        "the prompt has 90 tokens and 20 are to be added, but 'big' holds at most 100; "
        "shorten the prompt or lower “New tokens”",
    ),
    (
        lambda: check_exit_layer(25, "big", 20),
        "pt-BR",
        "“Camada de saída” deve ser de 1 a 19 para 'big', que tem 20 camadas, recebido 25; "
        "altere “Camada de saída”",
    ),
    (
        lambda: check_prompt("x" * 100_001),
        "ko",
        "프롬프트는 최대 100000자인데 100001자를 받았습니다. 줄여 주세요",
    ),
    (
        lambda: parse_query({"prompt": ["<b>{n}</b>" * 300]}),
        "zh-CN",
        "链接中“提示词”最多 2000 个字符，收到 3000 个；请改为分享轨迹",
    ),
    (
        lambda: parse_query({"target": ["<img src=x>"]}),
        "ru",
        "«Целевая модель»: допустимы буквы, цифры, -, _ и ., не более одной /, "
        "получено '<img src=x>'",
    ),
    (
        lambda: loads('{"a": 1, "a": 2}'),
        "ko",
        "트레이스가 읽을 수 있는 JSON이 아닙니다: 한 객체에 같은 이름이 두 번 있습니다",
    ),
    (
        lambda: loads(f'{{{HEAD}, "version": 99}}'),
        "pt-BR",
        "o trace tem a versão 99, este programa lê até a versão 1; use um specviz mais novo",
    ),
    (
        lambda: loads(f'{{{HEAD}, "version": 1}}'),
        "zh-CN",
        "轨迹：缺少 'created'",
    ),
    (
        lambda: validate(broken(["x"])),
        "ru",
        "шаг 3, proposed 0: нужен тип object, получено 'x'",
    ),
    (
        lambda: check_vocabularies(
            find_card("speculative"), ("big", {"a": 0}), ("tiny", {"its index must be 1, got": 0})
        ),
        "ru",
        "у 'big' и 'tiny' разные токенизаторы: номер 0 означает 'a' в одном и "
        "'its index must be 1, got' в другом (общая часть словарей 0.0 %); используйте "
        "«Универсальное вспомогательное декодирование», которому подходит любой токенизатор, или "
        "выберите черновую модель того же семейства",
    ),
]


@pytest.mark.parametrize(("act", "tag", "shown"), CASES)
def test_a_refusal_reads(act: Callable[[], object], tag: str, shown: str) -> None:
    assert page(refusal(act), tag) == shown


def test_reasons_of_a_race_are_told_one_by_one() -> None:
    """A reason, the frame around it, the hint behind, and another reason beside them."""
    request = RunRequest.of("mtp_layers", "x", target="target-gemma")
    reason = with_hint(request, refusal(lambda: make_plan(request)))
    assert "multi-token" in reason and "--target" in reason
    unfit = (
        "'target-gemma'에서 'mtp_layers'을(를) 실행할 수 없습니다: "
        "설정에 다중 토큰 예측 층이 없습니다. 다른 방법이나 타깃을 고르세요 "
        "('mtp_layers'은(는) target-glm에서 실행됨)"
    )
    assert page(reason, "ko") == unfit
    both = f"none of the methods can run: {reason} · odd weather"
    assert page(both, "ko") == f"어떤 방법도 실행할 수 없습니다: {unfit} · odd weather"
