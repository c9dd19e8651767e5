"""Code actions: one door, since a server has one handler of each message, and a provider for each kind of action."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from compile_lens.session.documents import Documents, Snapshot

Provider = Callable[[Snapshot, types.CodeActionParams], Iterable[types.CodeAction]]
OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])


class CodeActions:
    """Answers with what all providers offer. It is no task of its own, so it speaks of the version that the editor means."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._providers: list[Provider] = []

    def add(self, provider: Provider) -> None:
        """Ask ``provider``, too."""
        self._providers.append(provider)

    def answer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What all providers offer for a range."""
        snapshot = self._documents.get(params.text_document.uri)
        if snapshot is None or not _wants_fixes(params.context.only):
            return []
        offered = [action for provider in self._providers for action in provider(snapshot, params)]
        # what has no kind is no fix: for whoever did not ask for fixes alone
        return [action for action in offered if action.kind is not None or not params.context.only]


def _wants_fixes(only: Iterable[types.CodeActionKind | str] | None) -> bool:
    kinds = [str(getattr(kind, "value", kind)) for kind in only or ()]
    return not kinds or any(kind in ("", "quickfix") for kind in kinds)
