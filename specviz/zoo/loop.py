"""The training loop shared by all stages: two optimizers, a schedule in wall time, checkpoints.

A stage gives a module and a function from step number to loss; the loop owns everything else and
can be stopped and started again.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from specviz.zoo.stored import fitting, read_state, save_state

CHECKPOINT_KEYS = ("module", "optimizers", "step", "tokens", "seconds", "done")
WARMUP_STEPS = 60
CONSTANT_SHARE = 0.3
NUM_UNCLOCKED_STEPS = 3
"""Steps that compile; they do not count as training time."""
LONGEST_STEP_S = 30.0
"""What a step counts at most: a longer one was a stopped process, not training."""


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """How long and where to train.

    Args:
        name: name of the stage, used for its checkpoint and log lines.
        minutes: wall time without compilation.
        folder: where checkpoints go.
        learning_rate: peak rate of AdamW (embeddings, norms, experts).
        matrix_rate: peak rate of Muon (matrices); the same as the other where None.
        checkpoint_minutes: time between two checkpoints.
        log_steps: steps between two log lines.
        max_steps: stops earlier when reached; for tests.
    """

    name: str
    minutes: float
    folder: Path
    learning_rate: float = 4e-3
    matrix_rate: float | None = None
    checkpoint_minutes: float = 4.0
    log_steps: int = 50
    max_steps: int | None = None

    @property
    def rates(self) -> tuple[float, float]:
        """Peak rates of the two optimizers, in their order: Muon, AdamW."""
        matrices = self.learning_rate if self.matrix_rate is None else self.matrix_rate
        return matrices, self.learning_rate

    @property
    def checkpoint(self) -> Path:
        """File of the last checkpoint."""
        return self.folder / f"{self.name}.pt"


@dataclass(frozen=True, slots=True)
class Step:
    """What one step gives: the loss to minimise, tokens seen, figures for the log."""

    loss: Tensor
    tokens: int
    figures: dict[str, Tensor]


def optimizers(module: nn.Module, plan: TrainPlan) -> list[torch.optim.Optimizer]:
    """Muon for matrices, AdamW for embeddings, norms and stacked experts."""
    matrix_rate, other_rate = plan.rates
    matrices, others = [], []
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        matrix = parameter.ndim == 2 and "embed" not in name and "lm_head" not in name
        (matrices if matrix else others).append(parameter)
    muon = torch.optim.Muon(
        matrices,
        lr=matrix_rate,
        weight_decay=0.01,
        momentum=0.95,
        adjust_lr_fn="match_rms_adamw",
    )
    adam = torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.95), weight_decay=0.0)
    return [muon, adam]


def schedule(step: int, progress: float) -> float:
    """Factor of the learning rate: warm-up by steps, constant, then linear to zero by time."""
    warm = min(1.0, (step + 1) / WARMUP_STEPS)
    decay = 1.0 if progress < CONSTANT_SHARE else (1 - progress) / (1 - CONSTANT_SHARE)
    return warm * max(decay, 0.01)


def log(message: str) -> None:
    """Print one line with the time of day."""
    print(f"{time.strftime('%H:%M:%S')} {message}", flush=True)


class TrainingLoop:
    """Trains `module` with `take_step` until the plan's time is over.

    Args:
        module: holds the parameters to train and is what a checkpoint saves.
        take_step: from step number to `Step`.
        plan: time, place and rate.
        validate: gives a line for the log, called at each checkpoint.
        after_step: called after each step of the optimizers.
    """

    def __init__(
        self,
        module: nn.Module,
        take_step: Callable[[int], Step],
        plan: TrainPlan,
        *,
        validate: Callable[[], str] | None = None,
        after_step: Callable[[], None] | None = None,
    ) -> None:
        self.module, self.take_step, self.plan = module, take_step, plan
        self.validate, self.after_step = validate, after_step
        self.optimizers = optimizers(module, plan)
        self.step, self.tokens, self.seconds, self.done = 0, 0, 0.0, False
        self._last_log = (0.0, 0)

    def run(self) -> None:
        """Train to the end of the plan; continue an interrupted run, or one of fewer minutes."""
        self._restore()
        started = self.step
        clock = saved = time.monotonic()
        while not self.done:
            progress = self.seconds / (60 * self.plan.minutes)
            self._train_step(min(progress, 1.0))
            now = time.monotonic()
            if self.step - started > NUM_UNCLOCKED_STEPS:
                self.seconds += min(now - clock, LONGEST_STEP_S)
            clock = now
            over = self.seconds >= 60 * self.plan.minutes
            self.done = over or self.step == self.plan.max_steps
            if self.done or now - saved > 60 * self.plan.checkpoint_minutes:
                self._save()
                clock = saved = time.monotonic()
        log(f"{self.plan.name} done: {self.step} steps, {self.tokens} tokens, {self.seconds:.0f} s")

    def _train_step(self, progress: float) -> None:
        factor = schedule(self.step, progress)
        for optimizer, peak in zip(self.optimizers, self.plan.rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = peak * factor
        result = self.take_step(self.step)
        result.loss.backward()
        trained = [p for p in self.module.parameters() if p.requires_grad]
        nn.utils.clip_grad_norm_(trained, 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if self.after_step:
            self.after_step()
        self.step += 1
        self.tokens += result.tokens
        if self.step % self.plan.log_steps == 0 or self.step == 1:
            self._log_step(result, self.plan.learning_rate * factor, progress)

    def _log_step(self, result: Step, rate: float, progress: float) -> None:
        figures = " ".join(f"{name} {value.item():.3f}" for name, value in result.figures.items())
        loss = result.loss.item()
        if not math.isfinite(loss):
            raise ValueError(
                f"{self.plan.name}: loss is {loss} at step {self.step}; lower the rate"
            )
        seconds, tokens = self._last_log
        speed = (self.tokens - tokens) / max(self.seconds - seconds, 1e-9)
        self._last_log = (self.seconds, self.tokens)
        log(
            f"{self.plan.name} step {self.step} tokens {self.tokens / 1e6:.2f}M {progress:4.0%} "
            f"loss {loss:.3f} {figures} rate {rate:.5f} {min(speed, 1e6):.0f} tokens/s"
        )

    def _save(self) -> None:
        state = {
            "module": self.module.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "done": self.done,
        }
        save_state(state, self.plan.checkpoint)
        if self.validate:
            log(f"{self.plan.name} step {self.step} held out: {self.validate()}")

    def _restore(self) -> None:
        if not self.plan.checkpoint.exists():
            return
        path = self.plan.checkpoint
        state = read_state(path, *CHECKPOINT_KEYS, stage=self.plan.name)
        with fitting(path):
            self.module.load_state_dict(state["module"])
            for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
        self.step, self.tokens = state["step"], state["tokens"]
        self.seconds = state["seconds"]
        self.done = state["done"] and self.seconds >= 60 * self.plan.minutes
        log(f"{self.plan.name} continues at step {self.step}, {self.seconds:.0f} s")
