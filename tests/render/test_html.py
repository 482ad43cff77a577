"""HTML of spans: escaping, classes, and text that can be copied."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given

from specviz.events import Event, Fate
from specviz.render import LOOKS, joined_text, spans_of
from specviz.render.html import COPIED, html_of, legend_html
from specviz.render.visible import pieces
from tests.trace.sample_runs import drafted, own, run, sized, step
from tests.trace.strategies import few, runs

HOSTILE = (
    "</div>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onclick='alert(1)",
    "<s>",
    "&lt;",
    "${alert(1)}",
    "{{x}}",
    "-->",
    "\x00\u202e\ud800",
)


class Page(HTMLParser):
    """What a browser makes of a page: elements, attributes, text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.text = ""
        self.open = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self.open += 1

    def handle_endtag(self, tag: str) -> None:
        self.open -= 1

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def titles(self) -> list[str]:
        return [
            attributes["title"] or "" for attributes in self.attributes if "title" in attributes
        ]


def page_of(*texts: str) -> Page:
    tokens = tuple(drafted(i, Fate.ACCEPTED, text) for i, text in enumerate(texts))
    only = replace(step(0, "a"), proposed=tokens, target_token=own(99, Fate.BONUS, "."))
    return Page(html_of([s for s in spans_of(run([only])) if s.step is not None]))


@pytest.mark.parametrize("text", HOSTILE)
def test_model_text_is_never_markup(text: str) -> None:
    """U46: readable as typed, no new element, no new attribute."""
    page = page_of(text)
    assert set(page.tags) == {"div", "span"}
    assert page.open == 0
    allowed = {"class", "data-step", "data-place", "data-id", "data-mark", "data-sign", "title"}
    assert all(set(attributes) <= allowed for attributes in page.attributes)


def test_model_text_is_readable_as_typed() -> None:
    plain = HOSTILE[:10]
    page = page_of(*plain)
    assert page.text == "".join(plain) + "."
    assert [title.split(" — ")[0].replace("·", " ") for title in page.titles] == [*plain, "."]


def test_every_token_is_a_box_with_class_and_mark() -> None:
    page = Page(html_of(spans_of(run([sized(0, 3, 1), step(1, "")]))))
    boxes = [a for a in page.attributes if (a.get("class") or "").startswith("sv-token")]
    assert [box["class"] for box in boxes] == [
        "sv-token sv-prompt",
        "sv-token sv-prompt",
        "sv-token sv-accepted",
        "sv-token sv-rejected",
        "sv-token sv-discarded",
        "sv-token sv-residual",
        "sv-token sv-bonus",
    ]
    assert all(box["data-mark"] for box in boxes)


def test_blanks_show_as_signs_and_copy_as_themselves() -> None:
    page = page_of(" ", "\n", "\t", "", "a b")
    signs = [a["data-sign"] for a in page.attributes if "data-sign" in a]
    assert signs == ["␣", "↵", "⇥", "∅", "·"]
    assert page.text == " \n\ta b."


def test_empty_run_is_an_empty_block() -> None:
    assert html_of([]) == '<div class="sv-run"></div>'


@given(runs())
@few(25)
def test_any_run_is_well_formed_utf8_with_the_texts_inside(events: list[Event]) -> None:
    spans = [span for span in spans_of(events) if span.kept and span.step is not None]
    source = html_of(spans)
    source.encode("utf-8")
    page = Page(source)
    signed = {p.text for span in spans for p in pieces(span.text) if p.sign} - set(COPIED)
    assert page.text == "".join(char for char in joined_text(spans) if char not in signed)
    assert set(page.tags) <= {"div", "span"}
    assert page.open == 0


def test_tooltip_tells_what_is_known() -> None:
    token = drafted(
        5,
        Fate.ACCEPTED,
        " the",
        target_prob=0.6,
        draft_prob=0.9,
        accept_prob=2 / 3,
        draw=0.25,
        target_choice=6,
        total_variation=0.1,
    )
    page = Page(html_of(spans_of([replace(step(4, "a"), proposed=(token,))])))
    assert page.titles[0].split("\n") == [
        "·the — Accepted",
        "id 5",
        "bytes 20 74 68 65",
        "step 4",
        "target probability 0.6",
        "draft probability 0.9",
        "chance of acceptance 0.6667",
        "random draw 0.25",
        "kept by a lossy rule: not the target's own choice",
    ]
    assert "sv-lossy" in (page.attributes[1]["class"] or "")


def test_legend_names_every_look() -> None:
    page = Page(legend_html())
    assert all(look.label in page.text and look.meaning in page.text for look in LOOKS)
