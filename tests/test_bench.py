"""The benchmark: what it measures, what it must not change, and how its figures follow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specviz import bench, runs
from specviz.bench.entrant import enter
from specviz.bench.replay import FORWARDS, recorded
from specviz.bench.report import HOW_TO_READ
from specviz.bench.result import Result, Seconds
from specviz.bench.stock import stock_call, twin
from specviz.cli import main
from specviz.config import RunRequest
from specviz.engine.cache import ModuleCache
from specviz.engine.language_model import LanguageModel
from specviz.errors import MethodError, SettingError
from tests.checkpoints import OTHER, byte_tokenizer, save_checkpoint
from tests.fakes import gemma_assistant, generated, tiny_gemma, tiny_glm, tiny_llama

PROMPT = "the cat sat on the mat and the cat sat on the"


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_checkpoint(tmp_path_factory.mktemp("target"), tiny_llama(vocab=320)))


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_checkpoint(tmp_path_factory.mktemp("draft"), tiny_llama(vocab=320, layers=1)))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A draft model with another tokenizer."""
    place, model = tmp_path_factory.mktemp("other"), tiny_llama(vocab=352, layers=1)
    return str(save_checkpoint(place, model, byte_tokenizer(OTHER, vocab_size=300)))


def request(method: str, target: str, **options: Any) -> RunRequest:
    settings = {"max_new_tokens": 8, "dtype": "float64", "target": target, **options}
    return RunRequest.of(method, PROMPT, **settings)


def result(**options: Any) -> Result:
    """Ours takes 2 s of CPU for 10 tokens, generate() 4 s in the first and 6 s in the second."""
    first = {
        "ours": Seconds(4.0, 2.0, 3.0),
        "generate": Seconds(5.0, 4.0),
        "forwards": Seconds(1.0, 1.0),
        "modules": Seconds(3.0, 3.0),
    }
    second = {**first, "generate": Seconds(5.0, 6.0)}
    known = {"num_tokens": 10, "num_prompts": 1, "threads": 1, "gamma": 5, "differences": (None,)}
    return Result("speculative", "t", rounds=(first, second), **{**known, **options})


# Figures


def test_ratios_are_of_cpu_time_on_a_cpu_and_of_wall_time_elsewhere() -> None:
    assert result().ratios("generate", over="ours") == [2.0, 3.0]
    assert result(device="cuda:0").ratios("generate", over="ours") == [1.25, 1.25]
    assert result().ratios("generate", over="ours", clock="wall") == [1.25, 1.25]
    assert result().per_token_s("ours") == 0.2 and result().per_token_s("generate") == 0.5


def test_shares_add_up_to_one() -> None:
    # 1 of 2 s of CPU are forward passes; 3 of 4 s of wall time are inside the engine's clock.
    assert result().shares == {"forwards": 0.5, "loop": 0.25, "events": 0.25}
    assert result(device="cuda:0").shares == {"forwards": 0.25, "loop": 0.5, "events": 0.25}


def test_table_names_speeds_ratios_and_ids() -> None:
    text = bench.report_text([result(), Result("dflash", "t", refusal="there is no drafter")])
    head, row = text.splitlines()[1:3]
    assert head.split()[:2] == ["method", "γ"]
    numbers = ["speculative", "5", "5", "2", "2.50", "(2.00–3.00)", "equal"]
    numbers += ["1.50", "(1.50–1.50)", "0.50", "(0.50–0.50)", "50", "/", "25", "/", "25"]
    assert row.split() == numbers
    assert "Not run:\n  dflash on t: there is no drafter" in text


def test_ids_that_differ_are_named() -> None:
    assert "differ at 7" in bench.report_text([result(differences=(None, 7))])
    assert "equal" not in bench.report_text([result(differences=(None, 7))])
    assert "(other steps)" in bench.report_text([result(same_steps=False)])


def test_json_holds_every_round() -> None:
    document = bench.document_of([result(), Result("dflash", "t", refusal="no")])
    assert json.loads(json.dumps(document, allow_nan=False))["results"][1]["refusal"] == "no"
    first = document["results"][0]
    assert first["ratios"]["generate_over_ours"] == {"cpu": [2.0, 3.0], "wall": [1.25, 1.25]}
    assert len(first["rounds"]) == 2
    assert {"processor", "date", "cores", "torch"} <= document["machine"].keys()


def test_writing_replaces_the_section_of_this_processor_and_format_only(tmp_path: Path) -> None:
    path = tmp_path / "BENCHMARKS.md"
    path.write_text("# Old\n\n## Another processor\n\n- kept\n\n### t\n\n| a |\n", encoding="utf-8")
    bench.write_markdown([result()], path)
    once = path.read_text(encoding="utf-8")
    assert once.startswith(HOW_TO_READ.rstrip())
    assert "## Another processor\n\n- kept\n\n### t\n\n| a |" in once
    assert "| speculative | 5 |" in once
    bench.write_markdown([result()], path)
    assert path.read_text(encoding="utf-8") == once
    bench.write_markdown([result(dtype="bfloat16")], path)
    both = path.read_text(encoding="utf-8")
    assert both.startswith(once.rstrip()) and both.count("\n## ") == 3


# What is run


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("plain", {}),
        ("prompt_lookup", {"ngram": 2}),
        ("early_exit", {"exit_layer": 2}),
        ("speculative", {"draft": "draft"}),
        ("ensemble", {"draft": "draft", "ensemble_weight": 0.5}),
        ("universal", {"draft": "draft"}),
    ],
)
def test_all_forms_of_a_method_decode_the_same(
    method: str, options: dict[str, Any], folder: str, draft: str, other: str
) -> None:
    if "draft" in options:
        options = {**options, "draft": other if method == "universal" else draft}
    entrant = enter(request(method, folder, **options), silent)
    assert entrant.difference is None and entrant.same_steps
    assert entrant.ours().ids == entrant.ids == entrant.generate()
    for recording in (entrant.forwards, entrant.modules):
        for _ in range(2):  # also a second time, from the same start
            recording.reset()
            recording.replay()


