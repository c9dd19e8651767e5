"""Text that a program chose, in Markdown and in a terminal: it is shown, and does nothing else."""

from __future__ import annotations

import ast
import io
import json
import os
import random
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import OBEYING, echo, echo_commands, echo_json
from compile_lens.formats.junit import to_junit
from compile_lens.formats.sarif import to_sarif
from compile_lens.lsp.markdown import prose
from compile_lens.repro.contract import parse_header, write_header
from compile_lens.repro.logs import command_of, document, log_runs
from compile_lens.shown_text import (
    code_block,
    code_cell,
    code_span,
    label,
    link,
    markdown_text,
    notice,
    shell_line,
    text_cell,
    visible,
)
from compile_lens.workers.job import Depth

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# what a line of text consists of, and nothing else
HARMLESS = {
    "text",
    "hardbreak",
    "text_special",
    "code_inline",
    "softbreak",
    "paragraph_open",
    "paragraph_close",
    "inline",
    "fence",
}
PIECES = [
    *"`\\[]()!<>*_#|~&-+=.: \n\t1xé", "``", "```", "\\`", "](command:x)", "![i](https://e/p.png)", "[a](command:compileLens.allow)",
    "<img src=x>", "<!--", "&lt;img&gt;", "<command:x>", "[r]: https://e", "\n\n", "---", "===", "1. ", "    ", "> ", "~~~",
    "|a|b|\n|-|-|\n",
    "\x1b]0;t\x07", "\x9b31m", "\u202e", "\u2028", "\r", "\0", "\ud800", "$x$", "\\\\", "`a`", "&#96;",
]  # fmt: skip


def flat(tokens: list[Token]) -> list[Token]:
    return [token for top in tokens for token in (top, *(top.children or ()))]


def rendered(markdown: str) -> list[Token]:
    return flat(RENDERER.parse(markdown))


def draws(count: int) -> list[str]:
    source = random.Random(20)
    return ["".join(source.choices(PIECES, k=source.randint(1, 14))) for _ in range(count)]


def words(text: str) -> str:
    """What a reader sees, without spaces and marks of code."""
    return re.sub(r"[\s`]", "", text)


def test_markdown_shows_what_a_program_said_and_nothing_else() -> None:
    for said, other in zip(draws(1500), reversed(draws(1500)), strict=True):
        markdown = f"Because {markdown_text(said)} of {code_span(other)}, {markdown_text(other)}: {code_span(said)}"
        tokens = rendered(markdown)
        assert {token.type for token in tokens} <= HARMLESS, (said, other, markdown)
        shown = "".join(token.content for token in tokens if not token.children and token.type != "inline")
        expected = words(visible(f"Because {said} of {other}, {other}: {said}"))
        assert words(shown) == expected, (said, other, markdown)


def test_several_lines_of_a_program_are_lines_and_code() -> None:
    for said in draws(800):
        kinds = {token.type for token in rendered(prose(said))}
        assert kinds <= HARMLESS, (said, prose(said))


def test_a_block_of_code_ends_where_we_end_it() -> None:
    for said in draws(800):
        tokens = rendered(f"{code_block(said)}\n\nafter")
        assert [token.type for token in tokens[:2]] == ["fence", "paragraph_open"], said
        assert words(tokens[0].content) == words(visible(said))


def test_a_cell_of_a_table_is_one_cell() -> None:
    for said in draws(400):
        tokens = rendered(f"| a | b |\n|---|---|\n| {code_cell(said)} | {text_cell(said)} |")
        assert sum(token.type == "td_open" for token in tokens) == 2, said
        assert not {token.type for token in tokens} & {"link_open", "image", "html_inline"}, said


