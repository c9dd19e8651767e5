"""All fixes for a finding, the most likely to help first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.fix import Fix
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.configure import capture, log_later, recompile_limit
from compile_lens.fixes.rewrites.dynamic import dynamic_true, mark_dynamic
from compile_lens.fixes.rewrites.eager import disable, opaque
from compile_lens.fixes.rewrites.ignore import ignore
from compile_lens.fixes.rewrites.numbers import keep_tensor, pass_tensor
from compile_lens.fixes.rewrites.statements import count_outside, remove_print
from compile_lens.syntax.tree import SourceTree

Rule = Callable[[Finding, SourceTree], Iterator[Fix]]
RULES: tuple[Rule, ...] = (
    keep_tensor,
    select,
    remove_print,
    log_later,
    capture,
    count_outside,
    pass_tensor,
    mark_dynamic,
    dynamic_true,
    recompile_limit,
    opaque,
    disable,
    ignore,
)


def fixes_for(finding: Finding, tree: SourceTree) -> tuple[Fix, ...]:
    """What may help with ``finding`` in the file whose tree is ``tree``; ignoring it comes last."""
    return tuple(fix for rule in RULES for fix in rule(finding, tree) if fix.edits)
