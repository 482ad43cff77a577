"""Example prompts, each from the domain that its targets were trained on. Data only.

The embedded targets were trained on generated stories, recipes, JSON, sums, code and short
dialogues in exactly these forms; a prompt from elsewhere gives babble. Prompts do not end with a
newline: the model writes it, as it did in training.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.catalog.entries import SMOLLM2


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt from the domain that ``targets`` were trained on; ``note`` says what it shows."""

    title: str
    prompt: str
    targets: tuple[str, ...]
    note: str = ""
    chat: bool = False


GRAMMAR_TARGETS = ("target-glm", "target-gemma")
EXAMPLES: tuple[Example, ...] = (
    Example(
        "Story",
        "Write a story about a brave fox named Lila.",
        GRAMMAR_TARGETS,
        "Template sentences are easy to draft, names and objects are hard.",
    ),
    Example(
        "JSON from a text",
        "Turn the text into JSON.\n\nText: Nora, 35, works as a painter in Oslo and has a cat. "
        "Karl is a 52 year old sailor from Rome.\n\nJSON:",
        GRAMMAR_TARGETS,
        "The keys repeat, the values are copied: prompt lookup likes it.",
    ),
    Example(
        "Rewrite with one change",
        "Rewrite the text. Change Emil to Oskar.\n\nText: Long ago, a wise mouse named Emil lived "
        "near the hill. Every day Emil walked to the hill with his golden bell. It was a windy day "
        "when Emil saw that the bell was gone.\n\nNew text:",
        GRAMMAR_TARGETS,
        "Nearly everything is a copy of the prompt.",
    ),
    Example(
        "Recipe",
        "Write a recipe for winter soup.",
        GRAMMAR_TARGETS,
        "Lists with a fixed shape.",
    ),
    Example(
        "Python function",
        "Write a Python function that finds the largest number in a list.",
        GRAMMAR_TARGETS,
        "Code is easy to draft.",
    ),
    Example(
        "Times table",
        "Write the table of 7.",
        GRAMMAR_TARGETS,
        "The form is certain, the digits are not.",
    ),
    Example(
        "Questions and answers",
        "User: What is the capital of Greece?\nAssistant:",
        GRAMMAR_TARGETS,
        "Short known answers, then new questions.",
    ),
    Example(
        "Explain",
        "Explain in three sentences why the sky is blue.",
        (SMOLLM2,),
        "Ordinary prose: little to copy.",
        chat=True,
    ),
    Example(
        "Repeat with a change",
        "Repeat this sentence in capital letters: the quick brown fox jumps over the lazy dog.",
        (SMOLLM2,),
        "Copies from the prompt.",
        chat=True,
    ),
    Example(
        "Code",
        "Write a Python function that returns the n-th Fibonacci number.",
        (SMOLLM2,),
        "Code is easier to draft than prose.",
        chat=True,
    ),
)
