"""The viewer in a browser: hostile texts, blanks, keys, scrubbing, dark mode, phone."""

from __future__ import annotations

import os

import pytest

from tests.browser.pilot import Pilot
from tests.ui.fake_runs import FakeRuns

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

HOSTILE = (
    "</div>",
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    '" onmouseover="window.hit=3',
    "<s>",
    "&lt;",
    "${window.hit=4}",
    "{{window.hit}}",
    "`${window.hit=5}`",
    '__i18n__{"__type__":"translation_metadata","key":"common.submit"}',
    "\u202eabc",
    "\x00\x1b[31m",
)
BLANKS = (" ", "\n", "\n\n", "\t", "", "a", "a")


def test_hostile_tokens_are_text(pilot: Pilot, source: FakeRuns) -> None:
    """U46: nothing from a model or a prompt becomes part of the page."""
    source.texts, source.num_steps = HOSTILE, 30
    page = pilot.open()
    pilot.run(prompt="<img src=x onerror=window.hit=6> ${window.hit=7}")
    assert page.evaluate("() => window.hit") is None
    assert page.locator(".sv img, .sv script, .sv s").count() == 0
    shown = set(pilot.texts(".sv-text .sv-t"))
    for text in HOSTILE[:9]:
        assert text in shown, text
    assert "⟨U+202E⟩abc" in shown
    assert "␀␛[31m" in shown
    assert "<img src=x onerror=window.hit=6>" in page.locator(".sv-prompt").first.inner_text()
    boxes = page.locator(".sv-text .sv-t")
    for place in range(12):
        boxes.nth(place).hover()
        page.wait_for_timeout(20)
    assert page.locator(".sv-tip").is_visible()
    assert page.locator(".sv-tip img, .sv-tip script").count() == 0
    assert page.evaluate("() => window.hit") is None


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("a\ud83d b", "⟨U+D83D⟩"),
        ("nul\x00 byte", "␀"),
        ("right \u202eto left", "⟨U+202E⟩"),
        ('__i18n__{"__type__":"translation_metadata","key":"common.submit"}', "__i18n__"),
    ],
    ids=["surrogate", "nul", "bidi", "marker"],
)
def test_hostile_prompts_are_shown_inert(pilot: Pilot, prompt: str, shown: str) -> None:
    page = pilot.open()
    page.evaluate(
        """(text) => {
          const field = document.querySelector('#sv-prompt textarea');
          field.value = text;
          field.dispatchEvent(new Event('input', { bubbles: true }));
        }""",
        prompt,
    )
    pilot.run()
    assert shown in page.locator(".sv-prompt").first.inner_text()


def test_a_very_long_prompt_is_cut_on_screen(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="word " * 20_000)
    head = page.locator(".sv-skipped").first.inner_text()
    assert "18501" in head
    assert page.locator(".sv-lane").first.locator(".sv-pt").count() == 1500


def test_blank_tokens_have_boxes_and_copy_as_they_are(pilot: Pilot, source: FakeRuns) -> None:
    """U45: every token has its own box, and copying gives the output's text."""
    source.texts, source.num_steps = BLANKS, 12
    page = pilot.open()
    pilot.run(prompt="Blanks")
    run = page.evaluate(
        "() => document.querySelector('.sv').svViewer.feed.run.lanes[0].steps.map((s) => s.tok)"
    )
    tokens = [token for step in run for token in step]
    boxes = page.locator(".sv-lane").first.locator(".sv-t")
    assert boxes.count() == len(tokens)
    widths = boxes.evaluate_all("(all) => all.map((node) => node.getBoundingClientRect().width)")
    assert min(widths) > 3
    faces = {token["x"]: text for token, text in zip(tokens, boxes.all_inner_texts(), strict=True)}
    assert len(set(faces.values())) == len(set(BLANKS))
    kept = "".join(token["x"] for token in tokens if token["f"] in "asb")
    assert pilot.copied() == "Blanks" + kept


