"""Makes text that may come from an analyzed program safe to show: in a terminal, in Markdown, and in message boxes.

A program chooses the reasons of its graph breaks, its messages and its names. None of that may move a terminal's cursor, set its title,
hide what it says, or become a link or an image.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable

from compile_lens.late_pattern import pattern
from compile_lens.unseen_characters import UNSEEN

# colors and the like, which logs are full of
_STYLE = pattern(r"\x1b\[[0-9;:]*m")
# which no text of several lines shows as escapes, and every name does
_LINE_END = pattern(r"[\n\t]")
_PUNCTUATION = pattern(r"[\\`*_<>\[\]#|~&]")
# what makes a list, a rule or a heading of a line
_LINE_START = pattern(r"(?m)^(?:([-+=])|(\d{1,9})([.)])(?=\s|$))")
_INDENT = pattern(r"(?m)^[ \t]+")
_SPAN = pattern(r"(?<!`)`([^`\n]+)`(?!`)")
# what the agents of Azure Pipelines and TeamCity take for a command in a line of a log (github.com/microsoft/azure-pipelines-agent,
# WorkerCommandManager.cs; TeamCity's documentation: "Service Messages"), and what GitHub Actions once did
COMMAND_IN_HASHES = pattern(r"##(?=(?:vso|teamcity)?\[)", re.IGNORECASE)
# what the runner of GitHub Actions takes for one (github.com/actions/runner, ActionCommandManager.cs)
_WORKFLOW_COMMAND = pattern(
    r"::(?=(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice|remove-matcher|"
    r"save-state|section|set-env|set-output|stop-commands|warning)\b)",
    re.IGNORECASE,
)
# what VS Code makes a picture of in a code lens, the status bar and lists (src/vs/base/common/iconLabels.ts)
_ICON = pattern(r"\$(?=\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\))")
# What GitHub makes a mention, a reference, a link or a picture of, in the rendered text: an escape does not count, only whether it is code
# (docs.github.com "Autolinked references and URLs", "Basic writing and formatting syntax")
_REFERENCE = pattern(r"@\w|#\d|:[\w+-]+:|://|(?<![^\W_])(?:gh-\d|www\.|[0-9a-f]{7,40}(?![^\W_]))", re.IGNORECASE)
_WORD = pattern(r"[^\s`]+")
_AROUND_A_WORD = "([.,;!?)]"
_UNSAFE_IN_URI = pattern(r"[^\w\-.~:/?#@!$'*+,;=%]")


def visible(text: str) -> str:
    """``text`` with every control character in the way Python writes it (``\\x1b``), except newlines and tabs; colors are left out."""
    if text.isascii() and text.isprintable():
        return text
    return UNSEEN.sub(_written, _STYLE.sub("", text).replace("\r\n", "\n"))


def visible_name(name: str) -> str:
    """``name``, of a file or a folder, in one line: what follows a newline in it would look like a line of ours."""
    return _LINE_END.sub(_written, visible(name.replace("\r", "\\x0d")))


def without_workflow_commands(text: str) -> str:
    """``text`` for the log of a CI service, where a program must not set outputs, or hide what is said after it."""
    return COMMAND_IN_HASHES.sub(r"\\x23#", _WORKFLOW_COMMAND.sub(r"\\x3a:", text))


def one_line(text: str) -> str:
    """``text`` in one line, as the title of a page or a comment of a script."""
    return " ".join(visible(text).split())


def shell_line(words: Iterable[str]) -> str:
    """A command for a POSIX shell. It can be put into a terminal, which would obey control characters in it: bash, ksh and
    zsh read ``$'\\x1b'``."""
    return " ".join(map(_shell_word, words))


def notice(text: str) -> str:
    """``text`` for a message box of an editor, or for SARIF, where ``[label](address)`` is a link, in VS Code of a command, too."""
    return visible(text).replace("](", "] (")


def line_of_notice(sentence: str) -> str:
    """As ``notice``, for one sentence of ours: a newline in it is that of a name, and what follows would look like a line of ours."""
    return notice(visible_name(sentence))


def label(text: str) -> str:
    """``text`` for a code lens or the progress of an editor, of one line, where ``$(check)`` is a picture in VS Code."""
    return _ICON.sub("$ ", visible_name(text))


def markdown_text(text: str) -> str:
    """``text`` in Markdown, as it is. What stands between two single backticks is code; nothing else is markup.

    Every other backtick is escaped, so that none can end the code span of something else.
    """
    return _marked(text, code_span)


def github_text(text: str) -> str:
    """As ``markdown_text``, for an issue or a comment: what GitHub would make a mention or a reference of, which tells others, is code."""
    return _marked(text, code_span, for_github=True)


def code_span(text: str) -> str:
    """``text`` as code within a line of Markdown, whatever it contains."""
    text = " ".join(visible(text).split())
    fence = "`" * (_longest_run(text) + 1)
    # an empty span would be two backticks that wait for two others
    return f"{fence} {text} {fence}" if "`" in text else f"`{text or ' '}`"


def code_cell(text: str) -> str:
    """``text`` as code in a table of Markdown."""
    return code_span(text).replace("|", r"\|")


def text_cell(text: str) -> str:
    """``text`` in a table of Markdown."""
    return _marked(" ".join(text.split()), code_cell)


def github_cell(text: str) -> str:
    """As ``github_text``, in a table."""
    return _marked(" ".join(text.split()), code_cell, for_github=True)


def code_block(text: str, language: str = "text") -> str:
    """Lines of code in Markdown, whatever they contain."""
    text = visible(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def link(label: str, uri: str) -> str:
    """A link in Markdown to a place that we chose; ``label`` is plain text."""
    return f"[{markdown_text(' '.join(label.split()))}]({_UNSAFE_IN_URI.sub(_quoted, uri)})"


def spans(text: str) -> list[tuple[str, bool]]:
    """``text`` in pieces, each with whether it is code: for an editor that is given text instead of Markdown."""
    text = visible(text)
    pieces, end = [], 0
    for span in _SPAN.finditer(text):
        pieces += [(text[end : span.start()], False), (span[1], True)]
        end = span.end()
    return [piece for piece in (*pieces, (text[end:], False)) if piece[0]]


def _marked(text: str, span_of: Callable[[str], str], for_github: bool = False) -> str:
    # four columns more would make a line a block of code
    text = _INDENT.sub("", visible(text).strip())
    parts, end = [], 0
    for span in _SPAN.finditer(text):
        parts += [_between(text[end : span.start()], span_of, for_github), span_of(span[1])]
        end = span.end()
    parts.append(_between(text[end:], span_of, for_github))
    return _LINE_START.sub(_escaped_start, "".join(parts))


def _between(text: str, span_of: Callable[[str], str], for_github: bool) -> str:
    """What stands around spans."""
    parts, end = [], 0
    for word in _WORD.finditer(text) if for_github else ():
        if _REFERENCE.search(word[0]):
            start = word.end() - len(word[0].lstrip(_AROUND_A_WORD))
            parts.append(_escaped(text[end:start]))
            end = word.start() + len(word[0].rstrip(_AROUND_A_WORD))
            parts.append(span_of(text[start:end]))
    return "".join((*parts, _escaped(text[end:])))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _escaped(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\g<0>", text)


def _escaped_start(match: re.Match[str]) -> str:
    mark, number, end = match.groups()
    return f"\\{mark}" if mark else f"{number}\\{end}"


def shell_argument(call: str) -> str:
    """``call`` as one word of a shell: in double quotes where it has single ones, which shells read alike."""
    is_plain = "'" in call and not set(call) & set('"$`\\!')
    return f'"{call}"' if is_plain else shlex.quote(call)


def _shell_word(word: str) -> str:
    if visible(word) == word and "\n" not in word and "\t" not in word:
        return shlex.quote(word)
    return "$'" + "".join(map(_shell_byte, os.fsencode(word))) + "'"


def _shell_byte(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}"


def _written(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _quoted(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))
