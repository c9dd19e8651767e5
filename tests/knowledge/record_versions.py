"""Records which release of torch has which names: ``python tests/knowledge/record_versions.py OUTPUT.json.gz FOLDER...``.

Not a test. Each FOLDER is named for its release (``2.13.0``) and holds the folders ``torch`` and ``torchgen`` of that release's
wheel; nothing in it is imported. With ``--kind KIND`` (may be repeated) only these kinds are read, and all else in OUTPUT stays.
The output is kept as ``server/compile_lens/knowledge/data/versions.json.gz``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "server"))
from native_functions import operators

from compile_lens.agent.tables import extract
from compile_lens.knowledge.versions import order

# triton comes in a wheel of its own, and of torch's own libraries only those for this system are at hand
KINDS = ("log", "option", "code", "argument", "mode", "backend", "ir", "ops", "virtualized",
    "variable", "guard", "artifact", "bisect", "environment", "operator")  # fmt: skip


def main(output: Path, folders: list[Path], kinds: list[str]) -> None:
    roots = sorted(folders, key=lambda root: order(root.name))
    releases = [".".join(root.name.split(".")[:2]) for root in roots]
    kept = json.loads(gzip.decompress(output.read_bytes())) if output.is_file() else {"releases": releases, "names": {}}
    if kept["releases"] != releases:
        sys.exit(f"{output} is of the releases {kept['releases']}; give a folder of each of them.")
    full = kept["names"]
    for kind in kinds:
        full[kind] = {}
    changed: dict[str, list[list[str]]] = {}
    schemas: dict[str, str] = {}
    for at, root in enumerate(roots):
        for kind in kinds:
            for name in _names(kind, root):
                full[kind][name] = full[kind].get(name, "").ljust(at, "0") + "1"
        if "operator" in kinds:
            for name, schema in operators(root).items():
                if schemas.get(name, schema) != schema:
                    packet, _, overload = name.rpartition(".")
                    changed.setdefault(packet, []).append([releases[at], overload])
                schemas[name] = schema
        print(root.name, {kind: len(full[kind]) for kind in kinds}, flush=True)
    for kind in kinds:
        full[kind] = {name: marks.ljust(len(releases), "0") for name, marks in sorted(full[kind].items())}
    if "operator" in kinds:
        kept["changed"] = dict(sorted(changed.items()))
    with gzip.GzipFile(output, "wb", mtime=0) as file:
        file.write(json.dumps({**kept, "names": full}, separators=(",", ":")).encode())


def _names(kind: str, root: Path) -> list[str]:
    if kind == "operator":
        overloads = list(operators(root))
        return [*overloads, *dict.fromkeys(name.rpartition(".")[0] for name in overloads)]
    table = extract.STATIC[kind](str(root))
    return [name for name, entry in table.items() if entry.get("at", "").startswith("torch/")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--kind", action="append", choices=KINDS, dest="kinds")
    given = parser.parse_args()
    main(given.output, given.folders, given.kinds or list(KINDS))
