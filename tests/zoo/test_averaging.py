"""The average of two checkpoints: lowest loss first, points near a tie passed over."""

import pytest
import torch

from specviz.catalog.locate import locate
from specviz.zoo.averaging import WEIGHTS, best_average, rounded
from specviz.zoo.exported import load_causal
from specviz.zoo.near_ties import NEW_TOKENS, SAFE_GAP, smallest_gap, tie_prompts
from specviz.zoo.tokenizer import END_ID, load_tokenizer

LOSSES = {0.35: 2.0, 0.6: 1.0, 1.0: 4.0}


class Point:
    """Stands in for a model: its one weight is the place on the line."""

    def load_state_dict(self, state):
        self.at = state["w"].item()


def at(weight):
    """The weight of the line that a rounded one came from."""
    return min(WEIGHTS, key=lambda known: abs(known - weight))


@pytest.fixture
def average(monkeypatch):
    monkeypatch.setattr(
        "specviz.zoo.averaging.held_out_loss", lambda model, *a, **k: LOSSES[at(model.at)]
    )

    def run(gaps):
        model = Point()
        start, end = {"w": torch.tensor(0.0)}, {"w": torch.tensor(1.0)}
        found = best_average(model, start, end, [], gap=lambda point: gaps[at(point.at)])
        return *found, model.at

    return run


def test_the_point_with_the_lowest_loss_is_loaded_in_full_precision(average):
    weight, loss, loaded = average(dict.fromkeys(WEIGHTS, SAFE_GAP))
    assert (weight, loss) == (0.6, 1.0)
    assert loaded == pytest.approx(0.6, abs=1e-7)  # 0.6016 in bfloat16


def test_a_point_near_a_tie_is_passed_over_for_the_next_best(average):
    assert average({0.6: 3e-6, 0.35: 2e-4, 1.0: 1.0})[:2] == (0.35, 2.0)
    assert average({0.6: 3e-6, 0.35: 2e-6, 1.0: 1.0})[:2] == (1.0, 4.0)


def test_where_all_points_are_near_a_tie_the_widest_gap_wins(average):
    assert average({0.6: 3e-6, 0.35: 2e-6, 1.0: 8e-6})[:2] == (1.0, 4.0)


def test_weights_are_rounded_as_they_are_exported():
    assert rounded({"w": torch.tensor(0.6)})["w"].item() == 0.6015625


@pytest.mark.parametrize("target", ["target-glm", "target-gemma"])
def test_the_gap_is_that_of_one_pass_over_the_finished_text(target):
    folder = locate(target).folder
    model, tokenizer = load_causal(folder), load_tokenizer(folder)
    prompts = [*tie_prompts(3), "User: What is the capital of Greece?\nAssistant:"]
    expected = []
    for text in prompts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        whole = model.generate(ids, do_sample=False, max_new_tokens=NEW_TOKENS)[0].tolist()
        new = whole[ids.shape[1] :]
        kept = new.index(END_ID) + 1 if END_ID in new else len(new)
        with torch.inference_mode():
            logits = model(torch.tensor([whole])).logits[0, ids.shape[1] - 1 :][:kept]
        best = logits.topk(2).values
        expected.append((best[:, 0] - best[:, 1]).min().item())
    assert smallest_gap(model, tokenizer, prompts) == pytest.approx(min(expected), abs=1e-4)


def test_the_page_examples_are_among_the_prompts():
    prompts = tie_prompts()
    assert len(prompts) == 200
    assert any(prompt.startswith("Turn the text into JSON") for prompt in prompts)
