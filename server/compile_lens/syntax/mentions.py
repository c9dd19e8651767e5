"""Finds everything in a Python file that names one of torch's settings, for diagnostics."""

from __future__ import annotations

from compile_lens.late_pattern import pattern
from compile_lens.syntax.contexts import CONFIG_MODULES, Mention, MentionKind, identifier_mention, string_mentions
from compile_lens.syntax.imports import Imports
from compile_lens.syntax.tree import Query, SourceTree

_CANDIDATES = Query(
    """
    (string) @string
    (keyword_argument name: (identifier) @name)
    (assignment left: (attribute attribute: (identifier) @name))
    """,
)
# a file without any of these has no mentions
_SIGNS = pattern(
    r"TORCH|TRITON|\b(?:mode|backend|options|fullgraph|dynamic|disable)\s*=|set_logs|recompile_limit|torch\.compile\("
)


def may_have_mentions(text: str, imports: Imports) -> bool:
    """Whether a text may contain mentions, without parsing it."""
    return _SIGNS.search(text) is not None or ("config" in text and imports.has_torch)


def mentions(tree: SourceTree, imports: Imports) -> list[Mention]:
    """Mentions of logs, variables, options, arguments, modes and backends, in the order of the file."""
    captures = _CANDIDATES.everywhere(tree)
    found: list[Mention] = []
    for node in captures.get("string", []):
        found += string_mentions(tree, imports, node)
    for node in captures.get("name", []):
        mention = identifier_mention(tree, imports, node)
        if mention is not None and (
            mention.sort not in (MentionKind.NAME, MentionKind.METHOD) or _in_config(mention.name)
        ):
            found.append(mention)
    return sorted(found, key=lambda mention: (mention.range.line, mention.range.column))


def _in_config(name: str) -> bool:
    return any(name.startswith(f"{module}.") for module in CONFIG_MODULES)
