"""The stages after the targets: assistants, MTP layers, drafter. Each needs frozen targets."""

import torch
from transformers import Gemma4AssistantForCausalLM, LlamaForCausalLM, PreTrainedModel
from transformers.modeling_layers import MtpModel

from specviz.zoo.distill import new_mtp_layers, train_assistant, train_drafter, train_mtp
from specviz.zoo.model import new_drafter, new_llama
from specviz.zoo.pretrain import pretrain
from specviz.zoo.stages import plan, target
from specviz.zoo.stored import fitting
from specviz.zoo.workspace import Workspace


def new_assistant(space: Workspace, name: str) -> LlamaForCausalLM:
    """A fresh `assistant`, `assistant-tiny` or `assistant-other`."""
    size = space.size
    vocab = len(space.tokenizer("b" if name == "assistant-other" else "a"))
    if name == "assistant-tiny":
        return new_llama(vocab=vocab, hidden=size.tiny_hidden, layers=1).to(space.device)
    model = new_llama(vocab=vocab, hidden=size.assistant_hidden, layers=size.assistant_layers)
    return model.to(space.device)


@torch.no_grad()
def share_embeddings(assistant: PreTrainedModel, teacher: PreTrainedModel) -> None:
    """Start with the teacher's embeddings and final norm where the widths are equal."""
    ours, theirs = assistant.model, teacher.model
    if ours.embed_tokens.weight.shape == theirs.embed_tokens.weight.shape:
        ours.embed_tokens.weight.copy_(theirs.embed_tokens.weight)
        ours.norm.weight.copy_(theirs.norm.weight)


def assistant_stage(space: Workspace, name: str, *, minutes: float) -> None:
    """Distil an assistant from both targets, read at their early exit to save time."""
    teachers = [target(space, "glm"), target(space, "gemma")]
    assistant = new_assistant(space, name)
    share_embeddings(assistant, teachers[0])
    train_assistant(
        assistant,
        teachers,
        space.windows("train", "a", seed=21),
        plan(space, name, minutes),
        batch=space.size.batch,
        depth=space.size.base_layers,
        compiled=space.compiled,
    )


def other_stage(space: Workspace, *, minutes: float) -> None:
    """Train the assistant with the other tokenizer; it has no teacher."""
    pretrain(
        new_assistant(space, "assistant-other"),
        space.windows("train", "b", seed=22),
        plan(space, "assistant-other", minutes),
        batch=space.size.batch,
        held_out=space.windows("held-out", "b", seed=12),
        compiled=space.compiled,
    )


def mtp_stage(space: Workspace, *, minutes: float) -> None:
    """Train the MTP layers of the GLM target."""
    glm = target(space, "glm")
    train_mtp(
        glm,
        new_mtp_layers(glm, space.size.mtp_layers),
        space.windows("train", "a", seed=23),
        plan(space, "mtp", minutes, rate=3e-3),
        batch=max(1, space.size.batch // 2),
        compiled=space.compiled,
    )


def drafter_stage(space: Workspace, *, minutes: float) -> None:
    """Train the drafter of the Gemma 4 target."""
    gemma = target(space, "gemma")
    train_drafter(
        gemma,
        new_drafter(space.size, gemma).to(space.device),
        space.windows("train", "a", seed=24),
        plan(space, "drafter", minutes, rate=3e-3),
        batch=max(1, space.size.batch // 2),
        compiled=space.compiled,
    )


def trained_mtp(space: Workspace) -> MtpModel:
    """The trained MTP layers on the trained GLM target."""
    glm = target(space, "glm")
    model = new_mtp_layers(glm, space.size.mtp_layers)
    state = space.state("mtp")
    with fitting(space.checkpoint("mtp")):
        model.layers.load_state_dict(state["module"])
    return model


def trained_drafter(space: Workspace) -> Gemma4AssistantForCausalLM:
    """The trained drafter."""
    shell = new_drafter(space.size, target(space, "gemma"))
    return space.restore(shell, "drafter")
