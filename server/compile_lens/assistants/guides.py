"""What an assistant can read and be asked for: pages on findings, and prompts for the usual tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compile_lens.analysis.kinds import Kind

SCHEME = "compile-lens://findings/"
# in the wheel beside this file, in a checkout among the documentation
FOLDERS = (Path(__file__).parent / "pages", Path(__file__).parents[3] / "docs" / "findings")


@dataclass(frozen=True, slots=True)
class Page:
    """A page on one kind of finding."""

    uri: str
    name: str
    title: str
    file: Path


def pages() -> tuple[Page, ...]:
    """The pages, one for each kind of finding."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    if folder is None:
        return ()
    names = ((kind, folder / f"{kind.value}.md") for kind in Kind)
    return tuple(
        Page(f"{SCHEME}{kind.value}", kind.value, kind.row.title, file) for kind, file in names if file.is_file()
    )


def page_text(uri: str) -> str | None:
    """The Markdown of the page at ``uri``; None if there is none."""
    page = next((page for page in pages() if page.uri == uri), None)
    return page.file.read_text(encoding="utf-8") if page is not None else None


@dataclass(frozen=True, slots=True)
class Guide:
    """A prompt. ``arguments``: name → what it is; the first is required. ``steps`` may name them in braces."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    steps: str

    def text(self, given: Mapping[str, str]) -> str:
        """What the assistant is asked to do."""
        text = self.steps
        for name in self.arguments:
            text = text.replace(f"{{{name}}}", given.get(name) or "the file that I am looking at")
        return text


FILE = {"file": "Path of the Python file"}
GUIDES = (
    Guide(
        "one-graph",
        "Make this region one graph",
        "Remove the graph breaks of a file, each edit verified.",
        FILE,
        "Make the compiled code of {file} one graph without changing its results.\n"
        "1. Call check on the file. Note its summary, and keep a copy of the text.\n"
        "2. For the first finding of kind graph-break, call check with its id as `finding`, and explain with its code.\n"
        "3. Call fixes with its id. Take the first that helps and keeps the program's meaning; else make the smallest edit that does.\n"
        "4. Call verify_edit with the edited text. Keep the edit only if the verdict is better and nothing new is an error.\n"
        "5. Repeat until no graph break is left, or none can be removed. Then call verify_edit once more with compare.\n"
        "Tell me what changed, in numbers, and which breaks stay and why. Do not remove output that the program needs.",
    ),
    Guide(
        "why-recompile",
        "Why does it recompile?",
        "Find the value that changes, and the smallest edit that keeps one graph.",
        FILE,
        "Find out why the compiled code of {file} recompiles.\n"
        "1. Call check on the file, then check with the id of each finding of kind recompile or recompile-limit as `finding`.\n"
        "2. Tell me which value or size changes, from what to what, and at which call.\n"
        "3. Verify with verify_edit what helps: `torch._dynamo.mark_dynamic` for a size, a tensor in place of a number that changes, "
        "`dynamic=True` where all sizes change.\n"
        "Recommend the smallest edit that verify_edit calls better, with its numbers.",
    ),
    Guide(
        "report-bug",
        "Report this bug",
        "Make a report that PyTorch's maintainers can use. Nothing is sent.",
        {**FILE, "finding": "Id of the finding, such as inductor@12"},
        "Prepare a bug report for PyTorch about {finding} in {file}. Send nothing.\n"
        "1. Call check with the finding's id, and decide whether the compiler is at fault: the same code works in eager.\n"
        "2. Call repro with the id. If it reproduces the problem, show me its script.\n"
        "3. Ask me to run the commands of `next_steps`: they bisect the problem and write the report with a link to a new issue.",
    ),
)
