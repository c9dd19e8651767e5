"""Runs the corpus with the product: scripts in a folder of its own, two at a time, each with several programs."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.prediction_corpus.held_out import packages
from benchmarks.prediction_corpus.judge import Observed
from benchmarks.prediction_corpus.program import Program
from compile_lens.syntax.tree import Range
from compile_lens.trace.builder import ReportBuilder
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.wire import Frame, TraceRecord

ROOT = Path(__file__).parent.parent.parent
AT_ONCE = 2
PER_SCRIPT = 12
TIMEOUT_S = 400.0
RELATIVE = re.compile(r"^(\s*)from (\.+)([\w.]*) import", re.MULTILINE)


@dataclass(slots=True)
class Corpus:
    """``texts`` maps each file to its source with the regions of its programs at the end, ``families`` to the part that it is of;
    ``statuses`` says how each program ended."""

    families: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    observed: Observed = field(default_factory=Observed)


async def run_corpus(programs: list[Program], folder: Path) -> Corpus:
    """Run everything; nothing is left outside ``folder``."""
    for name in ("COMPILE_LENS_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        os.environ[name] = str(folder / "caches")
    os.environ["HF_HUB_OFFLINE"] = "1"
    # a program that stops in a debugger goes on
    os.environ["PYTHONBREAKPOINT"] = "0"
    corpus = Corpus()
    paths = _sources(programs, folder, corpus)
    waiting = [programs[start : start + PER_SCRIPT] for start in range(0, len(programs), PER_SCRIPT)]
    waiting.reverse()
    await asyncio.gather(*(_worker(waiting, paths, folder, corpus) for _ in range(AT_ONCE)))
    return corpus


def _sources(programs: list[Program], folder: Path, corpus: Corpus) -> dict[str, str]:
    """The file of each module, and its text with the regions of its programs."""
    paths: dict[str, str] = {}
    regions: dict[str, list[str]] = {}
    for program in programs:
        if program.module not in paths:
            path = Path(program.module) if program.is_script else _origin(program.module)
            text = path.read_text(encoding="utf-8")
            if program.is_copied:
                text = _absolute_imports(text, program.module)
                path = folder / f"{program.module.replace('.', '_')}.py"
                path.write_text(text, encoding="utf-8")
            paths[program.module] = str(path)
            corpus.texts[str(path)] = text
            corpus.families[str(path)] = program.family
        if not program.is_script:
            regions.setdefault(paths[program.module], []).append(f"torch.compile({program.region})")
    for path, lines in regions.items():
        corpus.texts[path] += "\nimport torch\n" + "\n".join(dict.fromkeys(lines)) + "\n"
    return paths


def _origin(module: str) -> Path:
    for name in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
        if (packages.FOLDER / name).is_file():
            return packages.FOLDER / name
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    return Path(spec.origin)


def _absolute_imports(text: str, module: str) -> str:
    parts = module.split(".")

    def absolute(match: re.Match[str]) -> str:
        package = ".".join(parts[: len(parts) - len(match[2])])
        return f"{match[1]}from {package}{'.' if match[3] else ''}{match[3]} import"

    return RELATIVE.sub(absolute, text)


async def _worker(waiting: list[list[Program]], paths: dict[str, str], folder: Path, corpus: Corpus) -> None:
    host = Host(sys.executable)
    try:
        while waiting:
            await _run_script(host, waiting.pop(), paths, folder / f"script_{len(waiting)}.py", corpus)
    finally:
        await host.close()


def _script_of(programs: list[Program], paths: dict[str, str], output: Path) -> str:
    fields = [asdict(program) for program in programs]
    used = {program.module: paths[program.module] for program in programs}
    return (
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nsys.path.append({str(packages.FOLDER)!r})\n"
        "from benchmarks.prediction_corpus.drive import drive\n"
        f"drive({fields!r}, {used!r}, {str(output)!r})\n"
    )


async def _run_script(host: Host, programs: list[Program], paths: dict[str, str], script: Path, corpus: Corpus) -> None:
    output = script.with_suffix(".jsonl")
    text = _script_of(programs, paths, output)
    builder = ReportBuilder()

    def on_frame(frame: Frame) -> None:
        if isinstance(frame, TraceRecord):
            builder.feed(frame.data)

    await host.start()
    end = await host.run(Job(str(script), text=text, depth=Depth.DYNAMO, timeout_s=TIMEOUT_S), on_frame)
    for line in output.read_text(encoding="utf-8").splitlines() if output.exists() else []:
        told = json.loads(line)
        corpus.statuses[told["name"]] = told["status"]
        if told["status"] == "ok":
            for file, places in told["places"].items():
                corpus.observed.places[file].update(Range(*place) for place in places)
    for program in programs:
        corpus.statuses.setdefault(program.name, f"lost: {end.kind.value} {end.output[-300:]}")
    corpus.observed.add(builder.report(), set(corpus.texts))
