"""Everything in a Python file that names something of torch's settings: for diagnostics."""

from __future__ import annotations

import tree_sitter

from compile_lens.syntax.contexts import CONFIG_MODULES, Mention, Sort, identifier_mention, string_mentions
from compile_lens.syntax.imports import Imports
from compile_lens.syntax.tree import LANGUAGE, SourceTree

_CANDIDATES = tree_sitter.Query(
    LANGUAGE,
    """
    (string) @string
    (keyword_argument name: (identifier) @name)
    (assignment left: (attribute attribute: (identifier) @name))
    """,
)
# a file without any of these names nothing that could be wrong
_WORTH_A_LOOK = ("torch", "TORCH", "TRITON")


def mentions(tree: SourceTree, imports: Imports) -> list[Mention]:
    """Mentions of logs, variables, options, arguments, modes and backends, in the order of the file."""
    if not any(word in tree.text for word in _WORTH_A_LOOK):
        return []
    captures = tree_sitter.QueryCursor(_CANDIDATES).captures(tree.root)
    found: list[Mention] = []
    for node in captures.get("string", []):
        found += string_mentions(tree, imports, node)
    for node in captures.get("name", []):
        mention = identifier_mention(tree, imports, node)
        if mention is not None and (mention.sort not in (Sort.NAME, Sort.METHOD) or _in_config(mention.name)):
            found.append(mention)
    return sorted(found, key=lambda mention: (mention.range.line, mention.range.column))


def _in_config(name: str) -> bool:
    return any(name.startswith(f"{module}.") for module in CONFIG_MODULES)
