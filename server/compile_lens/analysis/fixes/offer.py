"""All fixes for a finding, the most likely to help first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.fixes.fix import Fix
from compile_lens.analysis.fixes.ignore import ignore
from compile_lens.syntax.tree import SourceTree

Rule = Callable[[Finding, SourceTree], Iterator[Fix]]
RULES: tuple[Rule, ...] = (ignore,)


def fixes_for(finding: Finding, tree: SourceTree) -> tuple[Fix, ...]:
    """What may help with ``finding`` in the file whose tree is ``tree``; ignoring it comes last."""
    return tuple(fix for rule in RULES for fix in rule(finding, tree) if fix.edits)
