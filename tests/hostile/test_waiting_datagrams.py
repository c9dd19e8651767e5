"""Datagrams that nobody has read yet count by their size: who takes them may ask for more room than any socket counts for."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from compile_lens.agent.runtime.socket_memory import in_connections

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]
COUNT, SIZE = 100, 1000


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_datagrams_that_wait_count(family: int, address: str) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as takes, socket.socket(family, socket.SOCK_DGRAM) as sends:
        try:
            takes.bind((address, 0))
        except OSError:
            pytest.skip("no such network here")
        for _ in range(COUNT):
            sends.sendto(bytes(SIZE), takes.getsockname()[:2])
        assert in_connections(os.getpid()) >= COUNT * SIZE
