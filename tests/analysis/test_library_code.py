"""What happens inside an installed library: at the user's line that calls it, or where it happens."""

from __future__ import annotations

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.sources import Sources
from replay import JOB, replay


def test_a_break_inside_a_library_stands_at_the_users_line_or_at_the_librarys() -> None:
    mine = replay("fixtures", "break_in_package").findings
    everything = replay("fixtures", "break_in_package", filters=Filters(just_my_code=False)).findings
    assert {finding.place.file for finding in mine} == {f"{JOB}/break_in_package.py"}
    assert {finding.place.file for finding in everything}.isdisjoint(finding.place.file for finding in mine)
    assert any("/jinja2/" in finding.place.file for finding in everything)
    # the way there is told in both
    for finding in (*mine, *everything):
        assert [site.place.file for site in finding.call_path][:2] == [f"{JOB}/break_in_package.py"] * 2


def test_what_carries_calls_is_nobodys_code() -> None:
    mine = Sources("/home/me/train.py", lambda _: None, ("/opt/torch-checkout/torch/",), "/agent/")
    everything = Sources("/home/me/train.py", lambda _: None, ("/opt/torch-checkout/torch/",), "/agent/", False)
    library = "/home/me/.venv/lib/python3.11/site-packages/jinja2/utils.py"
    layer = "/opt/torch-checkout/torch/nn/modules/linear.py"
    assert not mine.is_own(library) and not mine.is_own(layer)
    assert everything.is_own(library) and everything.is_own(layer)
    for sources in (mine, everything):
        assert sources.is_own("/home/me/model.py")
        for nobodys in (
            "/agent/boot.py",
            "<string>",
            "/x/torch/_dynamo/eval_frame.py",
            "/x/torch/nn/modules/module.py",
        ):
            assert sources.is_own(nobodys) == (sources is mine and nobodys.startswith("/x/"))
