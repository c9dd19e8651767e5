"""A run that ended by an exception has an error with the exception's words at the user's line, whatever raised it, and just one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.programs_that_raise import HEAD, programs

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

PROGRAMS = programs()


def run(folder: Path, warm_host: WarmHost, text: str) -> Outcome:
    file = folder / "program.py"
    file.write_text(text)
    return warm_host.run_choice(str(file), choose(str(file), text, None))


def errors(outcome: Outcome) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.severity is Severity.ERROR]


def line_of(text: str) -> int:
    return 1 + next(number for number, line in enumerate(text.splitlines()) if line.endswith("# here"))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_ended_the_run_is_an_error_at_its_line(tmp_path: Path, warm_host: WarmHost, name: str) -> None:
    text = PROGRAMS[name]
    outcome = run(tmp_path, warm_host, text)
    assert outcome.status is Status.RAISED
    (error,) = errors(outcome)
    assert error.place.line == line_of(text)
    words = name.partition(" :: ")[2]
    assert words in f"{error.message}\n{error.explanation}\n{error.detail}"
    assert not any("/agent/" in site.place.file for site in error.call_path)


def test_another_exception_than_the_one_that_was_told_is_told(tmp_path: Path, warm_host: WarmHost) -> None:
    text = HEAD + (
        "@torch.compile(backend='eager', fullgraph=True)\ndef f(x):\n    print('a')\n    return x\n"
        "try:\n    f(x)\nexcept Exception as error:\n    raise RuntimeError('step failed') from error  # here\n"
    )
    broken, ended = errors(run(tmp_path, warm_host, text))
    assert broken.code == "fullgraph-break"
    assert (ended.place.line, ended.message) == (line_of(text), "The program raised `RuntimeError`: step failed.")


def test_what_ends_a_thread_is_an_error_and_the_program_goes_on(tmp_path: Path, warm_host: WarmHost) -> None:
    text = HEAD + (
        "import threading\ndef work():\n    raise LookupError('lost')  # here\n"
        "t = threading.Thread(target=work, name='loader')\nt.start()\nt.join()\nadd(torch.ones(3))\n"
        "assert threading.excepthook is threading.__excepthook__\n"
    )
    outcome = run(tmp_path, warm_host, text)
    (error,) = errors(outcome)
    assert outcome.status is Status.OK
    assert (error.place.line, error.message) == (line_of(text), "The thread `loader` raised `LookupError`: lost.")


def test_what_ends_a_thread_of_a_library_is_no_error_of_the_program(tmp_path: Path, warm_host: WarmHost) -> None:
    text = HEAD + (
        "import socket, socketserver, threading\n"
        "server = socketserver.BaseServer(('', 0), None)\nserver.fileno = None\n"
        "t = threading.Thread(target=server.serve_forever, name='server')\nt.start()\nt.join()\nadd(torch.ones(3))\n"
    )
    outcome = run(tmp_path, warm_host, text)
    assert errors(outcome) == []
    (told,) = [finding for finding in outcome.findings if finding.message.startswith("The thread `server` raised")]
    assert told.severity is Severity.INFORMATION


def test_what_an_exit_function_raises_is_an_error_and_the_others_are_called(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    text = HEAD + (
        "import atexit\n@torch.compile(backend='eager')\ndef broken(x):\n    print('late')\n    return x + 1\n"
        "@atexit.register\ndef first():\n    broken(x)\n    sys.exit(3)\n"
        "@atexit.register\ndef second():\n    raise OSError('no space for the log')  # here\n"
    )
    outcome = run(tmp_path, warm_host, text)
    (error,) = errors(outcome)
    assert outcome.status is Status.OK
    expected = (line_of(text), "The exit function `second` raised `OSError`: no space for the log.")
    assert (error.place.line, error.message) == expected
    assert "graph-break" in {finding.kind.value for finding in outcome.findings}


def test_a_module_whose_import_fails_halfway_says_so(tmp_path: Path, warm_host: WarmHost) -> None:
    text = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x): return x + 1\nLIMIT = {}['none']  # here\n"
    outcome = run(tmp_path, warm_host, text)
    (error,) = errors(outcome)
    assert [call.target for call in outcome.calls] == ["Net"]
    assert (error.place.line, error.message) == (4, "At import: The program raised `KeyError`: 'none'.")


def test_an_error_that_the_program_handles_is_told_of_a_frame_that_was_refused(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    text = HEAD + (
        "@torch.compile(backend='eager', fullgraph=True)\ndef g(x):\n    yield x + 1\n"
        "try:\n    list(g(x))  # here\nexcept Exception:\n    pass\n"
    )
    outcome = run(tmp_path, warm_host, text)
    (error,) = errors(outcome)
    assert error.place.line == line_of(text)
    assert "not-compiled" not in {finding.code for finding in outcome.findings}


def test_a_file_that_is_no_python_says_so_and_what_stands_before_is_analyzed(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    (error,) = errors(run(tmp_path, warm_host, HEAD + "def g(x:  # here\n"))
    assert error.message == "The file cannot be run: SyntaxError: '(' was never closed."
    assert error.place.line == line_of(HEAD + "def g(x:  # here\n")
