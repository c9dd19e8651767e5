"""What the source does in one way, or in one place alone: read from the source, so that none can be forgotten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.test_boundaries import PACKAGE, tree_of


def test_a_name_of_a_class_says_which_class_it_is() -> None:
    """A name that is read or searched for leads to one class."""
    places: dict[str, list[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert not {name: where for name, where in places.items() if len(where) > 1}


def broad_handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler | ast.expr]:
    """``except Exception``, ``except BaseException``, a bare ``except``, and ``suppress`` of these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            if any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in kinds):
                yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            yield from (kind for kind in node.args if ast.unparse(kind) in {"Exception", "BaseException"})


def test_every_broad_handler_says_whose_code_may_raise() -> None:
    wrong = []
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        for handler in broad_handlers(tree_of(file)):
            line = handler.lineno
            before, own, first = lines[line - 2].strip(), lines[line - 1], lines[line].strip()
            if "  # " not in own and not before.startswith("# ") and not first.startswith("# "):
                wrong.append(f"{file.relative_to(PACKAGE)}:{line}")
    assert not wrong


def test_only_two_modules_print() -> None:
    """They make control characters visible, which may come from a program, a trace or a file name."""
    doors = {PACKAGE / "cli" / "terminal.py", PACKAGE / "cli" / "safe_console.py"}
    doors |= {
        PACKAGE / "settings" / name for name in ("settings.py", "settings_page.py", "groups.py")
    }  # print our own tables
    doors.add(PACKAGE / "assistants" / "editor_tools.py")  # the same
    printing = {
        f"{file.name}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        if file not in doors and not file.is_relative_to(PACKAGE / "agent")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("print", "click.echo", "click.secho", "Console", "sys.stdout.write")
    }
    assert not printing


def test_digits_are_those_that_python_reads() -> None:
    """``"²".isdigit()`` is true, and ``int("²")`` an error: of a folder's name, of a text that a program says."""
    assert not {
        f"{file.name}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Attribute) and node.attr == "isdigit"
    }


def test_expressions_of_others_are_read_in_one_place() -> None:
    """A number in hexadecimal can be read that cannot be written, and what is nested fails in three ways."""
    doors = {PACKAGE / "syntax" / "foreign_texts.py", PACKAGE / "stages" / "traffic.py"}
    assert not {
        f"{file.name}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        if file not in doors and not file.is_relative_to(PACKAGE / "agent")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and ast.unparse(node).startswith("ast.parse(") and "mode=" in ast.unparse(node)
    }


# read what a program or a workspace has; the others read torch's text, a repro's, or ours
READ_BY_THEMSELVES = {
    "runtime/parsed_source.py",  # the door
    "inputs/importing/module.py:parsable_prefix",  # asks where the first syntax error is
    "inputs/scripts/continuing.py:_handler",
    "inputs/scripts/continuing.py:_expression",
    "instrument/in_place.py",
    "tables/source.py",
    "search/minify_file.py",
    "search/minify_program.py",
}


def test_programs_are_parsed_in_one_place() -> None:
    """A text may be nested so deep that whoever walks its tree, or writes it as text, fails in three ways."""
    agent = PACKAGE / "agent"
    found = set()
    for file in agent.rglob("*.py"):
        name = file.relative_to(agent).as_posix()
        for function in ast.walk(tree_of(file)):
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
            if any(ast.unparse(node.func) == "ast.parse" for node in calls):
                found |= {name, f"{name}:{function.name}"} & READ_BY_THEMSELVES or {f"{name}:{function.name}"}
    assert found == READ_BY_THEMSELVES


WRITES = {"write_text", "write_bytes", "copy", "copy2", "copyfile", "copyfileobj", "copytree", "move", "symlink_to"}
# whose files are in folders of ours alone
WRITE_FOR_US = {
    "state/atomic_file.py",  # the door for everything else
    "state/stage_folders.py",  # copies of traces, in the cache
    "pipeline/open_stages.py",  # the same
    "pipeline/stage_recorder.py",  # the trace of a run, in the cache
    "trace/archives.py",  # what an archive holds, in a temporary folder
    "trace/files.py",  # the same
}


def test_whoever_writes_beside_the_users_files_follows_no_link() -> None:
    """A repository may have links to anywhere under the names that we write: `write_beside` and `copy_beside` replace them."""
    wrong = []
    for file in PACKAGE.rglob("*.py"):
        name = file.relative_to(PACKAGE).as_posix()
        if name in WRITE_FOR_US or name.startswith("agent/"):
            continue
        for node in ast.walk(tree_of(file)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            of = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            modes = [
                word.value for word in node.args[:2] if isinstance(word, ast.Constant) and isinstance(word.value, str)
            ]
            copies = called in WRITES and (called.startswith(("write_", "symlink")) or of == "shutil")
            if copies or (
                called in ("open", "fdopen") and any(re.fullmatch("[rwxabt+]*[wxa+][bt+]*", mode) for mode in modes)
            ):
                wrong.append(f"{name}:{node.lineno}")
    assert not wrong


# in folders of ours that are looked through in another way
MAKE_FOLDERS = {"temporary_folders.py", "repro/scratch.py", "lsp/compiler_stages/making.py"}


def test_whoever_makes_a_temporary_folder_leaves_none_when_killed() -> None:
    """`temporary_folders` names its process, and a later command sweeps. Files without a name vanish by themselves."""
    makers = {"mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile"}
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if not file.is_relative_to(PACKAGE / "agent")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in makers
    }
    assert found == MAKE_FOLDERS


def test_whoever_looks_below_a_folder_walks() -> None:
    """`os.walk` and `rglob` recurse, raise, and follow links: a repository may nest its folders as it likes."""
    wrong = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        if not file.is_relative_to(PACKAGE / "agent")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if ast.unparse(node.func) == "os.walk"
        or node.func.attr == "rglob"
        or (node.func.attr == "glob" and "**" in ast.unparse(node))
    ]
    assert not wrong


def test_only_the_escaper_makes_blocks_of_code_in_markdown() -> None:
    """A name of a file, or a line of a program, may end a fence that is written by hand."""
    wrong = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.JoinedStr)
        and any(isinstance(part, ast.Constant) and "```" in str(part.value) for part in node.values)
    ]
    assert not wrong
