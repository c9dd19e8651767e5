"""The hostile programs once more as an ordinary user, where the tests run as root: other namespaces, no capabilities, no control group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.hostile,
    # its observers look at what all processes of the machine share
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to be somebody else"),
]
HELPER = Path(__file__).parent / "ordinary_user.py"
TESTS = "tests/hostile/test_hostile.py"
FEW = (
    "closed_folder or limit_another or system_v or read_the_terminal or fill_secret or its_own_terminal or inode_flags or open_devices "
    "or fill_memory_files or lower_its_score"
)


def run_as_user(chosen: list[str]) -> str:
    pytest_command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        TESTS,
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *chosen,
    ]
    ran = subprocess.run([sys.executable, str(HELPER), *pytest_command], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    return ran.stdout


def test_some_programs_harm_nothing_of_an_ordinary_user() -> None:
    assert " passed" in run_as_user(["-k", FEW])


@pytest.mark.nightly
def test_no_program_harms_anything_of_an_ordinary_user() -> None:
    assert " passed" in run_as_user([])
