"""Compares what is explained with the torch of this interpreter: ``python tests/knowledge/compare_torch.py``.

For machines that have a torch and nothing else: it needs the standard library only, prints a line per kind, and ends with 1 when
something is not as it should be: a name without more than its name, too few with a meaning, or a version note that is wrong.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import open_tables
from compile_lens.knowledge.versions import order

SERVER = Path(__file__).resolve().parents[2] / "server"
COMPLETE = (KnowledgeKind.LOG, KnowledgeKind.OPTION, KnowledgeKind.ARGUMENT, KnowledgeKind.CODE)
WITH_MEANING = (KnowledgeKind.IR, KnowledgeKind.OPS)
# those whose names do not depend on the platform
NOTED = (
    KnowledgeKind.LOG,
    KnowledgeKind.ARGUMENT,
    KnowledgeKind.MODE,
    KnowledgeKind.CODE,
    KnowledgeKind.IR,
    KnowledgeKind.OPS,
    KnowledgeKind.VIRTUALIZED,
    KnowledgeKind.GUARD,
    KnowledgeKind.VARIABLE,
)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "torch.zip"
        subprocess.run([sys.executable, str(SERVER / "compile_lens/agent/boot.py"), "tables", str(file)], check=True)
        tables = open_tables(file)
        assert tables is not None
        knowledge = Knowledge(tables)
        print(f"torch {tables.torch}, triton {tables.triton or 'not there'}")
        wrong = sum(_compare(knowledge, kind) for kind in KnowledgeKind)
    print("all is as it should be" if not wrong else f"{wrong} kinds are not as they should be")
    return int(wrong > 0)


def _compare(knowledge: Knowledge, kind: KnowledgeKind) -> bool:
    entries = {name: knowledge.get(kind, name) for name in knowledge.names(kind)}
    bare = [name for name, entry in entries.items() if entry is None or not (entry.ours or entry.theirs or entry.facts)]
    without = [name for name, entry in entries.items() if entry is None or not entry.has_meaning]
    wrong = (kind in COMPLETE and bool(bare)) or (kind in WITH_MEANING and len(without) > 0.05 * len(entries))
    line = f"{kind.value}: {len(entries)} names, {len(bare)} without more than a name, {len(without)} without a meaning"
    release = ".".join(map(str, order(knowledge.tables.torch)))
    if kind in NOTED and release in knowledge.past.releases:
        listed = {name for name in knowledge.past.known_elsewhere(kind) if release in knowledge.past.seen(kind, name)}
        different = sorted(listed ^ set(knowledge.tables.table(kind)))
        line += f", {len(different)} whose version note is wrong{': ' + ', '.join(different[:10]) if different else ''}"
        wrong = wrong or bool(different)
    print(("NOT SO  " if wrong else "ok      ") + line)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
