"""What only the user can decide is said for each rule that needs it."""

from __future__ import annotations

import ast
from pathlib import Path

from compile_lens.fixes.decisions import QUESTIONS, to_decide
from compile_lens.fixes.fix import FixKind, make

ROOT = Path(__file__).parents[2]
REWRITES = ROOT / "server" / "compile_lens" / "fixes" / "rewrites"
APPLIED_OR_NEVER_NAMED = {"CHANGE", "UNSAFE", "IGNORE", "KEEP"}
# a name that is put together in the source
BY_NAME = {"guard-or-false", "guard-or-true"}


def rules_left_to_the_user() -> set[str]:
    """The first argument of each call of ``make`` with a kind that is not applied by itself."""
    found = set(BY_NAME)
    for file in REWRITES.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "make":
                continue
            kind = next((keyword.value for keyword in node.keywords if keyword.arg == "kind"), None)
            names = {each.attr for each in ast.walk(kind) if isinstance(each, ast.Attribute)} if kind else {"CHANGE"}
            rule = node.args[0]
            if isinstance(rule, ast.Constant) and (isinstance(kind, ast.Name) or names - APPLIED_OR_NEVER_NAMED):
                found.add(str(rule.value))
    return found


def test_each_rule_that_is_left_to_the_user_says_what_to_decide() -> None:
    assert rules_left_to_the_user() == set(QUESTIONS)


def test_the_page_has_the_same_questions() -> None:
    page = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8")
    for rule, question in QUESTIONS.items():
        row = next((line for line in page.splitlines() if line.endswith(f"| {question} |")), "")
        assert f"`{rule}`" in row, (rule, question)


def test_rules_with_the_same_question_share_it() -> None:
    left = [make(rule, "Do it", kind=FixKind.LOSSY) for rule in ("log-in-eager", "disable", "ignore-logging")]
    message = "whether the message may be missing where the code is compiled (log-in-eager, ignore-logging)"
    assert to_decide(left) == f"decide {message}, or whether this code may run in eager, between two graphs (disable)"
    assert to_decide([]) == ""
