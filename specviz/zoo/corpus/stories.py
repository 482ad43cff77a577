"""Stories and what can be done with them: summaries, rewrites, questions, "who has it now?"."""

import random
import re
from itertools import pairwise

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.people import Scene, draw_name, draw_scene
from specviz.zoo.corpus.plots import lost_plot, tell
from specviz.zoo.corpus.words import (
    COLORS,
    FEMALE_NAMES,
    MALE_NAMES,
    OBJECTS,
    pick,
    pick_many,
    with_article,
)


def paragraphs(sentences: list[str]) -> str:
    """Lay the sentences out in paragraphs of about four."""
    cuts = (0, 4, 8, len(sentences)) if len(sentences) > 8 else (0, 4, len(sentences))
    return "\n\n".join(" ".join(sentences[a:b]) for a, b in pairwise(cuts))


def story(rng: random.Random) -> Document:
    """A story on demand: `Write a story about a brave fox named Lila.`"""
    scene = draw_scene(rng)
    hero = scene.hero
    kind = f"{with_article(hero.adjective)} {hero.kind}"
    prompt = rng.choice(
        (
            f"Write a story about {kind} named {hero.name}.",
            f"Tell me a story about {hero.name} the {hero.kind}.",
            f"Write a story about {with_article(scene.item)}.",
        )
    )
    names = (hero.name, scene.friend.name) if hero.name in prompt else ()
    check = Check.NAMES if names else Check.NONE
    return Document("story", prompt, "\n\n" + paragraphs(tell(rng, scene)), check, names)


def summary(rng: random.Random) -> Document:
    """A story of the first plot, told in one or two sentences."""
    scene = draw_scene(rng)
    hero, friend = scene.hero, scene.friend
    text = " ".join(lost_plot(rng, scene))
    answer = rng.choice(
        (
            f" {hero.name} the {hero.kind} loses {hero.his} {scene.item}. With the help of "
            f"{friend.name} the {friend.kind}, {hero.he} finds it at {scene.place}.",
            f" {hero.name} loses {with_article(scene.item)} and finds it again at {scene.place} "
            f"with the help of {friend.name}.",
        )
    )
    prompt = f"Summarize the story.\n\nStory: {text}\n\nSummary:"
    return Document("summary", prompt, answer, Check.NAMES, (hero.name, friend.name))


def rewrite(rng: random.Random) -> Document:
    """A text of one to five sentences to be written again with one word changed."""
    while True:
        scene = draw_scene(rng)
        sentences = tell(rng, scene)
        count = rng.randint(1, 5)
        start = rng.randint(0, min(4, len(sentences) - count))
        text = " ".join(sentences[start : start + count])
        old, new = change(rng, scene)
        if re.search(rf"\b{old}\b", text) and new not in text:
            break
    return changed("rewrite", text, old, new)


def names(rng: random.Random) -> Document:
    """A list of names with one of them changed: nothing but the names says which."""
    count = rng.randint(2, 7)
    listed: list[str] = []
    while len(listed) <= count:
        listed.append(draw_name(rng, besides=tuple(listed)))
    old, new = rng.choice(listed[:-1]), listed.pop()
    return changed("names", ", ".join(listed) + ".", old, new)


def changed(genre: str, text: str, old: str, new: str) -> Document:
    """The task to write a text again with one word changed."""
    prompt = f"Rewrite the text. Change {old} to {new}.\n\nText: {text}\n\nNew text:"
    return Document(genre, prompt, " " + re.sub(rf"\b{old}\b", new, text), Check.WHOLE)


def change(rng: random.Random, scene: Scene) -> tuple[str, str]:
    """Draw the word to change and its replacement: names are the hardest to hold, so most."""
    if rng.random() < 0.6:
        old = rng.choice((scene.hero.name, scene.friend.name))
        return old, pick(rng, FEMALE_NAMES if old in FEMALE_NAMES else MALE_NAMES)
    if rng.random() < 0.7:
        return scene.thing, pick(rng, OBJECTS)
    return scene.color, pick(rng, COLORS)


def reading(rng: random.Random) -> Document:
    """Questions over a given text; the first one is the prompt, the others follow."""
    scene = draw_scene(rng)
    hero, friend = scene.hero, scene.friend
    told = lost_plot(rng, scene)[5:10]
    text = f"{hero.name} the {hero.kind} had {with_article(scene.item)}. " + " ".join(told)
    pairs = [
        (f"Who is {hero.name}?", f"{hero.name} is {with_article(hero.kind)}."),
        (f"What color is the {scene.thing}?", f"The {scene.thing} is {scene.color}."),
        (f"Who helps {hero.name}?", f"{friend.name} helps {hero.name}."),
        (f"What does {hero.name} have?", f"{hero.name} has {with_article(scene.item)}."),
    ]
    if scene.place in text:
        pairs.append(("Where do they go?", f"They go to {scene.place}."))
    if scene.food in text:
        pairs.append(("What do they eat?", f"They eat {scene.food}."))
    chosen = rng.sample(pairs, rng.randint(2, 3))
    lines = "\n".join(f"Q: {question}\nA: {answer}" for question, answer in chosen)
    head, tail = lines.split("A:", 1)
    prompt = f"Read the text and answer the questions.\n\nText: {text}\n\n{head}A:"
    return Document("reading", prompt, tail, Check.FIRST_LINE)


def holder(rng: random.Random) -> Document:
    """Two things change hands; who has one of them now?"""
    things = pick_many(rng, OBJECTS, 2)
    people = [draw_name(rng)]
    while len(people) < 4:
        people.append(draw_name(rng, besides=tuple(people)))
    holds = dict(zip(things, people, strict=False))
    lines = [f"{who} has the {thing}." for thing, who in holds.items()]
    for _ in range(rng.randint(2, 4)):
        thing = rng.choice(things)
        taker = rng.choice([name for name in people if name != holds[thing]])
        lines.append(f"{holds[thing]} gives the {thing} to {taker}.")
        holds[thing] = taker
    asked = rng.choice(things)
    prompt = f"Who has the {asked} now?\n\nText: {' '.join(lines)}\n\nAnswer:"
    return Document("holder", prompt, f" {holds[asked]} has the {asked}.", Check.WHOLE)
