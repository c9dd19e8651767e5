"""Chooses what a recompile is told as: of the guards that failed, one for each compiled version, the one that is about what is new.

Torch lists the first guard that failed of each version, the newest version first. Where a version made without gradients and one made
with them exist, a call without gradients fails the newest one by that alone, whatever else is new about the call. So a value that no
version was made for decides, and among several the version that differs least from the new one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.analysis.guard_sources import INTERNAL
from compile_lens.analysis.guards import fact_of_tensor, read_guard
from compile_lens.analysis.wrapped_calls import in_users_words, is_wrapper
from compile_lens.late_pattern import pattern
from compile_lens.trace.guard_text import guard_lines, parse_guard
from compile_lens.trace.records import read_json
from compile_lens.trace.report import Compilation, CompileReport, GuardFailure

Key = tuple[str, str, str, int | None]
Table = Mapping[Key, GuardFact]
NO_TABLE: Table = {}
NO_GUARD = GuardFailure("", "")
MAX_ALSO = 4
CHECKED_TENSOR = pattern(
    r"^check_tensor\((?P<name>.+?), (?P<type>\w+), DispatchKeySet\((?P<keys>[^)]*)\), torch\.(?P<dtype>\w+), device=(?P<device>\w+),"
    r" requires_grad=(?P<grad>\w+), size=\[(?P<size>[^\]]*)\], stride=\[(?P<stride>[^\]]*)\]\)"
)
DICT_KEY = pattern(r"^list\(dict\.keys\((?P<name>.+?)\)\)\[\d+\] == ")
# guards that do not tell a value
CONDITIONS = ("in ", "<", ">", "!=", "is not")
STATE = pattern(r"^___check_global_state\(\) against (?P<state>\{.*\})$")


class Cause(Struct, frozen=True):
    """What a recompile is told as. ``others`` are the guards that failed in the other versions; ``also`` are further values that differ
    from the version that comes closest. ``stays_dynamic``: the new version takes any value; None: not recorded."""

    failure: GuardFailure
    fact: GuardFact
    others: tuple[tuple[GuardFailure, GuardFact], ...] = ()
    also: tuple[GuardFact, ...] = ()
    stays_dynamic: bool | None = None


UNKNOWN = Cause(NO_GUARD, read_guard(NO_GUARD))


def causes_of(report: CompileReport, before: CompileReport | None = None) -> Iterator[tuple[Compilation, Cause]]:
    """Each recompile of ``report`` with its cause, in the order in which they happened. ``before`` has the versions that there were."""
    versions = {c.compile_id: c for c in before.compilations} if before is not None else {}
    history: dict[str, dict[Key, str]] = {}
    for compilation in report.compilations:
        # an id counts anew after a reset
        history.pop(compilation.compile_id, None)
        versions[compilation.compile_id] = compilation
        if compilation.recompile is None:
            continue
        cause = _cause(compilation, versions, history)
        for failure, fact in ((cause.failure, cause.fact), *cause.others):
            if fact.expected and failure.against:
                history.setdefault(failure.against, {}).setdefault(fact.key, fact.expected)
            if fact.after:
                history.setdefault(compilation.compile_id, {}).setdefault(fact.key, fact.after)
        yield compilation, _of_wrapper(cause) if is_wrapper(compilation) else cause


def _of_wrapper(cause: Cause) -> Cause:
    return replace(
        cause,
        fact=in_users_words(cause.fact),
        others=tuple((failure, in_users_words(fact)) for failure, fact in cause.others),
        also=tuple(map(in_users_words, cause.also)),
    )


def _cause(
    compilation: Compilation, versions: Mapping[str, Compilation], history: Mapping[str, Mapping[Key, str]]
) -> Cause:
    failures = compilation.recompile.failures if compilation.recompile is not None else ()
    if not failures:
        return UNKNOWN
    names = {read_guard(failure).root or failure.guard for failure in failures}
    tables = _tables([compilation, *(versions[f.against] for f in failures if f.against in versions)], names)
    own = tables.pop(compilation.compile_id, NO_TABLE)
    facts = [(f, _with_values(read_guard(f), tables.get(f.against, NO_TABLE), own)) for f in failures]

    def accepts(version: str, fact: GuardFact) -> bool:
        """Whether a version was made for the value, or for any."""
        table = tables.get(version, NO_TABLE)
        expected = table[fact.key].expected if fact.key in table else history.get(version, {}).get(fact.key)
        actual = own[fact.key].expected if fact.key in own else fact.after
        if expected and not expected.startswith(CONDITIONS):
            return expected == actual
        # it takes any value, unless it wants something else of the same thing: another type, another rank
        others = [other for other in table.values() if other.name == fact.name and other.key != fact.key]
        agrees = all(other.key in own and own[other.key].expected == other.expected for other in others)
        return bool(table) and agrees and not any(f.against == version and read.name == fact.name for f, read in facts)

    def distance(failure: GuardFailure, fact: GuardFact) -> int:
        # without tables: the flags of the global state are told together
        different = {_unit(other) for other in _differences(tables.get(failure.against, NO_TABLE), own)}
        return len(different | {_unit(fact)}) if own else len(fact.what.split())

    new = [(failure, fact) for failure, fact in facts if not any(accepts(f.against, fact) for f in failures)] or facts
    failure, fact = min(new, key=lambda pair: distance(*pair))
    differences = _differences(tables.get(failure.against, NO_TABLE), own)
    also = [other for other in differences if other.key != fact.key and not _is_same_thing(other, fact)]
    return Cause(
        _located(failure, tables.get(failure.against, NO_TABLE).get(fact.key)),
        _told(fact, own),
        tuple((f, _told(read, own)) for f, read in facts if f is not failure),
        tuple(also[:MAX_ALSO]),
        (fact.key not in own or not own[fact.key].expected) if own else None,
    )


def _unit(fact: GuardFact) -> tuple[str, ...]:
    """What counts as one difference: the keys of a dict, the sizes and strides of a dimension."""
    if " key " in f" {fact.subject}":
        return fact.name, "keys"
    what = "size" if fact.what == "stride" else fact.what
    return fact.name, fact.subject, what, str(fact.dimension)


def _is_same_thing(one: GuardFact, other: GuardFact) -> bool:
    """Whether one guard follows from the other: strides from sizes, the value from the type."""
    return one.name == other.name and (
        one.what in ("stride", "dispatch keys") or other.what in ("type", "rank", "global state")
    )


def _with_values(fact: GuardFact, theirs: Table, own: Table) -> GuardFact:
    """``fact`` with the value before, and that which the new version is made for, where torch does not tell them."""
    now, was = own.get(fact.key), theirs.get(fact.key)
    before = fact.before or (was.before if was is not None else "")
    # of a number that became an input of the graph, the guard names how it is read, not what it is
    is_value = now is not None and not now.expected.startswith(CONDITIONS) and "___" not in now.before
    if fact.after or now is None or not is_value or now.expected in ("", fact.expected) or now.event:
        return replace(fact, before=before)
    return replace(fact, before=before, after=now.before)


def _located(failure: GuardFailure, stated: GuardFact | None) -> GuardFailure:
    """``failure`` with the line that reads the value, which torch tells with the version's guards, but not where a tensor fails."""
    if failure.line is not None or failure.stack or stated is None or stated.stated is None:
        return failure
    told = stated.stated
    return replace(failure, source_text=told.source_text, file_tail=told.file_tail, line=told.line)


