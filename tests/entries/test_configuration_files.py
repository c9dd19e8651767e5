"""A program that requires a configuration file gets one of its repository."""

from __future__ import annotations

import argparse
import sys
import types
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

made_up_arguments = agent_module("inputs.importing.made_up_arguments")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for path, text in (
        ("pyproject.toml", ""),
        (".github/configs/tiny.yaml", ""),
        ("examples/configs/large_model.yaml", "width: 4096"),
        ("examples/configs/tiny_model.yaml", "width: 8"),
        ("examples/configs/tiny_model.json", "{}"),
        ("package/train.py", "import yaml\n"),
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words", "wanted"),
    [
        ("config", "", "examples/configs/tiny_model.yaml"),
        ("--experiment", "path of a YAML file", "examples/configs/tiny_model.yaml"),
        ("--name", "what the run is called", "name"),
    ],
)
def test_it_is_the_small_one_of_the_kind_that_the_program_reads(
    repository: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str, wanted: str
) -> None:
    monkeypatch.setitem(
        sys.modules, "__main__", types.SimpleNamespace(__file__=str(repository / "package" / "train.py"))
    )
    monkeypatch.setattr(sys, "argv", ["train.py"])
    parser = argparse.ArgumentParser()
    parser.add_argument(name, help=words, **({"required": True} if name.startswith("-") else {}))
    told: list[list[str]] = []
    with made_up_arguments.made_up(told.append):
        parsed = parser.parse_args()
    (given,) = vars(parsed).values()
    assert given == (str(repository / wanted) if "/" in wanted else wanted)
    assert told == [[name]]


def test_without_one_it_is_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text("")
    monkeypatch.setitem(sys.modules, "__main__", types.SimpleNamespace(__file__=str(tmp_path / "train.py")))
    monkeypatch.setattr(sys, "argv", ["train.py"])
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    with made_up_arguments.made_up(lambda names: None):
        assert parser.parse_args().config == "config"
