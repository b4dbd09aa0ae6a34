#!/usr/bin/env python3
"""Frames a CPU second in virtual time, on one core.

A frame is a slot of a stream (`totals.frames_scheduled`); its cost is the processor time of the whole process,
user and system, from its start to the written result. Null storage is played by 8 streams: ProRes HD read as it
is by default (in pieces of 1 MiB) and with one read a frame, and DPX 12 bit with one read a frame, each an open
and a read. On the H500 four seats play 12 ProRes HD streams each from one node, as one of the published tests
did. Each is run --rounds times, in turn with the build --base where one is given; the median ratio of the rounds
counts, since computers differ by three times. --scale plays 10 to 100,000 streams, and a minute to a day.
--search runs `max` on one processor and on all.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LOADS = (
    ["--prores-hd", "--streams", "8", "--duration", "4h", "sim:null"],
    ["--prores-hd", "--io-size", "frame", "--streams", "8", "--duration", "4h", "sim:null"],
    ["--dpx12", "--io-size", "frame", "--streams", "8", "--duration", "4h", "sim:null"],
    ["--prores-hd", "--streams", "12", "--seats", "4", "--duration", "10m", "sim:h500?nodes=1"],
)
SEARCH = ["--prores-hd", "--seats", "8", "--total-streams", "400", "sim:h500?nodes=2"]
# The largest last: a process that is started counts the memory of this one, which reads the results, as its own.
SCALE = (("8", "1m"), ("8", "1h"), ("8", "24h"), ("10", "10m"), ("100", "10m"), ("1000", "1m"), ("10000", "1m"),
         ("100000", "6s"))


def play(binary, arguments, result):
    """Runs it to its end; returns its slots, the CPU seconds of the process, its memory and the digests."""
    command = [binary, "--quiet", "--json", str(result), *arguments]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {process.returncode}")
    document = json.loads(result.read_text())
    return {"slots": document["totals"]["frames_scheduled"], "cpu_s": usage.ru_utime + usage.ru_stime,
            "bytes": usage.ru_maxrss * 1024, "digest": document["digest"]}


def measure(options, arguments, result):
    print("streamsim " + " ".join(arguments))
    rates, bases = [], []
    for _ in range(options.rounds):
        ours = play(options.binary, arguments, result)
        rates.append(ours["slots"] / ours["cpu_s"])
        if not options.base:
            continue
        base = play(options.base, arguments, result)
        bases.append(base["slots"] / base["cpu_s"])
        if base["digest"] != ours["digest"]:
            sys.exit(f"the digests differ: {ours['digest']}, and {base['digest']} of the base")
    print(f"  {ours['slots']:,} frames, {statistics.median(rates):,.0f} a CPU second (median of {len(rates)}, "
          f"{min(rates):,.0f} to {max(rates):,.0f})")
    if bases:
        ratios = [ours / base for ours, base in zip(rates, bases)]
        print(f"  the base: {statistics.median(bases):,.0f}; ratio {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f}), equal digests", flush=True)


def measure_scale(binary, result):
    for streams, duration in SCALE:
        run = play(binary, ["--prores-hd", "--streams", streams, "--duration", duration, "sim:null"], result)
        print(f"{int(streams):>7,} streams, {duration:>3}: {run['slots']:>12,} frames, "
              f"{run['cpu_s'] / run['slots'] * 1e9:6,.0f} ns of CPU each, {run['bytes'] / 1e6:7,.0f} MB", flush=True)


def searched(binary, processors, result):
    """The seconds that a search takes on so many processors, and what it found."""
    words = ["taskset", "-c", ",".join(map(str, processors)), binary, "max", "--quiet", "--json", str(result), *SEARCH]
    begin = time.monotonic()
    subprocess.run(words, check=True)
    return time.monotonic() - begin, json.loads(result.read_text())["formats"]


def measure_search(options, result):
    processors = sorted(os.sched_getaffinity(0))
    rounds = []
    for _ in range(options.rounds):
        one_s, found = searched(options.binary, processors[:1], result)
        all_s, again = searched(options.binary, processors, result)
        if found != again:
            sys.exit("the answers differ")
        rounds.append((one_s, all_s, one_s / all_s))
    one_s, all_s, ratio = (statistics.median(each) for each in zip(*rounds))
    print(f"streamsim max {' '.join(SEARCH)}\n  {found[0]['streams']} streams; {one_s:.1f} s on one processor, "
          f"{all_s:.1f} s on {len(processors)}, the same answer; {ratio:.2f} times as fast "
          f"({min(each[2] for each in rounds):.2f} to {max(each[2] for each in rounds):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--base", help="streamsim of another build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", action="store_true", help="how the cost of a frame grows")
    parser.add_argument("--search", action="store_true", help="a search for the most streams")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as folder:
        result = pathlib.Path(folder) / "result.json"
        if options.scale:
            measure_scale(options.binary, result)
            return
        if options.search:
            measure_search(options, result)
            return
        for arguments in LOADS:
            measure(options, arguments, result)


if __name__ == "__main__":
    main()
