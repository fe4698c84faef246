"""Redaction: names of hosts and users, addresses, serial numbers and paths are replaced, and nothing that is measured.

Each name gets one replacement everywhere, so that two lines about one host stay two lines about one host. Prompts, the
heading of `iostat` and lines of a system log tell the names. Each of them is then replaced wherever it is a word,
unless it is also the name of a device or a word of the tools.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

V4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])")
V6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}(?![\w:.])")
UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![\w-])")
SERIAL = re.compile(
    r"(?:Serial [Nn]umber|[Ss]erial|SERIAL|Unit serial number|LU WWN Device Id|Logical Unit id|EUI64|NGUID|S/N"
    r"|IEEE EUI-64|\bsn)(?:\s{0,40}[:=]\s{0,40})(\S[^\n,]{0,60})"
)
BY_ID = re.compile(r"\b((?:ata|nvme|usb|scsi-S\w{2,5})[-_][\w.+-]{2,60}_)([A-Za-z0-9-]{4,40})(?![A-Za-z0-9-])")
WWN = re.compile(r"\b(wwn-0x|nvme-eui\.|naa\.|scsi-3|eui\.|dm-uuid-)([0-9a-fA-F]{8,40})\b")
HOSTS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t>]{0,8}Linux \S{1,80} \(([^\s()]{1,80})\)",
        r"(?<![\w.@-])[\w.-]{1,32}@([A-Za-z][\w.-]{1,62})(?=[: \]~])",
        (
            r"^[ \t>]{0,8}(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,16})"
            r" ([A-Za-z][\w.-]{1,62}) \S{1,60}: "
        ),
        r"^[ \t>]{0,8}([A-Za-z][\w.-]{1,62}):/\S{0,200} mounted on ",
        r"^[ \t>]{0,8}device ([A-Za-z][\w.-]{1,62}):/\S{0,200} mounted on ",
        r"^PING ([A-Za-z][\w.-]{1,62}) ",
        r'"(?:nodename|hostname)": ?"([^"\s]{1,80})"',
        r"\bcomputer name:\s{1,20}(\S{1,62})",
    )
)
USERS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"(?<![\w.@-])([a-z_][\w.-]{0,31})@[A-Za-z][\w.-]{1,62}(?=[: \]~])",
        r"/(?:home|Users)/([\w.-]{1,32})",
        r"^ {0,8}\d{1,8} ([a-z_][\w.+-]{1,31}) {1,12}(?:-?\d{1,3}|rt) {1,6}-?\d{1,3} .{0,120} [RSDZTI] ",
        r"\bUser: ?([A-Za-z][\w.-]{1,31})\b",
    )
)
DOMAIN = re.compile(
    r"(?<![\w.@/-])(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,6}"
    r"(?:com|net|org|io|edu|gov|local|lan|internal|home|corp|cloud|de|uk|fr|nl|eu|ch|at|us|info|dev|example|test)(?![\w-])"
)
PATH = re.compile(r"(?<![\w./:~-])/(?:[\w.@+~#%:-]{1,100}/?){1,24}")
WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\(?:[^\\\s'\":*?<>|]{1,100}\\?){1,24}")
KEPT_PATHS = ("/dev/", "/proc/", "/sys/", "/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/run/", "/boot")
SHORT_PATHS = ("dev", "tmp", "s", "sec")
"""Paths that every system has, and units such as `/s`."""
DEVICE = re.compile(
    r"(?:sd|vd|xvd|hd|nvme|dm-|md|zd|loop|ram|sr|mmcblk|nbd|rbd|drbd|bcache|da|ada|nvd|cd|c\d+t|disk|ata|osd|eth|en)"
    r"[\w.-]{0,20}"
)
WORD = re.compile(r"(?<![\w./%-])[A-Za-z_][\w.-]{1,61}\w(?![\w/%-])")
KEPT_NAMES = ("root", "localhost", "none")
WORDS = frozenset(
    (
        *("system", "nobody", "daemon", "cpu", "all", "host", "device", "devices", "read", "write", "reads", "writes"),
        *("total", "average", "linux", "windows", "iostat", "zpool", "pool", "tank", "data", "log", "logs", "cache"),
        *("fio", "dd", "dmesg", "kernel", "etcd", "redis", "ceph", "postgres", "mongod", "mysql", "mysqld", "user"),
        *("local", "name", "state", "online", "job", "jobs", "test", "raid", "mirror", "disk", "drive"),
    )
)
"""Words that tools print, and names that tell nothing."""


class Redactor:
    """Replaces names in texts; the same name gets the same replacement in all of them."""

    def __init__(self) -> None:
        """Start without names."""
        from seeklab.bring.readers import READERS

        self._given: dict[str, dict[str, str]] = {}
        texts = (text for reader in READERS for text in (reader.STARTS, *reader.HOLDS))
        self._tool_words = WORDS | {word.lower() for text in texts for word in WORD.findall(text)}

    def redact(self, text: str) -> str:
        """Return the text without names."""
        for kind, patterns in (("host", HOSTS), ("user", USERS)):
            for pattern in patterns:
                text = pattern.sub(self._within(kind), text)
        text = SERIAL.sub(self._within("serial"), text)
        text = BY_ID.sub(lambda found: found[1] + self._name("serial", found[2]), text)
        text = WWN.sub(lambda found: found[1] + f"{int(self._name('wwn', found[2]).rpartition('-')[2]):016x}", text)
        text = UUID.sub(lambda found: f"00000000-0000-0000-0000-{self._number('uuid', found[0]):012d}", text)
        text = PATH.sub(self._path, text)
        text = WINDOWS_PATH.sub(lambda found: "C:\\" + self._name("path", found[0]), text)
        text = V4.sub(self._v4, text)
        text = V6.sub(self._v6, text)
        text = DOMAIN.sub(lambda found: self._name("host", found[0]), text)
        return self._words(text)

    def _words(self, text: str) -> str:
        """Replace names wherever they are words; each is looked up, so their number does not matter."""
        known = {
            part: new
            for kind in ("host", "user")
            for name, new in self._given.get(kind, {}).items()
            for part in (name, name.partition(".")[0])
            if self._is_name(part)
        }
        return WORD.sub(lambda found: known.get(found[0], found[0]), text) if known else text

    def _number(self, kind: str, name: str) -> int:
        return int(self._name(kind, name).rpartition("-")[2])

    def _name(self, kind: str, name: str) -> str:
        known = self._given.setdefault(kind, {})
        return known.setdefault(name, f"{kind}-{len(known) + 1}")

    def _within(self, kind: str) -> Callable[[re.Match[str]], str]:
        def replaced(found: re.Match[str]) -> str:
            begin, end = found.span(1)
            whole, at = found[0], found.start()
            name = found[1].strip()
            if name in KEPT_NAMES or name.startswith(f"{kind}-"):
                return whole
            return whole[: begin - at] + self._name(kind, name) + whole[end - at :]

        return replaced

    def _path(self, found: re.Match[str]) -> str:
        path = found[0]
        if path.startswith(KEPT_PATHS) or path.rstrip("/").count("/") == 0 or path.strip("/") in SHORT_PATHS:
            return path
        if not re.search(r"[A-Za-z]{2}", path):
            return path  # such as 12/4 or /1
        return "/" + self._name("path", path)

    def _v4(self, found: re.Match[str]) -> str:
        if any(int(part) > 255 for part in found[0].split(".")) or found[0].startswith(("127.", "0.")):
            return found[0]
        number = self._number("address", found[0])
        return f"192.0.2.{number}" if number < 256 else f"198.51.{number >> 8 & 255}.{number & 255}"

    def _v6(self, found: re.Match[str]) -> str:
        text = found[0]
        is_address = "::" in text or text.count(":") >= 5
        if not is_address or not re.search(r"[0-9a-fA-F]{2}", text):
            return text
        return f"2001:db8::{self._number('address', text):x}"

    def _is_name(self, name: str) -> bool:
        """Return whether a name can be replaced everywhere without touching a device or a word of a tool."""
        return (
            len(name) > 2
            and name.lower() not in self._tool_words
            and not DEVICE.fullmatch(name)
            and not name.replace(".", "").replace("-", "").isdigit()
        )
