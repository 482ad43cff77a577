"""Figures: data and structure, not pixels."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from specviz.events import Fate, Verified
from specviz.metrics import TokenSeries
from specviz.render import figures
from tests.trace.sample_runs import drafted, own, sized, step

FIGURES: list[Callable[..., Any]] = [
    figures.acceptance_figure,
    figures.time_figure,
    figures.histogram_figure,
    figures.tokens_figure,
    figures.position_figure,
]


def steps(num: int) -> list[Verified]:
    return [sized(i, i % 5, min(i % 5, i % 3)) for i in range(num)]


def structure(figure: Any) -> tuple[object, ...]:
    traces = [(trace.type, trace.name) for trace in figure.data]
    return traces, figure.layout.uirevision, figure.layout.yaxis.range


@pytest.mark.parametrize("make", FIGURES, ids=lambda make: make.__name__)
def test_figure_keeps_its_structure_while_a_run_grows(make: Callable[..., Any]) -> None:
    """U44: steps 0, 1, 50, 100: same traces, same ``uirevision``, same axis."""
    seen = [structure(make(steps(num))) for num in (0, 1, 50, 100)]
    assert all(found == seen[0] for found in seen)
    assert seen[0][1] is not None


@pytest.mark.parametrize("make", [figures.acceptance_figure, figures.position_figure])
def test_rates_have_a_fixed_axis(make: Callable[..., Any]) -> None:
    for num in (0, 1, 50):
        assert make(steps(num)).layout.yaxis.range == (0, 1)


@pytest.mark.parametrize("make", FIGURES, ids=lambda make: make.__name__)
def test_backgrounds_are_transparent(make: Callable[..., Any]) -> None:
    layout = make(steps(3)).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_acceptance_figure_shows_step_window_and_run() -> None:
    figure = figures.acceptance_figure([sized(0, 2, 2), step(1, ""), sized(2, 2, 0)], window=2)
    per_step, rolling, cumulative = figure.data
    assert per_step.y == (1.0, None, 0.0)
    assert rolling.y == (1.0, 1.0, 0.0)
    assert cumulative.y == pytest.approx((1.0, 1.0, 2 / 3))
    assert rolling.name == "last 2 steps"


def test_time_figure_stacks_the_parts_of_a_step() -> None:
    figure = figures.time_figure([sized(0, 1, 1, draft_s=0.01, verify_s=0.02, other_s=0.005)])
    assert figure.layout.barmode == "stack"
    assert [trace.y[0] for trace in figure.data] == pytest.approx([10.0, 20.0, 5.0])


def test_histogram_figure_counts_steps() -> None:
    (bars,) = figures.histogram_figure([sized(0, 3, 2), sized(1, 3, 0), sized(2, 3, 2)]).data
    assert (bars.x, bars.y) == ((0, 1, 2), (1, 0, 2))


def test_tokens_figure_stands_beside_plain() -> None:
    plain = TokenSeries(elapsed_s=(0.0, 2.0), num_tokens=(0, 4))
    run_line, plain_line = figures.tokens_figure([sized(0, 2, 2)], plain).data
    assert run_line.y == (0, 3)
    assert (plain_line.x, plain_line.y) == ((0.0, 2.0), (0, 4))
    assert len(figures.tokens_figure([sized(0, 2, 2)]).data) == 2


def test_position_figure_gives_rates_with_their_counts() -> None:
    rate, conditional = figures.position_figure([sized(0, 2, 2), sized(1, 2, 0)]).data
    assert (rate.y, rate.hovertext) == ((0.5, 0.5), ("1 of 2", "1 of 2"))
    assert (conditional.y, conditional.hovertext) == ((0.5, 1.0), ("1 of 2", "1 of 1"))


def test_speedup_figure_marks_the_best_length() -> None:
    """α = 0.5, c = 0.1: the best is γ = 2 with 1.75 / 1.2."""
    measured, paper, best = figures.speedup_figure(0.5, c=0.1).data
    assert measured.y == paper.y
    assert measured.y[:2] == pytest.approx((1.0, 1.5 / 1.1))
    assert best.x == (2,)
    assert best.y == pytest.approx((1.75 / 1.2,))


def texted(words: Sequence[str]) -> Verified:
    tokens = tuple(drafted(i, Fate.ACCEPTED, word) for i, word in enumerate(words))
    return replace(step(0, "a"), proposed=tokens, target_token=own(9, Fate.BONUS, "."))


def test_token_text_in_hover_is_literal() -> None:
    """U46: tags, entities and formulas are shown as typed, also in an exported page."""
    words = ("<b>", "<script>alert(1)</script>", "&lt;", "$x$", "%{y}", "\n\u202e\ud800")
    figure = figures.acceptance_figure([texted(words)])
    (hover,) = figure.data[0].hovertext
    assert hover == (
        "0: ✓&lt;b&gt; ✓&lt;script&gt;alert(1)&lt;/script&gt; ✓&amp;lt; ✓&#36;x&#36; ✓%{y} "
        "✓↵⟨U+202E⟩⟨U+D800⟩ ★."
    )
    assert figure.data[0].hovertemplate is None
    page = figure.to_html(include_plotlyjs=False, full_html=False)
    assert "<script>alert" not in page
    page.encode("utf-8")


def test_hover_stays_short() -> None:
    assert figures.step_hover(texted(["w"] * 40)).count("✓") == figures.MAX_HOVER_TOKENS


def test_words_can_be_translated_and_are_escaped() -> None:
    figure = figures.time_figure(steps(2), labels={"draft": "Entwurf", "step": "<i>Schritt"})
    assert figure.data[0].name == "Entwurf"
    assert figure.data[1].name == "verify"
    assert figure.layout.xaxis.title.text == "&lt;i&gt;Schritt"
