"""Reads long documents for the server, in a process that ends with it, whatever it is doing (pipeline/facts_process.py starts it)."""

from __future__ import annotations

import os
import pickle
import queue
import struct
import sys
import threading

from compile_lens.pipeline.document_facts import facts_of

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
