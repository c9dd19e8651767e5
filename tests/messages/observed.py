"""Lets the product speak: what it writes of the fixtures, of recorded runs and traces, in its help and in an editor."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from tests.fixture_notation import depth_of, is_compared, is_varied
from tests.lsp.editor import REAL, editor
from tests.messages.templates import ROOT

from compile_lens.cli.verbs import VERBS, cli

TESTS = ROOT / "tests"
WIDE = {"COLUMNS": "4000", "TERM": "dumb", "NO_COLOR": "1"}
TRACES = ("h200-ddp", "h200-single", "many-guards")
# a few of each family, in an editor
IN_EDITOR = (
    "break_branch",
    "break_item",
    "break_print",
    "break_in_helper",
    "recompile_size",
    "recompile_limit",
    "error_fullgraph",
)
# predicted from the source, without a run
PROGRAMS = (
    "tests/fixtures/[!_]*.py",
    "tests/data/gpu-programs/*.py",
    "tests/corpus/graph_breaks/[!_]*.py",
    "benchmarks/prediction_corpus/own/*.py",
    "benchmarks/entry_corpus/own/*.py",
)
# a call of the terminal
LIMIT_S = 600
# after the first finding, until the last and what follows it
SETTLED_S = 6.0
# other calls of the terminal: those that explain, and those that are refused
CALLS = (
    ["doctor"],
    ["cache", "stat"],
    ["cache", "--help"],
    ["consent", "list"],
    ["explain", "GB0059"],
    ["explain", "aten.addmm"],
    ["explain", "torch._dynamo.config.recompile_limit"],
    ["explain", "TORCH_LOGS"],
    ["explain", "mark_dynamic"],
    ["explain", "aten.nonzero"],
    ["explain", "aten.dropout"],
    ["explain", "aten.add_"],
    ["explain", "aten.sum"],
    ["explain", "aten.convolution_backward"],
    ["explain", "reduce-overhead"],
    ["explain", "inductor"],
    ["explain", "FallbackKernel"],
    ["explain", "nothing-like-this"],
    ["explain", "--search", "dynamic", "shapes"],
    ["explain"],
    ["check", "nothing.py"],
    ["check", "tests"],
    ["check", "--entry", "nothing", "tests/fixtures/break_item.py"],
    [
        "check",
        "-v",
        "tests/fixtures/break_item.py",
        "tests/fixtures/recompile_limit.py",
        "tests/fixtures/error_script.py",
    ],
    ["check", "-q", "--depth", "inductor", "tests/fixtures/error_cpp.py"],
    ["trace", "nothing"],
    ["trace", "docs"],
    ["entries", "examples/transformer_block.py"],
    ["entries", "examples/clean_model.py"],
    ["logs", "tests/fixtures/break_item.py"],
    ["repro", "tests/fixtures/break_item.py", "-o", "{folder}/repro.py"],
    ["bisect", "{folder}/repro.py"],
    ["minify", "{folder}/repro.py"],
    ["rebisect", "{folder}/repro.py"],
)


def said() -> Iterator[str]:
    """What the product says, best examples first. Takes some minutes."""
    fixtures = sorted((TESTS / "fixtures").glob("[!_]*.py"))
    with tempfile.TemporaryDirectory() as folder:
        # what is remembered of files is not the user's
        os.environ["XDG_STATE_HOME"] = folder
        for source in (_checked(fixtures), _recorded(), _traces()):
            yield from source
        for call in CALLS:
            yield from _printed([word.format(folder=folder) for word in call])
        for programs in PROGRAMS:
            files = [str(file) for file in sorted(ROOT.glob(programs))]
            yield from _printed(["predict", *files])
            yield from (line for file in files for line in _printed(["entries", file])) if "entry" in programs else ()
        yield from _strings(json.loads((TESTS / "data/bisect-gpu/bisect_gpu.json").read_text()))
        yield from _helps()
        yield from asyncio.run(_in_editor(Path(folder)))


def _printed(call: list[str]) -> list[str]:
    command = [sys.executable, "-m", "compile_lens", *call]
    try:
        ran = subprocess.run(command, cwd=ROOT, env=os.environ | WIDE, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        print(f"  compile-lens {' '.join(call)[:70]}: left out, took longer than {LIMIT_S} s", file=sys.stderr)
        return []
    print(f"  compile-lens {' '.join(call)[:70]}: {len(ran.stdout)} characters", file=sys.stderr)
    return [*ran.stdout.splitlines(), *ran.stderr.splitlines()]


def _documents(call: list[str]) -> Iterator[str]:
    printed = "\n".join(_printed(call))
    start = printed.find("{")
    if start >= 0:
        yield from _strings(json.JSONDecoder().raw_decode(printed[start:])[0])


def _checked(files: Iterable[Path]) -> Iterator[str]:
    """The fixtures, each as its header says; as JSON, which has every word."""

    def way(file: Path) -> list[str]:
        text = file.read_text()
        if is_varied(text):
            return ["vary"]
        return ["check", "--depth", depth_of(text), *(["--compare"] if is_compared(text) else [])]

    for call, group in groupby(sorted(files, key=way), key=way):
        yield from _documents([*call, "--format", "json", "--fail-on", "never", *(str(file) for file in group)])


def _recorded() -> Iterator[str]:
    """What ran on a GPU machine."""
    from tests.replay import recording, replay

    for archive in ("gpu-programs", "fixtures"):
        for name in sorted(file.removesuffix(".wire") for file in recording(archive) if file.endswith(".wire")):
            outcome = replay(archive, name)
            yield from (outcome.failure, *outcome.notes)
            for finding in outcome.findings:
                yield from (finding.message, finding.explanation, *finding.hints, finding.cost)
                yield from (related.message for related in finding.related)


def _traces() -> Iterator[str]:
    for name in TRACES:
        yield from _documents(["trace", "--format", "json", "--fail-on", "never", f"tests/data/{name}"])


def _helps() -> Iterator[str]:
    for verb in VERBS:
        context = click.Context(cli, info_name="compile-lens", terminal_width=4000, max_content_width=4000)
        command = cli.get_command(context, verb)
        assert command is not None
        for one in (command, *getattr(command, "commands", {}).values()):
            help_text = one.get_help(click.Context(one, info_name=verb, terminal_width=4000, max_content_width=4000))
            yield from help_text.splitlines()
            yield from (part for line in help_text.splitlines() for part in re.split(r"\s{2,}", line))


async def _in_editor(folder: Path) -> list[str]:
    """Hovers, lenses, hints, actions and the status, as an editor gets them."""
    found: list[str] = []
    async with editor(folder, REAL) as ed:
        await ed.initialize(folder, options={"run": {"enabled": "always"}})
        for name in IN_EDITOR:
            file = folder / f"{name}.py"
            file.write_text((TESTS / f"fixtures/{name}.py").read_text())
            uri = await ed.open(file)
            await ed.published(uri)
            await asyncio.sleep(SETTLED_S)
            document = {"textDocument": {"uri": uri}}
            whole = {
                "start": {"line": 0, "character": 0},
                "end": {"line": len(file.read_text().splitlines()), "character": 0},
            }
            asked = {**document, "range": whole, "context": {"diagnostics": []}}
            for method, params in (
                ("textDocument/codeLens", document),
                ("textDocument/inlayHint", {**document, "range": whole}),
                ("textDocument/codeAction", asked),
            ):
                found += _strings(await ed.request(method, params))
            for line, text in enumerate(file.read_text().splitlines()):
                column = len(text) - len(text.lstrip()) + 1
                found += _strings(await ed.hover(uri, line, column))
        found += _strings(ed.received)
    return found


def written() -> Iterator[str]:
    """What the pages and the manifest show, and what tests expect."""
    yield from _strings(json.loads((ROOT / "vscode-client/package.json").read_text()))
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if page.name != "messages.md":
            lines = page.read_text().splitlines()
            yield from (cell.strip(" #-") for line in lines for cell in line.split(" | "))
    for test in sorted(TESTS.rglob("test_*.py")):
        if test.parent.name != "messages":
            nodes = ast.walk(ast.parse(test.read_text()))
            yield from (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _strings(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _strings(child)
