"""Recipes, short Python functions, category lists and simple Spanish sentences."""

import random

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.people import draw_name
from specviz.zoo.corpus.words import OBJECTS, pick, sentence_case, with_article

INGREDIENTS = {
    "soup": "carrots,onions,potatoes,salt,water,butter,leeks,beans",
    "cake": "flour,sugar,eggs,butter,milk,honey,vanilla,lemon",
    "salad": "lettuce,tomatoes,olive oil,salt,cucumber,onions,cheese,beans",
    "pancakes": "flour,milk,eggs,salt,butter,sugar,berries",
    "stew": "beef,carrots,onions,potatoes,salt,water,mushrooms,beans",
    "bread": "flour,water,salt,yeast,honey,olive oil,seeds",
    "pie": "flour,butter,apples,sugar,eggs,cinnamon,lemon,nuts",
    "curry": "rice,chicken,onions,garlic,ginger,coconut milk,beans,salt",
}
VERBS = {"cake": "Bake", "bread": "Bake", "pie": "Bake", "salad": "Chill", "pancakes": "Fry"}
LISTS = {
    "fruits": "apples,pears,plums,cherries,grapes,bananas,lemons,melons",
    "vegetables": "carrots,onions,leeks,beans,potatoes,tomatoes,peas,spinach",
    "colors": "red,blue,green,yellow,white,black,orange,purple",
    "farm animals": "cows,pigs,sheep,goats,horses,hens,ducks,geese",
    "birds": "owls,eagles,robins,crows,swans,storks,parrots,doves",
    "tools": "hammers,saws,drills,knives,shovels,axes,files,brushes",
    "instruments": "violins,drums,flutes,harps,pianos,horns,guitars,trumpets",
}
SPANISH_NOUNS = {
    "dog": "el perro", "cat": "el gato", "house": "la casa", "book": "el libro",
    "table": "la mesa", "moon": "la luna", "boy": "el niño", "girl": "la niña",
    "door": "la puerta", "car": "el coche",
}  # fmt: skip
SPANISH_ADJECTIVES = {
    "red": "roj", "white": "blanc", "black": "negr", "small": "pequeñ", "good": "buen",
    "new": "nuev", "pretty": "bonit", "tall": "alt", "yellow": "amarill", "long": "larg",
}  # fmt: skip


def recipe(rng: random.Random) -> Document:
    """A recipe: ingredients first, then steps that use them in order."""
    dish = rng.choice(tuple(INGREDIENTS))
    chosen = rng.sample(INGREDIENTS[dish].split(","), rng.randint(4, 5))
    style = rng.choice(("simple", "quick", "winter", "summer", "country", "grandmother's"))
    listed = "\n".join(f"- {amount(rng)} {item}" for item in chosen)
    steps = [
        f"Put the {chosen[0]} and the {chosen[1]} into a large bowl.",
        f"Add the {chosen[2]} and mix well.",
        f"Stir in the {chosen[3]}.",
    ]
    if len(chosen) > 4:
        steps.append(f"Add the {chosen[4]} and stir again.")
    verb = VERBS.get(dish, "Boil")
    if verb == "Bake":
        steps.append(f"Heat the oven to {rng.choice((160, 180, 200, 220))} degrees.")
    steps.append(f"{verb} the {dish} for {rng.choice((10, 15, 20, 25, 30, 45, 60))} minutes.")
    serve = "Serve the salad cold." if dish == "salad" else f"Serve the {dish} warm."
    friends = rng.choice(("two", "three", "four"))
    steps.append(rng.choice((serve, f"Share the {dish} with {friends} friends.")))
    numbered = "\n".join(f"{index}. {step}" for index, step in enumerate(steps, start=1))
    title = f"{sentence_case(style)} {dish}"
    answer = f"\n\n{title}\n\nIngredients:\n{listed}\n\nSteps:\n{numbered}"
    return Document("recipe", f"Write a recipe for {style} {dish}.", answer)


def amount(rng: random.Random) -> str:
    """An amount such as `2 cups of`."""
    unit = rng.choice(("cup", "spoon", "gram"))
    size = rng.choice((50, 100, 200, 250, 500) if unit == "gram" else (1, 2, 3))
    return f"{size} {unit}{'s' if size > 1 else ''} of"


def name_some(rng: random.Random) -> Document:
    """Some members of a category."""
    kind = rng.choice(tuple(LISTS))
    count = rng.randint(3, 5)
    word = ("three", "four", "five")[count - 3]
    chosen = rng.sample(LISTS[kind].split(","), count)
    answer = "\n\n" + ", ".join(chosen[:-1]) + f" and {chosen[-1]}"
    return Document("list", f"Name {word} {kind}.", answer)


