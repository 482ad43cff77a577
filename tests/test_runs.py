"""The bridge: lists, refusals, streams, stop, provenance (U23, U24, U25, U38, U39, U40, U50)."""

from __future__ import annotations

import gc
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import specviz
from specviz import live, runs
from specviz.catalog import load as loading
from specviz.catalog.load import load
from specviz.catalog.locate import locate
from specviz.config import RunRequest
from specviz.errors import (
    BusyError,
    MethodError,
    ModelError,
    PairError,
    PromptError,
    SettingError,
    SpecvizError,
)
from specviz.events import Drafted, Finished, Prefilled, Verified
from specviz.plans import make_plan
from specviz.trace import check
from specviz.turns import turns
from tests.checkpoints import OTHER, byte_tokenizer, edit_config, save_checkpoint
from tests.fakes import tiny_llama

STORY = "Write a story about a brave fox named Lila."
METHODS = [card.key for card in runs.cards()]
GLM = Path(__file__).parents[1] / "assets" / "models" / "target-glm"
GLM_VOCAB = json.loads((GLM / "config.json").read_text("utf-8"))["vocab_size"]


def silent(text: str) -> None:
    pass


def request(method: str = "speculative", prompt: Any = STORY, **options: Any) -> RunRequest:
    return RunRequest.of(method, prompt, **{"max_new_tokens": 12, **options})


# Lists


def test_targets_begin_with_the_default_and_hold_no_draft_models() -> None:
    found = runs.targets()
    assert found[0].id == "target-glm" and found[0].default
    assert {model.id for model in found} >= {"target-gemma", "smollm2-135m"}
    assert not {"assistant", "drafter-gemma"} & {model.id for model in found}
    assert found[0].num_layers > 1


def test_availability_gives_a_reason_or_none_for_every_method() -> None:
    found = runs.availability("target-glm")
    assert list(found) == METHODS
    assert found["plain"] is found["speculative"] is found["early_exit"] is None
    assert runs.availability("smollm2-135m")["speculative"] == (
        "no model of the catalogue can draft for it; name one yourself"
    )


def test_availability_of_a_draft_only_model_is_a_reason() -> None:
    assert all("only drafts" in str(why) for why in runs.availability("drafter-gemma").values())


def test_drafts_begin_with_the_known_pair() -> None:
    assert runs.drafts("target-glm", "speculative")[0] == "assistant"
    assert "assistant-other-tokenizer" not in runs.drafts("target-glm", "speculative")
    assert runs.drafts("target-glm", "prompt_lookup") == ()


def test_examples_are_of_the_targets_domain() -> None:
    assert STORY in [example.prompt for example in runs.examples("target-glm")]
    assert runs.examples("some/unknown") == ()


def test_vocabulary_overlap_counts_words_in_both() -> None:
    ours = loading.load_tokenizer(locate("target-glm"), silent).get_vocab()
    theirs = loading.load_tokenizer(locate("assistant-other-tokenizer"), silent).get_vocab()
    expected = sum(1 for word in theirs if word in ours) / len(theirs)
    assert runs.vocabulary_overlap("target-glm", "assistant-other-tokenizer") == expected
    assert runs.vocabulary_overlap("target-glm", "assistant") == 1.0
    assert runs.vocabulary_overlap("target-glm", "some/unknown") is None


# Refusals, before anything is loaded


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("", "more than spaces"),
        (" \n\t ", "more than spaces"),
        (["a", "b"], "one prompt at a time, got a list of 2"),
        (("a",), "one prompt at a time"),
        (b"bytes", "must be text, got bytes"),
        (None, "must be text, got NoneType"),
        ("a\ud800b", "lone surrogate"),
        ("x" * 100_001, "at most 100000 characters, got 100001"),
    ],
)
def test_a_bad_prompt_is_refused_at_once(
    prompt: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_load", lambda *a: pytest.fail("a model was loaded"))
    with pytest.raises(PromptError, match=words):
        runs.stream(request(prompt=prompt))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "nope"}, MethodError, "there is no method 'nope'"),
        ({"target": "a b"}, ModelError, "there is no model 'a b'"),
        ({"method": "early_exit", "exit_layer": 20}, MethodError, "from 1 to 19"),
        ({"draft": "drafter-gemma"}, PairError, "not a model that can draft alone"),
        ({"target": "smollm2-135m"}, PairError, "knows none for 'smollm2-135m'"),
        ({"target": "drafter-gemma"}, MethodError, "only drafts for its own target"),
    ],
)
def test_a_bad_request_is_refused_at_once(
    options: dict[str, Any], error: type[SpecvizError], words: str
) -> None:
    with pytest.raises(error, match=words):
        runs.stream(request(**{"method": "speculative", **options}))


