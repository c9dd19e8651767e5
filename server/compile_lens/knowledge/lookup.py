"""Looks up explanations by kind and name or as users write them, and suggests similar names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from compile_lens.knowledge import build_compiler, build_flags, build_operators
from compile_lens.knowledge.curated import Curated, curated
from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.operator_names import functional_form, text_of_name
from compile_lens.knowledge.tables import Tables, bundled_tables
from compile_lens.knowledge.versions import History, history

Row = Mapping[str, Any]
_BUILDERS: dict[KnowledgeKind, Callable[[str, Row], KnowledgeEntry]] = {
    KnowledgeKind.LOG: build_flags.log,
    KnowledgeKind.ENVIRONMENT: build_flags.environment,
    KnowledgeKind.OPTION: build_flags.option,
    KnowledgeKind.ARGUMENT: build_flags.argument,
    KnowledgeKind.MODE: build_flags.mode,
    KnowledgeKind.BACKEND: build_flags.backend,
    KnowledgeKind.FUNCTION: build_operators.function,
    KnowledgeKind.CODE: build_flags.code,
    KnowledgeKind.EXCEPTION: build_flags.exception,
    KnowledgeKind.OPERATOR: build_operators.operator,
    KnowledgeKind.IR: build_compiler.inductor_class,
    KnowledgeKind.OPS: build_compiler.operation,
    KnowledgeKind.VIRTUALIZED: build_compiler.virtualized,
    KnowledgeKind.VARIABLE: build_compiler.variable,
    KnowledgeKind.GUARD: build_compiler.guard,
    KnowledgeKind.TRITON: build_compiler.triton,
    KnowledgeKind.ARTIFACT: build_flags.artifact,
    KnowledgeKind.FILE: build_flags.file,
    KnowledgeKind.BISECT: build_flags.bisect,
}
CONFIG_MODULES = (
    "torch._inductor.config",
    "torch._dynamo.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.fx.experimental._config",
    "torch._inductor.config_comms",
    "torch._export.config",
    "torch.distributed.config",
)
# the order of kinds in which a bare name is looked up, before operators
_BARE = (
    KnowledgeKind.LOG,
    KnowledgeKind.ENVIRONMENT,
    KnowledgeKind.CODE,
    KnowledgeKind.IR,
    KnowledgeKind.VARIABLE,
    KnowledgeKind.GUARD,
    KnowledgeKind.CODEGEN,
    KnowledgeKind.STAGE,
    KnowledgeKind.BACKEND,
    KnowledgeKind.MODE,
    KnowledgeKind.ARGUMENT,
    KnowledgeKind.FX,
    KnowledgeKind.ARTIFACT,
    KnowledgeKind.FILE,
    KnowledgeKind.BISECT,
    KnowledgeKind.OPS,
    KnowledgeKind.VIRTUALIZED,
    KnowledgeKind.TRITON,
)
# names that torch composes, so that no literal in its source shows them: a curated text is enough
_ALSO_CURATED = frozenset({KnowledgeKind.ARTIFACT, KnowledgeKind.FILE})
# what users often write without its module
_BY_SHORT_NAME = (KnowledgeKind.EXCEPTION, KnowledgeKind.FUNCTION)
# functions whose arguments are entries
_COMPILES = frozenset({"torch.compile", "torch.compiler.compile"})
_NO_PROMOTION = "its tensors have one shape and dtype, because primitives neither broadcast nor promote types."
NEAREST = 5


class Knowledge:
    """Everything that can be explained, for the torch of ``tables``."""

    def __init__(self, tables: Tables | None = None) -> None:
        self.tables = tables or bundled_tables()
        self._by_short_name: dict[KnowledgeKind, dict[str, list[str]]] = {}

    @property
    def past(self) -> History:
        """Which releases have which names."""
        return history()

    def read_all(self) -> None:
        """Read what is otherwise read on first use, for an editor whose first hover should not wait for it."""
        for kind in KnowledgeKind:
            self.tables.table(kind)
            curated(kind)
        build_operators.decompositions()
        history()

    def names(self, kind: KnowledgeKind) -> Sequence[str]:
        """All names of ``kind``."""
        if kind is KnowledgeKind.ENVIRONMENT:
            return list(self._environment)
        table = self.tables.table(kind)
        return (
            [*table, *(name for name in curated(kind) if name not in table)] if kind not in _BUILDERS else list(table)
        )

    def knows(self, kind: KnowledgeKind, name: str) -> bool:
        """Whether this torch has ``name``."""
        if kind is KnowledgeKind.ENVIRONMENT:
            return name in self._environment
        if name in self.tables.table(kind):
            return True
        return (kind not in _BUILDERS or kind in _ALSO_CURATED) and name in curated(kind)

    def get(self, kind: KnowledgeKind, name: str) -> KnowledgeEntry | None:
        """The entry of ``name``; None if this torch does not have it."""
        text = curated(kind).get(name) or (self._of_its_option(name) if kind is KnowledgeKind.ENVIRONMENT else None)
        row = self._row(kind, name)
        if row is not None and kind in _BUILDERS:
            entry = _BUILDERS[kind](name, row)
        elif text is not None and (kind not in _BUILDERS or kind in _ALSO_CURATED):
            entry = KnowledgeEntry(kind, name)
        else:
            return None
        if kind is KnowledgeKind.OPERATOR:
            entry = self._functionalized(entry if entry.theirs else self._with_documentation(entry))
        if name in _COMPILES and kind is KnowledgeKind.FUNCTION:
            entry = replace(entry, facts=(*entry.facts[:1], *self._arguments_of_compile()))
        if text is not None:
            related = tuple(dict.fromkeys((*text.related, *entry.related)))
            entry = replace(entry, ours=text.text, stage=text.stage or entry.stage, related=related)
        return replace(entry, versions=self.past.note(kind, name))

    def _of_its_option(self, variable: str) -> Curated | None:
        """The curated text of the option that a variable sets, if torch has no comment on it."""
        options = self.options_set_by(variable)
        # the same option in several groups has one meaning; different ones have not
        if len({option.rpartition(".")[2] for option in options}) != 1 or self._environment[variable].get("doc"):
            return None
        for option in options:
            text = curated(KnowledgeKind.OPTION).get(option)
            if text is not None:
                return Curated(f"Sets `{option}`. {text.text}")
        return None

    def _arguments_of_compile(self) -> Iterator[tuple[str, str]]:
        for name, row in self.tables.table(KnowledgeKind.ARGUMENT).items():
            entry = self.get(KnowledgeKind.ARGUMENT, name)
            default = f" (default `{row['default']}`)" if "default" in row else ""
            yield f"`{name}`", f"{entry.summary if entry is not None else ''}{default}"

    def _functionalized(self, operator: KnowledgeEntry) -> KnowledgeEntry:
        """An in-place operator as AOTAutograd leaves it: replaced by the one that returns its result."""
        packet = ".".join(operator.name.split(".")[:2])
        functional = functional_form(packet, self.tables.table(KnowledgeKind.OPERATOR).__contains__)
        if functional is None:
            return operator
        kept = tuple(fact for fact in operator.facts if not fact[0].startswith("In "))
        fact = (
            "In AOTAutograd",
            f"replaced by `{functional}`; an input of the graph that it changes is written at the end",
        )
        return replace(operator, facts=(*kept, fact), related=(functional, *operator.related))

    def _with_documentation(self, operator: KnowledgeEntry) -> KnowledgeEntry:
        """The text of the function by the operator's name (``torch.relu`` for ``aten.relu``)."""
        namespace, _, name = operator.name.partition(".")
        short = name.partition(".")[0]
        table = self.tables.table(KnowledgeKind.FUNCTION)
        if namespace == "prims":
            # all primitives that torch has no text for are of this kind (torch/_prims/__init__.py)
            like = next((full for full in (f"torch.{short}", f"torch.special.{short}") if full in table), None)
            primitive = f"The primitive of `{like}`" if like is not None else "A primitive"
            text = f"{primitive}, elementwise: {_NO_PROMOTION}"
            return replace(operator, ours=text, related=(*operator.related, *((like,) if like is not None else ())))
        if namespace not in ("aten", "higher_order"):
            return operator
        for full in (
            f"torch.{short}",
            f"torch.nn.functional.{short}",
            f"torch.Tensor.{short}",
            f"torch.{short.replace('_', '.', 1)}",
        ):
            if table.get(full, {}).get("doc"):
                return replace(operator, theirs=table[full]["doc"], related=(*operator.related, full))
        packet = f"{namespace}.{short}"
        return replace(operator, ours=text_of_name(packet, self.tables.table(KnowledgeKind.OPERATOR).__contains__))

    def _row(self, kind: KnowledgeKind, name: str) -> Row | None:
        if kind is KnowledgeKind.ENVIRONMENT:
            return self._environment.get(name)
        table = self.tables.table(kind)
        row = table.get(name)
        if row is None and kind is KnowledgeKind.OPERATOR and name.count(".") == 2:
            packet, _, overload = name.rpartition(".")
            overloads = table.get(packet, {}).get("overloads", {})
            return {"overloads": {overload: overloads[overload]}} if overload in overloads else None
        return row

    @cached_property
    def _environment(self) -> Mapping[str, Row]:
        """Variables with the options that each sets."""
        found: dict[str, dict[str, Any]] = {
            name: dict(row) for name, row in self.tables.table(KnowledgeKind.ENVIRONMENT).items()
        }
        for option, row in self.tables.table(KnowledgeKind.OPTION).items():
            for variable in row.get("env", ()):
                entry = found.setdefault(variable, {"read_at": [row["at"]]})
                entry.setdefault("options", []).append(option)
                entry.setdefault("doc", row.get("doc", ""))
        for name in curated(KnowledgeKind.ENVIRONMENT):
            found.setdefault(name, {})
        return found

    def options_set_by(self, variable: str) -> tuple[str, ...]:
        """The options whose default comes from an environment variable."""
        return tuple(self._environment.get(variable, {}).get("options", ()))

    def find(self, written: str) -> list[KnowledgeEntry]:
        """Entries for a name as users write it: ``TORCH_LOGS=+fusion``, ``GB0059``, ``aten.relu``, ``ops.load``, ``max_autotune``."""
        found: dict[tuple[KnowledgeKind, str], KnowledgeEntry] = {}
        for kind, name in self._candidates(written.strip()):
            entry = self.get(kind, name)
            if entry is not None:
                found.setdefault((kind, name), entry)
        return list(found.values()) or self._by_end(written.strip())

    def _by_end(self, written: str) -> list[KnowledgeEntry]:
        """Exceptions and functions by the end of their names: ``fresh_cache``, ``exc.Unsupported``."""
        short = written.rpartition(".")[2]
        entries = (
            self.get(kind, full)
            for kind in _BY_SHORT_NAME
            for full in self._full_names(kind).get(short, ())
            if f".{full}".endswith(f".{written}")
        )
        return [entry for entry in entries if entry is not None]

    def _candidates(self, written: str) -> Iterator[tuple[KnowledgeKind, str]]:
        variable, equals, value = written.partition("=")
        if equals and variable == "TORCH_LOGS":
            for part in value.strip("\"'").split(","):
                yield KnowledgeKind.LOG, part.strip().lstrip("+-")
            return
        name = variable if equals else written
        name = name.removeprefix("torch.ops.")
        if name.startswith("::") or "::" in name:
            name = name.replace("::", ".")
        yield KnowledgeKind.ENVIRONMENT, name
        if re.fullmatch(r"[gG][bB]\d{1,4}", name):
            yield KnowledgeKind.CODE, f"GB{int(name[2:]):04d}"
        if name.startswith(("ops.", "V.")):
            yield (KnowledgeKind.OPS if name.startswith("ops.") else KnowledgeKind.VIRTUALIZED), name.partition(".")[2]
        for full in self._option_names(name):
            yield KnowledgeKind.OPTION, full
        yield KnowledgeKind.OPERATOR, name
        for prefix in ("triton.language.", "language."):
            if name.startswith(prefix):
                yield KnowledgeKind.TRITON, f"tl.{name.removeprefix(prefix)}"
        if "." in name:
            yield from self._function_names(name)
            yield KnowledgeKind.IR, name.rpartition(".")[2]
            yield KnowledgeKind.VARIABLE, name.rpartition(".")[2]
        for kind in _BARE:
            yield kind, name
        yield KnowledgeKind.EXCEPTION, name
        if "." not in name:
            yield from ((KnowledgeKind.OPERATOR, f"{space}.{name}") for space in ("aten", "prims", "higher_order"))
            for module in ("torch", "torch.compiler", "torch._dynamo", "torch.export"):
                yield from self._function_names(f"{module}.{name}")
            yield KnowledgeKind.TRITON, f"triton_helpers.{name}"

    def _full_names(self, kind: KnowledgeKind) -> Mapping[str, list[str]]:
        """Full names by their last part, the public ones first."""
        known = self._by_short_name.get(kind)
        if known is None:
            known = self._by_short_name[kind] = {}
            for full in sorted(self.tables.table(kind), key=lambda full: full.count("._")):
                known.setdefault(full.rpartition(".")[2], []).append(full)
        return known

    def _option_names(self, name: str) -> Iterator[str]:
        short = name
        for prefix in ("inductor_config.", "dynamo_config.", "config."):
            short = short.removeprefix(prefix)
        table = self.tables.table(KnowledgeKind.OPTION)
        yield name
        yield from (f"{module}.{short}" for module in CONFIG_MODULES if f"{module}.{short}" in table)

    def _function_names(self, name: str) -> Iterator[tuple[KnowledgeKind, str]]:
        yield KnowledgeKind.FUNCTION, name
        if name.startswith("F."):
            yield KnowledgeKind.FUNCTION, f"torch.nn.functional.{name[2:]}"
        if name.startswith("Tensor."):
            yield KnowledgeKind.FUNCTION, f"torch.{name}"
        if name.startswith("torch._dynamo."):
            yield KnowledgeKind.FUNCTION, name.replace("torch._dynamo.", "torch._dynamo.decorators.")

    def operator_of(self, function: str) -> str | None:
        """The operator with the same name as a function (``torch.relu`` → ``aten.relu``), if there is one."""
        short = function.rpartition(".")[2]
        prefix = {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}.get(
            function.rpartition(".")[0], ""
        )
        table = self.tables.table(KnowledgeKind.OPERATOR)
        return next((name for name in (f"aten.{prefix}{short}", f"aten.{short}") if name in table), None)

    def nearest(
        self, written: str, kinds: Sequence[KnowledgeKind] = tuple(KnowledgeKind), most: int = NEAREST
    ) -> list[str]:
        """Names similar to ``written``, most similar first, as users write them."""
        name = written.partition("=")[2] or written
        if written.startswith("TORCH_LOGS="):
            kinds = (KnowledgeKind.LOG,)
            name = name.split(",")[-1].strip("+- ")
        scored: dict[str, float] = {}
        matcher = difflib.SequenceMatcher(b=name.lower())
        for kind in kinds:
            for known in self.names(kind):
                short = known.rpartition(".")[2] if "." not in name else known
                matcher.set_seq1(short.lower())
                if matcher.real_quick_ratio() > 0.6 and matcher.quick_ratio() > 0.6:
                    ratio = matcher.ratio()
                    if ratio > 0.6:
                        shown = (
                            f"TORCH_LOGS={known}"
                            if kind is KnowledgeKind.LOG
                            else f"ops.{known}"
                            if kind is KnowledgeKind.OPS
                            else known
                        )
                        scored[shown] = max(ratio, scored.get(shown, 0.0))
        return sorted(scored, key=lambda shown: (-scored[shown], len(shown), shown))[:most]

    def why_unknown(self, written: str) -> str:
        """Why this torch does not have a name that another release has: a clause, or ''."""
        for kind, name in self._candidates(written.strip()):
            reason = self.past.why_unknown(kind, name, self.tables.torch)
            if reason:
                return reason
        for module in CONFIG_MODULES:
            reason = self.past.why_unknown(KnowledgeKind.OPTION, f"{module}.{written}", self.tables.torch)
            if reason:
                return reason
        return ""

    def close(self, kind: KnowledgeKind, name: str, most: int = 3) -> list[str]:
        """Names of one kind that are similar to ``name``, for "did you mean"."""
        return difflib.get_close_matches(name, self.names(kind), most, 0.6)


def search(knowledge: Knowledge, words: str, most: int = 40) -> list[KnowledgeEntry]:
    """Entries that contain every word: those with a word in the name first, shorter names before longer ones."""
    terms = words.lower().split()
    found: list[tuple[tuple[int, int, str], KnowledgeEntry]] = []
    for kind in KnowledgeKind:
        for name in knowledge.names(kind):
            lowered = name.lower()
            in_name = sum(word in lowered for word in terms)
            # operators and functions are found by name only, because their texts would hide everything else
            if in_name < len(terms) and kind in (KnowledgeKind.OPERATOR, KnowledgeKind.FUNCTION):
                continue
            entry = knowledge.get(kind, name)
            if entry is None:
                continue
            text = f"{lowered}\n{entry.ours}\n{entry.theirs}".lower()
            if all(word in text for word in terms):
                found.append(((-in_name, len(name), name), entry))
    found.sort(key=lambda pair: pair[0])
    return [entry for _, entry in found[:most]]
