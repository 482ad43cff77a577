"""The page is built without a model, without torch, and without a recorded run."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import runs
from specviz.trace import Trace
from specviz.ui import theme
from specviz.ui.build import build_app
from specviz.ui.state import SPECIAL, Setup
from specviz.ui.tab_run import menu_updates
from tests.ui.fake_runs import FakeRuns, request

pytestmark = pytest.mark.filterwarnings("default")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _collect() -> Iterator[None]:
    """Gradio leaves an event loop open per page; let it go here, where warnings are allowed."""
    yield
    gc.collect()


def config_of(source: FakeRuns) -> dict[str, dict[str, object]]:
    """Properties of the components, by their element id."""
    components = build_app(source).get_config_file()["components"]
    return {c["props"]["elem_id"]: c["props"] for c in components if c["props"].get("elem_id")}


def test_the_page_opens_without_any_recorded_run() -> None:
    found = config_of(FakeRuns())
    assert not found["sv-viewer"].get("value")
    assert found["sv-run"]["interactive"] is True
    assert found["sv-recorded"]["visible"] is False


def test_the_first_recorded_run_comes_with_the_page(tmp_path: Path) -> None:
    broken, good = tmp_path / "a.json", tmp_path / "b.json"
    broken.write_text("{}", "utf-8")
    Trace.from_events(FakeRuns(num_steps=9).stream(request())).save(good)
    found = config_of(FakeRuns(traces=(broken, good)))
    message = json.loads(str(found["sv-viewer"]["value"]))
    assert message["end"] == "done"
    assert message["ev"][0][1]["kind"] == "recorded"
    assert sum(record[0] == "step" for record in message["ev"]) == 9


def test_where_nothing_can_run_the_page_says_so_and_offers_no_run() -> None:
    found = config_of(FakeRuns(can_run=False))
    assert found["sv-run"]["interactive"] is False
    components = build_app(FakeRuns(can_run=False)).get_config_file()["components"]
    words = " ".join(str(c["props"].get("value")) for c in components)
    assert "sv_replay_only" in words
    assert "torch is not installed" in words


def test_a_template_holds_no_placeholder() -> None:
    components = build_app(FakeRuns()).get_config_file()["components"]
    for component in components:
        template = component["props"].get("html_template", "")
        assert "{{" not in template
        assert "${" not in template
        assert not component["props"].get("css_template")


def test_a_component_carries_no_script_of_its_own() -> None:
    """Gradio copies all properties of all components for each message that arrives."""
    components = build_app(FakeRuns()).get_config_file()["components"]
    calls = [c["props"]["js_on_load"] for c in components if c["type"] == "html"]
    assert len(calls) > 5
    assert max(map(len, calls)) < 80
    script = theme.launch_options()["head"]
    for call in calls:
        assert call.removeprefix("SV_PARTS.").removesuffix(";") + " {\n" in script


def test_menus_change_together() -> None:
    updates = menu_updates(FakeRuns(), Setup(), "big", "prompt_lookup")
    special = dict(zip(SPECIAL, updates[-len(SPECIAL) :], strict=True))
    assert special["ngram"]["visible"] is True
    assert special["confidence"]["visible"] is False
    assert updates[2]["visible"] is False  # no draft model


@pytest.mark.parametrize(("target", "told"), [("target-glm", True), ("smollm2-135m", False)])
def test_only_an_embedded_model_is_said_to_know_little(target: str, told: bool) -> None:
    updates = menu_updates(runs, Setup(), target, "plain")
    assert sum("sv_prompt_domain" in str(update) for update in updates) == told


def test_launch_options_ask_for_nothing_from_outside() -> None:
    options = theme.launch_options()
    assert options["ssr_mode"] is False
    assert options["run_history"] is False
    css = options["theme"]._get_theme_css()
    assert "http" not in css.replace("http://www.w3.org", "")
    assert "http" not in options["css"]


def test_the_page_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['transformers'] = None\n"
        "from specviz.ui.build import build_app\n"
        "text = str(build_app().get_config_file())\n"
        "print('built', 'sv_replay_no_torch' in text, 'Once' in text)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["built", "True", "True"], done.stderr[-2000:]
