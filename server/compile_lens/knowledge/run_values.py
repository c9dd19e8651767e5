"""Adds the value that an option had in the last run to its explanation."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.shown_text import code_span
from compile_lens.trace.option_values import OptionValue, OptionValues

MAX_VALUES = 4
LONGEST = 200


def with_run_value(entry: KnowledgeEntry, knowledge: Knowledge, values: OptionValues) -> KnowledgeEntry:
    """``entry`` with values of the run before its other facts: of an option, or of the options that a variable sets."""
    if entry.kind is KnowledgeKind.OPTION:
        fact = _fact(knowledge, entry.name, values)
        facts = [("In the last run of this file", fact)] if fact else []
    elif entry.kind is KnowledgeKind.ENVIRONMENT:
        options = knowledge.options_set_by(entry.name)
        facts = [(f"`{option}` in the last run of this file", _fact(knowledge, option, values)) for option in options]
    else:
        return entry
    return replace(entry, facts=(*(fact for fact in facts if fact[1]), *entry.facts))


def _fact(knowledge: Knowledge, name: str, values: OptionValues) -> str:
    table = knowledge.tables.table(KnowledgeKind.OPTION)
    row: Mapping[str, Any] = table.get(name, {})
    # an alias has no value of its own
    seen = values.of(row.get("alias", name))
    if not seen:
        return ""
    default = row.get("default") or table.get(row.get("alias", ""), {}).get("default")
    text = _values_text(seen)
    if default is not None:
        text += " (the default)" if len(seen) == 1 and _is(seen[0].value, default) else f" (default `{default}`)"
    if name.startswith("torch._inductor.config."):
        text += "; without what `mode=` or `options=` of a `torch.compile` sets"
    return text


def _values_text(seen: Sequence[OptionValue]) -> str:
    if len(seen) == 1:
        return _value_text(seen[0].value)
    texts = [f"{_value_text(one.value)} since compilation `{one.compile_id}`" for one in seen[:MAX_VALUES]]
    more = len(seen) - MAX_VALUES
    return ", then ".join(texts) + (f", and {more} more" if more > 0 else "")


def _value_text(value: Any) -> str:
    text = repr(value)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return code_span(text)


def _is(value: Any, default: str) -> bool:
    """Whether a value from JSON equals the one whose ``repr`` is ``default``."""
    try:
        meant = json.loads(json.dumps(ast.literal_eval(default), default=_as_list))
    except (ValueError, SyntaxError, TypeError):
        return repr(value) == default
    return repr(meant) == repr(value)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(type(value).__name__)
