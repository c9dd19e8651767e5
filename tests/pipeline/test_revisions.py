"""The files of a git revision, of a repository that anybody may have made."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from compile_lens.pipeline.revisions import RevisionError, revision
from compile_lens.workers.git import EndlessAnswerError, run_git


def git(folder: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=text, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "config", "user.email", "a@example.com")
    git(folder, "config", "user.name", "a")
    (folder / "model.py").write_text("print(1)\n")
    return folder


def commit_tree(folder: Path, tree: str) -> None:
    git(folder, "update-ref", "HEAD", git(folder, "commit-tree", "-m", "x", tree))


def test_a_repository_with_links_that_lead_out_of_it_is_unpacked(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    (root / "elsewhere").symlink_to("/etc/passwd")
    (root / "here.py").symlink_to("model.py")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    with revision("HEAD", root / "model.py") as found:
        assert (found.folder / "here.py").read_text() == "print(1)\n"
        assert (found.folder / "elsewhere").readlink() == Path("/etc/passwd")


def test_a_tree_that_names_a_link_and_a_folder_alike_writes_nothing_elsewhere(tmp_path: Path) -> None:
    root, outside = repository(tmp_path / "repository"), tmp_path / "outside"
    outside.mkdir()
    blob = git(root, "hash-object", "-w", "model.py")
    target = git(root, "hash-object", "-w", "--stdin", text=str(outside))
    inner = git(root, "mktree", text=f"100644 blob {blob}\tescaped.py\n")
    commit_tree(root, git(root, "mktree", text=f"120000 blob {target}\ta\n040000 tree {inner}\ta\n"))
    with revision("HEAD", root) as found:
        assert (found.folder / "a" / "escaped.py").read_text() == "print(1)\n"
    assert not list(outside.iterdir())


def test_git_starts_no_program_that_a_repository_names_for_what_it_lacks(tmp_path: Path) -> None:
    """A partial clone fetches objects that it does not have, with the program in its configuration."""
    root = repository(tmp_path / "repository")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    tree = git(root, "rev-parse", "HEAD^{tree}")
    ran = tmp_path / "ran"
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::touch {ran}"),
        ("protocol.ext.allow", "always"),
    ):
        git(root, "config", name, value)
    (root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with contextlib.suppress(RevisionError), revision("HEAD", root):
        pass
    assert not ran.exists()
    with contextlib.suppress(subprocess.CalledProcessError):
        git(root, "archive", "HEAD")
    assert ran.exists(), "this test tests nothing: git would not start it either"


def test_files_that_look_like_a_repository_are_none(tmp_path: Path) -> None:
    """They come with a clone, and their configuration would be the clone's author's."""
    theirs, clone = repository(tmp_path / "theirs"), tmp_path / "clone"
    (theirs / ".gitattributes").write_text("* filter=x\n")
    git(theirs, "add", ".")
    git(theirs, "commit", "-qm", "x")
    repository(clone)
    shutil.copytree(theirs / ".git", clone / "sub")
    started = tmp_path / "started"
    (clone / "sub" / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n[filter "x"]\n\tsmudge = "touch {started}; cat"\n'
    )
    shutil.copy(theirs / "model.py", clone / "sub")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "x")
    with revision("HEAD", clone / "sub" / "model.py") as found:
        assert found.root == clone
        assert (found.folder / "sub" / "model.py").read_text() == "print(1)\n"
    # nor where nothing else is a repository
    (clone / ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(RevisionError, match="is not in a git repository"), revision("HEAD", clone / "sub" / "model.py"):
        pass
    assert run_git(clone / "sub", ["rev-parse", "HEAD"]).returncode
    assert not started.exists()


def test_a_revision_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    blob = git(root, "hash-object", "-w", "model.py")
    tree = git(root, "mktree", text="".join(f"100644 blob {blob}\t{number}.py\n" for number in range(10)))
    for _ in range(9):
        tree = git(root, "mktree", text="".join(f"040000 tree {tree}\t{number}\n" for number in range(10)))
    commit_tree(root, tree)
    with pytest.raises(RevisionError, match="'HEAD' is too large to be compared"), revision("HEAD", root):
        pass


def test_git_is_not_waited_for_without_end(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    with pytest.raises(EndlessAnswerError, match="takes more than"):
        run_git(root, ["-c", "alias.wait=!sleep 600", "wait"], timeout_s=0.2)


def test_a_revision_that_cannot_be_had_is_told_in_a_sentence(tmp_path: Path) -> None:
    root = repository(tmp_path / "repository")
    blob = git(root, "hash-object", "-w", "model.py")
    commit_tree(root, git(root, "mktree", text=f"100644 blob {blob}\t{'n' * 5000}\n"))
    with pytest.raises(RevisionError, match="'HEAD' cannot be unpacked"), revision("HEAD", root):
        pass
    with pytest.raises(RevisionError, match="is not a revision"), revision("a\0b", root):
        pass


def test_no_program_checks_the_signature_that_a_text_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signature and text come with a clone; the programs may ask servers for keys."""
    root, started = repository(tmp_path / "repository"), tmp_path / "started"
    (root / ".gitattributes").write_text("model.py export-subst\n")
    (root / "model.py").write_text("# $Format:%G?$\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    head, _, message = git(root, "cat-file", "commit", "HEAD").partition("\n\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for program, begin in (("gpg", "PGP SIGNATURE"), ("gpgsm", "SIGNED MESSAGE")):
        (programs / program).write_text(f"#!/bin/sh\ntouch {started}\ncat > /dev/null\n")
        (programs / program).chmod(0o700)
        signed = f"{head}\ngpgsig -----BEGIN {begin}-----\n \n iQEz\n -----END {begin}-----\n\n{message}\n"
        name = git(root, "hash-object", "-t", "commit", "-w", "--stdin", text=signed)
        with revision(name, root) as found:
            assert "$Format" in (found.folder / "model.py").read_text()
        assert not started.exists()
        git(root, "archive", "--output", str(tmp_path / "a.tar"), name)
        assert started.exists(), "this test tests nothing: git would not start it either"
        started.unlink()
