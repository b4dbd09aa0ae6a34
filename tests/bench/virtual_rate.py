#!/usr/bin/env python3
"""Frames a second in virtual time, on one core: at least 3 million on the null storage and 300,000 on the H500.

A frame is a slot of a stream (`totals.frames_scheduled`); its cost is the processor time of the whole process,
user and system, from its start to the written result. Null storage is played by 8 streams: ProRes HD read as it
is by default (in pieces of 1 MiB) and with one read a frame, and DPX 12 bit with one read a frame, each an open
and a read. On the H500 four seats play 12 ProRes HD streams each from one node, as one of the published tests
did. Each is run --rounds times and the best counts: whoever runs beside can only take caches away.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LOADS = (
    (3_000_000, ["--prores-hd", "--streams", "8", "--duration", "4h", "sim:null"]),
    (3_000_000, ["--prores-hd", "--io-size", "frame", "--streams", "8", "--duration", "4h", "sim:null"]),
    (3_000_000, ["--dpx12", "--io-size", "frame", "--streams", "8", "--duration", "4h", "sim:null"]),
    (300_000, ["--prores-hd", "--streams", "12", "--seats", "4", "--duration", "10m", "sim:h500?nodes=1"]),
)


def play(binary, arguments, result):
    """Runs it to its end; returns its slots and the CPU seconds of the process."""
    command = [binary, "--quiet", "--json", str(result), *arguments]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {process.returncode}")
    slots = json.loads(result.read_text())["totals"]["frames_scheduled"]
    return slots, usage.ru_utime + usage.ru_stime


def measure(binary, wanted, arguments, rounds, result):
    print("streamsim " + " ".join(arguments))
    rates = []
    for _ in range(rounds):
        slots, cpu_s = play(binary, arguments, result)
        rates.append(slots / cpu_s)
    rate = max(rates)
    good = rate >= wanted
    print(f"  {slots:,} frames, {rate:,.0f} a CPU second "
          f"(median {statistics.median(rates):,.0f}, least {min(rates):,.0f}), "
          f"{rate / wanted:.2f} times the {wanted:,} wanted: {'good' if good else 'NOT good enough'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as folder:
        result = pathlib.Path(folder) / "result.json"
        results = [measure(options.binary, wanted, arguments, options.rounds, result)
                   for wanted, arguments in LOADS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
