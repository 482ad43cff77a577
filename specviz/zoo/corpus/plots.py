"""Three plots over one scene, as lists of sentences: a loss, a gift, a race."""

import random

from specviz.zoo.corpus.people import Scene
from specviz.zoo.corpus.words import PROVERBS, WEATHER, sentence_case, with_article


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
    hero, thing, item = scene.hero, scene.thing, scene.item
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
