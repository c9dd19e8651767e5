"""Puts the language server into ``bundled/libs`` for one platform: ``python scripts/bundle.py TARGET``.

TARGET is a name of ``TARGETS``, as `vsce package --target` takes it, or ``host`` for the platform of this machine. What is packed comes from
wheels, so that any machine can pack for any platform. Wheels are kept in ``.cache/wheels`` of the repository: a second time needs no network.

A package that has a wheel for each version of Python is unpacked once, and its binaries for the other versions are put beside those of the
first: their names differ (``_binding.cpython-310-…``, ``_binding.cpython-311-…``), so each Python finds its own.

``--update`` writes the newest versions into requirements.txt.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent
ROOT = CLIENT.parent
LIBS = CLIENT / "bundled" / "libs"
REQUIREMENTS = CLIENT / "requirements.txt"
NOTICES = CLIENT / "ThirdPartyNotices.txt"
# beside the grammar that each is of
GRAMMAR_LICENSES = CLIENT / "syntaxes"
WHEELS = ROOT / ".cache" / "wheels"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

# vsce's name of a platform → the tags of the wheels that run on it, of which pip takes the first that fits
TARGETS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "alpine-x64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "darwin-x64": ("macosx_11_0_x86_64", "macosx_10_15_x86_64", "macosx_10_9_x86_64"),
    "darwin-arm64": ("macosx_11_0_arm64",),
    "win32-x64": ("win_amd64",),
}
# only needed by a Python or on a platform that is not the one that packs, so that pip does not name them
ALSO_NEEDED = ("exceptiongroup", "typing-extensions", "colorama")
NOT_PACKED = re.compile(
    r"\.(pyi|c|h|cc|cpp|pyx|pxd)$|(^|/)(tests?|testing/__snapshots__|__pycache__)/|\.dist-info/(RECORD|WHEEL|INSTALLER)$"
)
BINARY = re.compile(r"\.(so|pyd|dylib|dll)$")
LICENSE = re.compile(r"\.dist-info/(licenses/)?(.*/)?(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$", re.IGNORECASE)


class CannotBundle(Exception):
    """Its text is one sentence for whoever packs the extension."""


def host_target() -> str:
    """The target of the machine that this runs on."""
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}.get(platform.system(), platform.system())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if system == "linux" and "musl" in (sysconfig.get_config_var("SOABI") or ""):
        system = "alpine"
    if f"{system}-{machine}" not in TARGETS:
        raise CannotBundle(
            f"There is no target for {platform.system()} on {platform.machine()}; name one of {', '.join(TARGETS)}."
        )
    return f"{system}-{machine}"


def download(target: str, python: str) -> Path:
    """The folder with the wheels of ``requirements.txt`` for one platform and one version of Python."""
    folder = WHEELS / target / python
    stamp, wanted = folder / "requirements.txt", REQUIREMENTS.read_text()
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    platforms = [f"--platform={tag}" for tag in TARGETS[target]]
    _pip(
        "download",
        "--no-deps",
        *platforms,
        f"--python-version={python}",
        f"--dest={folder}",
        f"--requirement={REQUIREMENTS}",
    )
    stamp.write_text(wanted)
    return folder


def _pip(command: str, *arguments: str) -> None:
    quiet = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", command, *quiet, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotBundle(f"pip {command} failed:\n{done.stdout}")


def unpack(wheel: Path, libs: Path) -> None:
    """Put the files of ``wheel`` into ``libs``. A file that is there already must be the same, but for what describes the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or NOT_PACKED.search(entry.filename):
                continue
            if ".data/" in entry.filename:
                if "/purelib/" not in entry.filename and "/platlib/" not in entry.filename:
                    continue  # scripts and manual pages
                name = re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", entry.filename)
            else:
                name = entry.filename
            path, content = libs / name, archive.read(entry)
            if path.exists():
                if path.read_bytes() != content and ".dist-info/" not in name:
                    raise CannotBundle(f"{name} is not the same in each wheel of {wheel.name.partition('-')[0]}.")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def bundle(target: str) -> None:
    """Make ``bundled/libs`` and the notices anew."""
    folders = [download(target, python) for python in PYTHONS]
    with tempfile.TemporaryDirectory(dir=LIBS.parent) as made:
        libs = Path(made) / "libs"
        for folder in folders:
            for wheel in sorted(folder.glob("*.whl")):
                unpack(wheel, libs)
        shutil.copytree(
            ROOT / "server" / "compile_lens", libs / "compile_lens", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.rmtree(LIBS, ignore_errors=True)
        libs.rename(LIBS)
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, CLIENT / name)
    shutil.rmtree(CLIENT / "examples", ignore_errors=True)
    shutil.copytree(ROOT / "examples", CLIENT / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    NOTICES.write_text(notices(folders[0]), encoding="utf-8")


def notices(wheels: Path) -> str:
    """The licenses of everything that is packed: the wheels, the packages of npm that are in dist/extension.js, and grammars of others."""
    parts = ["Compile Lens includes the following packages under their own licenses."]
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
            texts = [archive.read(name).decode("utf-8", "replace") for name in sorted(names) if LICENSE.search(name)]
        parts.append(_notice(_field(metadata, "Name"), _field(metadata, "Version"), _license_of(metadata), texts))
    for folder in _packed_from_npm():
        manifest = json.loads((folder / "package.json").read_text())
        texts = [path.read_text() for path in sorted(folder.glob("[Ll][Ii][Cc][Ee][Nn][SsCc][Ee]*"))]
        parts.append(_notice(manifest["name"], manifest["version"], manifest.get("license", ""), texts))
    for path in sorted(GRAMMAR_LICENSES.glob("*.LICENSE.txt")):
        parts.append(f"Grammar {path.name.partition('.')[0]}\n\n{path.read_text(encoding='utf-8').strip()}")
    return f"\n\n{'-' * 80}\n\n".join(parts) + "\n"


def _notice(name: str, version: str, license_name: str, texts: list[str]) -> str:
    if not texts and not license_name:
        raise CannotBundle(f"{name} {version} says nothing of its license.")
    return "\n\n".join([f"{name} {version} ({license_name or 'license below'})", *(text.strip() for text in texts)])


def _field(metadata: str, name: str) -> str:
    found = re.search(rf"^{name}: (.+)$", metadata.partition("\n\n")[0], re.MULTILINE)
    return found.group(1).strip() if found else ""


def _license_of(metadata: str) -> str:
    classified = re.findall(r"^Classifier: License :: (?:OSI Approved :: )?(.+)$", metadata, re.MULTILINE)
    return _field(metadata, "License-Expression") or "; ".join(classified) or _field(metadata, "License")


def _packed_from_npm() -> list[Path]:
    """The language client and what it depends on."""
    modules = CLIENT / "node_modules"
    found: dict[str, Path] = {}
    waiting = ["vscode-languageclient"]
    while waiting:
        name = waiting.pop()
        if name in found or not (modules / name / "package.json").is_file():
            continue
        found[name] = modules / name
        waiting += json.loads((found[name] / "package.json").read_text()).get("dependencies", {})
    return [found[name] for name in sorted(found)]


def update() -> None:
    """Write the newest versions of what the server needs into requirements.txt."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        _pip(
            "install",
            "--dry-run",
            "--ignore-installed",
            f"--report={report}",
            f"--python-version={PYTHONS[0]}",
            f"--target={folder}",
            *[f"--platform={tag}" for tag in TARGETS["linux-x64"]],
            *_needed(),
            *ALSO_NEEDED,
        )
        found = json.loads(report.read_text())["install"]
    versions = sorted(f"{each['metadata']['name'].lower()}=={each['metadata']['version']}" for each in found)
    comment = [line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("#")]
    REQUIREMENTS.write_text("\n".join([*comment, *versions]) + "\n")


def _needed() -> list[str]:
    """The dependencies of the server, from pyproject.toml; tomllib is not in Python 3.10."""
    block = re.search(r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    if block is None:
        raise CannotBundle("pyproject.toml has no list of dependencies.")
    return re.findall(r'"([^"]+)"', block.group(1))


def main() -> None:
    """Bundle, or update the versions."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "target", nargs="?", default="host", choices=["host", *TARGETS], help="platform (default: this machine's)"
    )
    parser.add_argument("--update", action="store_true", help="renew requirements.txt instead")
    arguments = parser.parse_args()
    try:
        if arguments.update:
            update()
        else:
            target = host_target() if arguments.target == "host" else arguments.target
            bundle(target)
            print(target)
    except CannotBundle as error:
        sys.exit(f"bundle.py: {error}")


if __name__ == "__main__":
    main()
