"""What a run may speak of: a program that writes frames of its own names no file elsewhere, no negative line, and no kind of sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.entry_protocol import ImportHelped
from compile_lens.agent.runtime.protocol import SandboxEntered, SandboxFailed
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.printer import local_trees
from compile_lens.documents.source_lines import read_line
from compile_lens.formats.json_document import to_json
from compile_lens.pipeline.loaded_trace import tree_of_file
from compile_lens.pipeline.reach import Reach
from compile_lens.pipeline.run_facts import RunFacts
from compile_lens.pipeline.stage_recorder import StageRecorder
from compile_lens.pipeline.stage_run import lines_of, lines_within
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from warm_host import WarmHost

# through the run's own wire, whose magic nobody can guess: what a hostile program can say at most
FORGER = """
import json, sys, torch
from torch._logging._internal import trace_structured

def look(value, depth=3):
    if type(value).__name__ == "Wire":
        return value
    inner = getattr(value, "__dict__", None) or {{name: getattr(value, name, None) for name in getattr(value, "__slots__", ())}}
    return next(filter(None, (look(one, depth - 1) for one in list(inner.values()))), None) if depth else None

frame, wire = sys._getframe(), None
while wire is None:
    frame = frame.f_back
    wire = next(filter(None, map(look, list(frame.f_locals.values()))), None)

def event(name, **fields):
    wire._send(b"E", json.dumps({{"event": name, **fields}}).encode())

def at(file, line):
    return [{{"file": file, "line": line, "name": "f", "text": "token = 1", "column": -3, "end_line": -7, "end_column": 10**12}}]

SECRET = {secret!r}
for file, line in [(SECRET, 1), ("/etc/passwd", 1), ("//evil.example/share/a.py", 1), ("/dev/zero", 1), (__file__, -5), (__file__, 10**12),
                   ("a/../../b.py", 2), ("a\\0.py", 2), ("a/\\ud800.py", 2), ({fifo!r}, 1), ({link!r}, 2)]:
    event("refused", what="write", does="writes", target="x", stack=at(file, line))
    event("raised-aside", where="thread", owner="t",
          raised=dict(type="E", module="m", message="x", stack=at(file, line), formatted=""))
    stack = [{{"filename": file, "line": line, "name": "f", "loc": ""}}]
    of = torch._guards.CompileId(frame_id=99, frame_compile_id=abs(hash(file)) % 1000)
    trace_structured("dynamo_start", lambda: {{"stack": stack}}, compile_id=of)
    note = json.dumps({{"kind": "call", "name": "g", "stack": at(file, line), **at(file, line)[0]}})
    trace_structured("artifact", lambda: {{"name": "compile_lens_region", "encoding": "json"}}, payload_fn=lambda: note)
event("sandbox", kind="none at all", reason="", open_ends=[])
event("unsafe", message="nothing was run")

@torch.compile(backend="eager")
def g(x):
    print("break")
    return x + 1

