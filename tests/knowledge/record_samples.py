"""Records what each name of ``TORCH_LOGS`` prints: ``python tests/knowledge/record_samples.py FOLDER [--jobs N] [NAME...]``.

Writes ``FOLDER/NAME.txt`` for each log that a program of ``sample_programs.py`` makes print something; without names, for all of
them. It needs torch and the standard library only (for the log ``graph`` also ``tabulate``), so it runs on any machine with a GPU.
A component that prints nothing at its own level is recorded as ``+NAME``.

``python tests/knowledge/record_samples.py --keep FOLDER`` takes what such a run wrote into
``server/compile_lens/knowledge/texts/log_samples.md``, for logs of which nothing is recorded there, or those that are named.

Not a test: run it once per torch version.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "sample_programs.py"
TEXTS = HERE.parents[1] / "server/compile_lens/knowledge/texts/log_samples.md"
# the time, process and place in front of each line of a log, and the rank
_PREFIX = re.compile(r"^(?:\[rank\d+\]:)?(?P<level>[VIWE])\d{4} [\d:.]+ \d+ \S+?\] ?")
_NAMES_ONLY = re.compile(r"\[?\S*\]? ?\[__\w+\] *$")
MAX_LINES = 9
WIDEST = 118
LIMIT_S = 240


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1, help="how many programs run at once")
    parser.add_argument("--keep", action="store_true", help="take FOLDER's samples into the texts instead of recording")
    arguments = parser.parse_intermixed_args()
    if arguments.keep:
        keep(arguments.folder, arguments.names)
    else:
        record(arguments.folder, arguments.names, arguments.jobs)


def record(folder: Path, names: list[str], jobs: int) -> None:
    """Write the samples of ``names``; existing ones are written anew."""
    import torch
    from torch._logging._internal import log_registry

    components = set(log_registry.log_alias_to_log_qnames)
    where = f"torch {torch.__version__}{', on a GPU' if torch.cuda.is_available() else ''}"
    folder.mkdir(parents=True, exist_ok=True)

    def one(name: str) -> None:
        found = sample(name, name in components)
        print(f"{name}: {found[0] if found else 'nothing'}", flush=True)
        if found:
            (folder / f"{name}.txt").write_text(f"{where}\nTORCH_LOGS={found[0]}\n{found[1]}\n", encoding="utf-8")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, names or sorted(components | log_registry.artifact_names)))


def sample(name: str, is_component: bool) -> tuple[str, str] | None:
    """What to set, and what is printed then; None when no program makes the log print anything."""
    import sample_programs

    programs = (*sample_programs.FOR.get(name, ()), *sample_programs.ANY)
    for flag in (name, f"+{name}") if is_component else (name,):
        for program in programs:
            text = shortened(run(program, flag), "" if is_component else name)
            if text:
                return flag, text
    return None


def run(program: str, flag: str) -> str:
    """What a program prints to standard error with ``TORCH_LOGS=flag``, its caches in a folder of their own."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            **os.environ,
            "TORCH_LOGS": flag,
            "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/cache",
            "TMPDIR": scratch,
        }
        try:
            done = subprocess.run(
                [sys.executable, str(PROGRAMS), program],
                cwd=scratch,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"  {program} with {flag}: ended after {LIMIT_S} s", flush=True)
            return ""
        if done.returncode:
            print(f"  {program} with {flag}: {(done.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
        return done.stderr.replace(scratch, "/tmp/…")


def shortened(text: str, artifact: str) -> str:
    """The first lines of a log, without the folders of this machine; what else is on standard error is left out.

    Lines of an artifact name it. Of a component those count that are below a warning, for warnings come without it, too.
    """
    import torch

    site = str(Path(torch.__file__).resolve().parents[1])
    logged = [
        line[match.end() :]
        for line in text.splitlines()
        if (match := _PREFIX.match(line)) is not None
        and (f"[__{artifact}]" in line if artifact else match["level"] in "VI" and "[__" not in line)
    ]
    lines = [
        line.replace(str(PROGRAMS), "program.py").replace(f"{site}/", "").replace(site, "…").rstrip()
        for line in logged
        if line.strip() and not _NAMES_ONLY.match(line)
    ]
    cut = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines]
    return "\n".join(cut[:MAX_LINES] + (["…"] if len(cut) > MAX_LINES else []))


def keep(folder: Path, names: list[str]) -> None:
    """Add the samples in ``folder`` to the texts, in the order of their names."""
    head, *entries = TEXTS.read_text(encoding="utf-8").split("\n## ")
    known = {entry.partition("\n")[0]: entry.rstrip("\n") for entry in entries}
    for file in sorted(folder.glob("*.txt")):
        name = file.stem
        if name in known and name not in names:
            continue
        where, flag, text = file.read_text(encoding="utf-8").rstrip("\n").split("\n", 2)
        shown = f"# {flag}\n{text}" if flag != f"TORCH_LOGS={name}" else text
        known[name] = f"{name}\nrecorded: {where}\n\n```text\n{shown}\n```"
    body = "\n\n## ".join(known[name] for name in sorted(known))
    TEXTS.write_text(f"{head.rstrip()}\n\n## {body}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
