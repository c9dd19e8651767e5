"""Text of a program in an issue or a comment on GitHub: it calls nobody, and is mentioned nowhere else."""

from __future__ import annotations

import random

import pytest
from markdown_it import MarkdownIt

from compile_lens.shown_text import code_span, github_cell, github_text, markdown_text, text_cell, visible

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
REFERENCES = (
    "@octocat", "@org/team", "owner/repo#1", "#1", "GH-12", "gh-12", "owner/repo@a5c3785ed8d6a35868bc169f07e40e889087fd2e", "a5c3785",
    ":smile:", "https://github.com/o/r/issues/1", "www.example.com", "(see:@octocat)", "me@example.com",
)  # fmt: skip
PIECES = (*REFERENCES, *"`\\[](){}*_#|@: \n.,", "``", "word", "1", "`x`", "\\@", "\\#")


def outside_of_code(markdown: str) -> str:
    """The text that GitHub looks through: it leaves out what is code."""
    tokens = [token for top in RENDERER.parse(markdown) for token in (top.children or ())]
    return " ".join(token.content for token in tokens if token.type in ("text", "text_special"))


@pytest.mark.parametrize("said", REFERENCES)
def test_a_reference_is_code(said: str) -> None:
    for markdown in (github_text(f"a {said}. b"), github_text(f"\\{said}"), github_text(f"`_{said}")):
        assert said.strip("()") in markdown
        assert said.strip("()") not in outside_of_code(markdown)


def test_it_says_the_same_and_nothing_leaves_its_code() -> None:
    source = random.Random(7)
    for _ in range(1500):
        said = "".join(source.choices(PIECES, k=source.randint(1, 9)))
        markdown = github_text(said)
        left = outside_of_code(f"Because {markdown} {code_span(said)}.")
        assert not any(f" {each} " in f" {left} " for each in REFERENCES), (said, markdown)
        assert "@o" not in left
        shown = [token.content for top in RENDERER.parse(markdown) for token in (top.children or ())]
        assert "".join("".join(shown).replace("`", "").split()) == "".join(visible(said).replace("`", "").split()), said
        cell = github_cell(said)
        assert sum(token.type == "td_open" for token in RENDERER.parse(f"|a|b|\n|-|-|\n| {cell} | x |")) == 2


@pytest.mark.parametrize("said", ["2.5 s - 3 of `x` (4, 5): 1/2 a.b.c", "`@torch.compile` of x: y", "# a *b*"])
def test_other_words_are_as_elsewhere(said: str) -> None:
    assert github_text(said) == markdown_text(said)
    assert github_cell(said) == text_cell(said)


def test_a_word_without_end_takes_no_longer() -> None:
    assert github_text(":a" * 200_000 + "@b")
    assert github_text("a" * 400_000)
