"""The viewer's scripts: they parse, their model is right, and they write text only as text."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from specviz.events import Fate
from specviz.render.palette import PARTS
from specviz.ui.head import head, script
from specviz.ui.i18n import texts
from specviz.ui.scripts import PARTS as SCRIPT_PARTS
from specviz.ui.words import FATES

ASSETS = Path(__file__).parents[2] / "assets"
PAGE = Path(__file__).parents[2] / "specviz" / "ui"
NODE = shutil.which("node")
SOURCES = sorted(ASSETS.glob("specviz*.js"))
MAX_LINES = 300

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@needs_node
@pytest.mark.parametrize(
    "name", ["model.test.js", "step.test.js", "spot.test.js", "language.test.js"]
)
def test_the_model_passes_its_own_tests(name: str) -> None:
    done = subprocess.run(
        [str(NODE), "--test", str(Path(__file__).with_name(name))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@needs_node
def test_the_script_of_the_page_is_one_script(tmp_path: Path) -> None:
    path = tmp_path / "page.js"
    path.write_text(script(), "utf-8")
    done = subprocess.run([str(NODE), "--check", str(path)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert head().count("</script") == 1


def test_every_script_is_used() -> None:
    assert {path.name for path in SOURCES} == {
        *chain(*SCRIPT_PARTS.values()),
        "specviz-standalone.js",
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_scripts_write_text_only_as_text(path: Path) -> None:
    source = path.read_text("utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "http:",
    ):
        assert word not in source.replace("http://www.w3.org/2000/svg", ""), word
    assert len(source.splitlines()) <= MAX_LINES
    assert max(map(len, source.splitlines())) <= 110


def used_keys() -> set[str]:
    """Keys in scripts and page code; a key that is put together stands for all it begins."""
    sources = [*SOURCES, *PAGE.glob("*.py")]
    return set(re.findall(r"sv_\w+", "\n".join(path.read_text("utf-8") for path in sources)))


def test_every_key_in_use_has_a_text_and_every_text_is_used() -> None:
    """A word of the code that is no key itself must be the beginning of some."""
    english = texts()["en"]
    used = used_keys() | {f"sv_{name}" for name in (*FATES, *PARTS)}
    used |= {f"sv_{fate}_info" for fate in FATES}
    assert {fate.value for fate in Fate} < set(FATES)
    parts = [word for word in used if word not in english]
    assert [part for part in parts if not any(key.startswith(part) for key in english)] == []
    unused = set(english) - used
    assert [key for key in unused if not key.startswith(tuple(parts))] == []


def test_texts_have_the_same_places_in_every_language() -> None:
    english = texts()["en"]
    for language, table in texts().items():
        for key, text in table.items():
            places = sorted(re.findall(r"\{(\w+)\}", text))
            assert places == sorted(re.findall(r"\{(\w+)\}", english[key])), (language, key)
