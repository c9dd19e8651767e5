"""Records which release of torch has which names: ``python tests/knowledge/record_versions.py OUTPUT.json.gz FOLDER...``.

Not a test. Each FOLDER is named for its release (``2.13.0``) and holds the folder ``torch`` of that release's wheel; nothing in it
is imported. The output is kept as ``server/compile_lens/knowledge/data/versions.json.gz``.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "server"))
from compile_lens.agent.tables import extract
from compile_lens.knowledge.versions import order

# triton comes in a wheel of its own, and of torch's own libraries only those for this system are at hand
KINDS = ("log", "option", "code", "argument", "mode", "backend", "ir", "ops", "virtualized",
    "variable", "guard", "artifact", "bisect", "environment")  # fmt: skip


def main(output: str, folders: list[str]) -> None:
    roots = sorted((Path(folder) for folder in folders), key=lambda root: order(root.name))
    releases = [".".join(root.name.split(".")[:2]) for root in roots]
    names: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for at, root in enumerate(roots):
        for kind in KINDS:
            table = extract.STATIC[kind](str(root))
            for name, entry in table.items():
                if entry.get("at", "").startswith("torch/"):
                    names[kind].setdefault(name, "")
                    names[kind][name] = names[kind][name].ljust(at, "0") + "1"
        print(root.name, {kind: len(names[kind]) for kind in KINDS}, flush=True)
    full = {
        kind: {name: marks.ljust(len(releases), "0") for name, marks in sorted(table.items())}
        for kind, table in names.items()
    }
    with gzip.GzipFile(output, "wb", mtime=0) as file:
        file.write(json.dumps({"releases": releases, "names": full}, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
