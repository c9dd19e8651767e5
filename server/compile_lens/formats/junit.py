"""JUnit's XML, which every CI service shows: one suite a file, one case a finding."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from compile_lens.analysis.finding import Finding, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.diff.identity import relative

# what XML 1.0 has no place for: https://www.w3.org/TR/xml/#charsets
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(outcomes: list[Outcome], root: str, fails_at: Severity | None) -> str:
    """Findings at or above ``fails_at`` are failures, the others are passed cases with their text; a clean file is one passed case."""
    suites = ElementTree.Element("testsuites", name="compile-lens")
    for outcome in outcomes:
        _add_suite(suites, outcome, root, fails_at)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    # the same for whoever reads XML, and no command to a CI service in whose log it is printed
    return '<?xml version="1.0" encoding="utf-8"?>\n' + text.replace("::", "&#58;:").replace("##", "&#35;#")


def _add_suite(suites: ElementTree.Element, outcome: Outcome, root: str, fails_at: Severity | None) -> None:
    failing = [finding for finding in outcome.findings if _fails(finding, fails_at)]
    is_failed = outcome.status is Status.FAILED
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        name=relative(outcome.file, root),
        tests=str(max(len(outcome.findings) + is_failed, 1)),
        failures=str(len(failing)),
        errors=str(int(is_failed)),
        time=f"{outcome.duration_s:.3f}",
    )
    if is_failed:
        case = _case(suite, outcome, root, "analysis")
        ElementTree.SubElement(case, "error", message=_clean(outcome.failure), type="failed")
    for finding in outcome.findings:
        place = f"{relative(finding.place.file, root)}:{finding.place.line}"
        case = _case(suite, outcome, root, f"{finding.code} at {place}")
        text = _clean("\n".join([f"{place}: {finding.message}", finding.explanation, *finding.hints]).strip())
        if _fails(finding, fails_at):
            failure = ElementTree.SubElement(case, "failure", message=_clean(finding.message), type=finding.code)
            failure.text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    if not outcome.findings and not is_failed:
        _case(suite, outcome, root, "no findings")


def _case(suite: ElementTree.Element, outcome: Outcome, root: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=relative(outcome.file, root), name=_clean(name))


def _fails(finding: Finding, fails_at: Severity | None) -> bool:
    return fails_at is not None and finding.severity.rank <= fails_at.rank


def _clean(text: str) -> str:
    return FORBIDDEN.sub("�", text)
