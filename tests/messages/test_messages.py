"""Every message template is on docs/messages.md, and is written as the product speaks."""

from __future__ import annotations

import ast

import pytest
from tests.messages.client import client_templates
from tests.messages.examples import PRIVATE, load, match, still_right
from tests.messages.language import RULES, Rule, violations
from tests.messages.not_shown import KEYS, NEVER_SHOWN
from tests.messages.page import COMMAND, PAGE, all_templates, current
from tests.messages.templates import PACKAGE, Template, texts_of

SOURCE = '''
def say(count, name, why):
    """A docstring is for the reader of the source."""
    if name == "the one that is meant" or name.startswith("what begins so"):
        log.debug("nobody reads this line")
    return Finding(
        message=f"Recompiled `{name}` {count} time{'s' if count > 1 else ''}: "
        "size 0 changed" + why.lower(),
        hints=("Mark it %s before the first call." % name,),
    )

@click.command()
@click.option("--long", help="Run it for longer.")
def run():
    """Run each FILE once.

    The exit code is 0.
    """
'''


def test_the_page_is_what_the_source_says() -> None:
    if PAGE.read_text() != current():
        pytest.fail(f"{PAGE.name} is out of date: run `{COMMAND}` and read the difference.", pytrace=False)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name.replace(" ", "-"))
def test_the_language(rule: Rule) -> None:
    found = violations(rule, all_templates(), load())
    if found:
        pytest.fail(f"{rule.name} (write {rule.instead}):\n" + "\n".join(found), pytrace=False)


def test_examples_are_of_templates_and_of_no_private_folder() -> None:
    examples = load()
    assert still_right(all_templates(), examples) == examples
    assert not [example for example in examples.values() if PRIVATE.search(example)]


def test_what_is_left_out_is_there() -> None:
    """An entry of the list of texts that are not shown, of which the source has no text any more, is to be removed."""
    left_out = {
        f"{file.name}::{where}" for file in PACKAGE.rglob("*.py") for where, *_ in texts_of(ast.parse(file.read_text()))
    }
    assert set(NEVER_SHOWN) <= left_out
    texts = {text for file in PACKAGE.rglob("*.py") for _, text, *_ in texts_of(ast.parse(file.read_text()))}
    assert texts >= KEYS


def test_reading_python() -> None:
    assert [(where, text, role) for where, text, _, role in texts_of(ast.parse(SOURCE)) if " " in text] == [
        ("say", "Recompiled `{name}` {count} time{s|}: size 0 changed{why}", ""),
        ("say", "Mark it {name} before the first call.", ""),
        ("run", "Run each FILE once.", "help"),
        ("run", "The exit code is 0.", "help"),
        ("run", "Run it for longer.", "help"),
    ]


def test_reading_the_extension() -> None:
    texts = {template.text for template in client_templates(set())}
    assert "Analyze Current File" in texts
    assert any("{" in text for text in texts)


def test_examples_are_found_by_the_words() -> None:
    template = Template("room", "file.py", "say", "{count} graph{s|} of `{name}`", ("", " graph", " of `", "`"))
    part = Template("room", "file.py", "say", " and {n} more causes", (" and ", " more causes"))
    lines = ["a line", "it has 3 graphs of `f` and 2 more causes", "1 graph of `net`"]
    assert match([template, part], lines, [], {}) == {template.text: lines[2], part.text: lines[1]}
    assert match([template], lines, [], {template.text: "4 graph of `net`"}) == {template.text: "4 graph of `net`"}
