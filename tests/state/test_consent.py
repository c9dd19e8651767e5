"""Consent: what may run, and how the answer is kept."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from compile_lens.settings.settings import Consent
from compile_lens.state.consent import ConsentStore, Permission, permission

BOTH = (False, True)


def test_nothing_runs_in_a_workspace_that_is_not_trusted() -> None:
    for setting, remembered, declined in product(Consent, BOTH, BOTH):
        assert permission(False, setting, remembered, declined) is Permission.UNTRUSTED


@pytest.mark.parametrize(
    ("setting", "remembered", "declined", "expected"),
    [
        (Consent.ASK, False, False, Permission.ASK),
        (Consent.ASK, True, False, Permission.ALLOWED),
        (Consent.ASK, False, True, Permission.REFUSED),
        (Consent.ALWAYS, False, False, Permission.ALLOWED),
        (Consent.NEVER, True, False, Permission.REFUSED),
    ],
)
def test_in_a_trusted_one_the_setting_and_the_answer_decide(
    setting: Consent, remembered: bool, declined: bool, expected: Permission
) -> None:
    assert permission(True, setting, remembered, declined) is expected


@pytest.mark.parametrize(
    ("setting", "remembered", "expected"),
    [
        (None, False, Permission.UNSET),
        (None, True, Permission.ALLOWED),
        (Consent.ASK, False, Permission.ASK),
        (Consent.ALWAYS, False, Permission.ALLOWED),
        (Consent.NEVER, True, Permission.REFUSED),
    ],
)
def test_without_a_trust_api_nothing_runs_until_a_setting_or_the_user_says_so(
    setting: Consent | None, remembered: bool, expected: Permission
) -> None:
    assert permission(None, setting, remembered, declined=False) is expected


def test_an_answer_is_remembered_for_one_root_and_can_be_taken_back(tmp_path: Path) -> None:
    store = ConsentStore(tmp_path / "state" / "consent")
    one, other = Path("/home/me/one"), Path("/home/me/other")
    assert not store.is_allowed(one)
    store.allow(one)
    assert store.is_allowed(one) and not store.is_allowed(other)
    assert ConsentStore(store.folder).is_allowed(one)
    store.allow(other)
    assert store.roots() == (one, other)
    store.revoke(one)
    store.revoke(one)
    assert not store.is_allowed(one)
    assert store.roots() == (other,)
    store.revoke(other)
    assert list(store.folder.iterdir()) == []


def test_a_link_that_leads_elsewhere_now_is_not_what_was_allowed(tmp_path: Path) -> None:
    store, link = ConsentStore(tmp_path / "consent"), tmp_path / "link"
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    link.symlink_to("mine")
    store.allow(link)
    assert store.is_allowed(link) and store.roots() == (link,)
    link.unlink()
    link.symlink_to("theirs")
    assert not store.is_allowed(link) and store.roots() == ()


def test_who_allowed_single_files_has_not_allowed_what_lies_below(tmp_path: Path) -> None:
    store, home = ConsentStore(tmp_path / "consent"), tmp_path
    store.allow(home, with_subfolders=False)
    assert store.is_allowed(home) and not store.is_allowed(home, with_subfolders=True)
    store.allow(home)
    store.allow(home, with_subfolders=False)
    assert store.is_allowed(home, with_subfolders=True)


def test_a_broken_file_is_no_consent(tmp_path: Path) -> None:
    store = ConsentStore(tmp_path)
    store.allow(Path("/home/me/one"))
    (file,) = tmp_path.iterdir()
    for content in (
        b"",
        b"{",
        b"[]",
        b'{"root": "/home/me/two", "allowed": true}',
        b'{"root": "/home/me/one"}',
        b"\xff",
    ):
        file.write_bytes(content)
        assert not store.is_allowed(Path("/home/me/one"))
        assert store.roots() == ()


def test_permission_for_gpus_is_part_of_the_answer(tmp_path: Path) -> None:
    store = ConsentStore(tmp_path / "consent")
    root = Path("/home/me/one")
    assert not store.gpu(root)
    store.allow(root, gpu=True)
    assert store.gpu(root) and store.is_allowed(root)
    store.allow(root)
    assert not store.gpu(root) and store.is_allowed(root)
    store.allow(root, gpu=True)
    store.revoke(root)
    assert not store.gpu(root)
