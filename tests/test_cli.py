"""The command line: output, exit status, one sentence on stderr, and no torch where none is due."""

from __future__ import annotations

import io
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import specviz
from specviz import runs
from specviz.catalog.folders import ROOT
from specviz.cli import main, parser
from specviz.config import SETTING_NAMES, DecodeConfig
from specviz.errors import SettingError
from specviz.trace import Trace, check

STORY = "Write a story about a brave fox named Lila."
RUN = ["run", "prompt_lookup", "--prompt", STORY, "--max-new-tokens", "8"]


def python(code: str, *, timeout: float = 60, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh Python."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=timeout,
        check=False, **options,
    )  # fmt: skip


# run


def test_run_prints_the_decoded_text_and_the_summary_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(RUN) == 0
    out, err = capsys.readouterr()
    trace = runs.run(_request())
    assert out == trace.text + "\n"
    assert err.startswith("prompt_lookup · 8 tokens in ") and "ended by length" in err


def test_quiet_prints_the_text_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() and err == ""


def test_json_prints_a_sound_trace_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--json"]) == 0
    trace = Trace.loads(capsys.readouterr().out)
    check(trace)
    assert trace.document["method"]["key"] == "prompt_lookup"
    assert trace.document["request"]["max_new_tokens"] == 8


def test_trace_is_written_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    assert main([*RUN, "--quiet", "--baseline", "--trace", str(path)]) == 0
    trace = Trace.load(path)
    assert trace.baseline is not None and trace.baseline["identical"] is True
    capsys.readouterr()
    assert main(["replay", str(path)]) == 0
    out = capsys.readouterr().out
    assert "plain decoding" in out and "identical" in out
    assert len([line for line in out.splitlines() if " | " in line]) == len(trace.steps) + 1
    assert main(["replay", str(path), "--step", "0"]) == 0
    assert capsys.readouterr().out.startswith("step 0: gamma 5, ")


