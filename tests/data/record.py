"""Records programs on a machine that has another torch, or a GPU: ``python tests/data/record.py OUT``.

It needs the standard library and torch alone. Each program is run by the product's own agent, and everything that the agent says is kept
as it was said, beside the program: ``OUT/fixtures.tar.xz`` (the programs of ``tests/fixtures``), ``OUT/gpu-programs.tar.xz`` and
``OUT/gpu-workloads.tar.xz`` (those of ``tests/data``) have ``NAME.py`` and ``NAME.wire`` of each. ``tests/replay.py`` plays them back.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server"))
from compile_lens.agent.runtime.protocol import (  # noqa: E402
    EVENT,
    LENGTH,
    MAGIC,
    TRACE,
    RunEnded,
    command_line,
    event_payload,
)
from compile_lens.workers.command import command_of  # noqa: E402
from compile_lens.workers.job import Depth, Job  # noqa: E402
from compile_lens.workers.access import Access  # noqa: E402
from compile_lens.workers.wire import AgentEvent, Chunk, FrameDecoder, TraceRecord  # noqa: E402

AGENT = ROOT / "server/compile_lens/agent"
DEPTH = re.compile(r"^# depth: (?P<depth>\w+)$", re.MULTILINE)
COMPARED = re.compile(r"^# compared$", re.MULTILINE)
TIMEOUT_S = 120.0
DEPTHS = {"tests/fixtures": "dynamo", "tests/data/gpu-programs": "inductor", "tests/data/gpu-workloads": "dynamo"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--root", type=Path, default=Path("/cluster"), help="where the programs run: made, and emptied")
    parser.add_argument("--only", default="", help="a regular expression for the names of the programs")
    parser.add_argument("--sets", nargs="+", choices=DEPTHS, default=list(DEPTHS), help="folders of programs")
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    agent = fresh_folder(options.root / "agent")
    shutil.copytree(AGENT, agent, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in options.sets:
        depth = DEPTHS[name]
        programs = fresh_folder(options.root / "job")
        shutil.copytree(ROOT / name, programs, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        files = [file for file in sorted(programs.glob("[!_]*.py")) if re.search(options.only, file.stem)]
        print(f"{name}: {len(files)} programs")
        caches = fresh_folder(options.root / "cache")
        with ThreadPoolExecutor(options.workers) as pool:
            wires = list(pool.map(record, files, repeat(agent), repeat(caches), repeat(depth)))
        with tarfile.open(options.out / f"{Path(name).name}.tar.xz", "w:xz", preset=9) as archive:
            for file in sorted(programs.glob("*.py")):
                add(archive, file.name, file.read_bytes())
            for file, wire in zip(files, wires, strict=True):
                add(archive, f"{file.stem}.wire", wire)


def fresh_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def record(file: Path, agent: Path, caches: Path, default_depth: str) -> bytes:
    """All that an agent of its own says while it runs ``file``, from its hello to the end of the run."""
    text = file.read_text(encoding="utf-8")
    depth = DEPTH.search(text)
    chosen = Depth(depth["depth"] if depth else default_depth)
    job = Job(str(file), chosen, timeout_s=TIMEOUT_S, compare=COMPARED.search(text) is not None, access=Access.FULL)
    environment = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(caches / file.stem / "inductor"),
        "TRITON_CACHE_DIR": str(caches / file.stem / "triton"),
    }
    process = subprocess.Popen(
        [sys.executable, str(agent / "boot.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdin and process.stdout and process.stderr
    output: list[bytes] = []
    with ThreadPoolExecutor(1) as reader:
        drained = reader.submit(process.stderr.read)
        process.stdin.write(command_line(command_of(job)))
        process.stdin.flush()
        decoder, ended = FrameDecoder(), False
        while not ended and (data := os.read(process.stdout.fileno(), 1 << 16)):
            for frame in decoder.feed(data):
                output.append(frame.data if isinstance(frame, Chunk) else as_sent(frame))
                ended = ended or (isinstance(frame, RunEnded))
        process.stdin.close()
        process.wait()
        process.stdout.close()
        printed = drained.result().decode("utf-8", "replace")
    ending = "" if ended else ", NO END"
    print(f"{file.stem}: {sum(map(len, output)):,} bytes{ending}; {printed.strip()[-200:]!r}", flush=True)
    return b"".join(output)


def as_sent(frame: AgentEvent | TraceRecord) -> bytes:
    """A frame as the agent had written it."""
    kind, payload = (TRACE, frame.data) if isinstance(frame, TraceRecord) else (EVENT, event_payload(frame))
    return MAGIC + kind + LENGTH.pack(len(payload)) + payload


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main()