def spanish(rng: random.Random) -> Document:
    """A short sentence from English to Spanish, with gender agreement."""
    noun, adjective = rng.choice(tuple(SPANISH_NOUNS)), rng.choice(tuple(SPANISH_ADJECTIVES))
    translated = SPANISH_NOUNS[noun]
    ending = "a" if translated.startswith("la ") else "o"
    said = f"{sentence_case(translated)} es {SPANISH_ADJECTIVES[adjective]}{ending}."
    prompt = f"Translate to Spanish: The {noun} is {adjective}."
    return Document("spanish", prompt, f"\n\n{said}", Check.WHOLE)


def python_function(rng: random.Random) -> Document:
    """A short Python function with an example call and its value in a comment."""
    task, body, example = rng.choice(
        (_fold, _extreme, _multiples, _mapped, _reverse, _count, _greet, _is_even, _power)
    )(rng)
    prompt = f"Write a Python function that {task}."
    return Document("code", prompt, f"\n\n{body}\n\n{example}")


def _words(rng: random.Random) -> tuple[str, str]:
    return (
        rng.choice(("numbers", "values", "items", "data")),
        rng.choice(("x", "n", "item", "value")),
    )


def _fold(rng: random.Random) -> tuple[str, str, str]:
    many, one = _words(rng)
    sign, name, start = rng.choice((("+", "sum", 0), ("*", "product", 1)))
    body = (
        f"def {name}_of({many}):\n    result = {start}\n    for {one} in {many}:\n"
        f"        result = result {sign} {one}\n    return result"
    )
    return f"computes the {name} of a list", body, f"print({name}_of([1, 2, 3]))  # 6"


def _extreme(rng: random.Random) -> tuple[str, str, str]:
    many, one = _words(rng)
    sign, name, function = rng.choice(((">", "largest", max), ("<", "smallest", min)))
    body = (
        f"def {name}({many}):\n    best = {many}[0]\n    for {one} in {many}:\n"
        f"        if {one} {sign} best:\n            best = {one}\n    return best"
    )
    sample = rng.sample(range(1, 20), 3)
    example = f"print({name}({sample}))  # {function(sample)}"
    return f"finds the {name} number in a list", body, example


def _multiples(rng: random.Random) -> tuple[str, str, str]:
    many, one = _words(rng)
    factor = rng.randint(2, 9)
    body = (
        f"def keep_multiples({many}):\n    result = []\n    for {one} in {many}:\n"
        f"        if {one} % {factor} == 0:\n            result.append({one})\n    return result"
    )
    sample = f"[{factor - 1}, {factor}, {2 * factor}]"
    example = f"print(keep_multiples({sample}))  # [{factor}, {2 * factor}]"
    return f"keeps the numbers that can be divided by {factor}", body, example


def _mapped(rng: random.Random) -> tuple[str, str, str]:
    many, one = _words(rng)
    other = rng.randint(2, 9)
    sign, name = rng.choice((("+", "add"), ("*", "times")))
    body = f"def {name}_{other}({many}):\n    return [{one} {sign} {other} for {one} in {many}]"
    result = [i + other if sign == "+" else i * other for i in (1, 2, 3)]
    example = f"print({name}_{other}([1, 2, 3]))  # {result}"
    return f"applies {name} {other} to each number", body, example


def _reverse(rng: random.Random) -> tuple[str, str, str]:
    body = (
        'def reverse(word):\n    result = ""\n    for letter in word:\n'
        "        result = letter + result\n    return result"
    )
    word = pick(rng, OBJECTS)
    return "reverses a word", body, f'print(reverse("{word}"))  # {word[::-1]}'


def _count(rng: random.Random) -> tuple[str, str, str]:
    many, one = _words(rng)
    body = (
        f"def count({many}, wanted):\n    total = 0\n    for {one} in {many}:\n"
        f"        if {one} == wanted:\n            total = total + 1\n    return total"
    )
    task = f"counts how often {with_article(one)} appears in a list"
    return task, body, "print(count([1, 2, 1], 1))  # 2"


def _greet(rng: random.Random) -> tuple[str, str, str]:
    name = draw_name(rng)
    body = 'def greet(name):\n    return "Hello, " + name + "!"'
    return "greets a person", body, f'print(greet("{name}"))  # Hello, {name}!'


def _is_even(rng: random.Random) -> tuple[str, str, str]:
    number = rng.randint(1, 99)
    body = "def is_even(number):\n    return number % 2 == 0"
    return "tells if a number is even", body, f"print(is_even({number}))  # {number % 2 == 0}"


def _power(rng: random.Random) -> tuple[str, str, str]:
    number = rng.randint(2, 9)
    body = "def square(number):\n    return number * number"
    return "computes the square of a number", body, f"print(square({number}))  # {number**2}"
