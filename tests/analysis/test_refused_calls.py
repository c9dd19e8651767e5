"""What the sandbox blocks is told with a noun for each verb that the agent says, and is an error only where it ended the program."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import compile_lens
from compile_lens.agent.sandbox.calls import CHANGES
from compile_lens.analysis.find import find
from compile_lens.analysis.finding import ENDED_HERE, SKIPPED, Place, Severity
from compile_lens.analysis.missing_requirements import missing_finding
from compile_lens.analysis.refused_calls import ALLOW, BLOCKED, find_refused
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import MissingRequirement, Raised, RaisedBeside, RefusedCall, RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.report import CompileReport, StackFrame

SANDBOX = Path(compile_lens.__file__).parent / "agent" / "sandbox"
CALLS = [SANDBOX / "calls.py", SANDBOX / "other_processes.py"]
# what is refused, in the words of the agent
WHAT = {"read", "write", "network", "process"}
# "a call that changes the mode of …" says it
WITHOUT_NOUN = {does for does, *_ in CHANGES.values() if does.startswith("changes ")}


def verbs() -> set[str]:
    """The verbs in what they return: (what, verb, target)."""
    found = {does for does, *_ in CHANGES.values()} | {"writes"}
    for node in (each for file in CALLS for each in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if (
            isinstance(node, ast.Tuple)
            and len(node.elts) == 3
            and isinstance(node.elts[0], ast.Constant)
            and node.elts[0].value in WHAT
        ):
            texts = (each.value for each in ast.walk(node.elts[1]) if isinstance(each, ast.Constant))
            found |= {text for text in texts if isinstance(text, str) and not text.startswith("socket.")}
    return found


def test_each_verb_of_the_agent_has_a_noun_and_no_noun_is_left() -> None:
    assert verbs() - WITHOUT_NOUN == set(BLOCKED)


@pytest.mark.parametrize("without_network", [False, True])
def test_a_missing_file_is_put_down_to_the_network_only_where_the_run_has_none(without_network: bool) -> None:
    missing = MissingRequirement("a dataset", "./data")
    finding = missing_finding(missing, Place("/a.py", 1, 1, 1, 1), "No such file", without_network, [], "")
    assert ("no network access" in finding.explanation) is without_network


@pytest.mark.parametrize(
    ("target", "may_be_allowed"), [("/proc/7/oom_score_adj", False), ("/sys/power/state", False), ("/data/m.pt", True)]
)
def test_nobody_is_told_to_allow_what_stays_read_only(target: str, may_be_allowed: bool) -> None:
    call = RefusedCall("write", "writes", target, (StackFrame("/w/a.py", 1, "f"),))
    sources = Sources("/w/a.py", lambda _: None)
    report = CompileReport()
    context = RunContext(report, sources, RegionIndex(report, "/w/a.py", None), refused=(call,), sandboxed=True)
    (finding,) = find_refused(context)
    assert (ALLOW["write"] in finding.hints) is may_be_allowed


STACK = (StackFrame("/w/a.py", 3, "<module>"),)
WRITE = RefusedCall("write", "writes", "/etc/x.log", STACK)
OF_CALL = "[Errno 13] blocked by the Compile Lens sandbox: '/etc/x.log'"
OF_NATIVE_CODE = "[Errno 30] Read-only file system: '/etc/x.log'"


def raised_with(message: str) -> Raised:
    return Raised("OSError", "builtins", message, STACK, formatted=f"Traceback\nOSError: {message}")


def context_of(**parts: object) -> RunContext:
    report = CompileReport()
    sources = Sources("/w/a.py", lambda _: None)
    return RunContext(report, sources, RegionIndex(report, "/w/a.py", None), sandboxed=True, **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(("message", "refused"), [(OF_CALL, (WRITE,)), (OF_NATIVE_CODE, ())])
def test_a_refusal_that_ended_a_statement_is_no_error_of_the_file(
    message: str, refused: tuple[RefusedCall, ...]
) -> None:
    beside = RaisedBeside("statement", raised_with(message))
    (finding,) = find(context_of(refused=refused, raised_aside=(beside,)))
    assert (finding.code, finding.severity, finding.explanation) == ("denied-write", Severity.INFORMATION, SKIPPED)
    assert ALLOW["write"] in finding.hints


@pytest.mark.parametrize(("message", "refused"), [(OF_CALL, (WRITE,)), (OF_NATIVE_CODE, ())])
def test_one_that_ended_the_program_is_an_error_of_the_sandbox(message: str, refused: tuple[RefusedCall, ...]) -> None:
    (finding,) = find(context_of(refused=refused, raised=raised_with(message)))
    assert (finding.code, finding.severity, finding.explanation) == ("denied-write", Severity.ERROR, ENDED_HERE)
    assert ALLOW["write"] in finding.hints
