#!/usr/bin/env python3
"""1,000 streams of small frames on null storage, in real time at 24 fps, on one processor: none dropped.

Nothing is read, so what is measured is the player itself: its timers, its statistics, its loop. Drops of the first
second count here, too.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def small_format(folder, formats):
    document = json.loads((pathlib.Path(formats) / "dpx10.json").read_text())
    document.update(name="small", title="small frames", raster={"width": 64, "height": 36})
    path = folder / "small.json"
    path.write_text(json.dumps(document))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--formats", help="folder of the format documents",
                        default=pathlib.Path(__file__).resolve().parents[2] / "formats" / "media")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--duration", default="10s")
    options = parser.parse_args()
    processor = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as name:
        folder = pathlib.Path(name)
        result = folder / "result.json"
        done = subprocess.run(
            [options.binary, "--quiet", "--format", small_format(folder, options.formats), "--streams",
             str(options.streams), "--fps", "24", "--duration", options.duration, "--json", result, "null:"],
            preexec_fn=lambda: os.sched_setaffinity(0, {processor}), check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"streamsim ended with {done.returncode}")
        document = json.loads(result.read_text())
    totals, client = document["totals"], document["client"]
    lateness = client["loop_lateness_ns"]
    missed = totals["frames_scheduled"] - totals["frames_on_time"]
    print(f"{options.streams} streams, {totals['frames_scheduled']} slots, {missed} not on time; "
          f"{client['cpu_percent']:.0f} % of processor {processor}; "
          f"loop lateness p50 {lateness['p50'] / 1e3:.0f} us, "
          f"p99 {lateness['p99'] / 1e3:.0f} us, max {lateness['max'] / 1e3:.0f} us")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
