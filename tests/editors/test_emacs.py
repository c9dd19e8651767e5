"""Emacs with `editors/emacs`: eglot starts the server, and its findings reach Flymake."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from processes import Mark

ROOT = Path(__file__).resolve().parents[2]
# a command with options, for an Emacs that is not installed
EMACS = shlex.split(os.environ.get("EMACS_FOR_TESTS", "")) or [shutil.which("emacs") or ""]
Run = Callable[[list[str], Path], dict[str, Any]]
SCRIPT = """\
(require 'eglot)
(load (getenv "CONFIGURATION"))
(defvar told nil)
(defvar asked nil)
(setq eglot-sync-connect 60 eglot-connect-timeout 60)
;; eglot asks in the minibuffer
(defun completing-read (prompt &rest _) (push prompt asked) "Allow")
(find-file (getenv "PROGRAM"))
(python-mode)
(apply #'eglot--connect (eglot--guess-contact))
(defun found ()
  (seq-filter (lambda (diagnostic) (string-match-p "GB0059" (flymake-diagnostic-text diagnostic))) (flymake-diagnostics)))
(flymake-start)
(let ((end (+ (float-time) 120)))
  (while (and (not (found)) (< (float-time) end))
    (accept-process-output nil 0.2)
    (flymake-start)))
(let ((finding (car (found))))
  (with-temp-file (getenv "TOLD")
    (insert (json-encode
             (list :asked (vconcat asked)
                   :text (and finding (flymake-diagnostic-text finding))
                   :line (and finding (with-current-buffer (flymake-diagnostic-buffer finding)
                                        (line-number-at-pos (flymake-diagnostic-beg finding)))))))))
(ignore-errors (eglot-shutdown (eglot-current-server)))
"""


def _has_eglot() -> bool:
    if not EMACS[0]:
        return False
    done = subprocess.run([*EMACS, "-Q", "--batch", "--eval", "(require 'eglot)"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.nightly
@pytest.mark.skipif(not _has_eglot(), reason="Emacs with eglot is not here; EMACS_FOR_TESTS names one")
def test_emacs_shows_what_torch_compile_did(project: Path, run: Run, mark: Mark) -> None:
    script = project.parent / "script.el"
    script.write_text(SCRIPT)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    said = run([*EMACS, "-Q", "--batch", "-l", str(script)], ROOT / "editors" / "emacs" / "compile-lens.el")
    assert said.get("line") == 6, said
    assert any("Compile Lens" in question for question in said["asked"])
    assert mark.none_left()
