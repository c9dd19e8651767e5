"""A tree is as deep as people write, whatever the text is, and nothing else of it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import tree_sitter

from compile_lens.entries.find import find_entries
from compile_lens.entries.importers import WorkspaceFile, arguments_elsewhere, find_importers
from compile_lens.entries.targets import find_targets
from compile_lens.syntax import tree as syntax_tree
from compile_lens.syntax.nesting import LEVELS_OF_A_NAME, MOST_LEVELS
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import SourceTree, parse
from growth import grows_with_length

MODEL = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
# a statement of about so many characters
EXPRESSIONS = {
    "attributes": lambda n: "a" + ".b" * (n // 2),
    "calls": lambda n: "a" + "()" * (n // 2),
    "calls in calls": lambda n: "f(" * (n // 3) + "a" + ")" * (n // 3),
    "subscripts": lambda n: "a" + "[0]" * (n // 3),
    "operators": lambda n: "a" + " + a" * (n // 4),
    "signs": lambda n: "-" * n + "a",
    "conditions": lambda n: "a" + " if a else a" * (n // 12),
    "functions": lambda n: "lambda: " * (n // 8) + "a",
    "lists": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "comprehensions": lambda n: "[" * (n // 16) + "a" + " for a in a]" * (n // 16),
    "lines": lambda n: "(a" + "\n.b" * (n // 3) + ")",
}
STATEMENTS = {
    "patterns": lambda n: "match a:\n    case " + "[" * (n // 2) + "]" * (n // 2) + ": pass",
    "blocks": lambda n: "".join(" " * each + "if a:\n" for each in range(90)) + " " * 90 + "pass",
    "functions": lambda n: "".join(" " * each + "def f():\n" for each in range(90)) + " " * 90 + "pass",
    "decorators": lambda n: "@a" + ".b" * (n // 2) + "\ndef f(): pass",
    "assignments": lambda n: "a" + " = a" * (n // 4),
    "nothing closed": lambda n: "a = f'{" + "f'{" * (n // 3),
}
TEXTS = {**{name: (lambda n, made=made: f"y = {made(n)}") for name, made in EXPRESSIONS.items()}, **STATEMENTS}


def depth_of(tree: SourceTree) -> int:
    cursor, deepest = tree.tree.walk(), 0
    while True:
        deepest = max(deepest, cursor.depth)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest


@pytest.mark.parametrize("name", TEXTS)
def test_no_tree_is_deeper_than_people_write(name: str) -> None:
    text = f"import torch\n{TEXTS[name](3_000)}\n@torch.compile\ndef g(x):\n    return x\n"
    tree = parse(text)
    assert depth_of(tree) <= MOST_LEVELS + LEVELS_OF_A_NAME
    assert tree.text == text and tree.source == text.encode()
    if name != "nothing closed":
        assert not tree.root.has_error
        assert [(region.name, region.line) for region in find_regions(tree)] == [("g", len(tree.lines) - 3)]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_left_out_is_a_name_where_it_stood(name: str) -> None:
    text = f"y = {EXPRESSIONS[name](3_000)}\nz = 1\n"
    value = parse(text).root.named_children[0].named_children[0].child_by_field_name("right")
    assert value is not None
    assert (value.start_byte, value.end_byte) == (4, len(text) - len("\nz = 1\n"))


def test_what_people_write_is_left_alone() -> None:
    text = f"y = {'a + ' * (MOST_LEVELS - 10)}a\n"
    assert text.count("a") == sum(node.type == "identifier" for node in _all(parse(text))) - 1


def _all(tree: SourceTree) -> Iterator[tree_sitter.Node]:
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_of_a_hundred_kilobytes_takes_no_more_than_moments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax_tree, "_LONGEST_S", 3_600.0)
    targets = find_targets(parse(MODEL))

    def prepared(length: int) -> Callable[[], object]:
        text = f"import torch\nfrom net import Net\n@torch.compile\ndef g(a):\n    return a\n{TEXTS[name](length)}\nNet()\n"

        def read() -> None:
            for path in ("/w/test_net.py", "/w/use.py"):
                find_importers("/w/net.py", "/w", [WorkspaceFile(path, parse(text))], targets)
            arguments_elsewhere([WorkspaceFile("/w/use.py", parse(text))], "/w/net.py", parse(MODEL))
            find_entries(parse(text))
            predict(parse(text))

        return read

    assert grows_with_length(prepared, 100_000)


def test_a_text_that_takes_too_long_to_parse_has_an_error_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax_tree, "_LONGEST_S", 0.0)
    monkeypatch.setattr(syntax_tree, "_BYTES_IN_A_SECOND", 1e12)
    tree = parse("y = f(x)\n" * 40_000)
    assert tree.root.has_error
    assert not tree.root.named_children or {node.type for node in tree.root.named_children} == {"ERROR"}
