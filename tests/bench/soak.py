#!/usr/bin/env python3
"""Long runs with everything on: is memory flat, and is nothing left open or behind?

    tests/bench/soak.py STREAMSIM [--minutes 120] [--streams 200] [--virtual-hours 24]

In real time: streams, two recorders and a workload on a folder below TMPDIR, with journal, metrics and page, which are
fetched all the time. Every ten seconds the resident memory, descriptors and threads of the program are noted. The
first tenth of the run is warm-up: after it, the median memory of the last tenth may be 5 % above that of the second
one; the fewest descriptors and threads (readers come and go) may not grow at all. Threads that the kernel adds for
io_uring do not count. Then virtual time: a day of a
modelled cluster with recorders, a workload, decoders and faults by chance. Afterwards the folders hold the media, the
results and nothing else.
Prints a row of figures for each tenth. Exits 1 when something grew or was left.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

GROWTH = 1.05
SEEK_BYTES = 40  # of a row of the result
FAULTS = {"schema": "streamsim.faults", "version": 1, "description": "Rare: the player keeps each that it has met.", "rules": [
    {"probability": 0.002, "operation": "read", "delay": "20ms"}, {"probability": 0.0001, "operation": "read", "delay": "300ms"}]}
SMALL_PRORES = {
    "schema": "streamsim.media-format", "version": 1, "name": "soak-prores", "title": "ProRes 422, 320x180, 24 fps",
    "container": "quicktime", "codec": "prores", "raster": {"width": 320, "height": 180}, "rate": [24, 1],
    "prores": {"fourcc": "apcn", "frame_sizes": {
        "model": "scene", "mean_bits_per_s": 5_000_000, "level_min": 0.85, "level_max": 1.12, "shot_frames_min": 24,
        "shot_frames_max": 192, "variation": 0.02, "correlation": 0.9, "cap": 1.15}},
    "sources": [{"what": "everything", "basis": "a small format for long runs, like none in use"}]}


TCP_STATES = {1: "established", 7: "closed", 8: "close-wait", 10: "listening"}


def tcp_connections():
    """The own port and state of each socket of TCP, by what /proc/PID/fd shows of it."""
    files = [file for file in (pathlib.Path("/proc/net/tcp"), pathlib.Path("/proc/net/tcp6")) if file.exists()]
    lines = [line.split() for file in files for line in file.read_text().splitlines()[1:]]
    return {f"socket:[{line[9]}]": f"TCP {int(line[1].rpartition(':')[2], 16)} "
            + TCP_STATES.get(int(line[3], 16), f"state {int(line[3], 16)}") for line in lines}


def figures(process):
    """Resident kilobytes, descriptors by what they are, and threads by their names."""
    place = pathlib.Path(f"/proc/{process}")
    status = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line)
    kinds = collections.Counter()
    connections = tcp_connections()
    for each in (place / "fd").iterdir():
        with contextlib.suppress(OSError):
            what = os.readlink(each)
            kinds[connections.get(what) or re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "N", what)] += 1
    threads = collections.Counter()
    for each in (place / "task").iterdir():
        with contextlib.suppress(OSError):
            threads[(each / "comm").read_text().strip()] += 1
    threads = {name: count for name, count in threads.items() if not name.startswith("iou-")}
    return int(status["VmRSS"].split()[0]), kinds, threads


def fetch(ports, ended):
    """A collector of metrics, and somebody who looks at the page."""
    while not ended.wait(5):
        for port, path in zip(ports, ("/metrics", "/")):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).read()
            except OSError:
                pass  # it begins, or ends


def watch(command, seconds):
    """Rows of figures, one in ten seconds, while the command runs; its exit code."""
    rows = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            time.sleep(min(10, seconds / 50))
            try:
                rows.append(figures(process.pid))
            except (OSError, KeyError):
                break
        return rows, process.wait()


def judge(name, rows, buffers=0, result_rows=0):
    """Prints a row for each tenth of the run; what grew. Kilobytes that do not count: `buffers`, which hold frames, and
    `result_rows`, which have come one after the other by the end."""
    tenth = len(rows) // 10
    if tenth < 1:
        return [f"{name}: ended before anything could be seen"]
    print(f"\n{name}\n{'tenth':>7} {'memory MB':>10} {'descriptors':>12} {'threads':>8}")
    tenths = []
    for i in range(10):
        part = rows[i * tenth:(i + 1) * tenth]
        fewest = [min((each[k] for each in part), key=lambda kinds: sum(kinds.values())) for k in (1, 2)]
        tenths.append([statistics.median(each[0] for each in part) - buffers, *(sum(each.values()) for each in fewest)])
        if i == 1:
            second = fewest
        print(f"{i + 1:>7} {tenths[i][0] / 1024:>10.1f} {tenths[i][1]:>12.0f} {tenths[i][2]:>8.0f}", flush=True)
    problems = []
    if tenths[9][0] - 0.8 * result_rows > GROWTH * tenths[1][0]:
        problems.append(f"{name}: memory grew from {tenths[1][0] / 1024:.1f} to {tenths[9][0] / 1024:.1f} MB")
    for k, what in ((0, "descriptors"), (1, "threads")):
        if tenths[9][k + 1] > tenths[1][k + 1]:
            more = {kind: count - second[k].get(kind, 0) for kind, count in fewest[k].items() if count > second[k].get(kind, 0)}
            problems.append(f"{name}: {what} grew from {tenths[1][k + 1]:.0f} to {tenths[9][k + 1]:.0f}: {more}")
    return problems


def left_behind(folder, expected):
    """Files and folders in it that nobody expects."""
    return [f"{each} was left behind" for each in sorted(folder.iterdir()) if each.name not in expected]


def small_format(folder):
    file = folder / "format.json"
    file.write_text(json.dumps(SMALL_PRORES))
    return str(file)


def real_time(program, folder, minutes, streams):
    media = folder / "media"
    media.mkdir()
    ports = (9871, 9872)
    command = [program, "--format", small_format(folder), "--streams", str(streams), "--clip-duration", "10s", "--record", "2",
               "--meter", "database-70-30", "--scale", "0.001", "--not-alone", "--yes", "--duration", f"{minutes}m",
               "--journal", str(folder / "journal"), "--metrics", str(ports[0]), "--web", str(ports[1]),
               "--json", str(folder / "result.json"), "--html", str(folder / "result.html"),
               "--quiet", str(media)]
    (folder / "journal").mkdir()
    ended = threading.Event()
    reader = threading.Thread(target=fetch, args=(ports, ended))
    reader.start()
    rows, code = watch(command, 60 * minutes)
    ended.set()
    reader.join()
    if code not in (0, 1):
        return [f"exit code {code}"]
    result = json.loads((folder / "result.json").read_text())
    problems = judge(f"{streams} streams in real time, {minutes} minutes; memory without the frames' buffers", rows,
                     result["play"]["buffer_bytes"] // 1024)
    totals = result["totals"]
    print(f"{totals['frames_scheduled']} frames, {totals['frames_dropped']} dropped, {totals['frames_failed']} failed")
    problems += left_behind(folder, {"media", "format.json", "journal", "result.json", "result.html"})
    if (media / "streamsim-media/recordings").exists():
        problems.append("recordings were left behind")
    return problems


def virtual_time(program, folder, hours):
    (folder / "faults.json").write_text(json.dumps(FAULTS))
    # Clips: of a sequence that is recorded, the modelled file system keeps each file, as a real one does.
    rows, code = watch([program, "--format", small_format(folder), "--streams", "2", "--clip-duration", "10m", "--seats", "4",
                        "--record", "1", "--meter", "database-70-30", "--scale", "0.01",
                        "--not-alone", "--duration", f"{hours}h", "--order", "scrub", "--decode-cpu", "2ms",
                        "--faults", str(folder / "faults.json"), "--json", str(folder / "virtual.json"),
                        "--html", str(folder / "virtual.html"), "--quiet", "sim:h500"], 100)
    if code not in (0, 1):
        return [f"virtual time: exit code {code}"]
    result = json.loads((folder / "virtual.json").read_text())
    seeks = len(result["seeks"]) * SEEK_BYTES // 1024
    problems = judge(f"{hours} hours of virtual time", rows, result_rows=seeks)
    print(f"{result['totals']['frames_scheduled']} frames, {len(result['seeks'])} rows of seeks: {seeks / 1024:.1f} MB")
    return problems + left_behind(folder, {"format.json", "faults.json", "virtual.json", "virtual.html"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--virtual-hours", type=int, default=24)
    given = parser.parse_args()
    problems = []
    if given.virtual_hours:
        with tempfile.TemporaryDirectory() as folder:
            problems += virtual_time(given.program, pathlib.Path(folder), given.virtual_hours)
    if given.minutes:
        with tempfile.TemporaryDirectory() as folder:
            problems += real_time(given.program, pathlib.Path(folder), given.minutes, given.streams)
    print("", *problems, sep="\n")
    print("FAILED" if problems else "nothing grew, and nothing was left")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
