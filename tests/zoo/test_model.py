"""Grown models compute what their base did; functional layers compute what Transformers does."""

import pytest
import torch

from specviz.zoo.blocks import head_logits, norm_epsilon, trunk
from specviz.zoo.data import TokenStream, Windows
from specviz.zoo.loop import WARMUP_STEPS, Step, TrainingLoop, TrainPlan, schedule
from specviz.zoo.model import TOY, grow, new_gemma, new_glm, new_llama

MAKERS = {
    "glm": lambda: new_glm(TOY, vocab=64, layers=2),
    "gemma": lambda: new_gemma(TOY, vocab=64, layers=2),
    "llama": lambda: new_llama(vocab=64, hidden=32, layers=2),
}


@pytest.fixture
def ids():
    """A small batch of random ids."""
    return torch.randint(2, 64, (2, 12), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", MAKERS)
def test_trunk_matches_transformers(kind, ids):
    torch.manual_seed(0)
    model = MAKERS[kind]().eval()
    with torch.no_grad():
        hidden = trunk(model, ids, compiled=False).hidden
        norm, embedding = model.model.norm.weight, model.model.embed_tokens.weight
        ours = head_logits(hidden, norm, embedding, norm_epsilon(model))
        theirs = model(ids).logits
    # bfloat16 products: three digits.
    assert (ours - theirs).abs().max() < 0.02 * theirs.abs().max()


@pytest.mark.parametrize("kind", ["glm", "gemma"])
def test_grown_model_equals_its_base(kind, ids):
    torch.manual_seed(0)
    base = MAKERS[kind]().eval()
    grown = grow(base, layers=6).eval()
    with torch.no_grad():
        assert torch.equal(grown(ids).logits, base(ids).logits)
    assert grown.config.num_hidden_layers == 6
    assert base.config.num_hidden_layers == 2


def test_trunk_stops_at_depth_and_collects_exits(ids):
    model = MAKERS["glm"]().eval()
    with torch.no_grad():
        whole = trunk(model, ids, collect=(1,), compiled=False)
        part = trunk(model, ids, depth=1, compiled=False)
    assert torch.equal(whole.exits[1], part.hidden)


def test_windows_start_at_documents_and_shift_by_one():
    stream = TokenStream(torch.arange(100, dtype=torch.int16), torch.tensor([0, 10, 95]))
    inputs, targets = Windows(stream, length=8, seed=0).draw(20, step=0)
    assert set(inputs[:, 0].tolist()) <= {0, 10}
    assert torch.equal(targets, inputs + 1)


def test_each_step_draws_its_own_windows_whatever_was_drawn_before():
    stream = TokenStream(torch.arange(1000, dtype=torch.int16), torch.arange(0, 990))
    first, continued = (Windows(stream, length=8, seed=3) for _ in range(2))
    whole = [first.draw(4, step=step)[0] for step in range(6)]
    assert torch.equal(continued.draw(4, step=5)[0], whole[5])
    assert len({tuple(batch.flatten().tolist()) for batch in whole}) == 6
    other = Windows(stream, length=8, seed=4).draw(4, step=0)[0]
    assert not any(torch.equal(other, batch) for batch in whole)


def test_schedule_warms_up_and_decays():
    assert schedule(0, 0.0) < 0.05
    assert schedule(1000, 0.2) == 1.0
    assert schedule(1000, 1.0) == 0.01


def test_loop_resumes_where_it_stopped(tmp_path):
    seen: list[int] = []

    def loop(max_steps: int) -> TrainingLoop:
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))

        def take_step(step: int) -> Step:
            seen.append(step)
            return Step(module(torch.ones(1, 4)).square().mean(), 4, {})

        plan = TrainPlan("test", 1.0, tmp_path, max_steps=max_steps)
        return TrainingLoop(module, take_step, plan)

    loop(3).run()
    state = torch.load(tmp_path / "test.pt")
    torch.save(state | {"done": False}, tmp_path / "test.pt")
    loop(5).run()
    assert seen == [0, 1, 2, 3, 4]


def test_each_optimizer_follows_its_own_peak_rate(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))

    def take_step(_: int) -> Step:
        return Step(module(torch.ones(1, 4)).square().mean(), 4, {})

    plan = TrainPlan(
        "rates", 1.0, tmp_path, learning_rate=3e-3, matrix_rate=1e-3, max_steps=WARMUP_STEPS
    )
    loop = TrainingLoop(module, take_step, plan)
    loop.run()
    # After the warm-up and long before the decay both stand at their peaks.
    used = {type(o).__name__: o.param_groups[0]["lr"] for o in loop.optimizers}
    assert used == {"Muon": pytest.approx(1e-3), "AdamW": pytest.approx(3e-3)}
