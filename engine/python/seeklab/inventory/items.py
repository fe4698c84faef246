"""The thirty items, in the order of the weeks."""

from __future__ import annotations

from seeklab.inventory import _weeks_1_to_5 as first
from seeklab.inventory import _weeks_6_to_10 as second
from seeklab.inventory.item import Item

ITEMS = (
    Item("mean-in-flight", "Little's law", 1, first.mean_in_flight),
    Item("monitor-window", "means over windows", 1, first.monitor_window),
    Item("omitted-samples", "coordinated omission", 1, first.omitted_samples),
    Item("turn-of-a-disk", "rotation and seek", 2, first.turn_of_a_disk),
    Item("deep-queue", "queue depth of a disk", 2, first.deep_queue),
    Item("misaligned-write", "read-modify-write", 2, first.misaligned_write),
    Item("slc-copy", "write caches of drives", 3, first.slc_copy),
    Item("write-amplification", "write amplification", 3, first.write_amplification),
    Item("loop-and-cache", "cliffs of LRU", 4, first.loop_and_cache),
    Item("scan-and-cache", "scans and caches", 4, first.scan_and_cache),
    Item("chatty-copy", "round trips of a copy", 5, first.chatty_copy),
    Item("read-ahead-memory", "streams times window", 5, first.read_ahead_memory),
    Item("random-read-ahead", "read-ahead on random reads", 5, first.random_read_ahead),
    Item("throttle-and-mean", "what a throttle decides", 6, second.throttle_and_mean),
    Item("synchronous-write", "what a synchronous write waits for", 6, second.synchronous_write),
    Item("closed-loop", "closed loops", 6, second.closed_loop),
    Item("flush-rate", "one flush per transaction", 7, second.flush_rate),
    Item("commit-wait", "waiting for a single server", 7, second.commit_wait),
    Item("serial-log", "serial logs", 7, second.serial_log),
    Item("shared-log", "group commit", 7, second.shared_log),
    Item("window-and-round-trip", "one window per round trip", 8, second.window_and_round_trip),
    Item("faster-link", "latency-bound connections", 8, second.faster_link),
    Item("shards", "the next bottleneck", 8, second.shards),
    Item("incast", "synchronised answers", 8, second.incast),
    Item("more-cores", "work that grows with cores", 8, second.more_cores),
    Item("credits-last", "token buckets", 9, second.credits_last),
    Item("slow-of-many", "tails at scale", 9, second.slow_of_many),
    Item("copies-and-outages", "copysets", 9, second.copies_and_outages),
    Item("narrowest-part", "bottlenecks of a benchmark", 10, second.narrowest_part),
    Item("compressed-benchmark", "data reduction of a benchmark", 10, second.compressed_benchmark),
)
