"""Fixes for a branch on a tensor's value: select from both sides with ``torch.where``, or compile both with ``torch.cond``."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.branch_sides import BranchChoice, Value, choice_of_expression, choice_of_statement
from compile_lens.fixes.rewrites.condition import branch_of, tensor_condition
from compile_lens.fixes.rewrites.editing import indent_of, newline, torch_import, torch_name
from compile_lens.syntax.tree import SourceTree


def select(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if cond: x = f(x)`` and its like, as ``torch.where`` and as ``torch.cond``."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    branch = branch_of(tree, finding.place)
    if branch is None:
        return
    is_expression = branch.type == "conditional_expression"
    choice = choice_of_expression(tree, branch) if is_expression else choice_of_statement(tree, branch)
    if choice is None:
        return
    torch, _ = torch_name(tree)
    place = tree.range_between(choice.start, choice.end)
    for rule, title, text in (
        ("where", "Compute both sides and select with `torch.where`", _where(tree, choice, torch)),
        ("cond", "Compile both sides with `torch.cond`", _cond(tree, choice, torch)),
    ):
        if text is not None:
            yield make(rule, title, Edit(place, text), torch_import(tree))


def _where(tree: SourceTree, choice: BranchChoice, torch: str) -> str:
    conditions = [tensor_condition(tree, node, torch) for node in choice.conditions]
    lines = list(choice.before)
    repeated = len(choice.targets) > 1 and len(conditions) == 1 and not conditions[0].isidentifier()
    if repeated:
        # one computation of the condition, however many names depend on it
        name = next(name for name in ("chosen", "is_chosen", "where_chosen") if name not in tree.text)
        lines.append(f"{name} = {conditions[0]}")
        conditions = [name]
    values = []
    for column in range(len(choice.targets)):
        value = choice.rows[-1][column].text
        for condition, row in zip(reversed(conditions), reversed(choice.rows[:-1]), strict=True):
            if row[column].text != value:
                value = f"{torch}.where({condition}, {row[column].text}, {value})"
        values.append(value)
    lines.append(choice.head + ", ".join(values))
    return _joined(tree, choice, lines)


def _cond(tree: SourceTree, choice: BranchChoice, torch: str) -> str | None:
    if len(choice.conditions) != 1 or choice.before:
        return None
    condition = tensor_condition(tree, choice.conditions[0], torch)
    # a branch of torch.cond must not return what it was given (torch/_higher_order_ops/cond.py)
    yes, no = (_side(row) for row in choice.rows)
    return _joined(tree, choice, [f"{choice.head}{torch}.cond({condition}, lambda: {yes}, lambda: {no})"])


def _side(row: tuple[Value, ...]) -> str:
    own = [f"{value.text}.clone()" if value.is_name else value.text for value in row]
    return own[0] if len(own) == 1 else f"({', '.join(own)})"


def _joined(tree: SourceTree, choice: BranchChoice, lines: list[str]) -> str:
    return f"{newline(tree)}{indent_of(tree, choice.start)}".join(lines)
