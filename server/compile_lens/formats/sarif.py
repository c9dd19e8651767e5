"""SARIF 2.1.0, as code scanning services read it: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import Any
from urllib.parse import quote

from compile_lens import __version__
from compile_lens.analysis.finding import Finding, Place, Severity
from compile_lens.analysis.outcome import TRACE_ENTRY, Outcome, Status
from compile_lens.diff.identity import Identity, TreeOf, identify, relative
from compile_lens.shown_text import notice

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}
# the root that relative paths are relative to: services put the checkout there
ROOT = "%SRCROOT%"
# of one run, as GitHub documents for uploads; what is beyond would have it refuse the whole file
MAX_RESULTS = 25_000
FINGERPRINT = "compileLens/v1"


def to_sarif(outcomes: list[Outcome], tree_of: TreeOf, root: str) -> str:
    """One run for all files that were run here, and one for each trace (rank); paths are relative to ``root``."""
    recorded = [outcome for outcome in outcomes if outcome.entry == TRACE_ENTRY]
    here = [outcome for outcome in outcomes if outcome.entry != TRACE_ENTRY]
    runs = [_run(here, tree_of, root, "check")] if here or not recorded else []
    runs += [_run([outcome], tree_of, root, f"trace {outcome.file}") for outcome in recorded]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=2)


def _run(outcomes: list[Outcome], tree_of: TreeOf, root: str, name: str) -> dict[str, Any]:
    findings = [finding for outcome in outcomes for finding in outcome.findings][:MAX_RESULTS]
    identities = [identify(finding, tree_of, root) for finding in findings]
    rules: dict[str, Finding] = {}
    for finding in findings:
        rules.setdefault(finding.code, finding)
    order = list(rules)
    seen: Counter[Identity] = Counter()
    results = []
    for finding, identity in zip(findings, identities, strict=True):
        results.append(_result(finding, order.index(finding.code), _fingerprint(identity, seen[identity]), root))
        seen[identity] += 1
    failures = [outcome for outcome in outcomes if outcome.status is Status.FAILED]
    return {
        "tool": {
            "driver": {
                "name": "compile-lens",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rules[code]) for code in order],
            }
        },
        "automationDetails": {"id": f"compile-lens/{name}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not failures,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": notice(outcome.failure)},
                        "locations": [_file(outcome.file, root)],
                    }
                    for outcome in failures
                ],
            }
        ],
        "results": results,
    }


def _rule(finding: Finding) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": finding.code,
        "name": "".join(part.capitalize() for part in finding.kind.value.split("-")),
        "shortDescription": {"text": finding.kind.row.title},
        "fullDescription": {"text": f"{finding.kind.row.title}: {_plain(finding.kind.row.meaning)}."},
        "defaultConfiguration": {"level": LEVELS[finding.kind.row.severity]},
        "properties": {"tags": ["torch.compile", finding.kind.value]},
    }
    if finding.url:
        rule["helpUri"] = finding.url
    return rule


def _result(finding: Finding, rule: int, fingerprint: str, root: str) -> dict[str, Any]:
    text = notice("\n".join([finding.message, finding.explanation, *finding.hints]).strip())
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding.place, root)],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "occurrenceCount": finding.count,
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": notice(related.message)}, **_location(related.place, root)}
            for number, related in enumerate(finding.related, 1)
        ]
    return result


def _location(place: Place, root: str) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column, "endLine": place.end_line}
    if (place.end_line, place.end_column) >= (place.line, place.column):
        region["endColumn"] = place.end_column
    found = _file(place.file, root)
    found["physicalLocation"]["region"] = region
    return found


def _file(file: str, root: str) -> dict[str, Any]:
    path = relative(file, root)
    artifact = {"uri": quote(os.fsencode(path.replace("\\", "/")))}
    if path != file:
        artifact["uriBaseId"] = ROOT
    return {"physicalLocation": {"artifactLocation": artifact}}


def _fingerprint(identity: Identity, before: int) -> str:
    """Stable while the code stands where it stands in its function; ``before`` findings of this identity come first."""
    parts = [identity.kind, identity.code, identity.cause, identity.file, identity.function, identity.text, str(before)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(markdown: str) -> str:
    return markdown.replace("`", "")
