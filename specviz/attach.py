"""Text for the engine's events, which carry ids only.

One ``Attacher`` follows one run: it knows which bytes of a character are still waiting, and gives
each drafted token the text that it would have if everything before it in the draft were kept.
"""

from __future__ import annotations

from dataclasses import replace

from specviz.events import (
    Drafted,
    DraftToken,
    Event,
    Fate,
    Finished,
    PiecesSource,
    Prefilled,
    RunHeader,
    TargetToken,
    Verified,
)
from specviz.token_text import Reader, TokenTexts


class Attacher:
    """Attaches texts and bytes to the events of one run, in their order.

    Args:
        texts: of the target's tokenizer.
        draft_texts: of the draft model's tokenizer, for the pieces of universal decoding.
    """

    def __init__(self, texts: TokenTexts, draft_texts: TokenTexts | None = None) -> None:
        self._texts = texts
        self._draft_texts = draft_texts
        self._reader = Reader()
        self.started = False

    def attach(self, event: Event, header: RunHeader | None = None) -> Event:
        """The event with its texts; ``header`` goes onto ``Prefilled``."""
        if isinstance(event, Prefilled):
            self.started = True
            return replace(event, header=header)
        if isinstance(event, Drafted):
            return replace(event, proposed=self._chain(event.proposed)[0])
        if isinstance(event, Verified):
            return self._verified(event)
        return self._finished(event)

    def _verified(self, event: Verified) -> Verified:
        proposed, kept = self._chain(event.proposed)
        target = event.target_token
        if target is not None:
            target, kept = self._target(target, kept)
        self._reader = kept
        return replace(event, proposed=proposed, target_token=target)

    def _chain(self, tokens: tuple[DraftToken, ...]) -> tuple[tuple[DraftToken, ...], Reader]:
        """The tokens with texts, and the reader behind the accepted ones."""
        done, reader, kept = [], self._reader, self._reader
        for token in tokens:
            text, reader = reader.read(self._texts.data(token.id))
            if token.fate is Fate.ACCEPTED:
                kept = reader
            done.append(self._token(token, text))
        return tuple(done), kept

    def _token(self, token: DraftToken, text: str) -> DraftToken:
        source = token.source
        if isinstance(source, PiecesSource) and self._draft_texts is not None:
            labels = tuple(self._draft_texts.label(token_id) for token_id in source.ids)
            source = PiecesSource(source.ids, labels)
        return replace(
            token,
            text=text,
            data=self._texts.data(token.id),
            target_top=self._texts.top(token.target_top),
            draft_top=self._texts.top(token.draft_top),
            source=source,
        )

    def _target(self, token: TargetToken, reader: Reader) -> tuple[TargetToken, Reader]:
        text, reader = reader.read(self._texts.data(token.id))
        done = replace(
            token,
            text=text,
            data=self._texts.data(token.id),
            residual_top=self._texts.top(token.residual_top),
            target_top=self._texts.top(token.target_top),
        )
        return done, reader

    def _finished(self, event: Finished) -> Finished:
        data = b"".join(map(self._texts.data, event.ids))
        return replace(event, text=data.decode("utf-8", "replace"))
