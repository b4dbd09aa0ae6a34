#!/usr/bin/env python3
"""Many ProRes HD streams on null storage, in real time at 24 fps, on one processor: none dropped.

Nothing is read, so that what is measured is the player itself: its timers, its statistics, its loop. Drops of the
first second count here, too. With the build --base the two play in turn, and the median ratio of their CPU a frame
is printed. Exits 1 where a frame of the last round was not on time.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def play(binary, options, result):
    processor = max(os.sched_getaffinity(0))
    done = subprocess.run(
        [binary, "--quiet", "--prores-hd", "--streams", str(options.streams), "--fps", "24", "--duration",
         options.duration, "--json", result, "null:"],
        preexec_fn=lambda: os.sched_setaffinity(0, {processor}), check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{binary} ended with {done.returncode}")
    document = json.loads(result.read_text())
    totals = document["totals"]
    return {"slots": totals["frames_scheduled"],
            "missed": totals["frames_scheduled"] - totals["frames_on_time"],
            "ns": document["client"]["cpu_ns"] / totals["frames_scheduled"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--base", help="streamsim of another build")
    parser.add_argument("--streams", type=int, default=4000)
    parser.add_argument("--duration", default="10s")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as name:
        result = pathlib.Path(name) / "result.json"
        for _ in range(options.rounds):
            ours = play(options.binary, options, result)
            print(f"{options.streams:,} streams, {ours['slots']:,} slots, {ours['missed']:,} not on time; "
                  f"{ours['ns']:,.0f} ns of CPU a frame", end="")
            if options.base:
                base = play(options.base, options, result)
                ratios.append(ours["ns"] / base["ns"])
                print(f"; the base: {base['missed']:,} not on time, {base['ns']:,.0f} ns", end="")
            print(flush=True)
    if ratios:
        print(f"{statistics.median(ratios):.2f} of the base's CPU a frame ({min(ratios):.2f} to {max(ratios):.2f})")
    return 1 if ours["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
