"""Writes the command line that starts a program which lacked arguments, a variable of the environment or a library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from compile_lens.knowledge.libraries import distribution_of
from compile_lens.late_pattern import pattern

_REQUIRED = pattern(r"arguments are required: (.+)")
_OF_CLICK = pattern(r"Missing (option|argument) ['\"]?(--?[\w-]+|\w+)")
_UNKNOWN_MODULE = pattern(r"No module named '([^']+)'")
_VARIABLE = pattern(r"\b(?:environ\s*\[|environ\.get\(|getenv\()\s*['\"](\w+)['\"]")
_FOLDER = pattern(r"DIR|PATH|ROOT|FOLDER|HOME|CACHE", re.I)


def arguments_for(message: str, texts: Sequence[str]) -> str:
    """Arguments for a program that ended with ``message``, with values where one of its ``texts`` says what they are; '' if unknown."""
    declared = _declared(texts)
    found = _REQUIRED.search(message)
    if found is not None:
        return " ".join(_words(name, declared) for name in found[1].strip().rstrip(".").split(", "))
    found = _OF_CLICK.search(message)
    return _words(found[2], declared) if found is not None else ""


def _words(name: str, declared: dict[str, ast.Call]) -> str:
    """What the command line has for `--rate/-r`, `data` or `{train,test}`."""
    spellings = name.split("/")
    if name.startswith("{"):
        return name.strip("{}").partition(",")[0]
    option = next((each for each in spellings if each.startswith("--")), spellings[0])
    call = next((declared[each] for each in spellings if each in declared), None)
    value = _value(option.lstrip("-"), call)
    return f"{option} {value}" if option.startswith("-") else value


def _value(name: str, call: ast.Call | None) -> str:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords} if call is not None else {}
    choices = keywords.get("choices")
    if isinstance(choices, ast.List | ast.Tuple) and choices.elts and isinstance(choices.elts[0], ast.Constant):
        return str(choices.elts[0].value)
    kind = keywords.get("type")
    if isinstance(kind, ast.Name) and kind.id in ("int", "float"):
        return "1"
    return re.sub(r"\W", "_", name).upper()


def _declared(texts: Sequence[str]) -> dict[str, ast.Call]:
    """The calls that declare an argument by their names: `add_argument("--rate", type=float)`, `@click.option("--rate")`."""
    found: dict[str, ast.Call] = {}
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for each in node.args:
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        found.setdefault(each.value, node)
    return found


def argument_with_default(default: str, texts: Sequence[str]) -> str:
    """The option whose default is ``default``; '' where no text declares one."""
    for option, call in _declared(texts).items():
        values = [keyword.value for keyword in call.keywords if keyword.arg == "default"]
        if option.startswith("--") and any(isinstance(each, ast.Constant) and each.value == default for each in values):
            return option
    return ""


def hints_for(kind: str, message: str, line: str, command: str) -> Iterator[str]:
    """What to do about an exception of the class ``kind`` that was raised in ``line`` of the program which ``command`` analyzes."""
    variables = _VARIABLE.findall(line)
    if variables and kind in ("KeyError", "TypeError"):
        given = " ".join(f"{name}={'.' if _FOLDER.search(name) else 'VALUE'}" for name in dict.fromkeys(variables))
        yield f"Set the environment variable: `{given} {command}`."
    unknown = _UNKNOWN_MODULE.search(message) if kind == "ModuleNotFoundError" else None
    distribution = distribution_of(unknown[1]) if unknown is not None else ""
    if distribution:
        yield f"Install it for the interpreter of the run: `pip install {distribution}`."
