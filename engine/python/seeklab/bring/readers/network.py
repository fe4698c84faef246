"""The network as a host sees it: ping, `ss -ti`, nstat, `netstat -s`, `ethtool -S`.

Records are values by subject: `path` (round trip), `connection` (window, buffers, losses) and `tcp` (counters).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab.bring.block import Block, Value
from seeklab.bring.lines import command
from seeklab.bring.numbers import number

if TYPE_CHECKING:
    from seeklab.bring.lines import Lines

TOOL = "ping"
STARTS = (
    r"PING \S|(?:rtt|round-trip) min/avg/max|State\s+Recv-Q|(?:tcp\s+)?ESTAB\s|#kernel$|Tcp(?:Ext)?[A-Z]\w{2,40}\s+\d"
    r"|Tcp:$|NIC statistics:"
)
HOLDS: tuple[str, ...] = ()
SUMMARY = re.compile(
    r"(?:rtt|round-trip) min/avg/max\S* = (\d{1,15}(?:\.\d{1,9})?)/(\d{1,15}(?:\.\d{1,9})?)/(\d{1,15}(?:\.\d{1,9})?)"
)
LOSS = re.compile(r"(\d{1,9}) packets transmitted, (\d{1,9}) (?:packets )?received")
ECHO = re.compile(r"\d{1,6} bytes from .{1,120} time[=<](\d{1,15}(?:\.\d{1,9})?) ms")
FIELD = re.compile(
    r"\b(rtt|mss|cwnd|rcv_space|rcv_wnd|snd_wnd|sndbuf|retrans|rto|unacked):(\d{1,15}(?:\.\d{1,9})?)(?:/(\d{1,15}(?:\.\d{1,9})?))?"
)
RATE = re.compile(r"delivery_rate (\d{1,15}(?:\.\d{1,9})?)([KMG]?)bps")
SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
COUNTER = re.compile(r"((?:Ip|Tcp|Udp)\w{2,40})\s+(\d{1,18})(?:\s+[\d.]+)?$")
NETSTAT = re.compile(r"(\d{1,18}) (segments retransmitted|segments sent out|fast retransmits|other TCP timeouts)")
NETSTAT_NAMES = {
    "segments retransmitted": "TcpRetransSegs",
    "segments sent out": "TcpOutSegs",
    "fast retransmits": "TcpExtTCPFastRetrans",
    "other TCP timeouts": "TcpExtTCPTimeouts",
}
STATISTIC = re.compile(r"\s+([\w\[\]. -]{2,40}): (\d{1,18})$")
MAX_LINES = 400


def read(lines: Lines, at: int) -> Block | None:
    """Return the report that starts at `at`."""
    line = lines[at].strip()
    if line.startswith(("PING", "rtt", "round-trip")):
        return _ping(lines, at)
    if line.startswith(("State", "ESTAB", "tcp ")):
        return _sockets(lines, at)
    if line == "Tcp:":
        return _netstat(lines, at)
    return _ethtool(lines, at) if line.startswith("NIC") else _nstat(lines, at)


def _ping(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    echoes: list[float] = []
    end = at
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index].strip()
        if summary := SUMMARY.match(line):
            values += [
                Value("path", name, float(cell), "ms", index + 1)
                for name, cell in zip(("rtt min", "rtt", "rtt max"), summary.groups(), strict=True)
            ]
            return Block("ping", at + 1, index + 1, list(values))
        if loss := LOSS.match(line):
            values.append(Value("path", "lost", float(loss[1]) - float(loss[2]), line=index + 1))
        elif echo := ECHO.match(line):
            echoes.append(float(echo[1]))
        elif line and not line.startswith(("PING", "---")):
            break
        end = index + 1
    if echoes:
        values.append(Value("path", "rtt", sum(echoes) / len(echoes), "ms", at + 1))
    return Block("ping", at + 1, end, list(values)) if values else None


def _sockets(lines: Lines, at: int) -> Block:
    values: list[Value] = []
    end, connection = at, 0
    for index in range(at, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if re.match(r"(?:tcp\s+)?ESTAB\s", line.strip()):
            connection += 1
        elif fields := FIELD.findall(line):
            subject = f"connection {max(connection, 1)}"
            for name, one, two in fields:
                # `retrans:0/5` is now and in total; `rtt:0.2/0.1` is the mean and its deviation.
                value = number(two if name == "retrans" and two else one)
                if value is not None:
                    values.append(Value(subject, name, value, line=index + 1))
            if rate := RATE.search(line):
                values.append(Value(subject, "rate", float(rate[1]) * SCALE[rate[2]] / 8, "bytes/s", index + 1))
        elif line.strip() and not line.strip().startswith("State"):
            break
        end = index + 1 if line.strip() else end
    notes = [] if values else ["no connection with its details; run ss with -i"]
    return Block("ss", at + 1, end, list(values), notes=notes)


def _nstat(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at + 1
    for index in range(at, min(len(lines), at + MAX_LINES)):
        if counter := COUNTER.match(lines[index].strip()):
            values.append(Value("tcp", counter[1], float(counter[2]), line=index + 1))
            end = index + 1
        elif lines[index].strip() != "#kernel":
            break
    return Block("nstat", at + 1 - bool(at and command(lines[at - 1])), end, list(values)) if values else None


def _netstat(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_LINES)):
        line = lines[index]
        if counter := NETSTAT.search(line):
            values.append(Value("tcp", NETSTAT_NAMES[counter[2]], float(counter[1]), line=index + 1))
        elif not line.startswith(" ") and not re.match(r"\w+:$", line.strip()):
            break
        end = index + 1
    return Block("netstat-s", at + 1, end, list(values)) if values else None


def _ethtool(lines: Lines, at: int) -> Block | None:
    values: list[Value] = []
    end = at + 1
    for index in range(at + 1, min(len(lines), at + MAX_LINES)):
        if not (match := STATISTIC.match(lines[index])):
            break
        values.append(Value("interface", match[1].strip(), float(match[2]), line=index + 1))
        end = index + 1
    return Block("ethtool", at + 1, end, list(values)) if values else None
