"""Reads what a compiled kernel takes of a GPU from its binary, an ELF file: registers of a thread, local memory, shared memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# attributes of the section `.nv.info` (as cuobjdump and nvdisasm print them): for each function, its symbol and a number
REGISTERS, STACK_BYTES = 0x2F, 0x11
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
WITH_VALUE_OF_SIZE = 4  # the form of an attribute whose value has a length; others have a value of two bytes


@dataclass(frozen=True)
class Resources:
    """``registers`` of a thread; ``shared`` memory of a block, in bytes; ``spills`` in words of four bytes, as torch counts them."""

    registers: int
    shared: int
    spills: int


def read_resources(binary: Any) -> Resources:
    """What a kernel that Triton has compiled takes. Raises ValueError if its binary has another form."""
    attributes = dict(_attributes(binary.asm["cubin"]))
    if REGISTERS not in attributes:
        raise ValueError("the binary names no registers")
    return Resources(attributes[REGISTERS], int(binary.metadata.shared), attributes.get(STACK_BYTES, 0) // 4)


def _attributes(cubin: bytes) -> Iterator[tuple[int, int]]:
    """Each attribute of a kernel with a number."""
    for name, content in _sections(cubin):
        if name != ".nv.info":
            continue
        place = 0
        while place + 4 <= len(content):
            form, attribute, size = struct.unpack_from("<BBH", content, place)
            place += 4
            if form == WITH_VALUE_OF_SIZE:
                if size >= 8:
                    yield attribute, struct.unpack_from("<I", content, place + 4)[0]
                place += size


def _sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    if cubin[:4] != b"\x7fELF":
        raise ValueError("the binary is not an ELF file")
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, of_names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [SECTION_HEADER.unpack_from(cubin, start + size * index) for index in range(count)]
    names = cubin[headers[of_names][4] : headers[of_names][4] + headers[of_names][5]]
    for header in headers:
        name = names[header[0] : names.index(b"\0", header[0])].decode("ascii", "replace")
        yield name, cubin[header[4] : header[4] + header[5]]
