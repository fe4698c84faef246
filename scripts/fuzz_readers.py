"""Fuzz the readers: public traces, logs of objects, fio's reports as JSON and as text, its job files and command lines.

Usage: fuzz_readers.py SECONDS [SEED]. Each round changes, cuts, repeats or joins some of the texts below. A reader may
refuse a text; any other exception ends the run with the text in the file `found`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from seeklab._errors import SeeklabError
from seeklab.calibration import depths
from seeklab.calibration.fio_results import read_results
from seeklab.data.public_traces import (
    chosen,
    is_oracle_general,
    layout_of,
    object_layout_of,
    objects,
    oracle_general,
    requests,
)
from seeklab.engine.host import engine

TRACES = (
    "Timestamp,Response,IOType,LUN,Offset,Size\n1455592000.001,0.0006,W,2,8192,4096\n",
    "7,W,8192,4096,1577808000000000\n9,R,0,512,1577808000002041\n",
    "1538323200,16,8,1,1283\n1538323200,0,1,0,1284\n",
    "0,16,4096,W,0.001074\n1,0,512,r,0.003115\n",
    "329131208190249 4892 syslogd 16 8 W 6 0 5fb1\n",
    "version,time,op,size,lbn\n1,1000,2a,4096,16\n",
    "0.001074 0 16 8 0\n2.042074 1 0 1 1\n",
    "1,8192,4096\n0,0,512\n",
    "timestamp,key,key_size,value_size,client_id,op,ttl\n1,a,3,5,1,get,0\n",
    "op_time,key,key_size,op,op_count,size\n1,a,3,GET,1,5\n",
    "1 7 8\n3 0 8\n",
    "one\ntwo\none\n",
)
REPORT = {
    "fio version": "fio-3.33",
    "jobs": [
        {
            "jobname": "a",
            "groupid": 0,
            "error": 0,
            "job_runtime": 2000,
            "job options": {"rw": "randread", "bs": "4k", "direct": "1", "runtime": "2", "time_based": "1"},
            "read": {
                "total_ios": 20000,
                "iops": 10000.0,
                "io_bytes": 81920000,
                "lat_ns": {"mean": 100000.0, "min": 90000, "max": 200000},
                "clat_ns": {"percentile": {"50.000000": 98000, "99.000000": 150000}},
            },
            "write": {"total_ios": 0},
        }
    ],
}
LINES = (
    "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4",
    "fio-3.28",
    "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 00:00:00 2024",
    "  read: IOPS=40.0k, BW=156MiB/s (164MB/s)(313MiB/2000msec)",
    "     lat (usec): min=82, max=402, avg=100.00, stdev= 9.00",
    "    clat percentiles (usec):",
    "     |  1.00th=[   81], 50.00th=[   97], 99.00th=[  150], 99.90th=[  300]",
    "  issued rwts: total=80000,0,0,0 short=0,0,0,0 dropped=0,0,0,0",
)
TEXT = "\n".join(LINES) + "\n"
COMMANDS = (
    "sudo fio --name=a --filename=/dev/sdb --rw=randread --bs=4k --iodepth=32 --size=4g --runtime=2 --time_based\n",
    "fio -name a -rw randrw -bs=,8k -bssplit=4k/50:64k/50,8k/ -rwmixread=30,70 -size 25% -filesize=1m \\\n --minimal\n",
    "$ S=1g; fio --directory '/mnt/a b' --name=global --size=$S --name=x --numjobs=4 --output-format=normal,json\n",
    "[global]\nioengine=libaio\nsize=1m\n[a]\nrw=trimwrite\nbs=8k,16k,16k\nfsync=1\n[b]\nstonewall\nfilename=x:y\n",
    "[a]\nrw=randread\nrandom_distribution=zoned:60/10:40/\noffset=10%\nfilesize=64m\npercentile_list=50:99.9\n",
)
PIECES = (
    "0",
    "-1",
    "9" * 30,
    "1e309",
    "nan",
    ",",
    "\n",
    " ",
    "\t",
    '"',
    "{",
    "}",
    "\0",
    "\u2028",
    "\u0663",
    "%",
    ".",
    ":",
    "=",
)
COLUMNS = (
    "time=1,offset=2,bytes=3",
    "time:us=2,op=3,sector=1,sectors=4,device=5",
    "time=1,offset=2,bytes=3,response=9",
)


def mutated(text: str, random_: random.Random) -> str:
    """Return a text with a few changes."""
    for _ in range(random_.randint(1, 4)):
        at, to = sorted(random_.randrange(len(text) + 1) for _ in range(2))
        kind = random_.randrange(4)
        if kind == 0:
            text = text[:at] + random_.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[min(to, at + 8) :]
        elif kind == 2:
            text = text[:to] + text[at:to] + text[to:]
        else:
            text = text[:at] + random_.choice(PIECES) + text[at + 1 :]
    return text


def trace(text: str, random_: random.Random) -> None:
    """Read a text as a trace and as a log of objects."""
    layout = layout_of(text)
    if layout:
        requests(text.split("\n"), layout)
    log = object_layout_of(text)
    if log:
        objects(text.split("\n"), log[0], headed=log[1])
    requests(text.split("\n"), chosen(random_.choice(COLUMNS), text))


def binary(text: str, _: random.Random) -> None:
    """Read bytes as oracleGeneral."""
    data = text.encode("utf-8", "replace")
    is_oracle_general(data)
    oracle_general([data[:30], data[30:]])


def report(text: str, folder: Path) -> None:
    """Read a text as a report of fio."""
    (folder / "a.json").write_text(text, encoding="utf-8", errors="replace")
    depths.series(read_results(folder))


def command(text: str) -> None:
    """Read a text as a job file, and as a command line."""
    for name in ("job.fio", "command line"):
        asked = {
            "main": [name],
            "files": {name: text},
            "preset": "nvme",
            "environment": {"S": "1g"},
            "operations": 1000,
        }
        engine().call("fio_parse", asked)


def main(seconds: float, seed: int) -> None:
    """Fuzz for some time."""
    random_ = random.Random(seed)
    rounds, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while time.monotonic() < end:
            kind = random_.randrange(9)
            sources = {0: (json.dumps(REPORT, indent=1),), 1: (TEXT,), 8: COMMANDS}.get(kind, TRACES)
            source = random_.choice(sources)
            text = mutated(source, random_)
            try:
                if kind < 2:
                    report(text, folder)
                elif kind == 2:
                    binary(text, random_)
                elif kind == 8:
                    command(text)
                else:
                    trace(text, random_)
            except SeeklabError:
                pass
            except Exception:
                Path("found").write_text(text, encoding="utf-8", errors="replace")
                raise
            rounds += 1
    print(f"{rounds} rounds, seed {seed}: no other exception")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
