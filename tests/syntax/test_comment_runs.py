"""Long runs of comments are not all in the tree, and nothing else of a text is different for it."""

from __future__ import annotations

from compile_lens.syntax.cells import find_cells
from compile_lens.syntax.tree import Query, SourceTree, parse

FUNCTION = "def f(x):\n    return x\n"
MANY = "# a = 'b'\n" * 3_000


def names(tree: SourceTree) -> list[str]:
    found = Query("(function_definition name: (identifier) @name)").captures(tree.root).get("name", [])
    return [tree.node_text(node) for node in found]


def test_code_around_many_comments_is_read() -> None:
    tree = parse(f"{FUNCTION}{MANY}{FUNCTION.replace('f(', 'g(')}")
    assert sorted(names(tree)) == ["f", "g"] and not tree.root.has_error
    comments = Query("(comment) @c").captures(tree.root)["c"]
    assert [(tree.node_text(node), node.start_point[0]) for node in comments] == [("# a = 'b'", 2)]


def test_what_looks_like_comments_may_be_a_text_that_ends() -> None:
    tree = parse(f'y = """\n{MANY}# """; f(1)\n{FUNCTION}')
    assert names(tree) == ["f"] and not tree.root.has_error
    assert Query("(call) @c").captures(tree.root)


def test_a_cell_among_many_comments_begins_where_it_does() -> None:
    text = f"x = 1\n{MANY}# %%\n{MANY}y = 2\n"
    assert [cell.first_line for cell in find_cells(parse(text))] == [1, 3_002]


def test_comments_above_a_method_are_none_of_its_class() -> None:
    tree = parse(f"class C:\n    @wraps\n{MANY}    def f(self): pass\n    def g(self): pass\n")
    assert sorted(names(tree)) == ["f", "g"] and not tree.root.has_error


def test_of_lines_that_are_continued_without_end_nothing_is_read() -> None:
    tree = parse("y = \\\n" + "\\\n" * 4_000 + f"1\n{FUNCTION}")
    assert tree.root.has_error and not names(tree)
    few = parse("y = \\\n" + "\\\n" * 400 + f"1\n{FUNCTION}")
    assert names(few) == ["f"] and not few.root.has_error