def _told(fact: GuardFact, own: Table) -> GuardFact:
    """Another class or enumeration member by its type's name, if that differs; what is no class any more by its type. An attribute of
    a module that torch misses may have become a submodule, which is kept elsewhere."""
    if fact.what == "presence" and (kind := own.get((fact.name, "", "type", None))) is not None and kind.before:
        return replace(fact, event=f"is now of type `{kind.before}`")
    if fact.what != "identity" or fact.subject or not fact.before:
        return fact
    now, kind = own.get(fact.key), own.get((fact.name, "", "type", None))
    if now is None and kind is not None and kind.before:
        return replace(fact, what="value", after=f"an instance of {kind.before}", event="")
    if now is None or now.before == fact.before:
        return fact
    return replace(fact, what="value", after=now.before, event="")


def _differences(one: Table, other: Table) -> list[GuardFact]:
    """The facts of ``one`` that ``other`` wants otherwise; what either leaves open does not count."""
    return [
        replace(fact, after=other[key].before if INTERNAL.search(other[key].before) is None else "")
        for key, fact in one.items()
        if key in other and fact.expected and other[key].expected and other[key].expected != fact.expected
    ]


def _tables(compilations: list[Compilation], names: set[str]) -> dict[str, Table]:
    """The guards of each version by what they are about, without those that all have: a large model has thousands of them.

    ``names`` are kept even so: where the limit is reached, there is no new version that differs in them.
    """
    read = {c.compile_id: _guards(c.guards.text() or "") for c in compilations if c.guards is not None}
    lines = {version: of_version for version, (of_version, _) in read.items()}
    common = set.intersection(*map(set, lines.values())) if len(lines) > 1 else set()
    if compilations[0].guards is None:
        common = {line for line in common if not any(name in line for name in names)}
    return {
        version: _table((line for line in reversed(of_version) if line not in common), lengths)
        for version, (of_version, lengths) in read.items()
    }


