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


READS = "import yaml\nsettings = yaml.safe_load(open(args.config))\n"


@pytest.mark.parametrize(
    ("default", "program", "is_found"),
    [
        (None, READS, True),
        ("configs/none.yaml", READS, True),
        # it can do without, or has one, or means something else
        (None, "import yaml\nif args.config:\n    settings = yaml.safe_load(open(args.config))\n", False),
        (None, READS + "name = args.config or 'small'\n", False),
        (None, "import yaml\nsettings = args.config\n", False),
        ("package/train.py", READS, False),
        ("examples/configs/large_model.yaml", READS, False),
        ("base", READS, False),
    ],
)
def test_an_option_whose_default_leads_to_none_has_one(
    repository: Path, monkeypatch: pytest.MonkeyPatch, default: str | None, program: str, is_found: bool
) -> None:
    (repository / "package" / "train.py").write_text(program)
    monkeypatch.chdir(repository)
    monkeypatch.setitem(
        sys.modules, "__main__", types.SimpleNamespace(__file__=str(repository / "package" / "train.py"))
    )
    monkeypatch.setattr(sys, "argv", ["train.py"])
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=default)
    parser.add_argument("--data")
    told: list[list[str]] = []
    with made_up_arguments.made_up(told.append):
        parsed = parser.parse_args()
    assert parsed.config == (str(repository / "examples/configs/tiny_model.yaml") if is_found else default)
    assert told == ([["--config"]] if is_found else []) and parsed.data is None


def test_an_option_that_was_passed_stays(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "package" / "train.py").write_text(READS)
    monkeypatch.setitem(
        sys.modules, "__main__", types.SimpleNamespace(__file__=str(repository / "package" / "train.py"))
    )
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="none.yaml")
    with made_up_arguments.made_up(lambda _: None):
        assert parser.parse_args(["--config", "other.yaml"]).config == "other.yaml"
