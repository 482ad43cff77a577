"""Word lists of the grammar: common words and first names, chosen by hand for this project.

What it does: holds the nouns, names and adjectives, and the one draw that prefers frequent words.
What it does not: build sentences. The first words of each list are the *frequent* ones; half of
all draws come from them, so that example prompts stay familiar while the rest must be copied.
"""

import random
from collections.abc import Sequence

NUM_FREQUENT = 16

FEMALE_NAMES = tuple(
    """Mia Lila Rosa Nora Ada Ella Ivy Ruth Zoe Hana Tess Wilma Juno Cora Dora Maya Alice Amelia
    Amina Anna Aria Astrid Aurora Beatrice Bella Bianca Brenda Bridget Camila Carla Carmen Caroline
    Celia Charlotte Chloe Clara Claudia Daisy Dalia Daphne Diana Edith Elena Elise Eliza Elsa Emilia
    Emma Erika Esther Eva Fatima Felicia Fiona Flora Frances Freya Frida Gemma Georgia Gloria Grace
    Greta Hannah Harriet Hazel Heidi Helen Hilda Holly Ida Ines Ingrid Irene Iris Isabel Jana Jane
    Jasmine Jenny Joanna Josefine Julia June Karin Kate Kira Klara Lara Laura Lea Leila Lena Leonie
    Lily Linda Lotte Louisa Lucia Lucy Luna Lydia Mabel Magda Maja Margaret Maria Marta Matilda
    Megan Mila Mina Miriam Molly Nadia Naomi Natalie Nelly Nina Noemi Olga Olive Olivia Paula Pearl
    Petra Phoebe Polly Rachel Rebecca Rita Romy Rosalie Ruby Sabine Salma Sandra Sara Selma Silvia
    Sofia Sonia Stella Susan Sylvie Tamara Tara Thea Tilda Tina Uma Ursula Valerie Vera Victoria
    Viola Wanda Yara Yasmin Yvonne Zara Zelda""".split()
)
MALE_NAMES = tuple(
    """Tom Ben Leo Max Otto Hugo Finn Sam Theo Oskar Milo Jack Abel Noah Emil Karl Aaron Adam
    Adrian Ahmed Alan Albert Alex Alfred Ali Andre Anton Arthur Axel Barney Basil Bernard Boris
    Bruno Caleb Carlos Casper Charles Chris Colin Conrad Cyrus Daniel Dario David Dennis Diego
    Dominic Duncan Edgar Edmund Edward Eli Elias Eric Ernest Ethan Eugene Felix Fabian Francis Frank
    Fred Gabriel George Gilbert Gregor Gustav Hakim Harold Harry Hector Henry Herman Ian Igor Isaac
    Ivan Jacob James Jan Jasper Joel Johan John Jonas Joris Joseph Josh Julian Jules Kai Kaspar
    Kevin Kurt Lars Laurence Lenny Leonard Levi Liam Linus Lionel Lorenz Louis Luca Lucas Magnus
    Malik Marco Mark Martin Marvin Matteo Maurice Michael Mike Moritz Nathan Ned Nico Nils Norman
    Oliver Omar Oscar Owen Pablo Patrick Paul Pedro Peter Philip Pierre Quentin Rafael Ralph Ramon
    Raul Ray Remy Richard Robert Robin Roland Rory Rufus Samir Samuel Sebastian Simon Stefan Sven
    Tariq Terry Thomas Tim Tobias Toby Tristan Ulrich Victor Vincent Walter Wendell William Yusuf
    Yann Zach Zeno""".split()
)
ANIMALS = tuple(
    """fox bear rabbit mouse owl hedgehog duck squirrel badger frog cat dog turtle goose otter wolf
    beaver bee camel chicken cow crab crow deer dolphin donkey dove eagle elephant giraffe goat
    hamster hare hawk hen horse kangaroo kitten koala lamb lion lizard lynx mole monkey moose
    panda parrot penguin pig pigeon pony puppy raccoon rat raven robin rooster salmon seal
    sheep snail sparrow stork swan tiger toad whale zebra""".split()
)
JOBS = tuple(
    """baker gardener sailor miller shepherd painter teacher clockmaker fisher tailor actor
    architect barber blacksmith butcher carpenter cook dancer dentist doctor driver engineer farmer
    firefighter florist guard hunter jeweler judge lawyer librarian mason mechanic merchant musician
    nurse pilot plumber poet postman potter printer reporter scientist shoemaker singer smith
    soldier surgeon translator waiter weaver writer""".split()
)
ADJECTIVES = tuple(
    """small brave shy clever kind old curious hungry lonely cheerful sleepy proud young gentle
    quiet happy busy careful friendly funny honest lazy lucky merry patient polite quick strong
    stubborn tired tiny wise""".split()
)
PLACES = tuple(
    f"the {place}"
    for place in """forest,river,old mill,village,lighthouse,market,hill,garden,castle,harbor,cave,
    bridge,bakery,barn,beach,church,desert,farm,field,fountain,hotel,island,kitchen,lake,library,
    meadow,mountain,museum,orchard,palace,park,pond,port,road,school,square,stable,station,swamp,
    temple,theater,tower,town,tunnel,valley,waterfall,well,windmill,workshop,zoo""".replace(
        "\n    ", ""
    ).split(",")
)
OBJECTS = tuple(
    """key lantern map bell boat book kite coin drum hat ring basket violin clock letter mirror
    anchor apron arrow bag ball balloon bench blanket bottle bow bowl box broom brush bucket button
    cage camera candle cap card carpet chain chair chest coat comb compass crown cup curtain diary
    doll feather flag flute fork glove guitar hammer harp helmet horn jacket jar jug kettle knife
    ladder lamp lock medal mug necklace needle net notebook painting pan paper pearl pen pencil
    piano pillow pipe plate pocket pot puzzle quilt racket radio ribbon robe rope sack saddle sail
    scarf shell shield shirt shoe shovel spoon stamp statue stick stone sword table telescope
    tent ticket torch towel toy trumpet umbrella vase wagon wallet watch whistle""".split()
)
COLORS = tuple(
    "red blue green yellow golden silver white black brown gray orange pink purple".split()
)
FOODS = tuple(
    """bread,soup,apples,cheese,honey cake,berries,pancakes,nuts,carrots,cherries,cookies,corn,
    grapes,lemon tea,melon,milk,noodles,pears,plum jam,pumpkin pie,rice,walnuts""".replace(
        "\n    ", ""
    ).split(",")
)
WEATHER = (
    "It was a sunny morning",
    "It was a cold evening",
    "It was a windy day",
    "Rain was falling softly",
    "Snow lay on the ground",
    "The fog was thick",
    "The moon was bright",
)
PROVERBS = (
    "Patience opens more doors than anger.",
    "A friend in need is worth more than gold.",
    "Small steps can lead a long way.",
    "Kind words are never lost.",
    "It is better to ask than to guess.",
    "What you share comes back to you.",
)


def pick(rng: random.Random, words: Sequence[str]) -> str:
    """Draw one word; half of the draws come from the first `NUM_FREQUENT` of the list."""
    if len(words) > 2 * NUM_FREQUENT and rng.random() < 0.5:
        return words[rng.randrange(NUM_FREQUENT)]
    return words[rng.randrange(len(words))]


def pick_many(rng: random.Random, words: Sequence[str], count: int) -> list[str]:
    """Draw `count` different words with the preference of `pick`."""
    chosen: list[str] = []
    while len(chosen) < count:
        word = pick(rng, words)
        if word not in chosen:
            chosen.append(word)
    return chosen


def with_article(words: str) -> str:
    """Put `a` or `an` in front of the words."""
    return ("an " if words[0] in "aeiou" else "a ") + words


def sentence_case(words: str) -> str:
    """Make the first letter a capital and leave the others as they are."""
    return words[0].upper() + words[1:]
