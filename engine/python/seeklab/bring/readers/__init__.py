"""One module per tool. The readers with the most specific headings come first in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.bring.readers import (
    bonnie,
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
    iostat,
    iostat_json,
    iostat_rows,
    kernel_files,
    kubestr,
    logs,
    network,
    partitions,
    rbd_perf,
    settings,
    status,
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
    host_load,
    kernel_files,
    status,
    histograms,
    dtrace,
    bonnie,
    partitions,
    dashboard,
    network,
    events,
    copies,
    settings,
    logs,
)

HEADLESS: tuple[Reader, ...] = (iostat_rows,)
"""Readers of rows without a heading, which many lines look like: only for texts that are read whole."""
