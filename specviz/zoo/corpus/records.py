"""Records: sentences about people turned into JSON or CSV, and one into the other."""

import json
import random

from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.facts import CAPITALS
from specviz.zoo.corpus.people import draw_name
from specviz.zoo.corpus.words import ANIMALS, JOBS, pick, with_article

FREQUENT_CITIES = ("Paris", "Rome", "Berlin", "Madrid", "Oslo", "Vienna", "Lisbon", "Prague")
CITIES = (
    *FREQUENT_CITIES,
    *(city for city in CAPITALS.values() if city not in FREQUENT_CITIES[:5]),
)
Record = dict[str, str | int | None]


def draw_record(rng: random.Random) -> Record:
    """Draw name, age, job, city and perhaps a pet."""
    pet = pick(rng, ANIMALS) if rng.random() < 0.65 else None
    return {
        "name": draw_name(rng),
        "age": rng.randint(18, 70),
        "job": pick(rng, JOBS),
        "city": pick(rng, CITIES),
        "pet": pet,
    }


def sentence(rng: random.Random, record: Record) -> str:
    """Say the record in one sentence."""
    name, age, job, city = (record[key] for key in ("name", "age", "job", "city"))
    said = rng.choice(
        (
            f"{name} is a {age} year old {job} from {city}",
            f"{name}, {age}, works as a {job} in {city}",
        )
    )
    pet = record["pet"]
    return said + (f" and has {with_article(str(pet))}." if pet else ".")


def json_record(rng: random.Random) -> Document:
    """Text to JSON, one or two people."""
    records = [draw_record(rng) for _ in range(rng.randint(1, 2))]
    text = " ".join(sentence(rng, record) for record in records)
    data = records if len(records) > 1 else records[0]
    prompt = f"Turn the text into JSON.\n\nText: {text}\n\nJSON:"
    return Document("json", prompt, "\n" + json.dumps(data, indent=2), Check.WHOLE)


def csv_rows(records: list[Record]) -> str:
    """Write the records as CSV with a header; no pet is an empty field."""
    keys = ("name", "age", "job", "city", "pet")
    rows = [",".join(str(record[key] or "") for key in keys) for record in records]
    return "\n".join([",".join(keys), *rows])


def csv_record(rng: random.Random) -> Document:
    """Text to CSV, or CSV to JSON."""
    records = [draw_record(rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.6:
        text = " ".join(sentence(rng, record) for record in records)
        prompt = f"Turn the text into CSV.\n\nText: {text}\n\nCSV:"
        return Document("csv", prompt, "\n" + csv_rows(records), Check.WHOLE)
    prompt = f"Turn the CSV into JSON.\n\nCSV:\n{csv_rows(records[:1])}\n\nJSON:"
    return Document("csv", prompt, "\n" + json.dumps(records[0], indent=2), Check.WHOLE)
