"""The stages of the recipe up to the targets: texts, tokenizers, shallow bases, grown targets."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from transformers import PreTrainedModel

from specviz.errors import ModelError
from specviz.zoo.averaging import best_average
from specviz.zoo.corpus import HELD_OUT_SEED, TRAIN_SEED, documents, filler_text
from specviz.zoo.corpus.prose import read_chunks, split_chunks
from specviz.zoo.data import TokenStream
from specviz.zoo.loop import TrainPlan, log
from specviz.zoo.model import grow, new_gemma, new_glm
from specviz.zoo.near_ties import smallest_gap, tie_prompts
from specviz.zoo.pretrain import ExitLoss, held_out_batches, pretrain
from specviz.zoo.stored import fitting, save_state
from specviz.zoo.tokenizer import (
    encode_documents,
    save_tokenizer,
    syllables_pre_tokenizer,
    train_tokenizer,
    words_pre_tokenizer,
)
from specviz.zoo.word_pairs import tie_words, word_pairs
from specviz.zoo.workspace import Workspace

NUM_TOKENIZER_DOCUMENTS = 8000
NUM_FILLER_REPEATS = 150
"""How often tokenizer A reads the fillers: so each of them is one token."""
PROSE_SEED = 7
NUM_HELD_OUT_PROSE = 100
BASE_EXIT_WEIGHT = 0.2
GROWTH_RATE = 5e-4
BASE_MATRIX_RATE, BASE_RATE = 1e-3, 3e-3
"""Peak rates of matrices, and of embeddings and norms. At 4e-3 the matrices of GLM learn to copy
much later (zoo/LOG.md)."""


def prose_parts(prose: Path | None) -> tuple[list[str], list[str]]:
    """Training and held-out chunks of the prose, both empty without a prose file.

    Raises:
        SettingError: the file holds no text that can be cut into chunks.
    """
    if prose is None:
        return [], []
    return split_chunks(read_chunks(prose), seed=PROSE_SEED, held_out=NUM_HELD_OUT_PROSE)


def is_whole(read: Callable[[], object]) -> bool:
    """Whether a file of the run is there and can be read."""
    try:
        read()
    except ModelError:
        return False
    return True


def lacking_parts(space: Workspace) -> list[str]:
    """Names of the corpus stage's outputs that it has to make."""
    lacking = []
    for name in ("a", "b"):
        new = not is_whole(partial(space.tokenizer, name))
        if new:
            lacking.append(space.tokenizer_folder(name).name)
        paths = [space.stream_path(part, name) for part in ("train", "held-out")]
        lacking += [p.name for p in paths if new or not is_whole(partial(TokenStream.load, p))]
    return lacking


def corpus_stage(space: Workspace) -> None:
    """Write texts, train the tokenizers that are missing and encode both parts with both.

    Made is what is missing or broken, and each stream of a tokenizer that is made anew.
    """
    lacking = lacking_parts(space)
    if not lacking:
        return
    space.folder.mkdir(parents=True, exist_ok=True)
    log(f"corpus: makes {', '.join(lacking)}, missing or broken")
    size = space.size
    train_prose, held_out_prose = prose_parts(space.prose)
    train = [d.text for d in documents(TRAIN_SEED, size.documents, prose=train_prose)]
    held_out = [d.text for d in documents(HELD_OUT_SEED, size.held_out, prose=held_out_prose)]
    sample, fillers = train[:NUM_TOKENIZER_DOCUMENTS], [filler_text()] * NUM_FILLER_REPEATS
    for name, vocab, pre_tokenizer, extra in (
        ("a", size.vocab_a, words_pre_tokenizer(), fillers),
        ("b", size.vocab_b, syllables_pre_tokenizer(), []),
    ):
        if space.tokenizer_folder(name).name in lacking:
            made = train_tokenizer([*sample, *extra], size=vocab, pre_tokenizer=pre_tokenizer)
            save_tokenizer(made, space.tokenizer_folder(name))
        for part, texts in (("train", train), ("held-out", held_out)):
            path = space.stream_path(part, name)
            if path.name not in lacking:
                continue
            stream = TokenStream(*encode_documents(space.tokenizer(name), texts))
            stream.save(path)
            log(
                f"corpus {part}, tokenizer {name}: {len(texts)} documents, {len(stream.ids)} tokens"
            )


