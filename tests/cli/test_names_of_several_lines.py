"""A newline in the name of a file or a folder makes no line of its own in a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.test_consent_verb import in_a_terminal
from tests.command import Warm

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.cli.text_output import display_path, heading
from compile_lens.shown_text import visible_name
from compile_lens.state.consent import ConsentStore

FORGED = "a\n/root"
SHOWN = "a\\x0a/root"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b.py", "a b.py"),
        (FORGED, SHOWN),
        ("a\r\nb\tc\rd", "a\\x0d\\x0ab\\x09c\\x0dd"),
        ("a\u2028b\x85c\x1b[31md\x0b", "a\\u2028b\\x85cd\\x0b"),
    ],
)
def test_a_name_is_one_line(name: str, shown: str) -> None:
    assert visible_name(name) == shown


def test_places_are_one_line() -> None:
    assert display_path(f"{FORGED}/m.py") == f"{SHOWN}/m.py"
    assert display_path(str(Path.cwd() / FORGED / "m.py")) == f"{SHOWN}/m.py"
    place = Place(f"{FORGED}/m.py", 1, 1, 1, 2)
    said = heading(Finding("GB1", Kind.REFUSED, Severity.ERROR, "two\nlines", place))
    assert "".join(text for text, _ in said.pieces).splitlines() == [f"{SHOWN}/m.py:1:1: error[GB1] two", "lines"]


@pytest.mark.skipif(sys.platform != "linux", reason="moves the state directory as Linux does")
@pytest.mark.usefixtures("warm_command")
def test_workspaces_are_one_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "a\nb"
    folder.mkdir()
    code, said = in_a_terminal(["consent", "allow", str(folder)], "y", tmp_path)
    assert code == 0
    assert f"files of {tmp_path}/a\\x0ab and its" in said
    assert ConsentStore.of_user().roots() == (folder,)
    assert Warm(["consent", "list"], tmp_path).out == f"{tmp_path}/a\\x0ab\n"
    assert Warm(["consent", "revoke", str(folder)], tmp_path).out.startswith(f"{tmp_path}/a\\x0ab: background")
