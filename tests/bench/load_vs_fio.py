#!/usr/bin/env python3
"""A meter in a closed loop against fio with the same parameters on the same file, in turn.

The cases: random (4 KiB) and sequential (1 MiB) reads and writes, 1, 8 and 64 in flight. Every round runs
streamsim and each fio engine (io_uring, libaio; psync, which has one in flight) once, in an order that rotates. fio
has a thread and direct I/O, as streamsim has here, and the file is the one that streamsim wrote. Ratios are taken
within a round against the engine with the highest median rate, and their medians reported: rate, mean and p99
latency, and CPU a GB of the measured time as each program counts it for itself.

The result: a rate of at least 1.0, latencies of at most 1.05 and a CPU a GB of at most 1.0 times those of fio; exit
code 1 where it is not (--slack: by how much each ratio may miss). The disk decides how far one round is from the
next: look at the spread, and run nothing beside.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MIB = 1 << 20
ENGINES = ("io_uring", "libaio", "psync")
CASES = {  # operation, random %, block, in flight
    f"{order}{operation}-{inflight}": (operation, 100 if order == "rand" else 0, block, inflight)
    for order, block in (("rand", 4096), ("seq", MIB))
    for operation in ("read", "write")
    for inflight in (1, 8, 64)
}
LIMITS = {"op/s": (1.0, 1), "us": (1.05, -1), "p99 us": (1.05, -1), "s/GB": (1.0, -1)}  # at least 1, at most -1


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def streamsim(self, case):
        operation, random, block, inflight = CASES[case]
        document = {
            "schema": "streamsim.workload", "version": 1, "name": "fio", "title": case,
            "duration": f"{self.options.seconds}s",
            "meters": [{"name": "m", "users": 1, "inflight": inflight, "operations": {operation: 1},
                        "random_percent": random, "blocks": f"{block}B",
                        "files": {"count": 1, "bytes": f"{self.options.mebibytes}MiB"}}]}
        workload = self.folder / "workload.json"
        workload.write_text(json.dumps(document))
        result = self.folder / "result.json"
        run([self.options.binary, "run", "--quiet", "--yes", "--io", "uring", "--json", str(result), str(workload),
             str(self.folder)])
        step = json.loads(result.read_text())["steps"][0]["result"]
        if not step["target"]["direct"]:
            sys.exit("streamsim could not work past the page cache here: nothing to compare")
        meter = step["meters"][0]
        done = meter["all"]
        moved = done["done"] * block
        return {"op/s": done["done"] * 1e9 / meter["wall_ns"],
                "us": done["response_sum_ns"] / done["done"] / 1e3,
                "p99 us": done["response_ns"]["p99"] / 1e3,
                "s/GB": step["client"]["cpu_ns"] / moved}

    def fio(self, case, engine):
        operation, random, block, inflight = CASES[case]
        files = [each for each in (self.folder / "streamsim-media" / "load").rglob("*")
                 if each.is_file() and each.stat().st_size == self.options.mebibytes * MIB]
        if len(files) != 1:
            sys.exit(f"one file of {self.options.mebibytes} MiB was expected, found {files}")
        out = run(["fio", "--name=m", f"--filename={files[0]}", f"--rw={'rand' if random else ''}{operation}",
                   f"--bs={block}", f"--iodepth={inflight}", f"--ioengine={engine}", "--direct=1", "--thread=1",
                   "--time_based=1", f"--runtime={self.options.seconds}", "--overwrite=1", "--norandommap=1",
                   "--lat_percentiles=1", "--output-format=json"])
        job = json.loads(out[out.index("{"):])["jobs"][0]
        side = job[operation]
        busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1e6
        return {"op/s": side["iops"], "us": side["lat_ns"]["mean"] / 1e3,
                "p99 us": side["lat_ns"]["percentile"]["99.000000"] / 1e3, "s/GB": busy / side["io_bytes"]}

    def compare(self, case):
        self.streamsim(case)  # writes the file, and warms nothing that is measured
        runners = {"streamsim": lambda: self.streamsim(case)}
        for engine in ENGINES:
            if engine != "psync" or CASES[case][3] == 1:
                runners[engine] = lambda engine=engine: self.fio(case, engine)
        rows = {runner: [] for runner in runners}
        order = list(runners)
        for _ in range(self.options.rounds):
            for runner in order:
                rows[runner].append(runners[runner]())
            order = order[1:] + order[:1]
        return self.judge(case, rows)

    def judge(self, case, rows):
        better = max((runner for runner in rows if runner != "streamsim"),
                     key=lambda runner: statistics.median(row["op/s"] for row in rows[runner]))
        cells = []
        good = True
        for unit, (limit, sign) in LIMITS.items():
            ratios = [ours[unit] / theirs[unit] for ours, theirs in zip(rows["streamsim"], rows[better])]
            median = statistics.median(ratios)
            fine = sign * (median - limit) >= -self.options.slack
            good &= fine
            cells.append(f"{median:6.2f} ({min(ratios):.2f} to {max(ratios):.2f}){' ' if fine else '!'}")
        rate = statistics.median(row["op/s"] for row in rows[better])
        print(f"{case:13} {better:9} {rate:8.0f} " + "".join(f"{cell:24}" for cell in cells)
              + ("good" if good else "NOT good enough"), flush=True)
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--slack", type=float, default=0.0, help="how far each ratio may miss its limit")
    parser.add_argument("--cases", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    options = parser.parse_args()
    if not shutil.which("fio"):
        print("skipped: fio is not installed")
        return 77
    if shutil.disk_usage(options.dir).free < 2 * options.mebibytes * MIB:
        print(f"skipped: less than {2 * options.mebibytes} MiB free in {options.dir}")
        return 77
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.dir) as folder:
        bench = Bench(options, pathlib.Path(folder))
        print(f"{'case':13} {'fio':9} {'op/s':>8} " + "".join(f"{f'{unit}, ratio':24}" for unit in LIMITS))
        results = [bench.compare(case) for case in options.cases.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