def test_keys_walk_over_tokens_and_escape_closes(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Walk")
    page.locator(".sv-text").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".sv-cur").count() == 1
    assert page.locator(".sv-tip").is_visible()
    first = page.locator(".sv-cur").get_attribute("data-k")
    page.keyboard.press("ArrowRight")
    assert page.locator(".sv-cur").get_attribute("data-k") == str(int(first or 0) + 1)
    page.keyboard.press("End")
    last = page.locator(".sv-lane").first.locator(".sv-t").count() - 1
    assert page.locator(".sv-cur").get_attribute("data-k") == str(last)
    assert page.locator(".sv-sr").inner_text()
    page.keyboard.press("Home")
    assert page.locator(".sv-cur").get_attribute("data-k") == "0"
    page.keyboard.press("Escape")
    assert page.locator(".sv-cur").count() == 0
    assert not page.locator(".sv-tip").is_visible()


def test_scrubbing_shows_a_part_and_its_figures(pilot: Pilot) -> None:
    page = pilot.open()
    page.uncheck("#sv-beside input")
    pilot.run(prompt="Scrub")
    total = page.locator(".sv-text .sv-step").count()
    assert page.locator(".sv-place").inner_text() == f"step {total} of {total}"
    page.locator(".sv-range").focus()
    page.keyboard.press("Home")
    assert page.locator(".sv-text .sv-step:visible").count() == 0
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator(".sv-text .sv-step:visible").count() == 3
    assert page.locator(".sv-place").inner_text() == f"step 3 of {total}"
    note = page.locator(".sv-card-tau .sv-note").inner_text()
    assert note.endswith("in 3 steps")
    page.keyboard.press(".")
    assert page.locator(".sv-place").inner_text() == f"step 4 of {total}"
    page.keyboard.press("End")
    assert page.locator(".sv-text .sv-step:visible").count() == total


