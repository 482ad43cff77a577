"""What can be chosen, and how a form becomes requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specviz import runs
from specviz.config import SETTING_NAMES
from specviz.errors import MethodError, ModelError, SettingError
from specviz.ui.state import COMMON, SPECIAL, Form, Session, clean, lanes, menu
from specviz.ui.words import warnings
from tests.ui.fake_runs import CARDS, FakeRuns

LANGUAGES = Path(__file__).parents[2] / "specviz" / "ui" / "i18n"


def test_default_menu_is_the_default_target_with_a_method_that_drafts() -> None:
    offer = menu(FakeRuns(), None, None)
    assert (offer.target, offer.method.key) == ("big", "speculative")
    assert offer.drafts == ("small", "tiny")
    assert offer.shown == ("gamma", "schedule", "confidence")
    assert "ngram" in offer.hidden


def test_a_method_that_cannot_run_is_refused_with_its_reason_and_replaced() -> None:
    offer = menu(FakeRuns(), "other", "speculative")
    assert offer.refused == (("Speculative decoding", "no draft model fits"),)
    assert offer.method.key == "prompt_lookup"
    assert offer.drafts == ()


def test_without_any_method_the_menu_is_empty() -> None:
    offer = menu(FakeRuns(can_run=False), None, None)
    assert offer.method is None
    assert len(offer.refused) == len(CARDS)


def test_a_target_outside_the_catalogue_is_kept_only_where_it_may_be_named() -> None:
    class Strict(FakeRuns):
        def availability(self, target_id: str) -> dict[str, str | None]:
            if target_id not in ("big", "other"):
                raise ModelError(f"there is no model {target_id!r}")
            return dict(super().availability(target_id))

    assert menu(Strict(), "my/own", None).target == "big"
    offer = menu(Strict(), "my/own", "early_exit", any_model=True)
    assert (offer.target, offer.method.key, offer.layers) == ("my/own", "early_exit", 64)


def test_every_setting_of_a_run_is_on_the_page_or_left_to_the_command_line() -> None:
    left = {"no_repeat_ngram_size", "min_new_tokens", "bad_words_ids"}
    assert set(COMMON) | set(SPECIAL) | left == set(SETTING_NAMES)


def test_what_to_expect_of_a_pair_is_said_before_it_runs() -> None:
    """Public cases U20 and U23, on the models that come with the project."""
    offer = menu(runs, "target-glm", "universal")
    words = []
    for model in ("target-glm", "assistant-other-tokenizer"):
        path = Path(__file__).parents[2] / "assets" / "models" / model / "tokenizer.json"
        words.append(set(json.loads(path.read_text("utf-8"))["model"]["vocab"]))
    known, draft = words
    expected = f"{100 * len(known & draft) / len(draft):.1f}"
    ((_, _, key, values, _, _),) = warnings(offer)
    assert key == "sv_hint_overlap"
    assert values == {"draft": "assistant-other-tokenizer", "n": expected}
    assert warnings(menu(runs, "target-glm", "early_exit")) == []
    assert warnings(menu(runs, "target-glm", "speculative")) == []
    ((_, _, key, *_),) = warnings(menu(FakeRuns(), "big", "early_exit"))
    assert key == "sv_hint_exits"


def test_an_ensemble_offers_the_methods_whose_drafts_it_can_verify() -> None:
    """Drafts are made as the drafter makes them: its settings are shown, and the weight."""
    offer = menu(FakeRuns(), "big", "ensemble")
    assert [card.key for card in offer.drafters] == ["speculative", "early_exit", "mtp_layers"]
    assert offer.drafter.key == "speculative"
    assert offer.drafts == ("small", "tiny")
    assert offer.shown == ("gamma", "schedule", "confidence", "ensemble_weight")
    early = menu(FakeRuns(), "big", "ensemble", "early_exit")
    assert (early.drafter.key, early.drafts) == ("early_exit", ())
    assert early.shown == ("gamma", "exit_layer", "ensemble_weight")
    assert menu(FakeRuns(), "big", "ensemble", "mtp_layers").shown == (
        "confidence", "ensemble_weight",
    )  # fmt: skip
    assert [card.key for card in menu(FakeRuns(), "other", "ensemble").drafters] == [
        "early_exit", "mtp_layers",
    ]  # fmt: skip
    assert menu(FakeRuns(), "big", "speculative", "early_exit").drafter is None


def test_the_drafter_of_an_ensemble_becomes_part_of_its_request() -> None:
    settings = {"gamma": 3, "exit_layer": 2, "ensemble_weight": 0.4}
    (made,) = form(
        method="ensemble", drafter="early_exit", beside=False, settings=settings
    ).requests(CARDS)
    assert (made.drafter, made.draft) == ("early_exit", None)
    config = made.config
    assert (config.gamma, config.exit_layer, config.ensemble_weight) == (3, 2, 0.4)
    (made,) = form(method="ensemble", drafter="speculative", beside=False).requests(CARDS)
    assert (made.drafter, made.draft) == ("speculative", "tiny")
    (made,) = form(method="speculative", drafter="early_exit", beside=False).requests(CARDS)
    assert made.drafter is None
    with pytest.raises(MethodError, match="no drafter 'prompt_lookup'"):
        form(method="ensemble", drafter="prompt_lookup").requests(CARDS)


def form(**changes: object) -> Form:
    values = {"prompt": "Hello", "target": "big", "method": "speculative", "draft": "tiny"}
    return Form(**(values | changes))


def test_a_form_becomes_the_method_and_plain_decoding_beside_it() -> None:
    method, plain = form(settings={"gamma": 3, "ngram": 4, "seed": 7}).requests(CARDS)
    assert (method.method, method.draft, method.config.gamma) == ("speculative", "tiny", 3)
    assert method.config.ngram == 3  # the default: this method does not obey it
    assert (plain.method, plain.draft, plain.config.seed) == ("plain", None, 7)
    assert plain.config.gamma == 5


def test_plain_runs_alone_when_it_is_the_method_or_not_wanted() -> None:
    assert len(form(method="plain").requests(CARDS)) == 1
    assert len(form(beside=False).requests(CARDS)) == 1


def test_unknown_methods_and_bad_settings_are_refused_in_words() -> None:
    with pytest.raises(MethodError, match="no method 'magic'"):
        form(method="magic").requests(CARDS)
    with pytest.raises(SettingError, match="gamma must be"):
        form(settings={"gamma": 40}).requests(CARDS)
    with pytest.raises(SettingError, match="seed must be"):
        form(settings={"seed": None}).requests(CARDS)


def test_control_values_become_settings() -> None:
    assert clean("stop", "one\n\ntwo") == ("one", "two")
    assert clean("exit_layer", 0) is None
    assert clean("gamma", 4.0) == 4
    assert clean("temperature", 0.5) == 0.5
    assert clean("gamma", 4.5) == 4.5  # refused later, in words


def test_lanes_name_what_will_be_drawn() -> None:
    assert lanes(form().requests(CARDS), CARDS) == [
        {"key": "speculative", "title": "Speculative decoding", "lossless": True},
        {"key": "plain", "title": "Plain decoding", "lossless": True},
    ]


def test_a_session_changes_by_making_a_new_one() -> None:
    before = Session()
    after = before.showing("abc")
    assert (before.run_id, after.run_id) == ("", "abc")


@pytest.mark.parametrize("path", sorted(LANGUAGES.glob("*.json")), ids=lambda path: path.stem)
def test_dictionaries_have_the_same_keys_once_each(path: Path) -> None:
    english = json.loads((LANGUAGES / "en.json").read_text("utf-8"))
    pairs = json.loads(path.read_text("utf-8"), object_pairs_hook=list)
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys))
    assert set(keys) == set(english)
    assert all(key.startswith("sv_") for key in keys)
