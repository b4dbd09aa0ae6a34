#!/usr/bin/env python3
"""A meter in a closed loop against fio with the same parameters on the same file, in turn.

Every round runs each once, in an order that alternates; fio has io_uring, a thread and direct I/O, as streamsim has
here, and the file is the one that streamsim wrote. Ratios are taken within a round, and their medians reported:
rate, mean latency, and CPU a GB of the measured time as each program counts it for itself.

The result: a rate of at least 0.9, a latency of at most 1.1 and a CPU a GB of at most 1.0 times those of fio; exit
code 1 where it is not. The disk decides
how far one round is from the next: look at the spread, and run nothing beside.
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
CASES = {  # operation, random %, block, in flight
    "randread-1": ("read", 100, 4096, 1),
    "randread-8": ("read", 100, 4096, 8),
    "seqread-8": ("read", 0, MIB, 8),
    "randwrite-1": ("write", 100, 4096, 1),
    "randwrite-8": ("write", 100, 4096, 8),
}


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
        run([self.options.binary, "run", "--quiet", "--io", "uring", "--json", str(result), str(workload),
             str(self.folder)])
        step = json.loads(result.read_text())["steps"][0]["result"]
        if not step["target"]["direct"]:
            sys.exit("streamsim could not work past the page cache here: nothing to compare")
        meter = step["meters"][0]
        done = meter["all"]
        moved = done["done"] * block
        return {"op/s": done["done"] * 1e9 / meter["wall_ns"],
                "us": done["response_sum_ns"] / done["done"] / 1e3,
                "s/GB": step["client"]["cpu_ns"] / moved}

    def fio(self, case):
        operation, random, block, inflight = CASES[case]
        files = [each for each in (self.folder / "streamsim-media" / "load").rglob("*")
                 if each.is_file() and each.stat().st_size == self.options.mebibytes * MIB]
        if len(files) != 1:
            sys.exit(f"one file of {self.options.mebibytes} MiB was expected, found {files}")
        out = run(["fio", "--name=m", f"--filename={files[0]}", f"--rw={'rand' if random else ''}{operation}",
                   f"--bs={block}", f"--iodepth={inflight}", "--ioengine=io_uring", "--direct=1", "--thread=1",
                   "--time_based=1", f"--runtime={self.options.seconds}", "--overwrite=1", "--norandommap=1",
                   "--output-format=json"])
        job = json.loads(out[out.index("{"):])["jobs"][0]
        side = job[operation]
        busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] * 1e6
        return {"op/s": side["iops"], "us": side["lat_ns"]["mean"] / 1e3, "s/GB": busy / side["io_bytes"]}

    def compare(self, case):
        print(f"\n{case}")
        self.streamsim(case)  # writes the file, and warms nothing that is measured
        rows = {"streamsim": [], "fio": []}
        order = ["streamsim", "fio"]
        for number in range(self.options.rounds):
            for name in order:
                rows[name].append(getattr(self, name)(case))
            order.reverse()
            print(f"  round {number + 1}: " + "; ".join(
                name + " " + ", ".join(f"{value:.4g} {unit}" for unit, value in rows[name][-1].items())
                for name in rows), flush=True)
        ratio = {unit: [ours[unit] / theirs[unit] for ours, theirs in zip(rows["streamsim"], rows["fio"])]
                 for unit in rows["fio"][0]}
        median = {unit: statistics.median(each) for unit, each in ratio.items()}
        good = median["op/s"] >= 0.9 and median["us"] <= 1.1 and median["s/GB"] <= 1
        print("  streamsim to fio: " + ", ".join(
            f"{median[unit]:.2f} {unit} (from {min(each):.2f} to {max(each):.2f})" for unit, each in ratio.items())
            + f": {'good' if good else 'NOT good enough'}", flush=True)
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--mebibytes", type=int, default=1024)
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
        results = [bench.compare(case) for case in options.cases.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
