#!/usr/bin/env python3
"""Claims of whole runs in virtual time: drop events with known rates, by injected faults on sim:null.

Part 1 plays runs of 10 minutes and counts how often the interval of the result holds the true rate. Part 2 plays
--prove and counts what it decides, and after how long: a claim that is not true may stand in 5 % of the runs at
most, one that is true may fail in 5 %. Prints a table of each; exits with 1 where a row is outside of its bounds.

usage: claims.py STREAMSIM [--runs N]
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

FRAMES_A_SECOND = 24
STALL_S = 0.3
WANTED_PER_HOUR = 100  # of --prove


def stalls(rate_per_hour, hours, group, spread_s, rng):
    """Stalls of the whole storage: groups of `group` within about `spread_s`, with this rate of groups."""
    out, at = [], rng.expovariate(rate_per_hour / 3600)
    while at < hours * 3600 and len(out) < 9_000:
        when = at
        for _ in range(group):
            out.append({"at": f"{when + 1.5:.3f}s", "for": f"{STALL_S}s"})
            when += STALL_S + rng.expovariate(group / spread_s) if group > 1 else 0
        at += rng.expovariate(rate_per_hour / 3600)
    return {"schema": "streamsim.faults", "version": 1, "stalls": out}


def slow_frames(rate_per_hour):
    """Frames of single streams that come late, with this rate on each stream."""
    rule = {"probability": rate_per_hour / 3600 / FRAMES_A_SECOND, "delay": f"{STALL_S}s"}
    return {"schema": "streamsim.faults", "version": 1, "rules": [rule]}


def play(binary, folder, number, faults, arguments):
    document = folder / f"faults-{number}.json"
    result = folder / f"result-{number}.json"
    document.write_text(json.dumps(faults))
    command = [binary, "--quiet", "--json", str(result), "--faults", str(document), "--seed", str(number), "--fps",
               str(FRAMES_A_SECOND), "--prores-hd", "--io-size", "frame", "--readahead", "1", *arguments, "sim:null"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    claims = json.loads(result.read_text())["claims"]
    claims["exit"] = done.returncode
    document.unlink()
    result.unlink()
    return claims


class Bench:
    def __init__(self, binary, runs, folder):
        self.binary, self.runs, self.folder = binary, runs, folder
        self.good = True

    def play_all(self, faults_of, arguments):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(play, self.binary, self.folder, i, faults_of(random.Random(i)), arguments)
                    for i in range(1, self.runs + 1)]
            return [job.result() for job in jobs]

    def most_by_chance(self, share):
        """So many of the runs at most, but for one time in a thousand."""
        return share + 3.1 * math.sqrt(share * (1 - share) / self.runs)

    def interval(self, name, streams, faults_of, truth_per_day, key="per_stream_day"):
        claims = self.play_all(faults_of, ["--duration", "10m", "--streams", str(streams)])
        held = sum(each[key]["low"] <= truth_per_day <= each[key]["high"] for each in claims) / self.runs
        grouped = sum(each["grouped"] for each in claims) / self.runs
        bad = 1 - held > self.most_by_chance(0.05)
        self.good &= not bad
        print(f"| {name} | {streams} | {truth_per_day:,.0f} | {100 * held:.1f} % | {100 * grouped:.1f} % |"
              f"{' outside' if bad else ''}", flush=True)

    def prove(self, name, streams, faults_of, rate_of_wanted):
        arguments = ["--prove", f"{WANTED_PER_HOUR} drops/hour", "--streams", str(streams)]
        claims = self.play_all(faults_of, arguments)
        decided = [each["prove"]["decided"] for each in claims]
        stands, failed = (decided.count(each) / self.runs for each in ("stands", "failed"))
        means = sum(each["prove"]["hours"] for each in claims) / self.runs * WANTED_PER_HOUR
        wrong = stands if rate_of_wanted >= 1 else failed
        bad = wrong > self.most_by_chance(0.05) or any((each["exit"] == 0) != (each["prove"]["decided"] == "stands")
                                                       for each in claims)
        self.good &= not bad
        print(f"| {name} | {streams} | {rate_of_wanted:g} | {100 * stands:.1f} % | {100 * failed:.1f} % | "
              f"{100 * (1 - stands - failed):.1f} % | {means:.2f} |{' outside' if bad else ''}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.binary, options.runs, pathlib.Path(folder))
        print(f"intervals at 95 %, runs of 10 minutes, {options.runs} of each kind\n")
        print("| events | streams | true rate a day and stream | held | in groups |\n|---|---|---|---|---|")
        for an_hour in (12, 60):
            bench.interval("stalls of the storage", 1, lambda rng: stalls(an_hour, 0.2, 1, 0, rng), 24 * an_hour)
            bench.interval("stalls of the storage", 8, lambda rng: stalls(an_hour, 0.2, 1, 0, rng), 24 * an_hour,
                           "per_stream_day_together")
            bench.interval("late frames of one stream", 8, lambda rng: slow_frames(an_hour / 8), 3 * an_hour)
        bench.interval("groups of 5 stalls within 12 s", 1, lambda rng: stalls(30, 0.2, 5, 12, rng), 24 * 30)
        print(f"\n--prove '{WANTED_PER_HOUR} drops/hour', {options.runs} runs of each kind; time in mean times between "
              "events at that rate\n")
        print("| events | streams | rate / wanted | stands | failed | undecided | time, mean |\n|---|---|---|---|---|---|---|")
        bench.prove("none", 1, lambda rng: stalls(1e-6, 0.5, 1, 0, rng), 0)
        for ratio in (0.1, 1, 2, 10):
            rate = ratio * WANTED_PER_HOUR
            hours = 41 / WANTED_PER_HOUR
            bench.prove("stalls of the storage", 1, lambda rng: stalls(rate, hours, 1, 0, rng), ratio)
            if ratio in (0.1, 1):
                bench.prove("stalls of the storage", 8, lambda rng: stalls(rate, hours, 1, 0, rng), ratio)
        bench.prove("late frames of one stream", 4, lambda rng: slow_frames(WANTED_PER_HOUR / 4), 1)
        bench.prove("groups of 5 stalls within 2 s", 1, lambda rng: stalls(0.1 * WANTED_PER_HOUR, hours, 5, 2, rng), 0.1)
    return 0 if bench.good else 1


if __name__ == "__main__":
    sys.exit(main())
