#!/usr/bin/env python3
"""streamsim --fps max against fio: the same files, block sizes and disk, in turn.

Every round plays the media once with streamsim and once with each fio engine (psync with a job a clip; io_uring
with a job a clip and as many blocks in flight as streamsim has; the same with registered buffers), in an order that
rotates. The ratio is taken within a round, and the median over the rounds is reported, against the fio engine that
was the faster over all rounds. CPU is of the reading phase as each program counts it for itself, and of the whole
process as the kernel does: the difference is mostly the memory that is touched before the first read, which a
longer run (--passes) makes small.

The result, for each block size: against ordinary fio (psync, io_uring) a median ratio >= 1.5 and at most half of the
CPU-seconds per GB; against fio with what streamsim has (registered buffers; with --huge, huge pages for all engines)
>= 0.98 and at most 1.25 times the CPU. Exit code 1 where it is not. The disk decides how far the numbers of one round
are from the next: look at the spread, and run nothing beside.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ENGINES = ("psync", "io_uring", "io_uring registered")
REGISTERED = "fio io_uring registered"
ORDINARY_LIMITS = (1.5, 0.5)  # ratio at least, CPU at most
EQUAL_LIMITS = (0.98, 1.25)   # against fio with equal memory
DISK_LIMIT_BYTES = 8e9


def run(command):
    """Runs a command; returns its standard output and the CPU seconds of it and its children."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {process.returncode}\n{err[-2000:]}")
    return out, usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.media = folder / "media"
        self.media.mkdir()

    def prepare(self):
        run([self.options.binary, "prepare", "--quiet", f"--{self.options.format}", "--streams",
             str(self.options.streams), "--clip-duration", self.options.clip_duration, str(self.media)])
        clips = {}
        for frame in sorted(self.media.rglob("*.dpx")):
            clips.setdefault(frame.parent, []).append(frame)
        self.clips = [clips[folder] for folder in sorted(clips)]
        self.frame_bytes = self.clips[0][0].stat().st_size
        self.pass_bytes = sum(frame.stat().st_size for clip in self.clips for frame in clip)
        print(f"{len(self.clips)} clips, {len(self.clips[0])} frames of {self.frame_bytes} bytes each, "
              f"{self.pass_bytes / 1e9:.2f} GB a pass, {self.options.passes} passes a run")

    def streamsim(self, block):
        result = self.folder / "streamsim.json"
        frames = len(self.clips[0]) * self.options.passes
        _, cpu = run([self.options.binary, "--quiet", f"--{self.options.format}", "--fps", "max", "--direct",
                      "--streams", str(len(self.clips)), "--frames", str(frames), "--duration", "10m",
                      "--clip-duration", self.options.clip_duration, "--io-size",
                      "frame" if block == self.frame_bytes else f"{block}B", "--json", str(result),
                      str(self.media)])
        document = json.loads(result.read_text())
        totals = document["totals"]
        if totals["bytes_read"] != self.pass_bytes * self.options.passes:
            sys.exit(f"streamsim read {totals['bytes_read']} bytes instead of {self.options.passes} passes")
        if not document["target"]["direct"]:
            sys.exit("streamsim could not read directly here; nothing to compare")
        return {"MB/s": totals["read_bytes_per_s"] / 1e6,
                "run s/GB": document["client"]["cpu_ns"] / totals["bytes_read"],
                "process s/GB": cpu * 1e9 / totals["bytes_read"]}

    def fio(self, engine, block):
        depth = self.blocks_in_flight(block)
        name, _, registered = engine.partition(" ")
        lines = ["[global]", "rw=read", "direct=1", f"bs={block}", f"ioengine={name}", "thread=1",
                 f"iodepth={depth}", f"loops={self.options.passes}", "file_service_type=sequential",
                 "group_reporting=1"]
        if self.options.huge:
            lines.append("iomem=mmaphuge")
        if registered:
            lines.append("fixedbufs=1")
        for number, clip in enumerate(self.clips):
            lines += [f"[clip{number}]", "filename=" + ":".join(map(str, clip))]
        job = self.folder / "job.fio"
        job.write_text("\n".join(lines) + "\n")
        out, cpu = run(["fio", "--readonly", "--output-format=json", str(job)])
        jobs = json.loads(out[out.index("{"):])["jobs"]
        moved = sum(entry["read"]["io_bytes"] for entry in jobs)
        # fio leaves out what remains of a file after its last whole block; streamsim reads it.
        whole = sum(frame.stat().st_size // block * block for clip in self.clips for frame in clip)
        if moved != whole * self.options.passes:
            sys.exit(f"fio read {moved} bytes instead of {whole * self.options.passes}")
        # With group_reporting there is one entry, whose CPU percentages are of the jobs' summed run time.
        busy = sum((entry["usr_cpu"] + entry["sys_cpu"]) / 100 * entry["job_runtime"] / 1e3 for entry in jobs)
        return {"MB/s": sum(entry["read"]["bw_bytes"] for entry in jobs) / 1e6,
                "run s/GB": busy * 1e9 / moved,
                "process s/GB": cpu * 1e9 / moved}

    def blocks_in_flight(self, block):
        """What streamsim's defaults (2 frames, 8 pieces of each) come to."""
        return 2 if block == self.frame_bytes else 16

    def compare(self, block):
        name = "a frame" if block == self.frame_bytes else f"{block} bytes"
        print(f"\nblocks of {name}")
        runners = {"streamsim": lambda: self.streamsim(block)}
        for engine in ENGINES:
            runners[f"fio {engine}"] = lambda engine=engine: self.fio(engine, block)
        rows = {runner: [] for runner in runners}
        order = list(runners)
        for round_number in range(self.options.pairs):
            for runner in order:
                rows[runner].append(runners[runner]())
            order = order[1:] + order[:1]
            print(f"  round {round_number + 1}: " + ", ".join(
                f"{runner} {rows[runner][-1]['MB/s']:.0f} MB/s {rows[runner][-1]['run s/GB']:.4f} s/GB"
                for runner in runners), flush=True)
        return self.judge(rows)

    def judge(self, rows):
        medians = {runner: {key: statistics.median(row[key] for row in table) for key in table[0]}
                   for runner, table in rows.items()}
        for runner, numbers in medians.items():
            print(f"  {runner:23} median " + "  ".join(f"{value:9.4f} {key}" for key, value in numbers.items()))
        ordinary = [runner for runner in rows if runner not in ("streamsim", REGISTERED)]
        results = [self.judge_against(rows, medians, max(ordinary, key=lambda runner: medians[runner]["MB/s"]),
                                      EQUAL_LIMITS if self.options.huge else ORDINARY_LIMITS),
                   self.judge_against(rows, medians, REGISTERED, EQUAL_LIMITS)]
        return all(results)

    def judge_against(self, rows, medians, other, limits):
        ratios = [ours["MB/s"] / theirs["MB/s"] for ours, theirs in zip(rows["streamsim"], rows[other])]
        cpu = medians["streamsim"]["run s/GB"] / medians[other]["run s/GB"]
        good = statistics.median(ratios) >= limits[0] and cpu <= limits[1]
        print(f"  against {other}: throughput ratio median {statistics.median(ratios):.3f} "
              f"(from {min(ratios):.3f} to {max(ratios):.3f}), CPU per GB {cpu:.2f} times: "
              f"{'good' if good else 'NOT good enough'}")
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--format", default="dpx12", choices=("dpx10", "dpx12"))
    parser.add_argument("--clip-duration", default="1s")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--blocks", default="1MiB,frame", help="block sizes: 1MiB, 4MiB, frame")
    parser.add_argument("--huge", action="store_true",
                        help="give fio huge pages as well (--iomem=mmaphuge; if the kernel has some)")
    options = parser.parse_args()
    if not shutil.which("fio"):
        print("skipped: fio is not installed")
        return 77
    if options.huge and pathlib.Path("/proc/sys/vm/nr_hugepages").read_text().strip() == "0":
        print("skipped: no huge pages are reserved (vm.nr_hugepages is 0)")
        return 77
    if shutil.disk_usage(options.dir).free < DISK_LIMIT_BYTES:
        print(f"skipped: less than {DISK_LIMIT_BYTES / 1e9:.0f} GB free in {options.dir}")
        return 77
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.dir) as folder:
        bench = Bench(options, pathlib.Path(folder))
        bench.prepare()
        sizes = {"1MiB": 1 << 20, "4MiB": 4 << 20, "frame": bench.frame_bytes}
        results = [bench.compare(sizes[name]) for name in options.blocks.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