def test_prompt_comes_from_stdin_or_a_file_without_its_last_newline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["run", "plain", "--max-new-tokens", "4", "--json"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Write a recipe.\n")))
    assert main([*command, "-"]) == 0
    assert json.loads(capsys.readouterr().out)["prompt"]["text"] == "Write a recipe."
    path = tmp_path / "prompt.txt"
    path.write_bytes("naïve\n\n".encode())
    assert main([*command, "--prompt-file", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["prompt"]["text"] == "naïve\n"


def test_every_setting_has_an_option_that_reaches_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = {
        "max_new_tokens": 9, "gamma": 3, "schedule": "heuristic", "confidence": 0.1,
        "temperature": 0.7, "top_k": 50, "top_p": 0.9, "repetition_penalty": 1.1,
        "no_repeat_ngram_size": 4, "min_new_tokens": 2, "seed": 5,
    }  # fmt: skip
    flags = [text for n, v in values.items() for text in ("--" + n.replace("_", "-"), str(v))]
    stops = ["--stop", "xyzzy", "--stop", "plugh"]
    command = ["run", "speculative", "--prompt", STORY, "--json", *flags, *stops]
    assert main(command) == 0
    request = json.loads(capsys.readouterr().out)["request"]
    assert {name: request[name] for name in values} == values
    assert request["stop"] == ["xyzzy", "plugh"]
    others = {"exit_layer", "ngram", "ensemble_weight", "stop", "bad_words_ids"}
    assert set(values) | others == set(SETTING_NAMES)


def test_defaults_shown_in_help_are_those_of_the_settings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        parser().parse_args(["run", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    defaults = DecodeConfig()
    assert f"most tokens to add (default {defaults.max_new_tokens})" in text
    assert f"1 to 16 (default {defaults.gamma})" in text


# Refusals

REFUSALS = [
    (["run", "plain"], "exactly one prompt is needed, got 0"),
    (["run", "plain", "-", "--prompt", "x"], "exactly one prompt is needed, got 2"),
    (["run", "plain", "words"], "unrecognized arguments: words"),
    (["run", "plain", "--prompt", " "], "more than spaces"),
    (["run", "plain", "--prompt", "a\udcff"], "lone surrogate"),
    (["run", "plain", "--prompt-file", "/does/not/exist"], "the prompt cannot be read"),
    (["run", "nope", "--prompt", "x"], "there is no method 'nope'"),
    (["run", "plain", "--prompt", "x", "--gamma", "x"], "gamma must be .* got 'x'"),
    (["run", "plain", "--prompt", "x", "--gamma", "0"], "gamma must be .* got 0"),
    (["run", "plain", "--prompt", "x", "--gamma", "40"], "gamma must be .* got 40"),
    (["run", "plain", "--prompt", "x", "--gamma", "2.0"], "gamma must be .* got 2.0"),
    (["run", "plain", "--prompt", "x", "--temperature", "nan"], "temperature must be"),
    (["run", "plain", "--prompt", "x", "--temperature", "1e-40"], "temperature must be 0"),
    (["run", "plain", "--prompt", "x", "--temperature", "9" * 400], "temperature must be"),
    (["run", "plain", "--prompt", "x", "--top-p", "0"], "top_p must be above 0"),
    (["run", "plain", "--prompt", "x", "--schedule", "odd"], "schedule must be one of"),
    (["run", "early_exit", "--prompt", "x", "--exit-layer", "0"], "from 1 to 19 for 'target-glm'"),
    (["run", "early_exit", "--prompt", "x", "--exit-layer", "9999"], "1 to 19 for 'target-glm'"),
    (["run", "early_exit", "--prompt", "x", "--exit-layer", "99"], "1 to 19 for 'target-glm'"),
    (["compare", "early_exit", "--prompt", "x", "--exit-layer", "0"], "1 to 19 for 'target-glm'"),
    (["run", "plain", "--prompt", "x", "--exit-layer", "0", "--target", "a/b"], "from 1 to 1000"),
    (["run", "plain", "--prompt", "x", "--target", ""], "target must be the name of a model"),
    (["run", "plain", "--prompt", "x", "--draft", ""], "draft must be the name of a model"),
    (["run", "ensemble", "--prompt", "x", "--drafter", " "], "drafter must be the name of a meth"),
    (["compare", "speculative", "--prompt", "x", "--draft", ""], "draft must be the name of a m"),
    (["run", "plain", "--prompt", "x", "--trace", ""], "trace cannot be written to ''; name a f"),
    (["compare", "plain", "--prompt", "x", "--trace", ""], "trace cannot be written to ''"),
    (["run", "plain", "--prompt", "x", "--target", "a b"], "there is no model 'a b'"),
    (["run", "plain", "--prompt", "x", "--target", "/" + "x" * 300], "there is no model '/xxx"),
    (["run", "plain", "--prompt", "x", "--target", "~no-such-user/x"], "there is no model '~no"),
    (["run", "plain", "--prompt", "x", "--target", "org/model.git"], "there is no model 'org/mo"),
    (["run", "plain", "--prompt", "x", "--target", "a--b"], "there is no model 'a--b'"),
    (["run", "plain", "--prompt", "x", "--device", "tpu"], "device must be one of"),
    (["run", "plain", "--prompt", "x", "--dtype", "int4"], "dtype must be one of"),
    (["run", "plain", "--prompt", "x", "--trace", "/does/not/exist.json"], "cannot be written"),
    (["run", "plain", "--prompt", "x", "--trace", "x" * 300], "cannot be written"),
    (["run", "plain", "--prompt", "x", "--frob"], "unrecognized arguments: --frob"),
    (["run", "plain", "--prompt", "x", "--max-new-tokens", "2000"], "holds at most"),
    (
        ["run", "speculative", "--prompt", "x", "--draft", "assistant-other-tokenizer"],
        "use the method 'universal'",
    ),
    (["run", "speculative", "--prompt", "x", "--draft", "drafter-gemma"], "cannot draft for"),
    (["replay", "/does/not/exist.json"], "cannot read the trace"),
    (["frob"], "invalid choice: 'frob'"),
    (["serve", "--port", "x"], "port must be a whole number"),
]


@pytest.mark.parametrize(("command", "words"), REFUSALS, ids=lambda value: str(value)[:60])
def test_misuse_is_one_sentence_and_status_two(
    command: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("specviz: ") and err.count("\n") == 1
    assert re.search(words, err)


def test_chat_without_a_template_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "plain-model"
    shutil.copytree(ROOT / "assets" / "models" / "assistant", folder)
    (folder / "chat_template.jinja").unlink()
    assert main(["run", "plain", "--prompt", "x", "--chat", "--target", str(folder)]) == 2
    assert "has no chat template" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{broken", "not JSON"),
        ('{"format": "specviz.trace", "version": 99}', "version 99"),
        ('{"format": "other"}', "trace"),
        ("[]", "trace"),
        ('{"format": "specviz.trace", "version": 1}', ""),
    ],
)
def test_a_trace_that_cannot_be_used_is_refused(
    tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    assert main(["replay", str(path)]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


@pytest.mark.parametrize("step", ["99", "-1", "x", "1.0"])
def test_a_step_that_is_not_there_is_refused(
    step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    runs.run(_request()).save(path)
    assert main(["replay", str(path), f"--step={step}"]) == 2
    assert "step must be a whole number from 0 to" in capsys.readouterr().err


def test_a_contradictory_trace_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(runs.run(_request()).dumps())
    document["output"]["ids"][0] += 1
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    assert main(["replay", str(path)]) == 2
    assert "step 0" in capsys.readouterr().err


def test_a_fault_of_ours_is_status_one_with_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "stream", lambda *a, **k: 1 / 0)
    assert main(RUN) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("command", "status", "err"),
    [
        ("methods >&-", 0, ""),
        ("run plain 2>&-", 2, ""),
        (
            "run plain - <&-",
            2,
            "specviz: the prompt must hold more than spaces, got ''; type some\n",
        ),
    ],
)
def test_a_closed_stream_is_no_fault(command: str, status: int, err: str) -> None:
    line = f"exec {shlex.quote(sys.executable)} -m specviz {command}"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", err)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_said_in_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "specviz", "methods"],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "specviz: the output cannot be written (No space left on device)\n"


def test_a_folder_without_write_permission_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda *a: False)  # root may write anywhere
    monkeypatch.setattr(runs, "stream", lambda *a, **k: pytest.fail("it ran"))
    assert main([*RUN, "--trace", str(tmp_path / "run.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.slow
def test_a_prompt_that_is_too_long_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("word " * 3000, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "specviz", "run", "plain", "--prompt-file", str(path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("specviz: the prompt has ") and done.stderr.count("\n") == 1


# Lists


def test_methods_lists_every_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["key"] for row in rows] == [card.key for card in runs.cards()]
    plain = rows[0]
    assert plain["key"] == "plain" and plain["lossless"] is True and plain["needs"] == []
    assert {"target-glm", "target-gemma"} <= set(plain["models"])
    assert main(["methods"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("plain ")


def test_models_lists_the_catalogue_with_paths_that_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["models", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    for row in rows:
        assert {"id", "source", "path", "licence", "parameters", "bytes", "dtype", "methods"} <= (
            row.keys()
        )
        if row["source"] == "embedded":
            assert (ROOT / row["path"] / "config.json").is_file()
            assert row["bytes"] < 9_000_000 * 3 and row["parameters"] > 0
    assert main(["models"]) == 0
    assert "target-glm" in capsys.readouterr().out


def test_methods_of_a_model_that_was_not_fetched_are_not_guessed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("specviz.catalog.locate._in_hub_cache", lambda hub_id: None)
    assert main(["models", "--json"]) == 0
    rows = {row["id"]: row["methods"] for row in json.loads(capsys.readouterr().out)}
    assert rows["Qwen/Qwen2.5-1.5B-Instruct"] is None
    assert "mtp_layers" in rows["target-glm"]
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    qwen = next(line for line in lines if line.startswith("Qwen/Qwen2.5-1.5B"))
    assert qwen.endswith("known once fetched")


def test_compare_wants_a_list() -> None:
    with pytest.raises(SettingError, match="must be a list of keys, got the text 'speculative'"):
        specviz.compare("speculative", STORY)


def test_no_command_is_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[dict[str, Any]] = []
    from specviz.ui import build

    monkeypatch.setattr(build, "launch", lambda **options: called.append(options))
    assert main([]) == 0
    assert main(["serve", "--port", "0", "--host", "0.0.0.0", "--share"]) == 0
    assert called == [
        {"host": "127.0.0.1", "port": 7860, "share": False},
        {"host": "0.0.0.0", "port": 0, "share": True},
    ]


def test_a_port_in_use_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from specviz.ui import build

    def taken(**options: Any) -> None:
        raise OSError("Cannot find empty port in range: 7860-7860.")

    monkeypatch.setattr(build, "launch", taken)
    assert main(["serve"]) == 2
    err = capsys.readouterr().err
    assert "cannot listen on port 7860 of 127.0.0.1" in err and err.count("\n") == 1


# A fresh Python


def test_importing_specviz_loads_neither_torch_nor_gradio() -> None:
    code = (
        "import sys, specviz; specviz.RunRequest; specviz.Trace; from specviz import runs;"
        "runs.cards(); runs.models(); runs.availability('target-glm'); runs.recorded();"
        "print([m for m in ('torch', 'transformers', 'gradio', 'plotly') if m in sys.modules])"
    )
    assert python(code).stdout == "[]\n"


BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('torch', 'transformers'):
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Blocked())
"""


def test_without_torch_lists_and_replay_work_and_a_run_says_what_is_missing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.json"
    runs.run(_request()).save(path)
    code = BLOCK + (
        "from specviz.cli import main\n"
        f"assert main(['methods']) == 0 and main(['replay', {str(path)!r}]) == 0\n"
        "sys.exit(main(['run', 'plain', '--prompt', 'x']))"
    )
    done = python(code)
    assert done.returncode == 2
    assert "live runs need torch and transformers" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_without_torch_the_page_opens_on_a_recorded_run() -> None:
    code = BLOCK + (
        "from specviz.ui.build import build_app\n"
        "app = build_app()\n"
        "print('torch' in sys.modules, len(app.blocks) > 5)"
    )
    done = python(code, timeout=120)
    assert done.stdout == "False True\n", done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupt_ends_the_run_and_still_writes_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    command = ["run", "plain", "--prompt", STORY, "--max-new-tokens", "900", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "specviz", *command, "--trace", str(path)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    trace = Trace.load(path)
    check(trace)
    assert trace.document["output"]["finish_reason"] == "cancelled"
    assert 0 < len(trace.output_ids) < 900


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_first_interrupt_is_answered_at_once() -> None:
    code = (
        "import signal, sys\n"
        "from specviz.cli_stop import interruptible\n"
        "with interruptible(tell=True) as stop:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    sys.exit(0 if stop.is_set() else 1)\n"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "specviz: stopping …; press Ctrl-C again to end at once"


def _request() -> Any:
    from specviz import RunRequest

    return RunRequest.of("prompt_lookup", STORY, max_new_tokens=8)


@pytest.mark.parametrize(
    ("typed", "port"), [([], "7001"), (["--port", "7002"], "7002")], ids=["environment", "typed"]
)
def test_app_py_serves_where_it_is_told(monkeypatch, typed, port):
    served: list[list[str]] = []
    monkeypatch.setenv("GRADIO_SERVER_PORT", "7001")
    monkeypatch.setattr("sys.argv", ["app.py", *typed])
    monkeypatch.setattr("specviz.cli.main", lambda words: served.append(words) or 0)
    with pytest.raises(SystemExit):
        runpy.run_path(str(Path(__file__).parents[1] / "app.py"), run_name="__main__")
    [words] = served
    assert words[0] == "serve"
    last = len(words) - 1 - words[::-1].index("--port")
    assert words[last + 1] == port
