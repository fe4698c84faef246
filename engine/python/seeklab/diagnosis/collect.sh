#!/bin/sh
# Records __SECONDS__ s of storage activity. It changes nothing. Usage: sh collect.sh > report.txt
s=__SECONDS__
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
export LC_ALL=C S_TIME_FORMAT=ISO
n=100
has() { command -v "$1" > /dev/null 2>&1; }
say() { printf '\n$ %s\n' "$*"; }
now() { say "$*"; "$@" 2> /dev/null; }
file() { if [ -r "$1" ]; then now cat "$1"; fi; }
late() { n=$((n + 1)); { say "$*"; "$@" 2> /dev/null; } > "$d/$n" & }
has iostat && late iostat -xy 1 "$s"
has vmstat && late vmstat -n 1 "$((s + 1))"
has mpstat && late mpstat -P ALL "$s" 1
has pidstat && late pidstat -d "$s" 1
if has zpool; then
  late zpool iostat -ylv 1 "$s"
  late zpool iostat -yr "$s" 1
fi
if has bpftrace; then
  late timeout "$((s + 5))" bpftrace -e "
tracepoint:block:block_rq_issue { @t[args.dev, args.sector] = nsecs; }
tracepoint:block:block_rq_complete /@t[args.dev, args.sector]/ {
  @usecs = hist((nsecs - @t[args.dev, args.sector]) / 1000); delete(@t[args.dev, args.sector]); }
interval:s:$s { clear(@t); exit(); }"
fi
if ! has iostat; then
  now date
  file /proc/diskstats
  say sleep "$s"
fi
sleep "$s"
if ! has iostat; then
  now date
  file /proc/diskstats
fi
wait
for f in "$d"/*; do if [ -s "$f" ]; then cat "$f"; fi; done
for f in io memory cpu; do file "/proc/pressure/$f"; done
file /proc/mdstat
case $(cat /proc/self/mountstats 2> /dev/null) in
  *"fstype nfs"*) file /proc/self/mountstats ;;
esac
if has zpool; then
  now zpool status
  for f in /proc/spl/kstat/zfs/*/txgs; do
    if [ -r "$f" ]; then
      say cat "$f"
      head -n 2 "$f" | tail -n 1
      tail -n 30 "$f"
    fi
  done
  file /proc/spl/kstat/zfs/arcstats
fi
if has nvme; then
  for f in /dev/nvme[0-9] /dev/nvme[0-9][0-9]; do if [ -c "$f" ]; then now nvme smart-log "$f"; fi; done
fi
if has dmesg; then say dmesg; dmesg 2> /dev/null | tail -n 300; fi
