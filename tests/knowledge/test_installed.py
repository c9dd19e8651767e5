"""Everything in the installed torch that has a name has an explanation: compared with what torch itself says it has."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import random
import sys
from pathlib import Path

import pytest

from compile_lens.knowledge.entry import KnowledgeEntry, KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.render import to_markdown
from compile_lens.knowledge.versions import order

pytestmark = pytest.mark.xdist_group("installed-torch")

CONFIGS = (
    "torch._dynamo.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.fx.experimental._config",
)
SEED = 20261121
DRAWN = 300


def says_more_than_its_name(entry: KnowledgeEntry | None) -> bool:
    return entry is not None and bool(entry.ours or entry.theirs or entry.facts)


def test_every_log(installed: Knowledge) -> None:
    from torch._logging._internal import log_registry

    names = {*log_registry.log_alias_to_log_qnames, *log_registry.artifact_names}
    assert len(names) > 60
    assert not [name for name in sorted(names) if not says_more_than_its_name(installed.get(KnowledgeKind.LOG, name))]
    assert not [
        name
        for name in sorted(names)
        if not (installed.get(KnowledgeKind.LOG, name) or KnowledgeEntry(KnowledgeKind.LOG, "")).has_meaning
    ]


@pytest.mark.parametrize("module", CONFIGS)
def test_every_option(installed: Knowledge, module: str) -> None:
    config = importlib.import_module(module)._config
    missing = [
        name for name in config if not says_more_than_its_name(installed.get(KnowledgeKind.OPTION, f"{module}.{name}"))
    ]
    assert config and not missing


@pytest.mark.parametrize("module", CONFIGS)
def test_the_default_of_an_option_is_torchs(installed: Knowledge, module: str) -> None:
    config = importlib.import_module(module)._config
    table = installed.tables.table(KnowledgeKind.OPTION)
    for name, live in config.items():
        row = table[f"{module}.{name}"]
        if live.alias is None and isinstance(live.default, (bool, int, str)) and "env" not in row and "default" in row:
            assert row["default"] == repr(live.default), name


def test_every_argument_of_compile(installed: Knowledge) -> None:
    import torch

    for name in inspect.signature(torch.compile).parameters:
        entry = installed.get(KnowledgeKind.ARGUMENT, name)
        assert entry is not None and entry.has_meaning, name


def test_every_mode_and_backend(installed: Knowledge) -> None:
    import torch._dynamo
    import torch._inductor

    for mode, options in torch._inductor.list_mode_options().items():
        entry = installed.get(KnowledgeKind.MODE, mode)
        assert entry is not None and entry.has_meaning
        assert all(f"`{key}={value}`" in entry.facts[0][1] for key, value in options.items() if mode != "lite")
    registered_by_value = {"dynamo_minifier_backend", "dynamo_accuracy_minifier_backend"}
    for backend in set(torch._dynamo.list_backends(exclude_tags=())) - registered_by_value:
        assert says_more_than_its_name(installed.get(KnowledgeKind.BACKEND, backend)), backend


def test_every_break_code(installed: Knowledge, site: Path) -> None:
    registry = json.loads((site / "torch/_dynamo/graph_break_registry.json").read_text())
    for code, forms in registry.items():
        entry = installed.get(KnowledgeKind.CODE, code)
        assert entry is not None and forms[0]["Gb_type"] in entry.theirs and entry.url.endswith(f"{code.lower()}.html")


@pytest.mark.parametrize(
    ("kind", "paths", "class_name"),
    [
        (KnowledgeKind.IR, ("torch/_inductor/ir.py",), None),
        (KnowledgeKind.IR, ("torch/_inductor/scheduler.py",), None),
        (
            KnowledgeKind.IR,
            ("torch/_inductor/dependencies.py", "torch/_inductor/loop_body.py", "torch/_inductor/virtualized.py"),
            None,
        ),
        (KnowledgeKind.OPS, ("torch/_inductor/ops_handler.py",), "OpsHandler"),
    ],
)
def test_ir_has_a_meaning_of_its_own(
    installed: Knowledge, site: Path, kind: KnowledgeKind, paths: tuple[str, ...], class_name: str | None
) -> None:
    names: list[str] = []
    for path in paths:
        for node in ast.parse((site / path).read_text()).body:
            if isinstance(node, ast.ClassDef) and class_name is None:
                names.append(node.name)
            elif isinstance(node, ast.ClassDef) and node.name == class_name:
                names += [member.name for member in node.body if isinstance(member, ast.FunctionDef)]
    names = [name for name in names if not name.startswith("__")]
    entries = {name: installed.get(kind, name) for name in names}
    assert not [name for name, entry in entries.items() if not says_more_than_its_name(entry)]
    without = [name for name, entry in entries.items() if entry is None or not entry.has_meaning]
    assert len(without) <= 0.05 * len(names), without


class Sources:
    """Files of torch, each read and parsed once."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._lines: dict[str, list[str]] = {}
        self._statements: dict[str, list[tuple[int, int]]] = {}

    def line(self, place: str) -> str:
        path, _, line = place.rpartition(":")
        return self._of(path)[int(line) - 1]

    def statement(self, place: str) -> str:
        """The text of the outermost function, or the statement of the module, that a place is in."""
        path, _, line = place.rpartition(":")
        lines = self._of(path)
        if path not in self._statements:
            self._statements[path] = [
                (
                    min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))]),
                    node.end_lineno or 0,
                )
                for node in ast.parse("\n".join(lines)).body
            ]
        held = ((first, last) for first, last in self._statements[path] if first <= int(line) <= last)
        first, last = next(held, (1, 0))
        return "\n".join(lines[first - 1 : last])

    def _of(self, path: str) -> list[str]:
        if path not in self._lines:
            self._lines[path] = (self._site / path).read_text().split("\n")
        return self._lines[path]


