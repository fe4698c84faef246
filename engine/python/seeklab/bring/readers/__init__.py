"""One module per tool. The readers with the most specific headings come first in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.readers import (
    benchmarks,
    bonnie,
    ceph,
    copies,
    dashboard,
    diskspd,
    dstat,
    dtrace,
    esxtop,
    events,
    fio_job,
    fio_json,
    fio_text,
    histograms,
    host_load,
    host_state,
    iostat,
    iostat_json,
    iostat_rows,
    kernel_files,
    kubestr,
    logs,
    named,
    network,
    partitions,
    perfmon,
    rbd_perf,
    rows,
    sar,
    settings,
    status,
    strace,
    tracers,
    unix_iostat,
    zpool_histograms,
    zpool_iostat,
    zpool_status,
)

if TYPE_CHECKING:
    from seeklab.bring.blocks import Reader

READERS: tuple[Reader, ...] = (
    fio_job,
    fio_json,
    iostat_json,
    fio_text,
    unix_iostat,
    iostat,
    zpool_histograms,
    zpool_iostat,
    zpool_status,
    diskspd,
    esxtop,
    kubestr,
    rbd_perf,
    dstat,
    sar,
    host_load,
    kernel_files,
    status,
    histograms,
    dtrace,
    bonnie,
    partitions,
    perfmon,
    dashboard,
    network,
    events,
    tracers,
    strace,
    ceph,
    benchmarks,
    copies,
    settings,
    host_state,
    logs,
    named,
)

HEADLESS: tuple[Reader, ...] = (iostat_rows, rows)
"""Readers of rows without a heading, which many lines look like: only for texts that are read whole."""
