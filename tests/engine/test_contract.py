"""What every method with an exact rule promises, over all cards and several architectures.

The oracle is Transformers' own ``generate()`` on random models in float64.
"""

from __future__ import annotations

import dataclasses
import hashlib

import pytest
import torch

from specviz.config import DecodeConfig
from specviz.engine import methods
from specviz.engine.decode import decode
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from specviz.events import Fate, Finished, Prefilled, Verified
from tests import fakes

# Methods whose needs these models meet; the others have test files of their own.
COMMON = [
    key
    for key, method in methods().items()
    if method.card.lossless and method.card.needs <= {"draft_model", "exit_layer"}
]
DRAFTING = [key for key in COMMON if key != "plain"]
ARCHITECTURES = {
    "llama": fakes.tiny_llama,
    "glm dense": fakes.tiny_glm,
    "glm experts": lambda: fakes.tiny_glm(dense=False),
    "gemma": fakes.tiny_gemma,
    "gemma per-layer inputs": lambda: fakes.tiny_gemma(per_layer=8, shared=2),
    "gemma softcap": lambda: fakes.tiny_gemma(softcap=5.0),
}
PROMPTS = {length: [(7 * i + 3) % 64 for i in range(length)] for length in (1, 2, 12, 30, 80)}


@pytest.fixture(scope="module", params=ARCHITECTURES)
def pair(request):
    """A target module and a noisy copy of it."""
    module = ARCHITECTURES[request.param]()
    return module, fakes.near_copy(module)


def parts_of(pair, **settings) -> Parts:
    """Parts for the pair."""
    target, draft = pair
    return Parts(LanguageModel(target), DecodeConfig(**settings), draft=LanguageModel(draft))


def test_the_common_methods_are_those_we_know():
    assert COMMON == ["plain", "speculative", "prompt_lookup", "early_exit"]


@pytest.mark.parametrize("length", PROMPTS)
def test_greedy_ids_equal_generate_for_every_method(pair, length):
    expected = fakes.generated(pair[0], PROMPTS[length], 24)
    parts = parts_of(pair, max_new_tokens=24)
    for method in COMMON:
        for _ in range(2 if length == 12 else 1):  # no run sees an earlier one (public case U06)
            events = fakes.run_method(method, parts, PROMPTS[length])
            assert fakes.new_ids(events) == expected, method


@pytest.mark.parametrize("method", COMMON)
def test_the_module_path_gives_the_same_ids_as_the_direct_one(target_module, draft_module, method):
    prompt = PROMPTS[12]
    runs = []
    for direct in (True, False):
        parts = Parts(
            LanguageModel(target_module, direct=direct),
            DecodeConfig(max_new_tokens=40),
            draft=LanguageModel(draft_module, direct=direct),
        )
        events = fakes.run_method(method, parts, prompt)
        runs.append([step.committed_ids for step in fakes.steps(events)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", DRAFTING)
@pytest.mark.parametrize("gamma", [1, 3, 16])
def test_never_more_drafts_than_asked_for(target, draft, method, gamma):
    parts = Parts(target, DecodeConfig(max_new_tokens=30, gamma=gamma), draft=draft)
    steps = fakes.steps(fakes.run_method(method, parts, PROMPTS[12]))
    assert max(len(step.proposed) for step in steps) <= gamma
    assert all(step.gamma <= gamma for step in steps)


@pytest.mark.parametrize("method", COMMON)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_same_seed_same_trace(target, draft, method, temperature):
    parts = Parts(
        target, DecodeConfig(max_new_tokens=30, temperature=temperature, seed=4), draft=draft
    )
    first, second = (
        [timeless(step) for step in fakes.steps(fakes.run_method(method, parts, PROMPTS[12]))]
        for _ in range(2)
    )
    assert first == second


def timeless(step: Verified) -> Verified:
    """The step without its times, which no seed fixes."""
    return dataclasses.replace(step, draft_s=0.0, verify_s=0.0, other_s=0.0)


@pytest.mark.parametrize("method", COMMON)
def test_another_seed_gives_another_text(target, draft, method):
    texts = {
        tuple(
            fakes.new_ids(
                fakes.run_method(
                    method,
                    Parts(target, DecodeConfig(temperature=1.0, seed=seed), draft=draft),
                    PROMPTS[12],
                )
            )
        )
        for seed in range(3)
    }
    assert len(texts) == 3


@pytest.mark.parametrize("method", COMMON)
def test_fates_follow_the_pattern_and_steps_add_up(target, draft, method):
    parts = Parts(target, DecodeConfig(max_new_tokens=40), draft=draft)
    events = fakes.run_method(method, parts, PROMPTS[30])
    assert isinstance(events[0], Prefilled)
    assert isinstance(events[-1], Finished)
    for step in fakes.steps(events):
        fates = "".join(token.fate.value[0] for token in step.proposed)
        kept = fates.count("a")
        assert fates in ("a" * kept + tail for tail in ("", *("r" + "d" * n for n in range(16))))
        assert step.cut is None
        expected = Fate.BONUS if kept == len(fates) else Fate.RESIDUAL
        assert step.target_token.fate is expected
    assert len(fakes.new_ids(events)) == 40


@pytest.mark.parametrize("method", COMMON)
def test_cancelling_ends_before_the_next_forward_pass(target, draft, method):
    parts, seen = Parts(target, DecodeConfig(max_new_tokens=200), draft=draft), []
    events = decode(
        PROMPTS[12],
        method=method,
        parts=parts,
        text_of=fakes.text_of,
        stopped=lambda: len(seen) >= 3,
    )
    for event in events:
        if isinstance(event, Verified):
            seen.append(event)
        last = event
    assert len(seen) == 3
    assert last.finish_reason == "cancelled"
    assert list(last.ids) == [i for step in seen for i in step.committed_ids]


def fingerprint(module: torch.nn.Module) -> str:
    """A digest of all weights and of both configs."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.numpy().tobytes())
    digest.update(module.config.to_json_string().encode())
    digest.update(module.generation_config.to_json_string().encode())
    return digest.hexdigest()


@pytest.mark.parametrize("method", COMMON)
def test_a_run_changes_nothing_in_the_models(pair, method):
    parts = parts_of(pair, max_new_tokens=20)
    before = [fingerprint(module) for module in pair]
    fakes.run_method(method, parts, PROMPTS[12])
    cancelled = decode(PROMPTS[12], method=method, parts=parts, text_of=fakes.text_of)
    next(cancelled), next(cancelled)
    cancelled.close()
    assert [fingerprint(module) for module in pair] == before


@pytest.mark.parametrize("method", COMMON)
def test_the_caches_hold_all_tokens_but_the_last(target, draft, method):
    """The engine's invariant, after full, partial and no acceptance (γ 3 on a noisy copy)."""
    from specviz.engine.decode import Run
    from specviz.engine.verifiers import GreedyMatch

    parts = Parts(target, DecodeConfig(max_new_tokens=40, gamma=3), draft=draft)
    run = Run(PROMPTS[12], methods()[method].build(parts), GreedyMatch(), parts, fakes.text_of)
    accepted = set()
    for event in run.events(lambda: False):
        if isinstance(event, Verified):
            accepted.add((len(event.proposed), len(event.accepted)))
            assert run.context.cache.length == len(run.context.ids) - 1
    if method == "speculative":
        assert {(3, 0), (3, 3)} <= accepted
        assert any(0 < kept < proposed for proposed, kept in accepted)
