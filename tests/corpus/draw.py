"""``python -m tests.corpus.draw``: draws files that nobody chose from the source distributions of public packages.

The list of packages is data (``packages.json``), the seed is fixed, and no file is left out because it fails. Each package of a drawn
file gets an environment with what it declares (``environments.py``). ``python -m tests.corpus.outcomes`` analyzes what was drawn.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus import environments
from tests.corpus.releases import source_of

PACKAGES = Path(__file__).parent / "packages.json"
# what is no program and no model: tests, packaging, documentation, the lists of names in `__init__.py`
LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|build)/|(?:^|/)(?:setup|conf|conftest|__init__|__main__|test_\w+|\w+_test)\.py$"
)
USES_TORCH = re.compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)
# a model is defined …
DEFINES_MODEL = re.compile(r"^class \w+\(.*(?:Module|Layer|Model|Net)\b.*\)", re.MULTILINE)
# (the same words name tables of databases, wrappers of other libraries and settings)
IS_CALLED = re.compile(r"^\s+def forward\(", re.MULTILINE)
# … or, in a script, trained or called
USES_MODEL = re.compile(r"\.(?:backward|parameters|train|eval|fit)\(|\bmodel\(")
IS_RUN = re.compile(r"^if __name__ ==", re.MULTILINE)
SCRIPTS = 1 / 3
AT_A_TIME = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="unseen", help="a list of packages.json")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--files", type=int, default=40, help="how many files are drawn")
    parser.add_argument("--folder", type=Path, default=Path(".cache/drawn"), help="where packages are unpacked")
    options = parser.parse_args()
    packages = json.loads(PACKAGES.read_text("utf-8"))[options.set]
    folders = [folder for name in packages if (folder := unpacked(name, options.folder)) is not None]
    paths = drawn(folders, options.files, options.seed)
    places = sorted({path.relative_to(options.folder).parts[:2] for path in paths})
    # most of the time goes into waiting for the index
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(lambda place: make_environment(*place, paths, options.folder.absolute()), places))
    for path in paths:
        print(path)
    return 0


def make_environment(package: str, top: str, paths: list[Path], folder: Path) -> None:
    """An interpreter for the package that is unpacked in ``folder/package/top``, with what those of ``paths`` that are its files need."""
    own = [path for path in paths if path.absolute().is_relative_to(folder / package)]
    try:
        environments.make(package, top.rpartition("-")[2], folder)
        environments.install_for(package, own, folder)
    except environments.NoEnvironment as problem:
        print(f"{package}: no environment ({problem})", file=sys.stderr)


def unpacked(package: str, folder: Path) -> Path | None:
    """The folder of the source distribution of ``package`` below ``folder``; None (and a line) where there is none."""
    place = folder / package
    if not place.is_dir():
        try:
            content = source_of(package)
            if content is not None:
                with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                    archive.extractall(place, filter="data")
        except (tarfile.TarError, OSError) as problem:
            print(f"{package}: {type(problem).__name__}: {problem}", file=sys.stderr)
        if not place.is_dir():
            print(f"{package}: no source distribution", file=sys.stderr)
            return None
    return next((path for path in sorted(place.iterdir()) if path.is_dir()), None)


def drawn(folders: list[Path], count: int, seed: int) -> list[Path]:
    """``count`` files. A third are scripts, which most packages have few of. A package is drawn first and then a file of it, so that no
    large package is the most of them."""
    chance = random.Random(seed)
    left = {folder: sorted(candidates(folder)) for folder in folders}
    found: list[Path] = []
    while len(found) < count and any(left.values()):
        wants_script = chance.random() < SCRIPTS
        fitting = {
            folder: [file for file in files if is_script(file) is wants_script] for folder, files in left.items()
        }
        folder = chance.choice([folder for folder in folders if fitting[folder]] or [f for f in folders if left[f]])
        file = chance.choice(fitting[folder] or left[folder])
        left[folder].remove(file)
        found.append(file)
    return found


def is_script(file: Path) -> bool:
    """Whether it is meant to be run."""
    return IS_RUN.search(file.read_text("utf-8", errors="replace")) is not None


def candidates(folder: Path) -> Iterator[Path]:
    """The files of a package that use torch, and define, train or call a model."""
    for path in folder.rglob("*.py"):
        if LEFT_OUT.search(path.relative_to(folder).as_posix()):
            continue
        text = path.read_text("utf-8", errors="replace")
        defines_one = DEFINES_MODEL.search(text) and IS_CALLED.search(text)
        is_about_models = defines_one or (IS_RUN.search(text) and USES_MODEL.search(text))
        if USES_TORCH.search(text) and is_about_models:
            yield path


if __name__ == "__main__":
    sys.exit(main())