def test_scrubbing_is_quick(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0.0, 400
    page = pilot.open()
    page.uncheck("#sv-beside input")
    pilot.length(1024)
    pilot.run(prompt="Long")
    page.locator(".sv-range").focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    took, load = pilot.stats()["drawMs"], os.getloadavg()[0]
    print(f"scrub over the whole run: {took:.0f} ms, load {load:.1f}")
    assert took < (50 if load <= (os.cpu_count() or 1) else 500)


def test_the_tooltip_tells_the_numbers_of_a_token(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Numbers")
    page.locator(".sv-text .sv-rejected").first.click()
    tip = page.locator(".sv-tip")
    text = tip.inner_text()
    for part in ("rejected", "0.250", "0.500", "0.900", "Target p", "Draft q"):
        assert part in text, part
    box, window = tip.bounding_box(), page.viewport_size
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"]


def test_no_line_of_a_text_is_cut_at_its_top(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0.0, 120
    page = pilot.open()
    pilot.length(1024)
    pilot.run(prompt="Lines")
    cut = """() => {
      const text = document.querySelector('.sv-text'), top = text.getBoundingClientRect().top;
      const boxes = [...text.querySelectorAll('.sv-t')].map((node) => node.getBoundingClientRect());
      return boxes.filter((box) => box.top < top && box.bottom > top + 1.5).length;
    }"""
    assert page.evaluate("() => document.querySelector('.sv-text').scrollTop") > 0
    assert page.evaluate(cut) == 0
    page.evaluate(
        "() => { const v = document.querySelector('.sv').svViewer; v.player.hold(v.feed.run, 60); }"
    )
    assert page.evaluate(cut) == 0


def test_a_token_without_a_draft_is_no_bonus(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Plain beside")
    plain = page.locator(".sv-lane").nth(1)
    assert plain.locator(".sv-own").count() == plain.locator(".sv-t").count() > 0
    plain.locator(".sv-own").first.click()
    assert page.locator(".sv-tip-fate").inner_text() == "target's token"


def test_fates_differ_without_colour(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Marks")
    looks = page.evaluate("""() => ['accepted', 'rejected', 'discarded', 'residual', 'bonus']
      .map((f) => {
      const node = document.querySelector('.sv-text .sv-' + f);
      const style = getComputedStyle(node);
      const marks = ['::before', '::after'].map((at) => getComputedStyle(node, at).content);
      return [style.textDecorationLine, style.borderBottomStyle, style.boxShadow !== 'none',
        style.outlineStyle, ...marks].join('|');
    })""")
    assert len(set(looks)) == 5, looks


def test_dark_mode_keeps_the_text_readable(pilot: Pilot) -> None:
    page = pilot.open(query="?__theme=dark")
    pilot.run(prompt="Dark")
    pairs = page.evaluate("""() => ['.sv-name', '.sv-card .sv-note', '.sv-card .sv-from',
      '.sv-fact', '.sv-text .sv-accepted', '.sv-text .sv-rejected', '.sv-text .sv-residual',
      '.sv-text .sv-bonus', '.sv-place', '.sv-lane-figures'].map((selector) => {
      const node = document.querySelector(selector);
      let back = node;
      while (back && /rgba\\(0, 0, 0, 0\\)/.test(getComputedStyle(back).backgroundColor)) {
        back = back.parentElement;
      }
      return [selector, getComputedStyle(node).color, getComputedStyle(back).backgroundColor];
    })""")
    for selector, ink, paper in pairs:
        assert contrast(ink, paper) >= 4.5, (selector, ink, paper)


def test_the_page_fits_a_phone(pilot: Pilot) -> None:
    page = pilot.open(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    pilot.run(prompt="Small")
    for name in ("How to read this", "Figures", "Theory", "Sweep", "Traces"):
        pilot.tab(name)
        page.wait_for_timeout(300)
        widths = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1], name
    page.locator(".sv-text .sv-rejected").first.tap()
    box = page.locator(".sv-tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_the_text_follows_only_when_at_its_end(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 90.0, 320  # long enough for blocks that are not laid out
    page = pilot.open()
    page.uncheck("#sv-beside input")
    pilot.length(1000)
    pilot.run(prompt="Long story", wait=False)
    box = "document.querySelector('.sv-text')"
    page.wait_for_function(
        "() => document.querySelector('.sv').dataset.state === 'running' && "
        f"{box}.scrollHeight > {box}.clientHeight + 120"
    )
    page.evaluate(f"() => {{ {box}.scrollTop = 0; }}")
    page.wait_for_timeout(500)
    assert page.evaluate(f"() => {box}.scrollTop") == 0
    page.evaluate(f"() => {{ {box}.scrollTop = 1e6; }}")
    pilot.settle("done")
    left = page.evaluate(f"() => {box}.scrollHeight - {box}.scrollTop - {box}.clientHeight")
    assert left < 40


def contrast(ink: str, paper: str) -> float:
    """WCAG contrast of two ``rgb()`` colours."""
    low, high = sorted(luminance(colour) for colour in (ink, paper))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of an ``rgb()`` colour."""
    parts = colour[colour.index("(") + 1 : -1].split(",")[:3]
    linear = []
    for part in parts:
        value = float(part) / 255
        linear.append(value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"gamma": 5, "exit_layer": 4, "ngram": None}, ["γ 5", "exit layer 4", "greedy"]),
        ({"gamma": 5, "ngram": 3}, ["γ 5", "n-gram ≤ 3", "greedy"]),
        ({"gamma": 5, "ensemble_weight": 0.7}, ["γ 5", "target weight 0.7", "greedy"]),
        ({"gamma": None, "temperature": 0.5}, ["temperature 0.5"]),
    ],
)
def test_the_head_tells_the_settings_in_force(
    pilot: Pilot, settings: dict[str, object], facts: list[str]
) -> None:
    page = pilot.open()
    told = page.evaluate(
        "(request) => document.querySelector('.sv').svViewer.figures.factsOf({ request })", settings
    )
    assert told == facts


def test_a_step_longer_than_the_axis_is_told_so(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Axis")
    told = page.evaluate("""() => {
      const { svViewer: viewer } = document.querySelector('.sv');
      return [1e-9, 1e9].map((slowest) => {
        viewer.scale = { ...viewer.scale, slowest };
        viewer.cursor.step(0, 0, { clientX: 300, clientY: 300 }, false);
        return viewer.cursor.tip.box.innerText.includes('its bar is broken');
      });
    }""")
    assert told == [True, False]
