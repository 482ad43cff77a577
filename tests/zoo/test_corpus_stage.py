"""The corpus is done when all six outputs are whole; else the missing ones are made again."""

from __future__ import annotations

import shutil

import pytest

from specviz.zoo import stages
from specviz.zoo.stages import corpus_stage, lacking_parts

STREAMS = ("train-a.tokens", "held-out-a.tokens", "train-b.tokens", "held-out-b.tokens")


def outputs(space):
    files = [space.folder / name for name in STREAMS]
    files += [p for n in "ab" for p in sorted(space.tokenizer_folder(n).iterdir())]
    return {str(path.relative_to(space.folder)): path.read_bytes() for path in files}


def times(space):
    return {name: (space.folder / name).stat().st_mtime_ns for name in STREAMS}


def test_a_whole_corpus_is_not_written_again(space, monkeypatch):
    monkeypatch.setattr(stages, "documents", lambda *_, **__: pytest.fail("writes texts"))
    before = times(space)
    corpus_stage(space)
    assert times(space) == before


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_a_missing_or_cut_stream_alone_is_made_again(space, capsys, name, cut):
    whole, before = outputs(space), times(space)
    path = space.folder / name
    path.write_bytes(path.read_bytes()[:300]) if cut else path.unlink()
    corpus_stage(space)
    assert f"corpus: makes {name}, missing or broken" in capsys.readouterr().out
    assert outputs(space) == whole
    after = times(space)
    assert [other for other in STREAMS if after[other] != before[other]] == [name]


@pytest.mark.parametrize("file", ["", "tokenizer.json", "chat_template.jinja"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_missing_or_broken_tokenizer_is_made_again_with_its_streams(space, capsys, name, file):
    whole, before = outputs(space), times(space)
    folder = space.tokenizer_folder(name)
    (folder / file).write_bytes(b"") if file else shutil.rmtree(folder)
    lacking = [f"tokenizer-{name}", f"train-{name}.tokens", f"held-out-{name}.tokens"]
    assert lacking_parts(space) == lacking
    corpus_stage(space)
    assert f"corpus: makes {', '.join(lacking)}" in capsys.readouterr().out
    assert outputs(space) == whole
    after = times(space)
    assert {other for other in STREAMS if after[other] != before[other]} == set(lacking[1:])


@pytest.mark.parametrize("writes", [1, 3, 6])
def test_a_corpus_that_was_interrupted_is_resumed(space, monkeypatch, writes):
    whole = outputs(space)
    for path in space.folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    seen = []

    def interrupted(function):
        def call(*arguments):
            seen.append(function)
            if len(seen) == writes:
                raise KeyboardInterrupt
            return function(*arguments)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(stages, "save_tokenizer", interrupted(stages.save_tokenizer))
        patch.setattr(stages.TokenStream, "save", interrupted(stages.TokenStream.save))
        with pytest.raises(KeyboardInterrupt):
            corpus_stage(space)
    corpus_stage(space)
    assert lacking_parts(space) == [] and outputs(space) == whole
