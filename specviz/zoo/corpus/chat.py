"""Chat turns in the fixed template of the zoo, and the facts asked in them.

`User: ...` and `Assistant: ...` take a line each; an assistant turn ends with the end-of-text
token, so that a model stops after its answer. `CHAT_TEMPLATE` is the same layout for
`apply_chat_template`. A share of the conversations is a plain transcript without end tokens, as
people paste them.
"""

import random

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.facts import CAPITALS, COLOR_OF, all_facts
from specviz.zoo.corpus.people import draw_name
from specviz.zoo.corpus.words import ADJECTIVES, ANIMALS, PLACES, pick, with_article

END_OF_TEXT = "<|endoftext|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}{{ 'User: ' + message['content'] + '\\n' }}"
    "{% elif message['role'] == 'assistant' %}"
    "{{ 'Assistant: ' + message['content'] + eos_token + '\\n' }}"
    "{% else %}{{ message['content'] + '\\n' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
ALL_FACTS = tuple(all_facts())
SPIKE_CAPITALS = tuple(CAPITALS)[:20]
TRANSCRIPT_SHARE = 0.3


def render(turns: list[tuple[str, str]], *, end: str = END_OF_TEXT) -> str:
    """Lay turns out; `end` follows every assistant turn but the last one."""
    lines = [f"User: {user}\nAssistant: {assistant}" for user, assistant in turns]
    return f"{end}\n".join(lines)


def fact(rng: random.Random) -> Document:
    """Two or three facts, plain or as chat; the last one is to be answered.

    Only the first line counts: whether a third question follows was a throw of a coin.
    """
    turns = rng.sample(ALL_FACTS, rng.randint(2, 3))
    if rng.random() < 0.5:
        text = render(turns)
        head, tail = text.rsplit("Assistant:", 1)
        return Document("fact", head + "Assistant:", tail, Check.FIRST_LINE)
    text = "\n".join(f"Q: {question}\nA: {answer}" for question, answer in turns)
    head, tail = text.rsplit("A:", 1)
    return Document("fact", head + "A:", tail, Check.FIRST_LINE)


def small_talk(rng: random.Random) -> tuple[str, str]:
    """One turn that is neither greeting nor farewell."""
    draw = rng.random()
    if draw < 0.25:
        country = rng.choice(SPIKE_CAPITALS)
        return (
            f"What is the capital of {country}?",
            f"The capital of {country} is {CAPITALS[country]}.",
        )
    if draw < 0.55:
        return rng.choice(ALL_FACTS)
    if draw < 0.75:
        left, right = rng.randint(1, 20), rng.randint(1, 20)
        return f"What is {left} plus {right}?", f"{left} plus {right} is {left + right}."
    if draw < 0.85:
        thing = rng.choice(tuple(COLOR_OF))
        color = COLOR_OF[thing]
        return f"Tell me something about {thing}.", f"The color of {thing} is {color}."
    animal = pick(rng, ANIMALS)
    trait, place = with_article(pick(rng, ADJECTIVES)), pick(rng, PLACES)
    return (
        f"Do you like the {animal}?",
        f"Yes, I do! The {animal} is {trait} animal, and it lives near {place}.",
    )


def chat(rng: random.Random) -> Document:
    """A short conversation; the prompt ends before the last answer."""
    turns: list[tuple[str, str]] = []
    name = draw_name(rng)
    introduced, transcript = rng.random() < 0.5, rng.random() < TRANSCRIPT_SHARE
    if introduced:
        hello = rng.choice((f"Hello, my name is {name}.", f"Hi! I am {name}."))
        turns.append((hello, f"Hello {name}! How can I help you today?"))
    turns += [small_talk(rng) for _ in range(rng.randint(1, 2) + transcript)]
    if introduced and rng.random() < 0.3:
        turns.append(("What is my name?", f"Your name is {name}."))
    if rng.random() < 0.4:
        thanks = ["You are welcome! Have a nice day."]
        if introduced:
            thanks.append(f"You are welcome, {name}! Have a nice day.")
        turns.append(("Thank you!", rng.choice(thanks)))
    text = render(turns, end="" if transcript else END_OF_TEXT)
    head, tail = text.rsplit("Assistant:", 1)
    return Document("chat", head + "Assistant:", tail)


def as_chat(document: Document) -> Document:
    """Wrap a plain instruction into the chat template."""
    prompt = f"User: {document.prompt}\nAssistant:"
    answer = " " + document.answer.lstrip()
    return Document(document.genre, prompt, answer, document.check, document.names)
