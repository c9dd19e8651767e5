"""What is swept out of the temporary folder, where anybody may put anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from compile_lens.temporary_folders import PREFIX, sweep


def test_names_that_nobody_gave_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["²-a", "-a", "1²-a", f"{'9' * 200}-a", "x-a", "-1-a"]
    for name in names:
        (tmp_path / f"{PREFIX}{name}").mkdir()
    left = tmp_path / f"{PREFIX}{2**31 - 2}-a"
    left.mkdir()
    sweep()
    assert not left.exists()
    assert (tmp_path / f"{PREFIX}²-a").exists()


MAKERS = {
    "an archive of a trace": "from compile_lens.trace.files import unpacked\nkept = unpacked(Path('trace.tar'))\nkept.__enter__()",
    "a revision": "from compile_lens.pipeline.revisions import revision\nkept = revision('HEAD', Path('.'))\nkept.__enter__()",
    "caches": "from compile_lens.workers.caches import temporary_cache\ntemporary_cache({})",
    "a test run": "from compile_lens.pytest_plugin.suite import Suite\nSuite(False)",
}
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
@pytest.mark.parametrize("made", MAKERS.values(), ids=MAKERS)
def test_what_a_killed_process_has_made_is_deleted_by_a_later_command(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text("V1122 10:00:00.000000 1 torch/x.py:1] {}\n")
    with tarfile.open(tmp_path / "trace.tar", "w") as archive:
        archive.add(tmp_path / "dedicated_log_torch_trace_a.log", "dedicated_log_torch_trace_a.log")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    text = f"import os\nfrom pathlib import Path\n{made}\nos.kill(os.getpid(), {int(signal.SIGKILL)})"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    environment.pop("TORCH_TRACE", None)
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=environment, check=False)
    (left,) = temporary.iterdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    sweep()
    assert not left.exists()