g(torch.ones(2))
"""


def places(value: object) -> Iterator[tuple[str, int, int]]:
    """Every file with its line that is anywhere in an outcome."""
    if hasattr(value, "file") and hasattr(value, "end_line"):
        yield value.file, value.line, value.column  # type: ignore[attr-defined]
    fields = getattr(value, "__struct_fields__", ()) or getattr(value, "__dataclass_fields__", ())
    for inner in [getattr(value, name) for name in fields] if fields else value if isinstance(value, tuple) else ():
        yield from places(inner)


def forged(warm: WarmHost, folder: Path, access: Access = Access.SANDBOXED) -> Outcome:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    secret = elsewhere / "secret.py"
    secret.write_text("token = 'planted'\n")
    work = folder / "work"
    work.mkdir()
    (work / "link.py").symlink_to(secret)
    os.mkfifo(elsewhere / "pipe.py")
    file = work / "train.py"
    file.write_text(FORGER.format(secret=str(secret), fifo=str(elsewhere / "pipe.py"), link=str(work / "link.py")))
    return warm.run(Job(str(file), timeout_s=60, access=access, workspace=str(work)))


@pytest.mark.skipif(sys.platform == "win32", reason="makes a pipe with a name")
def test_forged_frames_name_no_file_elsewhere(warm_host: WarmHost, tmp_path: Path) -> None:
    outcome = forged(warm_host, tmp_path)
    assert outcome.status.value == "ok", outcome
    found = set(places(outcome))
    assert found
    here = (str(tmp_path / "work" / "train.py"), sys.prefix, sys.base_prefix)
    assert not [place for place in found if not place[0].startswith(here)]
    assert all(1 <= line < 2**31 and 1 <= column < 2**31 for _, line, column in found)
    assert {finding.code for finding in outcome.findings} >= {"denied-write"}  # told, at the beginning of the program
    assert [finding.code for finding in outcome.findings if "print" in finding.message] == ["GB0059"]
    assert outcome.sandbox in ("overlay", "landlock", "python")
    assert "planted" not in json.dumps([str(outcome)])


def test_a_program_cannot_say_that_it_is_in_a_sandbox() -> None:
    free, held = RunFacts(is_sandboxed=False), RunFacts()
    for facts in (free, held):
        facts.take(SandboxEntered("landlock", "", ()))
        facts.take(SandboxEntered("overlay", "", ()))
        facts.take(SandboxFailed("not at all"))
    assert (free.sandbox, free.unsafe) == ("", "")
    assert (held.sandbox, held.unsafe) == ("landlock", "")


def test_a_stub_of_distutils_says_what_to_install() -> None:
    facts = RunFacts()
    facts.take(ImportHelped("distutils"))
    facts.take(ImportHelped("no_such_logger"))
    job = Job("/w/train.py")
    assert facts.notes(None, job) == (
        "`distutils` was replaced with a stub: Python has none since 3.12. "
        "Install `setuptools`, which has a copy of it.",
        "`no_such_logger` is not installed and was replaced with a stub. Calls that need more raise the import error.",
    )


def test_stages_read_no_file_elsewhere(tmp_path: Path) -> None:
    """Neither those of a run, whatever its trace names, nor, of what is no source, those of a trace."""
    here, elsewhere = tmp_path / "work" / "train.py", tmp_path / "elsewhere"
    for file in (here, elsewhere / "settings.py", elsewhere / "credentials", tmp_path / "work" / ".env"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("planted")
    recorder = StageRecorder(_analyzes, tmp_path)
    host = Host(sys.executable)
    asyncio.run(recorder(host, Job(str(here), workspace=str(here.parent))))
    held = [path for path in tmp_path.rglob("*") if path.is_file() and recorder.holds(str(path))]
    assert held == [here]
    run = lines_within(Reach.of_run(Job(str(here)), None, host.agent_folder))
    assert [path for path in tmp_path.rglob("*") if path.is_file() and run(str(path))] == [here]
    assert {path for path in tmp_path.rglob("*") if path.is_file() and lines_of(str(path))} == {
        here,
        elsewhere / "settings.py",
    }
    assert read_line(str(elsewhere / "credentials"), 1) == ""


def test_a_link_that_is_named_like_source_shows_nothing_else(tmp_path: Path) -> None:
    """Git keeps links, and a trace of the same repository may name them; a file above what they lead to may be analyzed."""
    key = tmp_path / ".ssh" / "id_ed25519"
    key.parent.mkdir()
    key.write_text("planted\n")
    main = tmp_path / "main.py"
    main.write_text("import torch\n")
    for name in ("linked.py", "linked.ipynb", "linked.pypirc"):
        (tmp_path / name).symlink_to(key)
    (tmp_path / "other.py").symlink_to(main)
    (tmp_path / "folder").symlink_to(key.parent)
    reach = Reach.of(str(main), ())
    for name in ("linked.py", "linked.ipynb", "linked.pypirc", "folder/id_ed25519"):
        file = str(tmp_path / name)
        assert (reach.holds(file), lines_of(file), read_line(file, 1), tree_of_file(file)) == (False, None, "", None)
        assert local_trees()(file) is None
    assert (lines_of(str(tmp_path / "other.py")), reach.holds(str(tmp_path / "other.py"))) == (
        ["import torch", ""],
        True,
    )


async def _analyzes(_host: object, job: Job, *_: object) -> Outcome:
    return Outcome(job.file, Status.OK, "python", "2", Depth.INDUCTOR, "", 0.0)


UNNAMED = """
import torch

def f(x):
    print(x)
    return x + 1

f.__code__ = f.__code__.replace(co_filename={name!a})
torch.compile(f, backend="eager")(torch.ones(2))
"""


@pytest.mark.parametrize("name", ["{work}/\ud800.py", "{work}/\0.py", "\ud800.py", "{work}/../\udfff.py"])
def test_a_name_that_no_file_can_have_is_nowhere(name: str, warm_host: WarmHost, tmp_path: Path) -> None:
    name = name.format(work=tmp_path)
    assert not Reach.of(str(tmp_path / "train.py"), (str(tmp_path),)).holds(name)
    (tmp_path / "train.py").write_text(UNNAMED.format(name=name))
    outcome = warm_host.run(Job(str(tmp_path / "train.py"), timeout_s=60, access=Access.SANDBOXED))
    assert not outcome.failure, outcome  # torch itself may raise for such a name
    assert {place[0] for place in places(outcome)} <= {str(tmp_path / "train.py")}
    to_json([outcome], lambda _: None).encode()


def test_the_folders_of_a_run(tmp_path: Path) -> None:
    def file(*parts: str) -> str:
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return str(path)

    main = file("project", "scripts", "train.py")
    reach = Reach.of(main, (str(tmp_path / "project"), "", str(tmp_path / "lib")))
    inside = [
        main,
        file("project", "model.py"),
        file("project", "scripts", "a.pyi"),
        file("lib", "x", "y.py"),
        "<string>",
        "",
    ]
    outside = [file("project2", "a.py"), file("home", "b.py"), file("project", ".env"), file("project", "id_rsa")]
    outside += [f"{tmp_path}/project/../home/b.py", "relative.py", "a\0.py"]
    assert [one for one in inside if not reach.holds(one)] == []
    assert [one for one in outside if reach.holds(one)] == []
    (tmp_path / "project" / "link.py").symlink_to(tmp_path / "home" / "b.py")
    assert not reach.holds(str(tmp_path / "project" / "link.py"))
    without_limits: Callable[[str], bool] = Reach(main, None).holds
    assert all(map(without_limits, outside))
