"""Replaces the items of lists that a program refuses for all of them together, or for one: fractions that must sum to one, texts of which
each must be a known one. (Tensors: ``demanded_contents``.)"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors.accepted_instead import accepted_by
from ..errors.failed_conditions import conditions, source_tree
from ..errors.failing_lines import innermost, keys_looked_up_in, names_in_failing_lines
from ..terms.arguments import INSIDE, Argument, Expression, Group, UnknownInteger
from ..terms.candidate import Candidate
from .number_ranges import leading_to

MOST_SUSPECTS, MOST_TEXTS = 3, 3
_OF_SUM = re.compile(r"\bsums?\b.{0,40}?\b(?:1(?:\.0*)?|one|unity)\b|\bstochastic\b|\bnormali[sz]ed\b", re.I | re.S)


def with_refused_lists(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which lists have the items that a condition demands, or the keys of what they are looked up in, as many as before."""
    yield from _with_keys(candidate, error)
    yield from _with_unpacked_word(candidate, error)
    tests = [ast.unparse(test) for test, _ in conditions(error)]
    if not tests:
        return
    is_of_sum = _OF_SUM.search(f"{error} {' '.join(tests)}") is not None
    words = {word for test, _ in conditions(error) for word in leading_to(test, innermost(error)[0])}
    groups = [(path, each) for path, each in candidate.arguments.groups() if _last(path) in words and _is_plain(each)]
    for path, group in groups[:MOST_SUSPECTS]:
        count = len(group.items)
        values: list[str] = [repr(1 / count)] if is_of_sum else []
        values += [repr(each) for each in accepted_by(error) if isinstance(each, str)][:MOST_TEXTS]
        for value in values:
            items = (Expression(value),) * count
            if items != group.items:
                arguments = candidate.arguments.with_argument(path, replace(group, items=items))
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _with_keys(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which the items of a list are keys of the table that has no such key: `LAYERS[name] for name in names`."""
    keys = keys_looked_up_in(error) if isinstance(error, KeyError) else []
    texts = [repr(each) for each in keys if isinstance(each, str)][:MOST_TEXTS]
    in_line = names_in_failing_lines(error)
    groups = [(path, each) for path, each in candidate.arguments.groups() if _is_plain(each) and _last(path) in in_line]
    for path, group in groups[:MOST_SUSPECTS] if texts else ():
        if all(_is_key(candidate, item, error.args[0]) for item in group.items):
            for text in texts:
                changed = replace(group, items=(Expression(text),) * len(group.items))
                arguments = candidate.arguments.with_argument(path, changed)
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _with_unpacked_word(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which one item of a list, which the program unpacks and refuses, is a word that it lists: `kind, width = spec`."""
    frame = innermost(error)[0]
    words = {word for test, _ in conditions(error) for word in re.findall(r"[A-Za-z_]\w*", ast.unparse(test))}
    tree = source_tree(frame) if words else None
    texts = [repr(each) for each in accepted_by(error) if isinstance(each, str)][:MOST_TEXTS]
    names = frame.f_locals if frame is not None else {}
    for node in ast.walk(tree) if tree is not None and texts else ():
        if not isinstance(node, ast.Tuple) or not isinstance(node.ctx, ast.Store):
            continue
        for place, part in enumerate(node.elts):
            if not isinstance(part, ast.Name) or part.id not in words or part.id not in names:
                continue
            for path, group in list(candidate.arguments.groups())[:MOST_SUSPECTS]:
                if len(group.items) != len(node.elts) or not _is_plain(group):
                    continue
                for text in texts if _is_key(candidate, group.items[place], names[part.id]) else ():
                    items = (*group.items[:place], Expression(text), *group.items[place + 1 :])
                    arguments = candidate.arguments.with_argument(path, replace(group, items=items))
                    yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _is_key(candidate: Candidate, item: Argument, key: object) -> bool:
    """Whether ``item`` is written as what was looked up."""
    return item.render(lambda name: str(candidate.unknowns.values[name])) == repr(key)


def _is_plain(group: Group) -> bool:
    return bool(group.items) and all(isinstance(each, (Expression, UnknownInteger)) for each in group.items)


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_").lower()
