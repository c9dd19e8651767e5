"""Code actions: one door, since a server has one handler of each message, and a provider for each kind of action."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from compile_lens.documents.documents import Documents, Snapshot

Provider = Callable[[Snapshot, types.CodeActionParams], Iterable[types.CodeAction]]
OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, "repro"])


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
        if snapshot is None:
            return []
        wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        offered = (action for provider in self._providers for action in provider(snapshot, params))
        return [action for action in offered if not wanted or _is_of(action, wanted)]


def _is_of(action: types.CodeAction, wanted: Iterable[str]) -> bool:
    """Whether an action is of one of these kinds; a kind has all that begin with it. One without a kind is of none."""
    kind = str(getattr(action.kind, "value", action.kind or ""))
    return any(not one or kind == one or kind.startswith(f"{one}.") for one in wanted)