def _table(lines: Iterable[str], lengths: Iterable[GuardFact]) -> Table:
    found = {fact.key: fact for line in lines for fact in _stated(line)}
    for length in lengths:
        found.setdefault(length.key, length)
    return found


@lru_cache(maxsize=16)  # each recompile of a frame compares with the same versions
def _guards(payload: str) -> tuple[tuple[str, ...], tuple[GuardFact, ...]]:
    """The guards of a version, and the lengths of dicts that are iterated: torch checks them without saying so."""
    lines = guard_lines(payload)
    keys = Counter(match["name"] for line in lines if (match := DICT_KEY.match(line)) is not None)
    return lines, tuple(read_guard(parse_guard(f"len({source}) == {count}")) for source, count in keys.items())


@lru_cache(maxsize=4096)
def _stated(line: str) -> tuple[GuardFact, ...]:
    """The facts that a guard of a version states."""
    guard = parse_guard(line)
    # a guard without words has no key of its own
    return tuple(replace(fact, stated=guard) for fact in _facts(guard) if fact.what != "guard")


def _facts(guard: GuardFailure) -> Iterator[GuardFact]:
    """The facts that one guard of a version states: of a tensor and of the global state, several."""
    if match := CHECKED_TENSOR.match(guard.guard):
        yield from _tensor_facts(match)
    elif (match := STATE.match(guard.guard)) and isinstance(state := read_json(match["state"]), dict):
        yield from _state_facts(state)
    else:
        yield read_guard(guard)


def _tensor_facts(match: re.Match[str]) -> Iterator[GuardFact]:
    """Named and valued as a failure of the same guard would be."""

    def fact(what: str, value: str, dimension: int | None = None) -> GuardFact:
        read = fact_of_tensor(match["name"], what, value, value, dimension)
        return replace(read, before=value, after="", expected="" if value == "None" else value)

    sizes, strides = ([part for part in match[group].split(", ") if part] for group in ("size", "stride"))
    yield fact("requires_grad", match["grad"])
    yield fact("dtype", match["dtype"])
    yield fact("rank", str(len(sizes)))
    yield replace(fact("dispatch key set", match["keys"]), expected=f"DispatchKeySet({match['keys']})")
    for index, size in enumerate(sizes):
        yield fact("size", size, index)
    for index, stride in enumerate(strides):
        yield fact("stride", stride, index)


def sizes_of(compilation: Compilation, name: str) -> tuple[str, ...]:
    """The sizes of the tensor ``name`` that a version takes, ``None`` for any; () where the guards do not say."""
    text = (compilation.guards.text() or "") if compilation.guards is not None else ""
    for line in guard_lines(text):
        match = CHECKED_TENSOR.match(parse_guard(line).guard)
        if match is not None and fact_of_tensor(match["name"], "rank", "", "").name == name:
            return tuple(part for part in match["size"].split(", ") if part)
    return ()


def _state_facts(state: Mapping[str, object]) -> Iterator[GuardFact]:
    for name, value in state.items():
        if name == "autocast_state" and isinstance(value, dict):
            yield GuardFact("", "autocast", expected=json.dumps(value))
            continue
        read = read_guard(GuardFailure("", f"GLOBAL_STATE changed: {name}"))
        shown = {True: "on", False: "off"}.get(value, "") if isinstance(value, bool) else ""
        if name == "num_threads":
            shown = str(value)
        yield replace(read, before=shown, expected=json.dumps(value))
