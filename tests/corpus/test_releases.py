"""What is read of an index of packages: of one on this machine."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator

import pytest
from tests.corpus import releases


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An index with the files of one library."""
    archive = b"an archive"

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path.startswith("/lib/") else 404)
            self.end_headers()
            if self.path == "/lib/archive":
                self.wfile.write(archive)
                return
            files = [
                ("lib-0.9-py3-none-any.whl", "2022-01-01T00:00:00Z"),
                ("lib-1.0.0-py3-none-any.whl", "2023-01-01T00:00:00Z"),
                ("lib-1.1rc1-py3-none-any.whl", "2023-02-01T00:00:00Z"),
                ("lib-1.2.tar.gz", "2023-02-02T00:00:00Z"),
                ("lib-1.3rc1.tar.gz", "2023-02-03T00:00:00Z"),
                ("lib-2.0-py3-none-any.whl", "2025-01-01T00:00:00Z"),
                ("lib-3.0.tar.gz", "2025-02-01T00:00:00Z"),
            ]
            place = {"url": f"{releases.INDEX}lib/archive", "hashes": {"sha256": hashlib.sha256(archive).hexdigest()}}
            told = [{"filename": name, "upload-time": day, **place} for name, day in files]
            told[-1]["requires-python"] = ">=99"
            self.wfile.write(json.dumps({"files": told}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(releases, "INDEX", f"http://127.0.0.1:{server.server_port}/")
    releases.releases.cache_clear()
    yield
    releases.releases.cache_clear()
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("index")
def test_the_version_of_a_library_that_a_package_was_written_for() -> None:
    day = releases.uploaded("Lib", "1.2")
    assert day == "2023-02-02T00:00:00Z"
    # neither what came later, nor what is no wheel, nor one before its release
    assert releases.of_day("lib", "2.0", day) == "lib==1.0.0"
    assert releases.of_day("lib", "0.9", day) == ""
    assert releases.of_day("nobody", "2.0", day) == "" == releases.uploaded("nobody", "1")


@pytest.mark.usefixtures("index")
def test_the_source_distribution_of_the_newest_version_that_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert releases.source_of("lib") == b"an archive"
    assert releases.source_of("nobody") is None
    changed = [dataclasses.replace(release, sha256="0" * 64) for release in releases.releases("lib")]
    # the newest asks for another Python; the one before it is taken
    with monkeypatch.context() as patch, pytest.raises(OSError, match=r"lib-1\.2\.tar\.gz is not what the index says"):
        patch.setattr(releases, "releases", lambda _: changed)
        releases.source_of("lib")
