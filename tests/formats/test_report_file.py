"""A saved report: what comes back, what a redacted one has left, and what is refused."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.command import Warm

from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, Related, Severity
from compile_lens.analysis.outcome import EntryCall, Outcome, PassedOver, Status
from compile_lens.documents.source_lines import read_line
from compile_lens.formats import report_file
from compile_lens.formats.report_file import ReportFileError, read_report_file, report_bytes
from compile_lens.formats.sarif import to_sarif

DATA = Path(__file__).parent.parent / "data"
SECRET = "SECRET"
PLACE = Place(f"/home/{SECRET}/job/model.py", 3, 5, 3, 9)
FINDING = Finding(
    code="GB0059",
    kind=Kind.GRAPH_BREAK,
    severity=Severity.WARNING,
    message=f"Graph break: `{SECRET}`.",
    place=PLACE,
    explanation=SECRET,
    hints=(SECRET,),
    count=2,
    frames=("0/1",),
    related=(Related(PLACE, SECRET),),
    call_path=(CallSite(PLACE, "forward", f"x = {SECRET}"),),
    cost=SECRET,
    detail=SECRET,
    targets=(SECRET,),
)
OUTCOME = Outcome(
    file=PLACE.file,
    python=f"/home/{SECRET}/python",
    torch="2.13.0",
    depth="inductor",
    entry=f"Net(key={SECRET})",
    status=Status.OK,
    duration_s=1.5,
    findings=(FINDING,),
    graphs=3,
    compile_time_s=0.25,
    output=SECRET,
    notes=(SECRET,),
    calls=(EntryCall(SECRET),),
    passed_over=(PassedOver(SECRET, SECRET, SECRET),),
    entry_title=SECRET,
    discarded=(SECRET,),
    unfiltered=(FINDING,),
)


def written(folder: Path, data: bytes) -> Path:
    path = folder / "run.clens"
    path.write_bytes(data)
    return path


def zipped(manifest: object, report: str | bytes = '{"outcomes": []}', how: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("report.json", report)
    return packed.getvalue()


def test_a_report_comes_back_with_the_source_of_its_findings(tmp_path: Path) -> None:
    data = report_bytes([OUTCOME], {PLACE.file: "the text\n"}.get, "/job")
    saved = read_report_file(written(tmp_path, data), tmp_path)
    assert saved.outcomes == (replace(OUTCOME, output="", unfiltered=()),)
    assert (saved.sources, saved.is_redacted) == ({PLACE.file: "the text\n"}, False)
    assert data == report_bytes([OUTCOME], {PLACE.file: "the text\n"}.get, "/job")


def test_a_redacted_report_has_no_text_or_value_of_the_program(tmp_path: Path) -> None:
    failed = replace(OUTCOME, status=Status.FAILED, failure=SECRET)
    of_trace = replace(OUTCOME, entry="trace", file=f"python train.py --key {SECRET} (rank 1)")
    data = report_bytes([OUTCOME, failed, of_trace], {PLACE.file: SECRET}.get, f"/home/{SECRET}/job", redact=True)
    saved = read_report_file(written(tmp_path, data), tmp_path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]
    first = saved.outcomes[0].findings[0]
    assert (first.message, first.place.file, first.place.line) == ("Graph break (GB0059)", "model.py", 3)
    assert (first.count, first.frames, first.call_path[0].function) == (2, ("0/1",), "forward")
    assert saved.outcomes[2].file == "trace (rank 1)"
    assert saved.is_redacted


def test_files_are_named_by_where_they_are_here(tmp_path: Path) -> None:
    (tmp_path / "model.py").touch()
    root = f"/home/{SECRET}/job"
    saved = read_report_file(written(tmp_path, report_bytes([OUTCOME], {PLACE.file: "x"}.get, root)), tmp_path)
    here = str(tmp_path / "model.py")
    assert saved.outcomes[0].findings[0].place.file == saved.outcomes[0].file == here
    assert saved.sources == {here: "x"}


def test_a_report_of_an_older_version_is_read(tmp_path: Path) -> None:
    """It was recorded when the format was new, and has a field that is not there any more."""
    saved = read_report_file(DATA / "reports" / "version-1.clens", tmp_path)
    assert [len(outcome.findings) for outcome in saved.outcomes] == [2, 4]
    assert saved.outcomes[1].findings[-1].kind is Kind.RECOMPILE


GOOD = {"format": "compile-lens report", "version": 1}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a complete report of Compile Lens"),
        (b"random bytes \x00\xff", "is not a complete report of Compile Lens"),
        (zipped(GOOD)[:-30], "is not a complete report of Compile Lens"),
        (zipped({"version": 1}), "is not a report of Compile Lens."),
        (zipped([]), "is not a report of Compile Lens."),
        (
            zipped(GOOD | {"version": 9}),
            "was written by a newer Compile Lens (version 9 of the format; this one reads up to 1).",
        ),
        (zipped(GOOD, "{}"), "is not a complete report of Compile Lens"),
        (zipped(GOOD, '{"outcomes": [{"file": 3}]}'), "is not a complete report of Compile Lens"),
        (zipped(GOOD, "[" * 90_000), "is not a complete report of Compile Lens"),
        (zipped(GOOD, b"\xff\xfe"), "is not a complete report of Compile Lens"),
        (
            zipped(GOOD, '{"outcomes": [' + "[]," * 100_000 + "[]]}"),
            "is too large: it contains more than 100,000 values.",
        ),
        (zipped(GOOD, how=zipfile.ZIP_LZMA), "is not a report of Compile Lens."),
        (zipped(GOOD, " " * 3_000_000), "is too large: it unpacks to more than 2 MiB."),
    ],
    ids=[
        "empty",
        "random",
        "cut",
        "other",
        "list",
        "newer",
        "hollow",
        "types",
        "deep",
        "bytes",
        "values",
        "lzma",
        "bomb",
    ],
)
def test_what_is_no_report_says_why(tmp_path: Path, data: bytes, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "LARGEST_BYTES", 2 << 20)
    monkeypatch.setattr(report_file, "MOST_VALUES", 100_000)
    with pytest.raises(ReportFileError) as problem:
        read_report_file(written(tmp_path, data), tmp_path)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
def test_a_pipe_or_a_device_in_the_place_of_a_report_stops_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.clens")
    (tmp_path / "endless.clens").symlink_to("/dev/zero")
    for name in ("pipe.clens", "endless.clens"):
        with pytest.raises(ReportFileError, match="cannot be read: not a regular file"):
            read_report_file(tmp_path / name, tmp_path)
        assert read_line(str(tmp_path / name), 1) == ""


def test_an_archive_of_many_members_is_no_report(tmp_path: Path) -> None:
    """Python makes an object of each before any is read."""
    file = tmp_path / "run.clens"
    file.write_bytes(report_bytes([OUTCOME], lambda _: None, ""))
    with zipfile.ZipFile(file, "a") as archive:
        for number in range(1500):
            archive.writestr(f"{number}", b"")
    with pytest.raises(ReportFileError, match="is not a report of Compile Lens"):
        read_report_file(file, tmp_path)


def test_a_report_takes_the_text_of_python_files_alone() -> None:
    """A trace of somebody else's names any file, and what is made of it is sent back."""
    keys = replace(OUTCOME.findings[0], place=replace(PLACE, file="/home/me/.ssh/id_ed25519"))
    data = report_bytes([replace(OUTCOME, findings=(*OUTCOME.findings, keys))], lambda _: SECRET, "/job")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert list(json.loads(archive.read("report.json"))["sources"]) == [PLACE.file]


