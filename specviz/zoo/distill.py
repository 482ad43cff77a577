"""Training of the small models beside the targets: assistants, MTP layers, the Gemma 4 drafter.

All of them learn the probabilities of a frozen target. What it does not: change a target.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import Gemma4AssistantForCausalLM, Gemma4ForCausalLM, PreTrainedModel
from transformers.cache_utils import KVSharingDict
from transformers.modeling_layers import MtpModel

from specviz.zoo.blocks import (
    compiled_distillation,
    compiled_head_logits,
    distillation,
    head_logits,
    norm_epsilon,
    rms_norm,
    trunk,
)
from specviz.zoo.data import Windows
from specviz.zoo.loop import Step, TrainingLoop, TrainPlan

DRAFT_STEPS = 4
STEP_DISCOUNT = 0.9


@dataclass(frozen=True, slots=True)
class Scored:
    """What a frozen target says of a batch.

    Args:
        logits: (B, T, V) float32.
        hidden: (B, T, d) state after the final norm.
        keys_values: layer type to keys and values (Gemma 4 only).
    """

    logits: Tensor
    hidden: Tensor
    keys_values: dict[str, tuple[Tensor, Tensor]]


@torch.no_grad()
def score(
    model: PreTrainedModel, ids: Tensor, *, depth: int | None = None, compiled: bool = True
) -> Scored:
    """Run a frozen target, or its first `depth` layers read through norm and head."""
    passed = trunk(model, ids, depth=depth, compiled=compiled)
    function = compiled_head_logits if compiled else head_logits
    norm, embedding = model.model.norm.weight, model.model.embed_tokens.weight
    epsilon = norm_epsilon(model)
    logits = function(passed.hidden, norm, embedding, epsilon)
    hidden = rms_norm(passed.hidden, norm, epsilon)
    keys_values = {kind: (k.float(), v.float()) for kind, (k, v) in passed.keys_values.items()}
    return Scored(logits, hidden, keys_values)


def soft_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Cross-entropy of the student to the teacher's probabilities, mean over positions."""
    return -(teacher.softmax(-1) * student.log_softmax(-1)).sum(-1).mean()


def agreement(student: Tensor, teacher: Tensor) -> Tensor:
    """Share of positions where both have the same first choice."""
    return (student.argmax(-1) == teacher.argmax(-1)).float().mean()


def train_assistant(
    assistant: PreTrainedModel,
    teachers: list[PreTrainedModel],
    windows: Windows,
    plan: TrainPlan,
    *,
    batch: int,
    depth: int | None = None,
    compiled: bool = True,
) -> None:
    """Train an assistant on the targets in turn, so that it serves each of them.

    Args:
        assistant: a Llama; changed in place.
        teachers: frozen targets with the same tokenizer.
        windows: training windows.
        plan: time, place and rate.
        batch: windows in a step.
        depth: use this early exit of the targets as teacher (a fraction of the cost).
        compiled: use the compiled functions.
    """
    function = compiled_distillation if compiled else distillation
    norm, embedding = assistant.model.norm.weight, assistant.model.embed_tokens.weight

    def take_step(step: int) -> Step:
        ids, targets = windows.draw(batch, step=step)
        teacher = score(teachers[step % len(teachers)], ids, depth=depth, compiled=compiled)
        hidden = trunk(assistant, ids, compiled=compiled).hidden
        loss, hard = function(hidden, norm, embedding, targets, teacher.logits)
        return Step(loss, ids.numel(), {"text": hard.detach()})

    TrainingLoop(assistant, take_step, plan).run()


@torch.no_grad()
def new_mtp_layers(target: PreTrainedModel, count: int) -> MtpModel:
    """MTP layers that start from the target's last layer.

    Transformers leaves experts and router uninitialised when the model is built directly, so every
    matrix is drawn here.
    """
    model = MtpModel(target, count)
    for name, parameter in model.layers.named_parameters():
        if parameter.ndim >= 2:
            parameter.normal_(0, 0.02)
        if "e_score" in name:
            parameter.zero_()
    for name, buffer in model.layers.named_buffers():
        if "e_score" in name:
            buffer.zero_()
    last, width = target.model.layers[-1], target.config.hidden_size
    eye = torch.eye(width, device=target.device)
    for layer in model.layers:
        block = layer.mtp_block
        block.self_attn.load_state_dict(last.self_attn.state_dict())
        block.input_layernorm.load_state_dict(last.input_layernorm.state_dict())
        block.post_attention_layernorm.load_state_dict(last.post_attention_layernorm.state_dict())
        layer.post_norm.weight.copy_(target.model.norm.weight)
        layer.eh_proj.weight.copy_(torch.cat([0.3 * eye, eye], 1))
    return model