@pytest.mark.parametrize("gamma", [0, 17, 40, "x", 2.5, True])
def test_gamma_outside_its_range_is_refused(gamma: Any) -> None:
    with pytest.raises(SettingError, match="gamma must be a whole number from 1 to 16"):
        request(gamma=gamma)


@pytest.mark.parametrize("words", [((True,),), ((-1,),), (("a",),)])
def test_bad_words_that_are_no_ids_are_refused(words: Any) -> None:
    with pytest.raises(SettingError, match="bad_words_ids must be tuples of token ids"):
        request(bad_words_ids=words)


@pytest.mark.parametrize("token", [GLM_VOCAB, 10**9, 10**5000], ids=["first", "large", "huge"])
def test_bad_words_beyond_the_vocabulary_are_refused(token: int) -> None:
    said = f"bad_words_ids must be from 0 to {GLM_VOCAB - 1} for 'target-glm'"
    with pytest.raises(SettingError, match=said):
        runs.stream(request(bad_words_ids=((5, token),)))


@pytest.mark.parametrize("setting", ["temperature", "gamma", "seed"])
def test_a_number_that_python_cannot_write_is_refused(setting: str) -> None:
    with pytest.raises(SettingError, match=f"{setting} must be"):
        request(**{setting: 10**5000})


@pytest.mark.parametrize("exit_layer", [0, -1])
def test_exit_layer_below_one_is_refused(exit_layer: int) -> None:
    with pytest.raises(SettingError, match="exit_layer must be"):
        request("early_exit", exit_layer=exit_layer)


def test_a_prompt_beyond_the_models_length_is_refused_before_weights_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "_load", lambda *a: pytest.fail("a model was loaded"))
    with pytest.raises(PromptError, match="holds at most 1024; shorten the prompt"):
        next(runs.stream(request(prompt="fox " * 1020)))


def test_a_pair_with_other_tokens_is_refused_before_weights_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = save_checkpoint(tmp_path / "target")
    draft = save_checkpoint(tmp_path / "draft", tokenizer=byte_tokenizer(OTHER))
    monkeypatch.setattr(loading, "_load", lambda *a: pytest.fail("a model was loaded"))
    with pytest.raises(PairError, match="use the method 'universal'"):
        next(runs.stream(request(target=str(target), draft=str(draft), prompt="the cat")))


def test_padded_embeddings_of_another_size_are_a_good_pair(tmp_path: Path) -> None:
    target = save_checkpoint(tmp_path / "target", tiny_llama(vocab=320))
    draft = save_checkpoint(tmp_path / "draft", tiny_llama(vocab=352, seed=3))
    trace = runs.run(request(target=str(target), draft=str(draft), prompt="the cat"))
    plain = runs.run(request("plain", target=str(target), prompt="the cat"))
    assert trace.output_ids == plain.output_ids


def test_a_chat_without_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="has no chat template"):
        next(runs.stream(request("plain", target=str(save_checkpoint(tmp_path)), chat=True)))