def test_damage_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    whole = (DATA / "reports" / "version-1.clens").read_bytes()
    for at in range(0, len(whole), 31):
        damaged = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        for data in (damaged, whole[:at]):
            try:
                read_report_file(written(tmp_path, data), tmp_path)
            except ReportFileError as problem:
                assert str(problem)


@pytest.mark.parametrize(
    "page", ["command:workbench.action.quit", "javascript:alert(1)", "https://e.example/gb0059.html", "//e"]
)
def test_a_report_brings_no_link_but_to_a_page_of_torch(tmp_path: Path, page: str) -> None:
    """Viewers of SARIF open the page of a rule, and an editor that of a code."""
    own = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html"
    for url, kept in ((page, None), (own, own)):
        file = tmp_path / "run.clens"
        file.write_bytes(report_bytes([replace(OUTCOME, findings=(replace(FINDING, url=url),))], lambda _: None, "/w"))
        (outcome,) = read_report_file(file, tmp_path).outcomes
        assert [finding.url for finding in outcome.findings] == [kept]
        assert page not in to_sarif([outcome], lambda _: None, "/w")


@pytest.mark.usefixtures("warm_command")
def test_traces_are_saved_opened_and_redacted_in_the_terminal(tmp_path: Path) -> None:
    traces = str(DATA / "h200-ddp")
    assert Warm(["report", "-o", "run.clens", traces], tmp_path).code == 0
    direct, opened = (Warm(["trace", "--format", "json", name], tmp_path) for name in (traces, "run.clens"))
    findings = [[run["findings"] for run in one.runs] for one in (direct, opened)]
    assert (findings[1], opened.code) == (findings[0], direct.code)
    assert opened.runs[0]["compiled"] is not None
    assert Warm(["report", "--redact", "-o", "public.clens", "run.clens"], tmp_path).code == 0
    public = Warm(["trace", "--format", "json", "public.clens"], tmp_path)
    codes = [[finding["code"] for run in one.runs for finding in run["findings"]] for one in (direct, public)]
    assert codes[0] == codes[1] != []
    mixed = Warm(["trace", "run.clens", traces], tmp_path)
    assert (mixed.code, "cannot be opened together" in mixed.err) == (2, True)
    assert (
        Warm(["trace", "gone.clens"], tmp_path).err
        == "compile-lens: gone.clens cannot be read: No such file or directory.\n"
    )