def mtp_logits(target: PreTrainedModel, layers: nn.ModuleList, ids: Tensor, hidden: Tensor):
    """Yield for each MTP layer k its logits at t = 0, 1, ...; they predict the token at t + k + 2.

    Layer k reads the embedding of the token at t + k + 1 and the output of layer k - 1 (the
    target's last hidden state for k = 0), at position t + k + 1: exactly what it sees in decoding.
    """
    embedded, length = target.model.embed_tokens(ids), ids.shape[1]
    previous = hidden
    for k, layer in enumerate(layers):
        count = length - 1 - k
        inputs, previous = embedded[:, k + 1 : k + 1 + count], previous[:, :count]
        positions = torch.arange(k + 1, k + 1 + count, device=ids.device)[None]
        previous = layer(
            inputs,
            previous,
            position_embeddings=target.model.rotary_emb(inputs, position_ids=positions),
            attention_mask=None,
            position_ids=positions,
            cache=None,
        )
        yield target.lm_head(previous)


def train_mtp(
    target: PreTrainedModel,
    model: MtpModel,
    windows: Windows,
    plan: TrainPlan,
    *,
    batch: int,
    compiled: bool = True,
) -> None:
    """Train the MTP layers of a frozen GLM target, teacher-forced as in decoding."""
    target.requires_grad_(False)
    model.layers.requires_grad_(True)

    def take_step(step: int) -> Step:
        ids, _ = windows.draw(batch, step=step)
        teacher = score(target, ids, compiled=compiled)
        loss, figures = torch.zeros(()), {}
        for k, logits in enumerate(mtp_logits(target, model.layers, ids, teacher.hidden)):
            wanted = teacher.logits[:, k + 1 : k + 1 + logits.shape[1]]
            loss = loss.to(logits.device) + soft_loss(logits, wanted)
            figures[f"agree{k + 1}"] = agreement(logits.detach(), wanted)
        return Step(loss, ids.numel(), figures)

    TrainingLoop(model.layers, take_step, plan).run()


def drafter_logits(
    target: Gemma4ForCausalLM,
    drafter: Gemma4AssistantForCausalLM,
    ids: Tensor,
    teacher: Scored,
    steps: int,
):
    """Yield for each draft step j the drafter's logits at all positions p at once.

    A draft at position p sees the keys before p only, keeps the position p for all its steps, and
    is fed with the embedding of token p + j and the hidden state of the step before.
    """
    length, device = ids.shape[1], ids.device
    positions = torch.arange(1, length - steps, device=device)
    hidden_keys = torch.arange(length, device=device)[None] >= positions[:, None]
    mask = torch.zeros(len(positions), length, device=device)
    mask = mask.masked_fill(hidden_keys, float("-inf"))[None, None]
    embedded = target.model.embed_tokens(ids)
    previous = teacher.hidden[:, positions - 1]
    for j in range(steps):
        inputs = torch.cat([embedded[:, positions + j], previous], -1)
        output = drafter.model(
            inputs_embeds=drafter.pre_projection(inputs),
            attention_mask={"full_attention": mask, "sliding_attention": mask},
            position_ids=positions[None],
            shared_kv_states=KVSharingDict(dict(teacher.keys_values)),
            use_cache=False,
            # A tensor: with the default the all-shared model slices per-layer inputs it lacks.
            logits_to_keep=torch.zeros(1, dtype=torch.long, device=device),
        ).last_hidden_state
        previous = drafter.post_projection(output)
        yield drafter.lm_head(output)


def train_drafter(
    target: Gemma4ForCausalLM,
    drafter: Gemma4AssistantForCausalLM,
    windows: Windows,
    plan: TrainPlan,
    *,
    batch: int,
    compiled: bool = True,
) -> None:
    """Train the drafter of a frozen Gemma 4 target over `DRAFT_STEPS` steps from each position."""
    target.requires_grad_(False)

    def take_step(step: int) -> Step:
        ids, _ = windows.draw(batch, step=step)
        teacher = score(target, ids, compiled=compiled)
        loss, figures = torch.zeros((), device=ids.device), {}
        draft = drafter_logits(target, drafter, ids, teacher, DRAFT_STEPS)
        for j, logits in enumerate(draft):
            wanted = teacher.logits[:, j + 1 : j + 1 + logits.shape[1]]
            loss = loss + STEP_DISCOUNT**j * soft_loss(logits, wanted)
            figures[f"agree{j + 1}"] = agreement(logits.detach(), wanted)
        return Step(loss, ids.numel(), figures)

    TrainingLoop(drafter, take_step, plan).run()