def test_a_chat_template_is_applied(tmp_path: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = "{% for m in messages %}the {{ m.content }} on{% endfor %}"
    folder = save_checkpoint(tmp_path, tokenizer=tokenizer)
    options = {"target": str(folder), "prompt": "cat", "chat": True, "max_new_tokens": 1}
    trace = runs.run(request("plain", **options))
    texts = [token["text"] for token in trace.document["prompt"]["tokens"]]
    assert "".join(texts) == "the cat on" and trace.document["prompt"]["text"] == "cat"


# Runs


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_on_an_embedded_target_and_its_trace_is_sound(method: str) -> None:
    able = [t.id for t in runs.targets() if t.source == "embedded" and method in t.methods]
    if not able:
        pytest.skip("no embedded model serves it")
    target = able[0]
    trace = runs.run(request(method, target=target, max_new_tokens=24), baseline=True)
    check(trace)
    assert trace.document["method"]["key"] == method
    card = next(card for card in runs.cards() if card.key == method)
    assert trace.document["method"]["lossless"] is card.lossless
    if card.lossless:
        assert trace.baseline is not None and trace.baseline["identical"] is True


def test_stream_begins_with_a_header_and_ends_with_the_text() -> None:
    events = list(runs.stream(request()))
    first, last = events[0], events[-1]
    assert isinstance(first, Prefilled) and first.header is not None
    assert "".join(token.text for token in first.header.prompt_tokens) == STORY
    assert isinstance(last, Finished) and len(last.ids) == 12
    kinds = [type(event) for event in events[1:-1]]
    assert kinds == [Drafted, Verified] * (len(kinds) // 2)
    steps = [event for event in events if isinstance(event, Verified)]
    texts = [t.text for s in steps for t in (*s.accepted, s.target_token) if t is not None]
    assert "".join(texts) == last.text != ""


def test_header_holds_what_ran_not_what_was_asked() -> None:
    asked = request("prompt_lookup", draft="assistant", exit_layer=3, ngram=2)
    header = next(iter(runs.stream(asked))).header  # type: ignore[union-attr]
    assert header is not None
    assert header.request["target"] == "target-glm" and header.request["device"] == "cpu"
    assert header.request["draft"] is None and header.models["draft"] is None
    assert header.request["exit_layer"] is None and header.request["ngram"] == 2
    assert header.method["key"] == "prompt_lookup" and header.method["rule"] == "greedy_match"
    assert header.provenance["kind"] == "measured"
    assert header.provenance["torch"] == torch.__version__
    assert header.models["target"]["device"] == "cpu"
    assert len(header.models["target"]["sha256"]) == 64


def test_defaults_of_the_target_are_filled_in() -> None:
    plan = make_plan(request("early_exit", target="target-gemma"))
    assert plan.request.config.exit_layer == 4


def test_exit_layer_of_an_unknown_model_is_a_quarter_of_its_layers(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path, tiny_llama(vocab=320, layers=8))
    trace = runs.run(request("early_exit", target=str(folder), prompt="the cat"))
    assert trace.document["request"]["exit_layer"] == 2


def test_settings_of_one_method_do_not_leak_into_the_next() -> None:
    alone = runs.run(request("early_exit")).output_ids
    runs.run(request("prompt_lookup", ngram=2, gamma=3))
    runs.run(request("speculative", confidence=0.4))
    trace = runs.run(request("early_exit"))
    assert trace.output_ids == alone
    assert trace.document["method"]["drafter"] == "early_exit"


def test_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    one, two, other = (
        runs.run(request(temperature=1.0, seed=seed, max_new_tokens=24)) for seed in (1, 1, 2)
    )
    assert one.output_ids == two.output_ids != other.output_ids


def test_loading_is_reported_apart_and_not_part_of_decoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = loading._load_module
    monkeypatch.setattr(loading, "_load_module", lambda *a: time.sleep(1.0) or real(*a))
    trace = runs.run(request("plain", target=str(save_checkpoint(tmp_path)), prompt="the cat"))
    assert trace.document["timing"]["load_s"] >= 1.0
    assert trace.document["timing"]["prefill_s"] + trace.document["timing"]["decode_s"] < 0.9


def test_a_slow_first_call_is_in_no_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_warm", set())
    real, calls = live.decode, []

    def slow_first(*arguments: Any, **options: Any) -> Any:
        if not calls:
            time.sleep(0.5)
        calls.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(live, "decode", slow_first)
    trace = runs.run(request("plain"), baseline=True)
    assert len(calls) == 3  # warm-up once, then the baseline and the run
    assert trace.baseline is not None
    assert trace.baseline["decode_s"] < 0.4 and trace.document["timing"]["decode_s"] < 0.4


def test_models_and_tokenizers_are_unchanged_after_runs() -> None:
    loaded = load(locate("target-glm"), status=silent)
    before = (loaded.module.config.to_dict(), loaded.module.generation_config.to_dict())
    weights = {name: value.clone() for name, value in loaded.module.state_dict().items()}
    for method in METHODS:
        if runs.availability("target-glm")[method] is None:
            stop = threading.Event()
            for event in runs.stream(request(method, temperature=0.5), stop=stop):
                if isinstance(event, Verified) and event.index == 1:
                    stop.set()
    assert before == (loaded.module.config.to_dict(), loaded.module.generation_config.to_dict())
    assert all(torch.equal(weights[n], v) for n, v in loaded.module.state_dict().items())


# Stop


def count_forwards(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    model = load(locate("target-glm"), status=silent).language_model
    assert model is not None
    calls: list[int] = []
    real = model.forward
    monkeypatch.setattr(model, "forward", lambda *a, **k: calls.append(1) or real(*a, **k))
    return calls


def test_stop_ends_the_forward_passes_within_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, stop = count_forwards(monkeypatch), threading.Event()
    seen = None
    events = []
    for event in runs.stream(request("plain", max_new_tokens=200), stop=stop):
        events.append(event)
        if isinstance(event, Verified) and event.index == 4:
            stop.set()
            seen = len(calls)
    last = events[-1]
    assert isinstance(last, Finished) and last.finish_reason == "cancelled"
    assert len(last.ids) == 5 and last.text != ""
    assert seen is not None and len(calls) <= seen + 1


def test_stop_before_the_start_yields_finished_alone() -> None:
    stop = threading.Event()
    stop.set()
    (only,) = runs.stream(request(), stop=stop)
    assert isinstance(only, Finished) and only.finish_reason == "cancelled"
    with pytest.raises(BusyError, match="stopped before it began"):
        runs.run(request(), stop=stop)


def test_a_run_waits_for_its_models_and_can_be_stopped_meanwhile() -> None:
    holder = runs.stream(request("plain"))
    next(holder)
    told: list[str] = []
    stop = threading.Event()
    found: list[Any] = []
    waiting = runs.stream(request("early_exit"), stop=stop, status=told.append)
    worker = threading.Thread(target=lambda: found.extend(waiting))
    worker.start()
    until = time.monotonic() + 5
    while not any("1 run ahead" in line for line in told) and time.monotonic() < until:
        time.sleep(0.01)
    assert any("1 run ahead" in line for line in told) and not found
    stop.set()
    worker.join(5)
    assert [event.finish_reason for event in found] == ["cancelled"]
    holder.close()
    assert isinstance(list(runs.stream(request("early_exit")))[-1], Finished)


def test_a_closed_or_forgotten_stream_frees_the_models() -> None:
    events = runs.stream(request("plain"))
    next(events)
    events.close()
    events = runs.stream(request("plain"))
    next(events)
    del events
    gc.collect()
    assert turns._running == {} and turns._waiting == {}


def test_an_error_in_the_middle_frees_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **options: Any) -> Any:
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr(live, "decode", broken)
    with pytest.raises(ModelError, match="memory of 'cpu' is too small for 'target-glm'"):
        list(runs.stream(request("plain")))
    monkeypatch.undo()
    assert isinstance(list(runs.stream(request("plain")))[-1], Finished)


@pytest.mark.slow
def test_twenty_runs_that_are_stopped_leave_nothing_behind() -> None:
    reference = runs.run(request(max_new_tokens=24)).output_ids
    threads = threading.active_count()
    gc.collect()
    tensors = _num_tensors()
    for _ in range(20):
        stop = threading.Event()
        for event in runs.stream(request(max_new_tokens=24), stop=stop):
            if isinstance(event, Verified) and event.index == 2:
                stop.set()
    gc.collect()
    assert threading.active_count() == threads
    assert _num_tensors() <= tensors
    assert runs.run(request(max_new_tokens=24)).output_ids == reference


def _num_tensors() -> int:
    return sum(1 for thing in gc.get_objects() if type(thing) is torch.Tensor)


def test_two_threads_keep_apart() -> None:
    prompts = (STORY, "Write a recipe for winter soup.")
    alone = [runs.run(request(prompt=prompt)).text for prompt in prompts]
    found: dict[str, str] = {}

    def work(prompt: str) -> None:
        found[prompt] = runs.run(request(prompt=prompt)).text

    workers = [threading.Thread(target=work, args=(prompt,)) for prompt in prompts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [found[prompt] for prompt in prompts] == alone


def test_the_number_of_threads_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    load(locate("target-glm"), status=silent)
    used.clear()
    runs.run(request("plain"))
    assert used[-1] == 7


def test_a_config_that_forbids_the_cache_runs_all_the_same(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    edit_config(folder, use_cache=False)
    trace = runs.run(request("prompt_lookup", target=str(folder), prompt="the cat sat on the"))
    assert len(trace.output_ids) == 12


# The public names


def test_public_functions_take_the_options_of_the_command_line() -> None:
    trace = specviz.run("early_exit", prompt=STORY, exit_layer=2, max_new_tokens=8)
    assert trace.document["request"]["exit_layer"] == 2
    events = list(specviz.stream("speculative", prompt=STORY, gamma=4, max_new_tokens=8))
    assert isinstance(events[-1], Finished)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(SettingError, match="there is no setting 'gama'"):
        specviz.run("plain", prompt=STORY, gama=3)


def test_a_request_must_be_a_request() -> None:
    with pytest.raises(SettingError, match=r"build it with RunRequest\.of"):
        runs.stream("plain")  # type: ignore[arg-type]


def test_gamma_of_mtp_layers_is_their_number() -> None:
    trace = runs.run(request("mtp_layers", gamma=9))
    num_layers = make_plan(request("mtp_layers")).target.facts.num_mtp_layers  # type: ignore[union-attr]
    assert trace.document["request"]["gamma"] == num_layers
    assert {len(step.proposed) for step in trace.steps if not step.cut} <= set(
        range(num_layers + 1)
    )
    assert max(len(step.proposed) for step in trace.steps) == num_layers
