"""The rooms and what they must not import (ARCHITECTURE.md): read from the source, so that a lazy import counts too."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "server" / "compile_lens"
PROTOCOL = {"pygls", "lsprotocol"}
TORCH = {"torch", "triton"}
TREE_SITTER = {"tree_sitter", "tree_sitter_python"}
OWN_LSP = {"compile_lens.lsp"}
FORBIDDEN = {
    "trace": PROTOCOL | TORCH | TREE_SITTER | OWN_LSP,
    "syntax": PROTOCOL | TORCH | OWN_LSP,
    "analysis": PROTOCOL | TORCH | OWN_LSP,
    "entries": PROTOCOL | TORCH | OWN_LSP,
    "knowledge": PROTOCOL | TORCH | OWN_LSP,
    "workers": PROTOCOL | TORCH | OWN_LSP,
    "repro": PROTOCOL | TORCH | OWN_LSP,
    "documents": PROTOCOL | TORCH | OWN_LSP,
    "settings": PROTOCOL | TORCH | OWN_LSP,
    "state": PROTOCOL | TORCH | OWN_LSP,
    "pipeline": PROTOCOL | TORCH | OWN_LSP,
    "lsp": TORCH,
    "cli": PROTOCOL | TORCH,
}


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Every imported module of a file, with its line; a relative import begins with a dot."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def within(module: str, names: set[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


@pytest.mark.parametrize("room", sorted(FORBIDDEN))
def test_a_room_imports_nothing_that_it_must_not(room: str) -> None:
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {module}"
        for file in (PACKAGE / room).rglob("*.py")
        for line, module in imports(file)
        if within(module, FORBIDDEN[room])
    ]
    assert not wrong


def test_only_serve_leads_from_the_terminal_to_the_protocol() -> None:
    users = {
        file.name for file in (PACKAGE / "cli").rglob("*.py") for _, module in imports(file) if within(module, OWN_LSP)
    }
    assert users <= {"serve.py"}


def test_the_agent_imports_the_standard_library_torch_and_itself() -> None:
    allowed = set(sys.stdlib_module_names) | TORCH
    wrong = [
        f"{file.name}:{line}: {module}"
        for file in (PACKAGE / "agent").rglob("*.py")
        for line, module in imports(file)
        if not module.startswith(".") and module.partition(".")[0] not in allowed
    ]
    assert not wrong


def test_nothing_imports_the_agent_but_the_protocol() -> None:
    protocol = {f"compile_lens.agent.runtime.{name}" for name in ("protocol", "search_protocol")}
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in PACKAGE.rglob("*.py")
        for line, module in imports(file)
        if within(module, {"compile_lens.agent"}) and module not in protocol
    ]
    assert not wrong


def test_the_protocol_needs_the_standard_library_alone() -> None:
    files = [PACKAGE / "agent" / "runtime" / f"{name}.py" for name in ("protocol", "search_protocol", "message")]
    modules = {module for file in files for _, module in imports(file)}
    own = {module for module in modules if module.startswith(".")}
    assert own <= {".message", ".search_protocol"}
    assert {module.partition(".")[0] for module in modules - own} <= set(sys.stdlib_module_names)
