"""Numbers: sums worked out digit by digit, tables, counting, sorting, dates.

A sum is written with its steps (ones, then tens with the carry), so that each step is a small table
that a small model can learn, and the last line only copies digits.
"""

import random

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.facts import DAYS, MONTHS
from specviz.zoo.corpus.people import draw_name
from specviz.zoo.corpus.words import ANIMALS, FEMALE_NAMES, pick_many


def addition_steps(left: int, right: int) -> list[str]:
    """The written steps of a sum, last line included.

    >>> addition_steps(47, 38)
    ['7 + 8 = 15', '4 + 3 + 1 = 8', '47 + 38 = 85']
    """
    width = max(len(str(left)), len(str(right)))
    carry, lines = 0, []
    for place in range(width):
        one, other = left // 10**place % 10, right // 10**place % 10
        total = one + other + carry
        middle = f" + {carry}" if place else ""
        lines.append(f"{one} + {other}{middle} = {total}")
        carry = total // 10
    return [*lines, f"{left} + {right} = {left + right}"]


def addition(rng: random.Random) -> Document:
    """A sum of two numbers of two (rarely three) digits, with its steps."""
    low, high = (10, 99) if rng.random() < 0.75 else (100, 999)
    left, right = rng.randint(low, high), rng.randint(low, high)
    answer = "\n\n" + "\n".join(addition_steps(left, right))
    return Document("addition", f"Add {left} and {right}.", answer, Check.LAST_LINE)


def small_sums(rng: random.Random) -> Document:
    """Tables, steps and small sums without written steps."""
    kind = rng.randrange(3)
    if kind == 0:
        factor = rng.randint(2, 9)
        rows = "\n".join(f"{factor} x {i} = {factor * i}" for i in range(1, 11))
        return Document("sums", f"Write the table of {factor}.", f"\n\n{rows}", Check.WHOLE)
    if kind == 1:
        start, step = rng.randint(1, 30), rng.randint(1, 9)
        rows = ", ".join(str(start + i * step) for i in range(12))
        prompt = f"Count from {start} in steps of {step}."
        return Document("sums", prompt, f"\n\n{rows}", Check.WHOLE)
    rows = "\n".join(small_sum(rng) for _ in range(6))
    return Document("sums", "Solve the sums.", f"\n\n{rows}")


def small_sum(rng: random.Random) -> str:
    """One line such as `17 - 5 = 12`, never below zero."""
    left, right = rng.randint(1, 20), rng.randint(1, 20)
    if rng.random() < 0.5:
        return f"{left} + {right} = {left + right}"
    left, right = max(left, right), min(left, right)
    return f"{left} - {right} = {left - right}"


def problem(rng: random.Random) -> Document:
    """A word problem with one sum or difference."""
    name = draw_name(rng)
    he = "She" if name in FEMALE_NAMES else "He"
    left, right = rng.randint(3, 20), rng.randint(1, 12)
    things = rng.choice(("apples", "nuts", "coins", "books", "stamps", "shells"))
    more = rng.random() < 0.5 or right > left
    event = f"finds {right} more {things}" if more else f"gives {right} {things} to a friend"
    result = left + right if more else left - right
    sign = "+" if more else "-"
    prompt = (
        f"Solve the problem.\n\n{name} has {left} {things}. {he} {event}. "
        f"How many {things} does {name} have now?"
    )
    counted = things.removesuffix("s") if result == 1 else things
    answer = f"\n\n{left} {sign} {right} = {result}. {name} has {result} {counted}."
    return Document("problem", prompt, answer, Check.WHOLE)


def sorting(rng: random.Random) -> Document:
    """Four to six numbers in order."""
    numbers = rng.sample(range(1, 100), rng.randint(4, 6))
    down = rng.random() < 0.3
    how = "largest to smallest" if down else "smallest to largest"
    given = ", ".join(map(str, numbers))
    prompt = f"Sort the numbers from {how}.\n\nNumbers: {given}\n\nSorted:"
    answer = " " + ", ".join(map(str, sorted(numbers, reverse=down)))
    return Document("sorting", prompt, answer, Check.WHOLE)


def counting(rng: random.Random) -> Document:
    """How often each animal stands in a list, in order of first mention."""
    kinds = pick_many(rng, ANIMALS, rng.randint(2, 3))
    items = kinds + [rng.choice(kinds) for _ in range(rng.randint(2, 5))]
    rng.shuffle(items)
    rows = "\n".join(f"{kind}: {items.count(kind)}" for kind in dict.fromkeys(items))
    prompt = f"Count the animals.\n\nList: {', '.join(items)}\n\nCounts:"
    return Document("counting", prompt, f"\n{rows}", Check.WHOLE)


def dates(rng: random.Random) -> Document:
    """Dates from digits to words and back, and days some days ahead."""
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1800, 2030)
    digits, words = f"{year}-{month:02}-{day:02}", f"{day} {MONTHS[month - 1]} {year}"
    kind = rng.randrange(3)
    if kind == 0:
        return Document("dates", f"Write the date {digits} in words.", f"\n\n{words}", Check.WHOLE)
    if kind == 1:
        prompt = f"Write the date {words} in digits."
        return Document("dates", prompt, f"\n\n{digits}", Check.WHOLE)
    start, ahead = rng.randrange(7), rng.randint(2, 6)
    walk = [DAYS[(start + i) % 7] for i in range(ahead + 1)]
    prompt = f"Today is {walk[0]}. Which day is it in {ahead} days?"
    steps = ", ".join(f"{i}: {name}" for i, name in enumerate(walk))
    return Document("dates", prompt, f"\n\n{steps}. It is {walk[-1]}.", Check.WHOLE)
