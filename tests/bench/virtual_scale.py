#!/usr/bin/env python3
"""1,000 seats of 8 streams in virtual time: what play costs grows as its frames do, and its memory does not.

The same load is played for four lengths, each twice the one before it. Processor time (user and system, of the
whole process) is the least of --rounds runs: whoever runs beside can only add to it. What a run costs before its
first frame is the same for all of them, so that what counts is what each longer run adds: its further frames may
cost at most --growth times as much as those of the step before; where the cost were a square it would be twice.
Peak memory has to stay below 2 GiB, and the longest run below --memory-growth times the shortest.

--hour plays one hour more, 691 million frames at 24 fps, and holds it to the same memory and to the cost of a
frame that the four lengths lead to.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MEMORY_LIMIT_BYTES = 2 << 30
HOUR_S = 3600


class Runner:
    def __init__(self, options, folder):
        self.options = options
        self.result = pathlib.Path(folder) / "result.json"

    def once(self, seconds):
        """Slots, CPU seconds, peak bytes of memory, and the exit code of streamsim."""
        command = [self.options.binary, "--quiet", *self.options.media.split(), "--fps", "24", "--seats",
                   str(self.options.seats), "--streams", "8", "--duration", f"{seconds}s", "--json",
                   str(self.result), self.options.target]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}\nended with {process.returncode}")
        slots = json.loads(self.result.read_text())["totals"]["frames_scheduled"]
        return slots, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode

    def least(self, seconds, rounds):
        runs = [self.once(seconds) for _ in range(rounds)]
        slots, cpu_s, peak, code = min(runs, key=lambda run: run[1])
        print(f"  {seconds:7.0f} s  {slots:11,} frames  {cpu_s:8.2f} CPU s  {slots / cpu_s:11,.0f} frames/s  "
              f"{peak / 2**20:6.0f} MiB  {'plays' if code == 0 else 'drops'}", flush=True)
        return slots, cpu_s, max(run[2] for run in runs)


def per_frame(longer, shorter):
    """CPU seconds of each frame that the longer run has more."""
    return (longer[1] - shorter[1]) / (longer[0] - shorter[0])


def judge(rows, options):
    """What is wrong, as sentences."""
    wrong = []
    costs = [per_frame(longer, shorter) for shorter, longer in zip(rows, rows[1:])]
    print("  a further frame costs " + ", ".join(f"{cost * 1e6:.2f}" for cost in costs) + " us")
    for before, cost in zip(costs, costs[1:]):
        if cost > options.growth * before:
            wrong.append(f"a further frame costs {cost / before:.2f} times as much as in the step before")
    peaks = [row[2] for row in rows]
    if max(peaks) >= MEMORY_LIMIT_BYTES:
        wrong.append(f"{max(peaks) / 2**20:.0f} MiB of memory at the most, and 2 GiB is the limit")
    if peaks[-1] > options.memory_growth * peaks[0]:
        wrong.append(f"memory grew {peaks[-1] / peaks[0]:.2f} times from the shortest run to the longest")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--target", default="sim:null")
    parser.add_argument("--media", default="--prores-hd", help="options that say what is played")
    parser.add_argument("--seats", type=int, default=1000)
    parser.add_argument("--shortest", type=float, default=75,
                        help="seconds of play of the first of four lengths")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--growth", type=float, default=1.5)
    parser.add_argument("--memory-growth", type=float, default=1.25)
    parser.add_argument("--hour", action="store_true", help="one hour, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as folder:
        runner = Runner(options, folder)
        print(f"streamsim {options.media} --fps 24 --seats {options.seats} --streams 8 --duration ... "
              f"{options.target}")
        rows = [runner.least(options.shortest * 2**step, options.rounds) for step in range(4)]
        wrong = judge(rows, options)
        if options.hour:
            hour = runner.least(HOUR_S, 1)
            cost, usual = per_frame(hour, rows[-1]), per_frame(rows[-1], rows[0])
            print(f"  a frame of the hour costs {cost * 1e6:.2f} us")
            if cost > options.growth * usual:
                wrong.append(f"a frame of the hour costs {cost / usual:.2f} times as much")
            if hour[2] >= MEMORY_LIMIT_BYTES:
                wrong.append(f"the hour took {hour[2] / 2**20:.0f} MiB of memory, and 2 GiB is the limit")
    for sentence in wrong:
        print(f"NOT good enough: {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
