"""All fixes for a finding, the most likely to help first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.fix import Fix, apply_fix
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.captured import capture, masked_sum
from compile_lens.fixes.rewrites.checks import check_on_device, while_loop
from compile_lens.fixes.rewrites.configure import log_later, recompile_limit
from compile_lens.fixes.rewrites.dynamic import dynamic_true, mark_dynamic
from compile_lens.fixes.rewrites.eager import disable, opaque
from compile_lens.fixes.rewrites.ignore import ignore
from compile_lens.fixes.rewrites.numbers import keep_tensor, pass_tensor
from compile_lens.fixes.rewrites.objects import compile_once, make_once, tensor_number
from compile_lens.fixes.rewrites.split import split
from compile_lens.fixes.rewrites.statements import (
    count_outside,
    in_eager_alone,
    remove_break,
    remove_disable,
    remove_print,
)
from compile_lens.fixes.rewrites.untraceable import constant_result, hoist, with_torch
from compile_lens.syntax.tree import SourceTree, parse

# a longer text takes too long to parse for each fix while an editor waits; its run shows what is wrong
LONG = 20_000
Rule = Callable[[Finding, SourceTree], Iterator[Fix]]
RULES: tuple[Rule, ...] = (
    keep_tensor,
    select,
    while_loop,
    with_torch,
    masked_sum,
    log_later,
    remove_print,
    remove_break,
    remove_disable,
    capture,
    count_outside,
    pass_tensor,
    tensor_number,
    make_once,
    compile_once,
    mark_dynamic,
    dynamic_true,
    recompile_limit,
    hoist,
    constant_result,
    check_on_device,
    in_eager_alone,
    opaque,
    split,
    disable,
    ignore,
)


def fixes_for(finding: Finding, tree: SourceTree) -> tuple[Fix, ...]:
    """What may help with ``finding`` in the file whose tree is ``tree``; ignoring it comes last."""
    return tuple(fix for rule in RULES for fix in rule(finding, tree) if fix.edits and _is_sound(tree, fix))


def _is_sound(tree: SourceTree, fix: Fix) -> bool:
    """Whether the edits of a fix do not overlap, and leave a text that is as readable as before."""
    places = [edit.place for edit in fix.edits]
    if any((after.line, after.column) < (one.end_line, one.end_column) for one, after in pairwise(places)):
        return False
    changed = apply_fix(tree.text, fix)
    if len(tree.text) > LONG:
        return changed != tree.text
    return changed != tree.text and (tree.root.has_error or not parse(changed).root.has_error)
