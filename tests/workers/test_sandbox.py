"""What real programs need works in each kind of sandbox, and what is allowed is allowed."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from tests.sandbox_kinds import LANDLOCK, NAMESPACES, offered, poor_interpreter, skip_unless_offered

from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers import command
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import installation_stamp
from compile_lens.workers.job import Depth, Job, Substitution

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux"),
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.asyncio(loop_scope="module"),
]
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
# each kind, and each example
KINDS_OF_EXAMPLES = (["overlay"], ["landlock", "python"], ["overlay"])


@pytest.fixture(scope="module", params=[SandboxKind.OVERLAY, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    strongest: SandboxKind = request.param
    skip_unless_offered(strongest.value)
    return strongest


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host() -> AsyncIterator[Host]:
    host = Host(sys.executable)
    yield host
    await host.close()


def job(folder: Path, source: str, sandbox: SandboxOptions) -> Job:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(source))
    return Job(str(file), timeout_s=120.0, sandbox=sandbox)


def findings(outcome: Outcome) -> list[tuple[str, int, int, int]]:
    return [(found.code, found.place.line, found.place.column, found.count) for found in outcome.findings]


@pytest.mark.usefixtures("shared_memory")  # with Landlock, processes that are spawned leave semaphores there
async def test_what_real_programs_do_works(host: Host, tmp_path: Path, kind: SandboxKind) -> None:
    source = """
        import multiprocessing, os, subprocess, sys, tempfile, torch
        from torch.utils.data import DataLoader, TensorDataset

        def double(x):
            return 2 * x

        if __name__ == "__main__":
            with tempfile.TemporaryDirectory() as folder:
                torch.save({"a": torch.ones(3)}, os.path.join(folder, "a.pt"))
                assert torch.load(os.path.join(folder, "a.pt"))["a"].sum() == 3
            data = TensorDataset(torch.arange(8.0))
            assert sum(batch[0].sum().item() for batch in DataLoader(data, batch_size=2, num_workers=2)) == 28
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                assert pool.map(double, [1, 2]) == [2, 4]
            assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n"
            queue = torch.multiprocessing.get_context("fork").Queue()
            queue.put(torch.ones(1000))
            assert queue.get().sum() == 1000
            print("all of it")
    """
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions(strongest=kind)))
    assert (outcome.status, outcome.sandbox, findings(outcome)) == (Status.OK, kind.value, []), outcome.output
    assert "all of it" in outcome.output


async def test_kernels_are_compiled(host: Host, tmp_path: Path, kind: SandboxKind) -> None:
    number = time.time_ns() % 100_000  # a kernel that no run before has left (tests/compiled_before.py)
    source = f"import torch\nprint(torch.compile(lambda x: x.sin() + {number})(torch.zeros(8)).sum().item())\n"
    inductor = replace(job(tmp_path, source, SandboxOptions(strongest=kind)), depth=Depth.INDUCTOR)
    outcome = await analyze(host, inductor)
    assert (outcome.status, outcome.output, outcome.graphs) == (Status.OK, f"{8.0 * number}\n", 1)


async def test_a_refused_call_in_a_function_that_fell_back_to_eager_is_reported(host: Host, tmp_path: Path) -> None:
    # Dynamo must not trace what reports the call: the records of that trace would wait for the report to end
    source = """
        import torch

        @torch.compile
        def log(x):
            try:
                open("/etc/compile-lens", "w")
            except OSError:
                return x + 1
            return x

        log(torch.ones(3))
    """
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions()))
    assert outcome.status is Status.OK
    assert ("denied-write", 7, 9, 1) in findings(outcome)


async def test_what_is_allowed_is_kept(host: Host, tmp_path: Path, kind: SandboxKind) -> None:
    allowed, other = tmp_path / "runs", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()
    source = f"""
        open({str(allowed / "kept")!r}, "w").write("x")
        try:
            open({str(other / "lost")!r}, "w").write("x")
        except OSError:
            pass
    """
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions(allow_write=(str(allowed),), strongest=kind)))
    assert outcome.status is Status.OK
    assert (allowed / "kept").read_text() == "x" and not (other / "lost").exists()


async def test_a_copy_that_is_thrown_away_is_told(host: Host, tmp_path: Path) -> None:
    skip_unless_offered("overlay")
    outcome = await analyze(host, job(tmp_path, "open('model.pt', 'w').write('x')", SandboxOptions()))
    assert (outcome.status, findings(outcome), len(outcome.notes)) == (Status.OK, [], 1)
    assert outcome.notes[0].startswith("Sandbox: discarded 1 file (`model.pt`)")
    assert not (tmp_path / "model.pt").exists()


@pytest.mark.parametrize(
    ("refused", "kind", "not_held"),
    [
        (NAMESPACES, "landlock", "sockets of services on this machine"),
        ({**NAMESPACES, **LANDLOCK}, "python", "native code, programs that it starts"),
    ],
    ids=["no namespaces", "no namespaces and no Landlock"],
)
async def test_a_container_that_offers_less_is_told_and_still_holds(
    refused: dict[str, tuple[int, int]], kind: str, not_held: str, tmp_path: Path
) -> None:
    skip_unless_offered(kind)
    host = Host(poor_interpreter(tmp_path, refused))
    source = "import torch\ntorch.compile(lambda x: x.sin() + 1)(torch.zeros(8))\nopen('model.pt', 'w').write('x')"
    try:
        outcome = await analyze(host, job(tmp_path, source, SandboxOptions()))
    finally:
        await host.close()
    assert (outcome.status, outcome.sandbox, outcome.graphs) == (Status.RAISED, kind, 1)
    assert [(found.code, found.place.line) for found in outcome.findings] == [("denied-write", 3)]
    assert outcome.notes[0].startswith(f"Sandbox: does not confine {not_held} (") and "unshare" in outcome.notes[0]
    assert not (tmp_path / "model.pt").exists()


@pytest.mark.parametrize("chosen", ["folder", "home"])
@pytest.mark.parametrize("place", ["/proc", "/proc/self"])
async def test_a_workspace_cannot_choose_a_weaker_kind(host: Host, tmp_path: Path, chosen: str, place: str) -> None:
    """Its launch.json says in which folder a file starts, and with which variables; no overlay works on some folders."""
    skip_unless_offered("overlay")
    plain = job(tmp_path, "import os\nopen('model.pt', 'w').close()", SandboxOptions())
    given = replace(plain, cwd=place) if chosen == "folder" else replace(plain, env={"HOME": place})
    outcome = await analyze(host, given)
    assert outcome.sandbox == "overlay"
    assert outcome.status is (Status.RAISED if chosen == "folder" else Status.OK), "what cannot be covered is read-only"
    assert not (tmp_path / "model.pt").exists()


async def test_an_idle_run_is_ended_and_says_so(host: Host, tmp_path: Path) -> None:
    source = "import torch, time\ntorch.compile(lambda x: x + 1)(torch.ones(2))\ntime.sleep(100)\n"
    outcome = await analyze(host, replace(job(tmp_path, source, SandboxOptions()), budget=ResourceLimits(idle_s=0.5)))
    assert (outcome.status, findings(outcome), outcome.graphs) == (Status.IDLE, [], 1)
    assert outcome.notes[0].startswith("Stopped after 0.5 s without compilation")


async def test_a_gpu_is_out_of_sight(host: Host, tmp_path: Path) -> None:
    source = "import torch\nassert not torch.cuda.is_available()\ntorch.zeros(1, device='cuda')\n"
    given = replace(job(tmp_path, source, SandboxOptions()), stand_in=Substitution.OFF)
    outcome = await analyze(host, given)
    assert outcome.status is Status.RAISED and outcome.findings[0].place.line == 3


@pytest.mark.parametrize("gpu", [True, False], ids=["gpu", "no gpu"])
async def test_with_a_gpu_its_threads_may_be_named_and_nothing_else_of_proc_changed(
    host: Host, tmp_path: Path, kind: SandboxKind, gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # NVIDIA's driver does not start where it may not name its threads; it is native code, as libc's `open` is
    source = f"""
        import ctypes, os

        def may_be_written(path):
            return ctypes.CDLL(None).open(path.encode(), os.O_WRONLY) >= 0

        assert may_be_written(f"/proc/self/task/{{os.getpid()}}/comm") is {gpu}
        assert not may_be_written("/proc/self/oom_score_adj")
        assert not may_be_written(f"/proc/{{os.getppid()}}/oom_score_adj")
        assert not may_be_written("/proc/sys/kernel/core_pattern")
        assert not may_be_written("/proc/sysrq-trigger")
    """
    monkeypatch.setattr(command, "has_device_to_show", lambda: True)
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions(gpu=gpu, strongest=kind)))
    assert outcome.status is Status.OK, outcome.findings


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "not allowed"])
async def test_who_is_allowed_gpus_on_a_machine_without_one_may_do_no_more(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    source = f"""
        import ctypes, os

        libc = ctypes.CDLL(None)
        assert libc.open(f"/proc/self/task/{{os.getpid()}}/comm".encode(), os.O_WRONLY) == -1
        assert os.environ.get("CUDA_VISIBLE_DEVICES", "none") == {"none" if allowed else ""!r}
    """
    monkeypatch.setattr(command, "has_device_to_show", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions(gpu=allowed)))
    assert outcome.status is Status.OK, outcome.findings


async def test_half_of_the_signals_that_may_wait_are_left_to_others(
    host: Host, tmp_path: Path, kind: SandboxKind
) -> None:
    most = resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]
    source = f"""
        import ctypes, resource

        assert resource.getrlimit(resource.RLIMIT_SIGPENDING) == ({most // 2}, {most // 2})
        more = (ctypes.c_uint64 * 2)({most}, {most})
        assert ctypes.CDLL(None).prlimit(0, resource.RLIMIT_SIGPENDING, more, None) == -1
    """
    outcome = await analyze(host, job(tmp_path, source, SandboxOptions(strongest=kind)))
    assert outcome.status is Status.OK, outcome.findings


async def test_it_gives_way_to_what_the_user_does(host: Host, tmp_path: Path) -> None:
    group = Path("/proc/self/autogroup")
    session = f"print(open({str(group)!r}).read().split()[-1])" if group.exists() else ""
    source = f"import os\nprint(os.nice(0))\n{session}"
    own = os.nice(0)
    for niceness in (10, 0):
        outcome = await analyze(host, job(tmp_path, source, SandboxOptions(niceness=niceness)))
        said = [int(word) for word in outcome.output.split()]
        assert said[0] == min(own + niceness, 19) and said[1:] == [niceness] * (len(said) - 1)


async def test_nothing_runs_at_the_level_none_and_everything_at_full(tmp_path: Path, host: Host) -> None:
    fresh = Host(sys.executable)
    untrusted = replace(job(tmp_path, "open('ran', 'w')", SandboxOptions()), access=Access.NONE)
    with pytest.raises(HostError, match="Nothing was run"):
        await fresh.run(untrusted, lambda _: None)
    assert fresh.hello is None and not (tmp_path / "ran").exists()
    outcome = await analyze(host, replace(untrusted, access=Access.FULL))
    assert (outcome.status, outcome.sandbox, (tmp_path / "ran").exists()) == (Status.OK, "", True)


@pytest.mark.parametrize(
    ("file", "kinds"),
    [pytest.param(file, kinds, id=file.stem) for file, kinds in zip(EXAMPLES, KINDS_OF_EXAMPLES, strict=True)],
)
async def test_a_sandbox_changes_no_finding(file: Path, kinds: list[str], host: Host) -> None:
    given = Job(str(file), timeout_s=120.0)
    without = await analyze(host, replace(given, access=Access.FULL))
    for strongest in map(SandboxKind, kinds):
        within = await analyze(host, replace(given, sandbox=SandboxOptions(strongest=strongest)))
        assert within.sandbox == offered(strongest.value)[0]
        assert (within.status, findings(within)) == (without.status, findings(without))


async def test_a_standby_is_replaced_when_its_packages_change(tmp_path: Path) -> None:
    site = tmp_path / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "real.pth").write_text(packages + "\n")
    (tmp_path / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    host = Host(str(python))
    try:
        first = await host.start()
        assert (await host.start()).pid == first.pid
        stamps = [installation_stamp(str(python), first.library_roots)]
        assert stamps[0] != installation_stamp(str(python), first.library_roots[:-1])
        (tmp_path / "pyvenv.cfg").write_text((tmp_path / "pyvenv.cfg").read_text() + "prompt = new\n")
        stamps.append(installation_stamp(str(python), first.library_roots))
        (site / "new_package").mkdir()
        stamps.append(installation_stamp(str(python), first.library_roots))
        assert len(set(stamps)) == len(stamps)
        running = asyncio.create_task(host.run(job(tmp_path, "print(1)", SandboxOptions()), lambda _: None))
        assert (await running).output == "1\n"
        assert host.hello is not None and host.hello.pid != first.pid
    finally:
        await host.close()