def test_a_link_leads_where_we_say() -> None:
    for said in draws(400):
        tokens = rendered(f"see {link(said, f'https://a/{said}.py#L3')} or not")
        opened = [token for token in tokens if token.type == "link_open"]
        assert [str(token.attrs["href"])[:10] for token in opened] == ["https://a/"], said


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("*args of __init__ in <locals> # 1 | `*x` ", r"\*args of \_\_init\_\_ in \<locals\> \# 1 \| `*x`"),
        ("a ` [run](command:x) ` b", "a `[run](command:x)` b"),
        ("``` [run](command:x)", r"\`\`\` \[run\](command:x)"),
        ("- x\n1. y\n===", "\\- x\n1\\. y\n\\==="),
        ("2.5 s - 3", "2.5 s - 3"),
    ],
)
def test_markdown(said: str, shown: str) -> None:
    assert markdown_text(said) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain é 漢 🎉\n\ttext", "plain é 漢 🎉\n\ttext"),
        ("\x1b[1;32mINFO\x1b[0m done\r\n", "INFO done\n"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x1b[2J\x9b2J\x7f\0\b\r", "\\x1b[2J\\x9b2J\\x7f\\x00\\x08\\x0d"),
        ("\u202egpj.exe \u2066x\u2028 \ud800 \u200b", "\\u202egpj.exe \\u2066x\\u2028 \\ud800 \\u200b"),
        ("a\U000e0041\u3164\xadb\ufff9", "a\\U000e0041\\u3164\\xadb\\ufff9"),
        ("❤️‍🔥 नमस्‌ते", "❤️‍🔥 नमस्‌ते"),
        ("x\ufe00\ufe01\u200d\ufe02\u200d\u200d", "x\\ufe00\\ufe01\\u200d\\ufe02\\u200d\\u200d"),
        ("x\u200c\ufe07\u200c\ufe0f\u200d\ufe01", "x\\u200c\\ufe07\\u200c\\ufe0f\\u200d\\ufe01"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        # four bits a letter
        ("h\ufe00i\ufe0f \u200cb\u200dc 1\ufe0f", "h\\ufe00i\\ufe0f \\u200cb\\u200dc 1\\ufe0f"),
        (
            "x\u200d\U0001f525\u200dx \U0001f525\u200d\u200d\U0001f525",
            "x\\u200d\U0001f525\\u200dx \U0001f525\\u200d\\u200d\U0001f525",
        ),
        ("1\ufe0f\u20e3 🏳️‍🌈 👩🏽‍💻 👁️‍🗨️ ©️ ☎︎", "1\ufe0f\u20e3 🏳️‍🌈 👩🏽‍💻 👁️‍🗨️ ©️ ☎︎"),
        # Persian, and Hindi that joins
        ("می‌خواهم क्‍ष x\u200cی", "می‌خواهم क्‍ष x\\u200cی"),
        ("\x1bP+q\x1b\\ \x1b]8;;https://e\x1b\\x", "\\x1bP+q\\x1b\\ \\x1b]8;;https://e\\x1b\\x"),
    ],
)
def test_control_characters_become_visible(said: str, shown: str) -> None:
    assert visible(said) == shown
    assert visible(shown) == shown


def test_nothing_of_a_program_controls_the_terminal() -> None:
    """Whatever rich makes of it: text, tables and Markdown, in colors."""
    for said in draws(300):
        table = Table("a")
        table.add_row(Text(said))
        stream = io.StringIO()
        console = SafeConsole()
        console.file = stream
        for thing in (Text(said, style="bold"), table, Markdown(said), said.replace("[", "")):
            console.print(thing, soft_wrap=True)
        left = [c for c in stream.getvalue() if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"]
        assert not left, (said, left)


SAID = [
    "::error file=a.py::forged",
    "  ::stop-commands::x",
    "text ##[set-output name=a;]b",
    "::Add-Mask::e",
    "::warning::" * 2,
    "read ##vso[task.setvariable variable=PATH]/tmp",
    "##TeamCity[buildStatus status='SUCCESS']",
]


def obeyed(log: str) -> list[str]:
    """The lines that GitHub Actions, Azure Pipelines and TeamCity take for commands."""
    return re.findall(r"(?im)^\s*::[a-z].*|^.*##(?:vso|teamcity)?\[.*", log)


@pytest.mark.parametrize("variable", ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])
def test_a_program_gives_no_command_to_a_workflow(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in OBEYING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "true")
    for text in SAID:
        echo(text)
        SafeConsole(soft_wrap=True).print(Text(text), style="bold")
        SafeConsole(soft_wrap=True).print(Text.assemble(("  :", "red"), (":err", "bold"), "or::pieces"))
        echo_json(json.dumps({"message": text}))
    assert obeyed(capsys.readouterr().out) == []
    echo("torch::jit::load")
    echo_json('{"message": "##[x]"}')
    name, document = capsys.readouterr().out.splitlines()
    assert (name, json.loads(document)) == ("torch::jit::load", {"message": "##[x]"})
    echo_commands("::error::ours")
    assert obeyed(capsys.readouterr().out) == ["::error::ours"]
    monkeypatch.delenv(variable)
    echo(SAID[0])
    assert capsys.readouterr().out == f"{SAID[0]}\n"


def test_a_program_gives_no_command_by_a_report_for_a_ci_service() -> None:
    place = Place("/w/a.py", 1, 1, 1, 2)
    finding = Finding("run-error", Kind.RUN_ERROR, Severity.ERROR, "\n".join(SAID), place)
    outcome = Outcome("/w/a.py", Status.RAISED, "python", "2.13.0", Depth.DYNAMO, None, 1.0, findings=(finding,))
    report = to_junit([outcome], "/w", Severity.ERROR)
    assert obeyed(report) == []
    assert SAID[1] in "".join(ElementTree.fromstring(report).itertext())


def test_a_program_makes_no_link_in_sarif() -> None:
    """Viewers make links of brackets in plain text (SARIF 2.1.0, 3.11.6)."""
    said = "See [the page](https://e.example), [run](command:x) and [this](1)."
    place = Place("/w/a.py", 1, 1, 1, 2)
    related = (Related(place, said),)
    finding = Finding("GB0025", Kind.GRAPH_BREAK, Severity.ERROR, said, place, said, (said,), related=related)
    outcome = Outcome(
        "/w/a.py", Status.FAILED, "python", "2", Depth.DYNAMO, None, 1.0, findings=(finding,), failure=said
    )
    assert not re.search(r"\[[^\]]*\]\(", to_sarif([outcome], lambda _: None, "/w"))


def test_no_message_box_has_a_link_that_a_name_makes() -> None:
    said = "Compile Lens: [Allow](command:workbench.action.terminal.sendSequence?%7B%7D) does not exist.\x1b[2J"
    shown = notice(said)
    # what VS Code looks for: base/common/linkedText.ts
    assert re.search(r"\[[^\]]+\]\((?:https?://|command:|file:)", shown) is None
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("$(check) all good", "$ (check) all good"),
        ("a$$(sync~spin)$(loading~spin)", "a$$ (sync~spin)$ (loading~spin)"),
        ("$(mktemp -d) $() $(x.py) $x (y)\x1b[2J", "$(mktemp -d) $() $(x.py) $x (y)\\x1b[2J"),
    ],
)
def test_a_name_draws_no_picture_in_an_editor(said: str, shown: str) -> None:
    """What VS Code looks for: src/vs/base/common/iconLabels.ts."""
    assert label(said) == shown


