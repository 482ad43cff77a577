"""Stories and what can be done with them: summaries, rewrites, questions, "who has it now?".

The story keeps state (hero, friend, object, places), so each later mention is a fact that a model
has to copy. Three plots: something is lost, a gift is made, a contest is held.
"""

import random
import re
from dataclasses import dataclass

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.words import (
    ADJECTIVES,
    ANIMALS,
    COLORS,
    FEMALE_NAMES,
    FOODS,
    JOBS,
    MALE_NAMES,
    OBJECTS,
    PLACES,
    PROVERBS,
    WEATHER,
    pick,
    pick_many,
    sentence_case,
    with_article,
)


@dataclass(frozen=True, slots=True)
class Person:
    """A character with its pronouns."""

    name: str
    kind: str
    adjective: str
    he: str
    him: str
    his: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The state of one story."""

    hero: Person
    friend: Person
    thing: str
    color: str
    home: str
    place: str
    food: str

    @property
    def item(self) -> str:
        """The coloured object, for example `red key`."""
        return f"{self.color} {self.thing}"


def draw_name(rng: random.Random, *, besides: tuple[str, ...] = ()) -> str:
    """Draw a first name that is not among `besides`."""
    while True:
        name = pick(rng, FEMALE_NAMES if rng.random() < 0.5 else MALE_NAMES)
        if name not in besides:
            return name


def draw_person(rng: random.Random, *, besides: tuple[str, ...] = ()) -> Person:
    """Draw a character whose name is not among `besides`."""
    name = draw_name(rng, besides=besides)
    kind = pick(rng, ANIMALS if rng.random() < 0.7 else JOBS)
    pronouns = ("she", "her", "her") if name in FEMALE_NAMES else ("he", "him", "his")
    return Person(name, kind, pick(rng, ADJECTIVES), *pronouns)


def draw_scene(rng: random.Random) -> Scene:
    """Draw the state of a story."""
    hero = draw_person(rng)
    friend = draw_person(rng, besides=(hero.name,))
    home, place = pick_many(rng, PLACES, 2)
    return Scene(
        hero, friend, pick(rng, OBJECTS), pick(rng, COLORS), home, place, pick(rng, FOODS)
    )


def opening(rng: random.Random, scene: Scene) -> str:
    """The sentence that introduces the hero."""
    hero = scene.hero
    who = f"{with_article(hero.adjective)} {hero.kind}"
    return rng.choice(
        (
            f"Once upon a time there was {who} named {hero.name}.",
            f"Long ago, {who} named {hero.name} lived near {scene.home}.",
            f"There once was {who} called {hero.name}.",
        )
    )


def lost_plot(rng: random.Random, scene: Scene) -> list[str]:
    """Eleven sentences: something is lost, a friend helps, it is found."""
    hero, friend, thing, item = scene.hero, scene.friend, scene.thing, scene.item
    choose = rng.choice
    return [
        opening(rng, scene),
        choose(
            (
                f"{sentence_case(hero.he)} lived near {scene.home} and loved {hero.his} {item} "
                "more than anything else.",
                f"{hero.name} had {with_article(item)}, and {hero.he} took it everywhere.",
                f"Every day {hero.name} walked to {scene.home} with {hero.his} {item}.",
            )
        ),
        choose(WEATHER)
        + choose(
            (
                f" when {hero.name} saw that the {thing} was gone.",
                f" when the {item} fell into the water near {scene.home}.",
                f" when somebody took the {item} away.",
            )
        ),
        choose(
            (
                f'"Where is my {thing}?" cried {hero.name}.',
                f'"Oh no," said {hero.name}, "I have lost my {item}!"',
                f"{hero.name} sat down and began to cry.",
            )
        ),
        choose(
            (
                f"{sentence_case(hero.he)} looked in {scene.home}, but the {thing} was not there.",
                f"{hero.name} searched all day, but {hero.he} could not find the {thing}.",
            )
        ),
        *found_ending(rng, scene),
    ]


def found_ending(rng: random.Random, scene: Scene) -> list[str]:
    """The last six sentences of `lost_plot`: the friend, the walk, the find, the thanks."""
    hero, friend, item = scene.hero, scene.friend, scene.item
    choose = rng.choice
    return [
        choose(
            (
                f"Then {hero.he} met {with_article(friend.adjective)} {friend.kind} "
                f"named {friend.name}.",
                f"On the way to {scene.place}, {hero.he} met {friend.name} the {friend.kind}.",
            )
        ),
        choose(
            (
                f'"Why are you so sad?" asked {friend.name}. "I have lost my {item}," '
                f"said {hero.name}.",
                f'"Can you help me?" asked {hero.name}. "Of course I can," said {friend.name}.',
            )
        ),
        choose(
            (
                f"Together they went to {scene.place}.",
                f"So {hero.name} and {friend.name} walked to {scene.place} together.",
                f"{friend.name} knew the way to {scene.place}, and {hero.name} followed "
                f"{friend.him}.",
            )
        ),
        choose(
            (
                f"There, under a stone, lay the {item}.",
                f"There they found the {item} behind an old tree.",
                f"At last {friend.name} saw the {item} high up in a tree.",
            )
        ),
        choose(
            (
                f'"Thank you, {friend.name}!" said {hero.name}, and {hero.he} gave {friend.him} '
                f"some {scene.food}.",
                f"{hero.name} was so happy that {hero.he} shared {hero.his} {scene.food} "
                f"with {friend.name}.",
            )
        ),
        farewell(rng, scene),
    ]


def farewell(rng: random.Random, scene: Scene) -> str:
    """The last sentence of a story, half of the time with a proverb."""
    hero, friend = scene.hero.name, scene.friend.name
    end = rng.choice(
        (
            f"From that day on, {hero} and {friend} were best friends.",
            f"{hero} and {friend} went home to {scene.home} and ate {scene.food} together.",
        )
    )
    return end + (f" {rng.choice(PROVERBS)}" if rng.random() < 0.5 else "")


def gift_plot(rng: random.Random, scene: Scene) -> list[str]:
    """Eight sentences: the hero makes a gift for a friend."""
    hero, friend, item = scene.hero, scene.friend, scene.item
    choose = rng.choice
    return [
        opening(rng, scene),
        f"{sentence_case(hero.his)} best friend was {friend.name} the {friend.kind}.",
        choose((f"Tomorrow was the birthday of {friend.name}.", f"{friend.name} was very ill.")),
        f'"I will make {with_article(item)} for {friend.name}," said {hero.name}.',
        f"{sentence_case(hero.he)} worked all night in {scene.home}.",
        f"In the morning {hero.name} carried the {item} to {scene.place}.",
        choose(
            (
                f'"What a beautiful {scene.thing}!" said {friend.name}.',
                f'"Is this {scene.thing} for me?" asked {friend.name}. "Yes, it is," '
                f"said {hero.name}.",
            )
        ),
        farewell(rng, scene),
    ]


def contest_plot(rng: random.Random, scene: Scene) -> list[str]:
    """Eight sentences: hero and friend race for a prize."""
    hero, friend, item = scene.hero, scene.friend, scene.item
    winner, loser = rng.choice(((hero, friend), (friend, hero)))
    return [
        opening(rng, scene),
        f"One day there was a race from {scene.home} to {scene.place}.",
        f"The prize was {with_article(item)}.",
        f'"I will win the {scene.thing}," said {hero.name}.',
        f'"No, I will win it," said {friend.name} the {friend.kind}.',
        f"{loser.name} ran fast and soon got tired, but {winner.name} never stopped.",
        f"So {winner.name} won the race and got the {item}.",
        f'"Well done, {winner.name}!" said {loser.name}. ' + farewell(rng, scene),
    ]


def tell(rng: random.Random, scene: Scene) -> list[str]:
    """Tell the scene with one of the plots."""
    return rng.choices((lost_plot, gift_plot, contest_plot), (6, 2, 2))[0](rng, scene)


def paragraphs(sentences: list[str]) -> str:
    """Lay the sentences out in paragraphs of about four."""
    cuts = (0, 4, 8, len(sentences)) if len(sentences) > 8 else (0, 4, len(sentences))
    return "\n\n".join(" ".join(sentences[a:b]) for a, b in zip(cuts, cuts[1:], strict=False))


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
    """A text to be written again with one word changed: a long copy."""
    while True:
        scene = draw_scene(rng)
        sentences = tell(rng, scene)
        count = rng.randint(3, 5)
        start = rng.randint(0, min(4, len(sentences) - count))
        text = " ".join(sentences[start : start + count])
        old, new = change(rng, scene)
        if re.search(rf"\b{old}\b", text) and new not in text:
            break
    prompt = f"Rewrite the text. Change {old} to {new}.\n\nText: {text}\n\nNew text:"
    return Document("rewrite", prompt, " " + re.sub(rf"\b{old}\b", new, text), Check.WHOLE)


def change(rng: random.Random, scene: Scene) -> tuple[str, str]:
    """Draw the word to change and its replacement."""
    if rng.random() < 0.5:
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
