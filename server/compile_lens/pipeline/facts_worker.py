"""Reads long documents for the server, in a process that ends with it, whatever it is doing (pipeline/facts_process.py starts it)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import queue
import signal
import struct
import sys
import threading

PR_SET_PDEATHSIG = 1
if __name__ == "__main__" and sys.platform == "linux":
    with contextlib.suppress(OSError, AttributeError):  # one that was stopped ends with the server, too: from here on
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)

from compile_lens.pipeline.document_facts import facts_of  # noqa: E402 - takes a moment

LENGTH = struct.Struct(">Q")


def main() -> None:
    """Answer one text after the other: each is a length and UTF-8, each answer a length and a pickle."""
    texts: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(texts,), daemon=True).start()
    output = sys.stdout.buffer
    while True:
        answer = pickle.dumps(facts_of(texts.get()))
        output.write(LENGTH.pack(len(answer)) + answer)
        output.flush()


def _receive(texts: queue.SimpleQueue[str]) -> None:
    """Take texts until the server is gone. Then nobody waits for an answer."""
    stream = sys.stdin.buffer
    while len(head := stream.read(LENGTH.size)) == LENGTH.size:
        texts.put(stream.read(LENGTH.unpack(head)[0]).decode("utf-8", "surrogatepass"))
    os._exit(0)


if __name__ == "__main__":
    main()
