"""Evaluation of an exported zoo: loss, right answers and acceptance rates, per genre.

`python -m specviz.zoo.evaluate --models assets/models --report evaluation.json` reads only exported
folders, so it judges what users get. Held-out documents come from another seed than the training
text; `--prose` adds held-out prose. The speed of our own engine is measured elsewhere
(`python -m specviz bench`), on the same folders.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from specviz.zoo.command import positive, refusals
from specviz.zoo.corpus import GENRES, HELD_OUT_SEED, Document, documents
from specviz.zoo.corpus.prose import prose_document
from specviz.zoo.exactness import judge_genre
from specviz.zoo.exported import Exported, load_exported
from specviz.zoo.loop import log
from specviz.zoo.losses import genre_loss
from specviz.zoo.rates import method_rates
from specviz.zoo.report import INSTALLED, REPORT, check_place, digests, merge
from specviz.zoo.stages import prose_parts
from specviz.zoo.workspace import Workspace

TARGETS = ("target-glm", "target-gemma")
LOSS_MODELS = (*TARGETS, "assistant", "assistant-tiny")
RATE_GENRES = ("story", "rewrite", "reading", "json", "addition", "holder", "code", "chat", "prose")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: documents for losses, prompts for answers and for rates, per genre."""

    loss: int
    exact: int
    rates: int


def held_out_documents(count: int, *, prose: Sequence[str]) -> dict[str, list[Document]]:
    """Held-out documents by genre, `count` of each."""
    by_genre = {
        genre: list(documents(HELD_OUT_SEED + 1000 + index, count, genre=genre))
        for index, genre in enumerate(GENRES)
    }
    if prose:
        by_genre["prose"] = [prose_document(chunk) for chunk in prose[:count]]
    return by_genre


def mixture_loss(model: Any, tokenizer: Any, *, count: int) -> float:
    """Loss in nats per token on the mixture of genres, without prose."""
    return genre_loss(model, tokenizer, list(documents(HELD_OUT_SEED, count)))


def evaluate(
    zoo: Exported,
    by_genre: dict[str, list[Document]],
    sizes: Sizes,
    *,
    names: Sequence[str] = LOSS_MODELS,
) -> dict[str, Any]:
    """Measure the models named; returns a report of plain numbers."""
    report: dict[str, Any] = {"loss": {}, "exact": {}, "fields": {}, "rates": {}}
    for name in names:
        model = zoo.models[name]
        losses = {
            genre: round(genre_loss(model, zoo.tokenizer, docs[: sizes.loss]), 3)
            for genre, docs in by_genre.items()
        }
        losses["mixture"] = round(mixture_loss(model, zoo.tokenizer, count=4 * sizes.loss), 3)
        report["loss"][name] = losses
        log(f"loss {name}: {losses}")
    targets = [name for name in names if name in TARGETS]
    for name in targets:
        exact, fields = {}, {}
        for genre, docs in by_genre.items():
            judged = judge_genre(zoo.models[name], zoo.tokenizer, docs[: sizes.exact])
            if judged.rate is not None:
                exact[genre] = round(judged.rate, 3)
            if judged.fields is not None:
                fields[genre] = round(judged.fields, 3)
        report["exact"][name], report["fields"][name] = exact, fields
        log(f"right answers {name}: {exact} fields {fields}")
    for name in targets:
        report["rates"][name] = rates_of_target(zoo, name, by_genre, count=sizes.rates)
    return report


def rates_of_target(
    zoo: Exported, name: str, by_genre: dict[str, list[Document]], *, count: int
) -> dict[str, Any]:
    """Acceptance rates of every method on one target, per genre and their plain mean."""
    rates: dict[str, Any] = defaultdict(dict)
    for genre in RATE_GENRES:
        chosen = by_genre.get(genre, [])[:count]
        if chosen:
            for method, figures in method_rates(zoo, name, chosen).items():
                rates[method][genre] = figures
    for method, figures in rates.items():
        inside = [found["greedy"] for genre, found in figures.items() if genre != "prose"]
        figures["mean without prose"] = round(sum(inside) / len(inside), 3)
        log(f"rates {name} {method}: {figures}")
    return dict(rates)


def evaluate_stage(space: Workspace) -> None:
    """Evaluate what the run exported; the report goes beside it."""
    full = space.size.name == "full"
    sizes = Sizes(100, 100, 4) if full else Sizes(4, 2, 1)
    _, held_out_prose = prose_parts(space.prose)
    zoo = load_exported(space.zoo)
    check_place(space.zoo / REPORT)
    by_genre = held_out_documents(max(sizes.loss, sizes.exact), prose=held_out_prose)
    of = digests(space.zoo)
    merge(space.zoo / REPORT, evaluate(zoo, by_genre, sizes), of)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="specviz.zoo.evaluate", description=__doc__)
    parser.add_argument("--models", type=Path, default=INSTALLED)
    parser.add_argument("--report", type=Path, default=Path("evaluation.json"))
    parser.add_argument("--prose", type=Path)
    parser.add_argument("--names", nargs="+", choices=LOSS_MODELS, default=list(LOSS_MODELS))
    parser.add_argument("--loss-documents", type=positive, default=100)
    parser.add_argument("--exact-documents", type=positive, default=50)
    parser.add_argument("--rate-documents", type=positive, default=8)
    parser.add_argument("--threads", type=positive, default=1)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate the folders given on the command line and write the report."""
    with refusals("specviz.zoo.evaluate"):
        run(parse(arguments))


def run(options: argparse.Namespace) -> None:
    """Evaluate what the options ask for; what is wrong with them is told first."""
    torch.set_num_threads(options.threads)
    sizes = Sizes(options.loss_documents, options.exact_documents, options.rate_documents)
    check_place(options.report)
    _, held_out_prose = prose_parts(options.prose)
    count = max(sizes.loss, sizes.exact, sizes.rates)
    zoo, of = load_exported(options.models), digests(options.models)
    by_genre = held_out_documents(count, prose=held_out_prose)
    merge(options.report, evaluate(zoo, by_genre, sizes, names=options.names), of)


if __name__ == "__main__":
    main()
