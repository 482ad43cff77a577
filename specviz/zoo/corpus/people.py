"""The state of a story: hero, friend, object, places. Each later mention is a fact to be copied."""

import random
from dataclasses import dataclass

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
    pick,
    pick_many,
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
    return Scene(hero, friend, pick(rng, OBJECTS), pick(rng, COLORS), home, place, pick(rng, FOODS))
