"""Passwords that have blanks in them are hidden whole, and no more of a text than they are."""

from __future__ import annotations

import pytest

from compile_lens.workers.secret_parts import HIDDEN
from compile_lens.workers.secret_variables import hidden


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("postgres://me:plan ted words@db/x", "postgres://me:§@db/x"),
        ("postgres://me:plan ted@here@db.example:5432/x?n=1", "postgres://me:§@db.example:5432/x?n=1"),
        ("redis://:plan ted@localhost", "redis://:§@localhost"),
        ("postgres://me:plan/te d@db/x", "postgres://me:§@db/x"),
        ("use postgres://me:plan ted@db/x, or none", "use postgres://me:§@db/x, or none"),
        ("--password 'plan ted' -v", "--password '§' -v"),
        ('--db-password="plan \'t ed" -v', '--db-password="§" -v'),
        ('["--password", "plan ted", "-v"]', '["--password", "§", "-v"]'),
        ("curl -u 'me:plan ted' -v", "curl -u 'me:§' -v"),
        ("Server=db;Pwd=plan ted ;Timeout=3", "Server=db;Pwd=§ ;Timeout=3"),
        ("Server=db;Pwd=plan ted", "Server=db;Pwd=§"),
        ("password=planted host=db user=me", "password=§ host=db user=me"),
    ],
)
def test_they_are_hidden_whole(value: str, shown: str) -> None:
    assert hidden({"SETTING": value}) == {"SETTING": shown.replace("§", HIDDEN)}


@pytest.mark.parametrize(
    "value",
    [
        "http://host.example:8080 is mine, says me@corp.example",
        "see http://host.example:80/x and ask me@corp.example",
        "ssh://host.example and me@corp.example",
        "https://host.example/a b@c",
        "a: b://c d@e",
        "--password-file '/run/a b'",
        "PWD=/home/me and more; OLDPWD=/",
    ],
)
def test_a_text_with_an_address_and_somebodys_name_is_kept(value: str) -> None:
    assert hidden({"SETTING": value}) == {}