# names that a repository may give to a file: `\x03` ends what is typed in a terminal, and a newline runs what follows
NAMES = [
    "a\x03\nrm -rf ~\n.py", "\x1b]0;t\x07.py", "a'b\\c\td.py", "\u202egnp.py", "\udcff.py", "\r", "é \u200d\u200d.py", "$(x) `y`.py",
    "a\n```\n![i](https://e.example/p.png)\n.py", "](command:x).py",
]  # fmt: skip


def test_a_command_for_a_terminal_has_nothing_that_it_obeys() -> None:
    for name in NAMES:
        line = shell_line(["printf", "%s", name])
        assert visible(line) == line
        assert "\n" not in line and "\t" not in line
        bash = shutil.which("bash")
        if bash is not None:
            said = subprocess.run([bash, "-c", line], check=True, capture_output=True)
            assert said.stdout == os.fsencode(name)
    assert shell_line(["python", "my file.py", "été"]) == "python 'my file.py' 'été'"


def test_the_page_of_logs_shows_a_name_as_text() -> None:
    for name in NAMES:
        file = Path("/w", name)
        runs = log_runs(Kind.RUN_ERROR)
        tokens = rendered(document(f"Run {name} again", runs, command_of("python", file)))
        assert {token.type for token in tokens} <= {*HARMLESS, "heading_open", "heading_close"}, name
        assert sum(token.type == "fence" for token in tokens) == len(runs)


def test_nothing_that_a_program_says_becomes_code_in_a_repro() -> None:
    for said in [*NAMES, "a\nimport os", "a\rimport os", "a\x0cb", "a\x85b\u2028c"]:
        header = write_header(f"A title: {said}", {"criterion": "raises", "note": said, "expect": f"x {said}"})
        assert ast.parse(header.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).body == []
        assert parse_header(header).criterion.value == "raises"