def test_replayed_forwards_are_those_of_the_run(folder: str) -> None:
    # Plain decoding of 8 tokens: the prompt, then 8 steps of one token.
    entrant = enter(request("plain", folder), silent)
    names = [call.func.__wrapped__ if hasattr(call.func, "__wrapped__") else call.func
             for call in entrant.forwards.calls]  # fmt: skip
    assert [name.__name__ for name in names] == ["embed", "run", "norm", "head"] * 9
    by_module = [call for call in entrant.modules.calls if call.func.__name__ == "_forward_module"]
    assert [len(call.args[1]) for call in by_module] == [len(entrant.run.prompt_ids) - 1] + [1] * 8


def test_a_recording_puts_the_classes_back_whatever_happens() -> None:
    before = [owner.__dict__[name] for owner, name in FORWARDS] + [ModuleCache.__init__]
    with pytest.raises(RuntimeError, match="broken"), recorded():
        raise RuntimeError("broken")
    assert before == [owner.__dict__[name] for owner, name in FORWARDS] + [ModuleCache.__init__]


def test_a_twin_shares_the_weights_and_nothing_else() -> None:
    module = tiny_glm()
    other = twin(module, 3)
    pairs = zip(module.named_parameters(), other.named_parameters(), strict=True)
    assert all(name == theirs and one is two for (name, one), (theirs, two) in pairs)
    assert other.generation_config.num_assistant_tokens == 3
    assert module.generation_config.num_assistant_tokens == 5
    other.get_decoder().config.num_hidden_layers = 1
    other(torch.tensor([[1, 2]]), output_hidden_states=True)  # hangs hooks into the layers
    assert module.config.num_hidden_layers == 3
    assert not any(part._forward_hooks for part in module.modules())
    prompt = [3, 1, 2, 3]
    assert generated(twin(module, 4), prompt, 6) == generated(module, prompt, 6)


def test_mtp_drafter_and_sampling_have_their_own_rules(folder: str, tmp_path: Path) -> None:
    target = tiny_gemma(vocab=320)
    gemma = str(save_checkpoint(tmp_path / "gemma", target))
    drafter = str(save_checkpoint(tmp_path / "drafter", gemma_assistant(target)))
    entrant = enter(request("mtp_drafter", gemma, draft=drafter), silent)
    assert entrant.difference is None and entrant.ours().ids == entrant.ids
    sampled = enter(request("plain", folder), silent).run
    sampling = RunRequest.of("plain", PROMPT, temperature=1.0).config
    plan = replace(sampled.plan, request=replace(sampled.plan.request, config=sampling))
    with pytest.raises(ValueError, match="only greedy"):
        stock_call(replace(sampled, plan=plan))


def test_bench_measures_what_serves_and_says_why_the_rest_does_not(folder: str) -> None:
    options = {"targets": [folder], "methods": ["plain", "mtp_layers"], "dtype": "float64"}
    plain, refused = bench.bench(**options, tokens=4, repeats=2, prompts=2)
    assert plain.num_tokens == 8 and plain.num_prompts == 2 and len(plain.rounds) == 2
    assert plain.differences == (None, None) and plain.gamma is None
    assert all(s.wall > 0 and s.cpu > 0 for r in plain.rounds for s in r.values())
    assert refused.refusal == "its config names no multi-token-prediction layers"


def test_a_bench_leaves_the_number_of_threads_and_the_models_alone(folder: str) -> None:
    threads = torch.get_num_threads()
    entrant = enter(request("early_exit", folder), silent)
    module = entrant.run.target.module
    assert isinstance(entrant.run.target.language_model, LanguageModel)
    config, hooks = module.config.to_dict(), [len(m._forward_hooks) for m in module.modules()]
    generation = module.generation_config.to_dict()
    entrant.generate()
    entrant.ours()
    assert torch.get_num_threads() == threads
    assert module.config.to_dict() == config
    assert module.generation_config.to_dict() == generation
    assert [len(m._forward_hooks) for m in module.modules()] == hooks


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"methods": ["nope"]}, MethodError, "there is no method 'nope'"),
        ({"repeats": 0}, SettingError, "repeats must be"),
        ({"prompts": 0}, SettingError, "prompts must be"),
        ({"tokens": 0, "methods": ["plain"]}, SettingError, "max_new_tokens must be"),
    ],
)
def test_bad_options_are_refused(
    options: dict[str, Any], error: type[Exception], words: str, folder: str
) -> None:
    with pytest.raises(error, match=words):
        bench.bench(targets=[folder], **options)


def test_command_prints_a_table_and_json(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "--target", folder, "--methods", "plain", "--tokens", "4", "--repeats", "1"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert err == "" and "ours ÷ generate()" in out and "equal" in out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["method"] == "plain"
    assert main(["bench", "--tokens", "x"]) == 2
    assert "a whole number is needed" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("target", ["target-glm", "target-gemma"])
def test_every_method_of_an_embedded_target_equals_generate(target: str) -> None:
    found = bench.bench(targets=[target], tokens=64, repeats=1)
    ran = [one for one in found if one.refusal is None]
    assert len(ran) >= 6
    assert all(set(one.differences) == {None} for one in ran)
    refused = {one.method for one in found if one.refusal is not None}
    served = runs.availability(target)
    assert refused == {method for method, reason in served.items() if reason is not None}