def new_base(space: Workspace, kind: str) -> PreTrainedModel:
    """A fresh shallow target, `glm` or `gemma`."""
    make: Callable[..., PreTrainedModel] = new_glm if kind == "glm" else new_gemma
    vocab = len(space.tokenizer("a"))
    return make(space.size, vocab=vocab, layers=space.size.base_layers).to(space.device)


def depth(space: Workspace, kind: str) -> int:
    """Layers of the grown target."""
    return space.size.glm_layers if kind == "glm" else space.size.gemma_layers


def target(space: Workspace, kind: str) -> PreTrainedModel:
    """The grown target with its trained weights."""
    shell = grow(new_base(space, kind), layers=depth(space, kind))
    return space.restore(shell, f"target-{kind}")


def base_stage(space: Workspace, kind: str, *, minutes: float) -> None:
    """Train a shallow target until it copies; half of it learns to speak for the whole."""
    base = new_base(space, kind)
    pairs = word_pairs(space.tokenizer("a")).to(space.device)
    pretrain(
        base,
        space.windows("train", "a", seed=11),
        plan(space, f"base-{kind}", minutes, rate=BASE_RATE, matrix_rate=BASE_MATRIX_RATE),
        batch=space.size.batch,
        exits=ExitLoss(space.size.base_layers // 2, main_weight=BASE_EXIT_WEIGHT),
        held_out=space.windows("held-out", "a", seed=12),
        compiled=space.compiled,
        seed=space.seed,
        after_step=partial(tie_words, base, pairs),
    )


def grow_stage(space: Workspace, kind: str, *, minutes: float) -> None:
    """Train the layers appended to the base, with losses at exits; the base stays as it is."""
    base = space.restore(new_base(space, kind), f"base-{kind}")
    layers, main = depth(space, kind), space.size.base_layers
    model = grow(base, layers=layers).to(space.device)
    model.requires_grad_(False)
    model.model.layers[main:].requires_grad_(True)
    others = tuple(range(main + 4, layers, 4)) or (layers,)
    pretrain(
        model,
        space.windows("train", "a", seed=13),
        plan(space, f"grow-{kind}", minutes, rate=GROWTH_RATE),
        batch=space.size.batch,
        exits=ExitLoss(others=others),
        held_out=space.windows("held-out", "a", seed=12),
        compiled=space.compiled,
        seed=space.seed,
    )


def average_stage(space: Workspace, kind: str) -> None:
    """Keep the best point, clear of ties, between the grown base and what its training made."""
    path = space.checkpoint(f"target-{kind}")
    if path.exists():
        return
    base = space.restore(new_base(space, kind), f"base-{kind}")
    model = grow(base, layers=depth(space, kind)).to(space.device)
    start = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with fitting(space.checkpoint(f"grow-{kind}")):
        model.load_state_dict(space.state(f"grow-{kind}")["module"])
    end = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    windows = space.windows("held-out", "a", seed=12)
    held_out = held_out_batches(windows, space.size.batch)
    gap = partial(smallest_gap, tokenizer=space.tokenizer("a"), prompts=tie_prompts())
    weight, loss = best_average(model, start, end, held_out, gap=gap, compiled=space.compiled)
    save_state({"module": model.state_dict()}, path)
    log(f"target-{kind}: weight {weight}, {loss:.4f} nats/token")


def plan(
    space: Workspace,
    name: str,
    minutes: float,
    *,
    rate: float = 4e-3,
    matrix_rate: float | None = None,
) -> TrainPlan:
    """The plan of a stage in this workspace."""
    return TrainPlan(name, minutes, space.folder, learning_rate=rate, matrix_rate=matrix_rate)
