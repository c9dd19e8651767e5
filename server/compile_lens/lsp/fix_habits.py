"""Notes which fixes are taken, and shows or forgets that at the user's request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprotocol import types

from compile_lens.fixes.habits import in_order
from compile_lens.fixes.verify import CandidateFix
from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.pages import Pages
from compile_lens.shown_text import code_cell
from compile_lens.state.fix_choices import FixChoices

TAKEN = "compileLens.fixTaken"
SHOW = "compileLens.fixChoices"
FORGET = "compileLens.forgetFixChoices"
PAGE = "Fixes that you took"
ABOUT = "They order the next fixes of this workspace. They are kept only on this machine."


class FixHabits:
    """The choices of the user of this editor, by workspace folder."""

    def __init__(self, server: CompileLensServer, pages: Pages) -> None:
        self._server = server
        self._pages = pages
        self._choices = FixChoices.of_user()

    def in_order(self, path: str, candidates: list[CandidateFix]) -> list[CandidateFix]:
        """Fixes of the file ``path``, as earlier choices suggest."""
        return in_order(candidates, self._choices.recall(self._server.root_of(path)))

    def taking(self, uri: str, candidate: CandidateFix) -> types.Command:
        """What an editor runs once it has applied a fix."""
        return types.Command("Note the fix", TAKEN, arguments=[uri, f"{candidate.finding.code}#{candidate.fix.rule}"])

    async def taken(self, uri: str | None, which: str | None) -> None:
        """A fix was applied: ``CODE#RULE``."""
        path = path_from_uri(uri) if uri is not None else None
        code, _, rule = (which or "").partition("#")
        if path is not None and code and rule:
            self._choices.take(self._server.root_of(path), code, rule)

    async def forget(self, uri: str | None) -> None:
        """Forget the choices of the document's workspace, or of all that are open."""
        for root in self._roots(uri):
            self._choices.forget(root)
        self._server.say("Compile Lens: the choices of this workspace are forgotten.")

    async def show(self, uri: str | None) -> dict[str, Any]:
        """Show the choices as a page."""
        parts = [ABOUT]
        for root in self._roots(uri):
            taken = self._choices.recall(root).taken
            rows = [
                f"| {code_cell(code)} | {code_cell(rule)} | {times} |"
                for code, rules in sorted(taken.items())
                for rule, times in sorted(rules.items())
            ]
            table = "\n".join(["| finding | fix | taken |", "|---|---|---|", *rows]) if rows else "None yet."
            parts.append(f"## {root.name}\n\n{table}")
        text = "\n\n".join(parts) + "\n"
        await self._pages.show(PAGE, text, self._choices.folder / "choices.md")
        return {"markdown": text}

    def _roots(self, uri: str | None) -> list[Path]:
        path = path_from_uri(uri) if uri is not None else None
        return self._server.folders() if path is None else [self._server.root_of(path)]
