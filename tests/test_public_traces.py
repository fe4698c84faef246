"""Traces that people download: recognised by content, read as their layouts say, and refused with a line."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import seeklab
from seeklab.data.public_traces import layout_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import CommandLine

TRACES = {
    "systor17": (
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592000.001074,0.000698,W,2,8192,4096\n"
        "1455592000.003115,0.000560,R,6,0,512\n"
    ),
    "alibaba": "7,W,8192,4096,1577808000000000\n9,R,0,512,1577808000002041\n",
    "tencent-cbs": "1538323200,16,8,1,1283\n1538323200,0,1,0,1284\n",
    "spc": "0,16,4096,W,0.001074\n1,0,512,r,0.003115\n",
    "fiu": "329131208190249 4892 syslogd 16 8 W 6 0 5fb1 \n329131208192290 4892 syslogd 0 1 R 6 0 5fb2\n",
    "vscsi": "version,time,op,size,lbn\n1,1000,2a,4096,16\n1,3041,28,512,0\n",
    "disksim": "0.001074 0 16 8 0\n2.042074 1 0 1 1\n",
    "fio-iolog-v1": "1,8192,4096\n0,0,512\n",
}


@pytest.mark.parametrize("name", TRACES)
def test_a_public_trace_is_recognised_and_read(name: str) -> None:
    found = layout_of(TRACES[name])
    assert found is not None
    assert found.name == name
    info = seeklab.trace_info(TRACES[name])
    assert info["format"] == name
    assert (info["requests"], info["reads"], info["writes"], info["bytes"]) == (2, 1, 1, 4608)
    assert info["targets"][0]["bytes"] == 12_288
    # Tencent's times are whole seconds, FIU's nanoseconds; a log of fio has whole microseconds.
    expected_ns = {"tencent-cbs": 0, "fiu": 2_000, "fio-iolog-v1": 0}.get(name, 2_041_000)
    assert info["span_ns"] == expected_ns


def test_columns_describe_any_other_table() -> None:
    text = "when;what;where;how many\n5;read;3;2\n7;write;1;1\n"
    info = seeklab.trace_info(text, columns="time:ms=1,op=2,sector=3,sectors=4")
    assert (info["requests"], info["bytes"], info["span_ns"], info["largest_offset"]) == (2, 1536, 2_000_000, 1536)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ("time=1", "offset"),
        ("when=1", "when"),
        ("time:h=1,offset=2,bytes=3", '"h"'),
        ("time=0,offset=2,bytes=3", "time"),
    ],
)
def test_wrong_columns_are_named(columns: str, named: str) -> None:
    with pytest.raises(seeklab.SeeklabError) as told:
        seeklab.trace_info("1,2,3\n4,5,6\n", columns=columns)
    assert named in str(told.value)


@pytest.mark.parametrize("line", ["7,W,8192", "7,X,8192,4096,1577808000000000", "7,R,-1,4096,1577808000000000"])
def test_a_damaged_line_is_named(line: str) -> None:
    text = TRACES["alibaba"] * 30 + line + "\n"
    with pytest.raises(seeklab.SeeklabError) as told:
        seeklab.trace_info(text)
    assert "line 61" in str(told.value)


def test_the_first_line_may_name_the_columns() -> None:
    text = "device_id,opcode,offset,length,timestamp\n" + TRACES["alibaba"]
    assert seeklab.trace_info(text)["requests"] == 2


@pytest.mark.parametrize("text", ['{"a":1}\n', "<html>\n<body>\n", "[section]\n"])
def test_other_texts_are_no_lists_of_objects(text: str) -> None:
    with pytest.raises(seeklab.SeeklabError):
        seeklab.cache(text, ["lru"], [100])


def test_an_offset_beyond_any_device_is_named_with_its_own_line() -> None:
    text = TRACES["alibaba"] + f"9,R,{1 << 63},512,1577808000002041\n" + f"9,R,{1 << 60},512,1577808000002041\n"
    with pytest.raises(seeklab.SeeklabError, match="line 3"):
        seeklab.trace_info(text)
    with pytest.raises(seeklab.SeeklabError, match="line 3"):
        seeklab.trace_info(text.replace(str(1 << 63), str(1 << 60)))


def test_earlier_times_and_missing_times_are_told() -> None:
    told: list[str] = []
    result = seeklab.replay("1,0,4096,W,1.5\n1,0,512,r,0.5\n1,0,512,r,2.5\n", "nvme", tell=told.append)
    assert result.replay is not None
    assert result.replay["format"] == "spc"
    result.close()
    assert any(sentence.startswith("1 requests have earlier times") for sentence in told)
    told.clear()
    seeklab.replay(TRACES["fio-iolog-v1"], "nvme", tell=told.append).close()
    assert any("no times" in sentence for sentence in told)


def test_a_trace_beyond_the_limit_is_cut_and_never_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "trace"
    file.write_text("".join(f"{time / 1000:.3f},0,{4096 * time},4096,W\n" for time in range(20_000)))
    monkeypatch.setattr("seeklab.data.public_traces.MAX_BYTES", 2000)
    shares: list[float] = []
    told: list[str] = []
    columns = "time=1,op=5,offset=3,bytes=4"
    seeklab.replay(file, "nvme", columns=columns, progress=shares.append, tell=told.append).close()
    assert any(sentence.startswith("only the first") for sentence in told)
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1


def test_a_trace_of_the_engines_own_formats_shows_its_first_requests(tmp_path: Path, command_line: CommandLine) -> None:
    file = tmp_path / "trace"
    file.write_text("fio version 2 iolog\nf add\nf open\nf read 4096 512\n")
    done = command_line("cache", str(file), "--policy", "lru", "--size", "4KiB")
    assert done.returncode == 0
    assert "fio-iolog-v2" in done.stderr
    assert "512 bytes at byte 4096 of f" in done.stderr


LOGS = {
    "twitter": "timestamp,key,key_size,value_size,client_id,op,ttl\n"
    "1,a,3,5,1,get,0\n2,b,3,5,1,set,0\n3,a,3,5,1,get,0\n",
    "meta": "op_time,key,key_size,op,op_count,size\n1,a,3,GET,1,5\n2,b,3,GET,1,5\n3,a,3,GET,1,5\n",
    "blanks": "1 7 8\n3 0 8\n4 7 8\n",
    "objects": "one\ntwo\none\n",
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_objects_has_one_hit(name: str) -> None:
    (row,) = seeklab.cache(LOGS[name], ["lru"], [100])
    assert (row["requests"], row["hits"]) == (3, 1)


@pytest.mark.parametrize("name", ["twitter", "meta", "blanks"])
def test_a_log_of_objects_cannot_be_replayed(name: str) -> None:
    with pytest.raises(seeklab.SeeklabError, match="seeklab cache"):
        seeklab.trace_info(LOGS[name])


def test_oracle_general_is_recognised_by_its_records(tmp_path: Path, command_line: CommandLine) -> None:
    file = tmp_path / "any name"
    file.write_bytes(b"".join(struct.pack("<IQIq", time, key, 8, -1) for time, key in ((1, 5), (2, 6), (3, 5))))
    (row,) = seeklab.cache(file, ["lru"], [100])
    assert (row["requests"], row["hits"], row["bytes"]) == (3, 1, 24)
    with pytest.raises(seeklab.SeeklabError, match="oracleGeneral"):
        seeklab.trace_info(file)
    file.write_bytes(file.read_bytes()[:-1])
    assert command_line("cache", str(file), "--policy", "lru", "--size", "100").returncode == 2


def test_a_replay_shows_what_it_understood(tmp_path: Path, command_line: CommandLine) -> None:
    file = tmp_path / "trace"
    file.write_text(TRACES["spc"])
    done = command_line("replay", str(file), "--on", "nvme")
    assert done.returncode == 0
    assert "spc" in done.stderr
    assert "4096 bytes at byte 8192" in done.stderr
