"""The table of GPUs: every row is complete and plausible, and a user finds a device by the names that are in use."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from compile_lens.knowledge.devices import TABLE, UnknownDeviceError, devices, devices_like, find_device


@pytest.mark.parametrize("key", list(devices()))
def test_a_row_names_its_source_and_has_figures_of_one_size(key: str) -> None:
    device = devices()[key]
    properties = device.properties
    assert "data sheet" in device.source or "white paper" in device.source
    assert properties.name.split()[-1]
    assert properties.shared_memory_per_block <= properties.shared_memory_per_block_optin
    assert properties.shared_memory_per_block_optin <= properties.shared_memory_per_multiprocessor
    assert properties.max_threads_per_multi_processor % properties.warp_size == 0
    assert 1e11 < device.bandwidth < 2e13
    assert device.vector["float64"] <= device.vector["float32"] <= device.matmul["float16"]
    # two operations a clock for each of 64 or 128 units per SM, at 1 to 3 GHz: a wrong unit of a figure is seen
    clock = device.vector["float32"] / (properties.multi_processor_count * 128 * 2)
    assert 0.7e9 < clock < 3e9
    assert set(device.matmul) <= {"float64", "tf32", "float16", "bfloat16", "float8", "int8"}


@pytest.mark.parametrize(
    ("name", "key"),
    [("H100", "h100"), ("NVIDIA H200", "h200"), ("rtx-4090", "rtx4090"), ("4090", "rtx4090"), ("Tesla T4", "t4")],
)
def test_names_in_use(name: str, key: str) -> None:
    assert find_device(name).key == key


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownDeviceError, match=r"`gtx980`.*h100, .*JSON file"):
        find_device("gtx980")


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    table = json.loads(TABLE.read_text())
    row = table["devices"]["h100"] | {"bandwidth": 1e12}
    file = tmp_path / "slower.json"
    file.write_text(json.dumps(row))
    assert (find_device(str(file)).key, find_device(str(file)).bandwidth) == ("slower", 1e12)
    del row["bandwidth"]
    file.write_text(json.dumps(row))
    with pytest.raises(UnknownDeviceError, match="bandwidth"):
        find_device(str(file))
    with pytest.raises(UnknownDeviceError, match="No such file"):
        find_device(str(tmp_path / "absent.json"))


def test_what_the_figures_in_a_kernel_do_not_tell_apart() -> None:
    keys = [device.key for device in devices_like(major=9, minor=0, multi_processor_count=132)]
    assert keys == ["h100", "h100-nvl", "h200"]


@pytest.mark.skipif(sys.platform == "win32", reason="makes a pipe with a name")
def test_what_is_no_file_of_figures_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    for name in ("pipe.json", "endless.json", "a\0b.json", "\ud800.json", "x" * 5000 + ".json"):
        with pytest.raises(UnknownDeviceError):
            find_device(str(tmp_path / name))