def test_links_of_300_operators_lead_to_the_line(installed: Knowledge, site: Path) -> None:
    """Judged by the text there: a registration names the operator, and a definition is that of the function in torch's table."""
    import torch
    import torch._inductor.lowering as lowering
    from torch._inductor.decomposition import decompositions

    table = installed.tables.table(KnowledgeKind.OPERATOR)
    candidates = sorted(
        (packet, overload)
        for packet, row in table.items()
        for overload, entry in row["overloads"].items()
        if not packet.startswith("higher_order.") and ("lowering" in entry or "decomposition" in entry)
    )
    sources = Sources(site)
    wrong: list[str] = []
    checked = 0
    for packet, overload in random.Random(SEED).sample(candidates, DRAWN):
        row = table[packet]["overloads"][overload]
        operator = getattr(getattr(getattr(torch.ops, packet.partition(".")[0]), packet.partition(".")[2]), overload)
        for place, function in (
            (row.get("decomposition"), torch._decomp.decomposition_table.get(operator)),
            (row.get("inductor_decomposition"), decompositions.get(operator)),
            (row.get("lowering", {}).get("at"), lowering.lowerings.get(operator)),
        ):
            if place is None:
                continue
            checked += 1
            text = sources.line(place)
            inner = inspect.unwrap(function)
            inner = getattr(inner, "func", inner)
            if f"def {inner.__name__}(" not in text and "lambda" not in text:
                wrong.append(f"{packet}.{overload}: {place}: {text.strip()}")
        registered = row.get("lowering", {}).get("registered_at")
        if registered is not None:
            checked += 1
            if not names_operator(sources.statement(registered), packet):
                wrong.append(f"{packet}.{overload}: registered at {registered}")
    assert checked > DRAWN
    assert not wrong


def names_operator(statement: str, packet: str) -> bool:
    """Whether a statement names the operator, or is a loop or a list of operators, or makes the name from a pattern."""
    namespace, _, short = packet.partition(".")
    stem = short.removesuffix("_").removeprefix("inductor_")  # prims.inductor_seed is inductor_prims.seed
    return (
        stem in statement or statement.lstrip().startswith(("for ", "if ", "with ")) or f"{namespace}." not in statement
    )


def test_what_a_hover_says_of_its_origin(installed: Knowledge, bundled: Knowledge) -> None:
    import torch

    for kind, name in (
        (KnowledgeKind.IR, "Pointwise"),
        (KnowledgeKind.OPERATOR, "aten.relu"),
        (KnowledgeKind.CODE, "GB0059"),
        (KnowledgeKind.LOG, "fusion"),
    ):
        entry = installed.get(kind, name)
        assert entry is not None
        last = to_markdown(entry, installed.tables).rpartition("\n")[2]
        assert f"torch {torch.__version__}" in last
        assert "text by torch" in last or "by Compile Lens" in last
        assert "bundled table" in to_markdown(entry, bundled.tables).rpartition("\n")[2]


def test_the_bundled_tables_are_those_of_this_torch(installed: Knowledge, bundled: Knowledge) -> None:
    import torch

    if torch.__version__.partition("+")[0] != bundled.tables.torch.partition("+")[0]:
        pytest.skip(f"the bundled tables are of torch {bundled.tables.torch}")
    for kind in KnowledgeKind:
        assert set(bundled.names(kind)) == set(installed.names(kind)), kind
    if torch.__version__ != bundled.tables.torch or sys.version_info[:2] != (3, 11) or sys.platform != "linux":
        pytest.skip("values and signatures differ by build, platform and Python")
    for kind in KnowledgeKind:
        ours, theirs = bundled.tables.table(kind), installed.tables.table(kind)
        assert {name: row for name, row in ours.items() if row != theirs[name]} == {}, f"{kind}: run `make tables`"


def test_the_version_notes_are_right_for_this_release(installed: Knowledge) -> None:
    """What the notes list for the release of the installed torch is what that torch has. Options differ by platform, a little."""
    past = installed.past
    release = ".".join(map(str, order(installed.tables.torch)))
    if release not in past.releases:
        pytest.skip(f"torch {release} was not looked at")
    for kind in (
        KnowledgeKind.LOG,
        KnowledgeKind.ARGUMENT,
        KnowledgeKind.MODE,
        KnowledgeKind.CODE,
        KnowledgeKind.IR,
        KnowledgeKind.OPS,
        KnowledgeKind.VIRTUALIZED,
        KnowledgeKind.GUARD,
        KnowledgeKind.VARIABLE,
    ):
        listed = {name for name in past.known_elsewhere(kind) if release in past.seen(kind, name)}
        assert listed == set(installed.tables.table(kind)), kind
    listed = {
        name for name in past.known_elsewhere(KnowledgeKind.OPTION) if release in past.seen(KnowledgeKind.OPTION, name)
    }
    found = set(installed.tables.table(KnowledgeKind.OPTION))
    assert len(listed ^ found) <= 0.05 * len(found), sorted(listed ^ found)
