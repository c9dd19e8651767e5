"""What the agent describes for a script is made anew of what is known before anything is written of it: the program, which runs in the
agent's process, may have changed it, and the script runs as the user's shell would run it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from compile_lens.entries.makers import is_torch_class, is_word
from compile_lens.late_pattern import pattern
from compile_lens.repro.capture import CapturedCall, CapturedRegion
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.known_names import PLAIN_CLASSES, KnownNames, is_dotted
from compile_lens.repro.options import ARGUMENTS, may_have_all, option
from compile_lens.repro.own_files import OwnFiles
from compile_lens.repro.plain_text import NoPlainText, device, dtype
from compile_lens.repro.rebuilt_values import RebuiltValues, Refused, has_prepared, is_data
from compile_lens.syntax.foreign_texts import parse_module

INSTEAD = "A repro of the graph alone needs no source: pass `--kind graph`."
# classes whose objects are settings and results: they do nothing with what they get
_SETTINGS = pattern(r"^\w*(?:Config|Configuration|Settings|Options|Params|Arguments|Args|Output|Outputs)")
# what a script of ours uses, beside what Python has
_OF_SCRIPTS = frozenset(["torch", "os", "sys", "re", "json", "contextlib", "logging", "Path", "numpy"])
_NAME_OF_LAMBDA = pattern(r"function_\d+_\d+")
_PRECISIONS = ("highest", "high", "medium")


def checked(
    region: CapturedRegion, calls: tuple[CapturedCall, ...], files: OwnFiles
) -> tuple[CapturedRegion, tuple[CapturedCall, ...]]:
    """``region`` and ``calls``, made anew. Raises CannotWrite unless their source stands in ``files``, and all else are values and classes
    of these files and of packages that they import."""
    try:
        return _Check(region, files).all(calls)
    except Refused as what:
        raise CannotWrite(_sentence(str(what))) from None
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError) as error:
        raise CannotWrite(f"The run described something that a script cannot contain. {INSTEAD}") from error


class _Check:
    def __init__(self, region: CapturedRegion, files: OwnFiles) -> None:
        self._region = region
        self._files = files
        texts = [item["text"] for file in region.files for item in file["items"] if "text" in item]
        texts += [local["text"] for file in region.files for local in file["locals"]]
        names = [item["name"] for file in region.files for item in file["items"] if "name" in item]
        self._names = KnownNames(files, texts, names)
        self._values = RebuiltValues(self._names, self._may_construct)

    def all(self, calls: tuple[CapturedCall, ...]) -> tuple[CapturedRegion, tuple[CapturedCall, ...]]:
        region = self._region
        # what the sources do not replace stays as it is, and what a program has replaced is not called by its old name
        said = [patch for patch in region.patches if self._files.assigns(patch["owner"]["name"], patch["name"])]
        patches = tuple(self._patch(patch) for patch in said)
        unsaid = [f"{patch['owner']['name']}.{patch['name']}" for patch in region.patches if patch not in said]
        _require(all(map(is_dotted, unsaid)), "patches")
        told = [self._file(file) for file in region.files]
        made = replace(
            region,
            target=self._values.value(region.target),
            options=self._options(region.options),
            config=tuple(self._option(line) for line in region.config),
            state=self._state(region.state),
            files=tuple(told),
            patches=patches,
            left_out=tuple(str(name) for name in (*region.left_out, *unsaid)),
        )
        kept = {id(call): self._call(call) for call in (*region.calls, *calls)}
        return replace(made, calls=tuple(kept[id(call)] for call in region.calls)), tuple(
            kept[id(call)] for call in calls
        )

    def _call(self, call: CapturedCall) -> CapturedCall:
        for name in (*call.globals, *(path.rpartition(".")[2] for path in call.attributes)):
            _require(is_dotted(name), name)
        return replace(
            call,
            args=tuple(self._values.values(call.args)),
            kwargs=self._values.by_name(call.kwargs),
            globals=_simple(call.globals),
            attributes=_simple(call.attributes),
        )

    def _file(self, file: Mapping[str, Any]) -> dict[str, Any]:
        path = str(file["file"])
        return {
            "module": str(file["module"]),
            "file": path,
            "future": file["future"] is True,
            "imports": [self._import_line(path, line) for line in file["imports"]],
            "items": [self._item(path, item) for item in file["items"]],
            "locals": [self._local(path, local) for local in file["locals"]],
        }

    def _item(self, path: str, item: Mapping[str, Any]) -> dict[str, Any]:
        if "text" in item:
            text = item["text"]
            original = self._files.renamed(path, text) if self._files.has(path) else ""
            if not (original and self._names.is_defined(original)):
                self._require_source(path, text, self._files.has_statement)
            return {"text": text}
        name = item["name"]
        value = self._bound(path, name, item["value"])
        is_ours = hasattr(builtins, name) or name in _OF_SCRIPTS
        _require(is_dotted(name) and "." not in name and (is_data(value) or not is_ours), name)
        return {"name": name, "value": value}

    def _local(self, path: str, local: Mapping[str, Any]) -> dict[str, Any]:
        name, text = local["name"], local["text"]
        self._require_source(path, text, self._files.has_definition)
        first = re.search(r"^(?:async\s+)?(?:def|class)\s+(\w+)", text, re.MULTILINE)
        is_lambda = _NAME_OF_LAMBDA.fullmatch(name) is not None and text.startswith(f"{name} = lambda")
        _require(is_lambda or (first is not None and first[1] == name), name)
        free = {each: self._bound(path, each, value) for each, value in local["free"].items()}
        _require(all(map(is_dotted, free)), name)
        return {"name": name, "text": text, "free": free}

    def _bound(self, path: str, name: str, said: Any) -> Any:
        """What a name of the script stands for; a module, only where an import of the file gives it that name."""
        if isinstance(said, dict) and said.get("is") == "python-module":
            _require(self._files.has(path) and self._files.has_alias(path, name, str(said["name"])), said["name"])
            return self._values.module_of_name(said)
        return self._values.value(said)

    def _require_source(self, path: str, text: str, stands: Any) -> None:
        if not self._files.has(path) or not stands(path, text):
            first = (text.strip().splitlines() or [""])[0]
            raise CannotWrite(
                f"The script would need `{first[:100]}`, which is in no file that {self._files.main.name} imports, as far as its "
                "text says. If it is of a test or another script that runs the file, name that with `--entry`."
            )

    def _import_line(self, path: str, line: str) -> str:
        try:
            statement = parse_module(line).body
        except SyntaxError:
            statement = []
        match statement:
            case [ast.Import([alias])]:
                found = [("", alias.name, alias.asname or "")]
            case [ast.ImportFrom(module=str(module), names=names, level=0)]:
                found = [(each.name, module, each.asname or "") for each in names]
            case _:
                found = []
        stands = self._files.has(path) and all(
            self._files.has_import(path, of, name, other) for name, of, other in found
        )
        _require(bool(found) and stands, line)
        return ast.unparse(statement[0])

    def _patch(self, patch: Mapping[str, Any]) -> dict[str, Any]:
        """A function or a class of the user's in the place of one of a library."""
        name, value = patch["name"], self._values.value(patch["value"])
        _require(is_dotted(name) and "." not in name and any(map(self._is_own, _named(value))), name)
        _require(not has_prepared(value), name)
        is_module = patch["owner"]["is"] == "python-module"
        owner = self._values.module_of_name(patch["owner"]) if is_module else self._values.value(patch["owner"])
        _require(
            is_module or (owner["is"] == "name" and self._names.is_class(owner["name"], owner.get("import") or "")),
            owner,
        )
        self._names.replaced.add(f"{owner['name']}.{name}")
        return {"owner": owner, "name": name, "value": value}

    def _is_own(self, made: Mapping[str, Any]) -> bool:
        return not made.get("import") and self._names.is_defined(made["name"])

    def _options(self, said: Mapping[str, Any]) -> dict[str, Any]:
        options = self._values.by_name(said)
        for name, value in options.items():
            # later versions of torch have more
            _require(not has_prepared(value), name)
            _require(name in ARGUMENTS or (is_dotted(name) and is_data(value)), name)
        own = options.get("options")
        pairs = own["items"] if isinstance(own, dict) and own["is"] == "dict" else []
        _require(own is None or (isinstance(own, dict) and own["is"] == "dict"), own)
        _require(all(type(key) is str for key, _ in pairs), "options")
        given = {key: ast.literal_eval(value["code"]) if _is_code(value) else value for key, value in pairs}
        texts = {key: _texts_of(value) for key, value in given.items()}
        _require(may_have_all(texts, self._files.has_text), "options")
        return options

    def _option(self, line: str) -> str:
        made = option(line, self._files.has_text)
        if made is None:
            raise Refused(line)
        return made

    def _state(self, said: Mapping[str, Any]) -> dict[str, Any]:
        try:
            autocast = [(device(kind), dtype(name)) for kind, name in said["autocast"]]
            default = dtype(said["default_dtype"])
        except NoPlainText as text:
            raise Refused(str(text)) from None
        precision = said.get("matmul_precision", "highest")
        _require(precision in _PRECISIONS, precision)
        flags = {name: said.get(name) is True for name in ("deterministic", "inference", "grad")}
        return {"default_dtype": default, "autocast": autocast, "matmul_precision": precision, **flags}

    def _may_construct(self, name: str, module: str, texts: Iterable[str]) -> bool:
        """Whether a class may get these texts: those that lead elsewhere only if they stand in the user's files."""
        full = name if module else ""
        if full in PLAIN_CLASSES or is_torch_class(full) or _SETTINGS.fullmatch(name.rpartition(".")[2]) is not None:
            return True
        if not module and self._files.may_construct(name):
            return True
        return all(is_word(text) or self._files.has_text(text) for text in texts)


def _simple(said: Mapping[str, Any]) -> dict[str, Any]:
    for value in said.values():
        _require(value is None or type(value) in (bool, int, float, str), value)
    return dict(said)


def _named(made: Any) -> Iterator[Mapping[str, Any]]:
    """The names in a rebuilt description, but for those of types of Python."""
    if isinstance(made, dict):
        if made.get("is") == "name" and not hasattr(builtins, made["name"]):
            yield made
        for each in made.values():
            yield from _named(each)
    elif isinstance(made, list):
        for each in made:
            yield from _named(each)


def _is_code(value: Any) -> bool:
    return isinstance(value, dict) and value.get("is") == "code"


def _texts_of(value: Any) -> Any:
    """The texts in a rebuilt description, as lists."""
    if isinstance(value, dict):
        return [_texts_of(each) for name, each in value.items() if name != "is"]
    return [_texts_of(each) for each in value] if isinstance(value, list) else value


def _require(holds: bool, what: Any) -> None:
    if not holds:
        raise Refused(str(what))


def _sentence(what: str) -> str:
    return f"The run described something that a script cannot contain: `{what[:100]}`. {INSTEAD}"
