"""A program that lacked something is told the command line that starts it."""

from __future__ import annotations

import pytest

from compile_lens.analysis.how_to_start import argument_with_default, arguments_for, hints_for
from compile_lens.knowledge.libraries import distribution_of

ARGPARSE = """\
parser.add_argument("config_path", type=Path)
parser.add_argument("--mode", "-m", choices=["fast", "slow"], required=True)
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--parameters", default="parameters.yaml")
"""


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("the following arguments are required: config_path, --mode/-m, --rate", "CONFIG_PATH --mode fast --rate 1"),
        ("the following arguments are required: {train,eval}", "train"),
        ("Missing option '--out-dir' / '-o'.", "--out-dir OUT_DIR"),
        ("Missing argument 'PATH'.", "PATH"),
        ("argument --rate: invalid float value: 'x'", ""),
    ],
)
def test_arguments_have_values_where_they_are_declared(message: str, line: str) -> None:
    assert arguments_for(message, [ARGPARSE, "no Python ("]) == line


def test_a_missing_file_is_passed_by_the_option_that_names_it() -> None:
    assert argument_with_default("parameters.yaml", [ARGPARSE]) == "--parameters"
    assert argument_with_default("other.yaml", [ARGPARSE]) == ""


def hints(kind: str, message: str, line: str) -> list[str]:
    return list(hints_for(kind, message, line, "compile-lens check a.py"))


def test_a_variable_of_the_environment_is_set() -> None:
    line = 'Path(os.getenv("DIR_WORK"))'
    assert hints("TypeError", "not NoneType", line) == [
        "Set the environment variable: `DIR_WORK=. compile-lens check a.py`."
    ]
    assert hints("KeyError", "'RANK'", 'rank = os.environ["RANK"]') == [
        "Set the environment variable: `RANK=VALUE compile-lens check a.py`."
    ]
    assert hints("ValueError", "x", line) == []


def test_only_a_known_library_is_named() -> None:
    assert hints("ModuleNotFoundError", "No module named 'cv2'", "import cv2") == [
        "Install it for the interpreter of the run: `pip install opencv-python-headless`."
    ]
    assert hints("ModuleNotFoundError", "No module named 'my_helpers'", "import my_helpers") == []
    # a part of an installed library is missing: another version has it
    assert hints("ModuleNotFoundError", "No module named 'torch.tensor'", "") == []
    assert distribution_of("pytorch_lightning") == "pytorch-lightning"
