#!/usr/bin/env python3
"""streamsim prepare against fio that writes files of the same number and sizes, in turn, on the same disk.

Every round prepares the media once with streamsim and writes them once with fio, directly and through the page
cache, in an order that rotates: new files, four at once where prepare writes four clips, every file synced before it
is closed. The ratio is taken within a round against the fio run that was faster over all rounds, from the start of
the process to its end, and the median over the rounds is reported. The CPU of making the payload is the user time of
`prepare` to a directory in memory (a tmpfs) a GB, less that of preparing short clips; it includes the container.

The result: a median ratio of at least 0.95, and at most 0.1 CPU seconds of user time a GB; exit code 1 where it is
not. The disk decides how far one round is from the next: look at the spread, and run nothing beside.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FORMATS = {  # format: clip duration, about 1 GB with 4 streams
    "prores-hd": "7s", "dpx10": "300ms", "dpx12": "200ms", "dpx8-hd": "1600ms", "exr-zip-hd": "2s",
    "dnxhr-sq-hd": "15s",
}
STREAMS = 4
NO_ROOM_BYTES = 6e9
NOTHING_DONE = 77


def run(command):
    """Runs a command; returns its wall seconds and the user and all CPU seconds of it and its children."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}\nended with {os.waitstatus_to_exitcode(status)}\n{err[-2000:]}")
    return wall, usage.ru_utime, usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options, folder, name):
        self.options = options
        self.folder = folder
        self.name = name
        self.media = folder / "media"

    def streamsim(self, media=None, duration=None):
        media = media or self.media
        shutil.rmtree(media, ignore_errors=True)
        media.mkdir()
        return run([self.options.binary, "prepare", "--quiet", "--yes", "--format", self.name,
                    "--streams", str(STREAMS), "--clip-duration", duration or FORMATS[self.name], str(media)])

    def note_sizes(self):
        """The files of each clip, for fio: a clip is a file, or a directory of frames."""
        self.streamsim()
        clips = {}
        for file in sorted(self.media.rglob("*")):
            if not file.is_file() or file.suffix in (".json", ".lock"):
                continue
            sequence = file.parent.name.startswith("clip-")
            clips.setdefault(file.parent if sequence else file, []).append(file.stat().st_size)
        self.clips = list(clips.values())
        self.bytes = sum(map(sum, self.clips))
        files = sum(map(len, self.clips))
        print(f"\n{self.name}: {len(self.clips)} clips, {files} files, {self.bytes / 1e9:.2f} GB")

    def fio(self, direct):
        shutil.rmtree(self.media, ignore_errors=True)
        self.media.mkdir()
        lines = ["[global]", "rw=write", "ioengine=psync", "thread=1", f"direct={direct}",
                 "file_service_type=sequential", "create_on_open=1", "fallocate=none", "fsync_on_close=1",
                 "openfiles=1"]
        for number, sizes in enumerate(self.clips):
            # In equal blocks of at most 8 MiB, as prepare writes: fio leaves out the rest of a file. Direct writes
            # want whole pages.
            blocks = -(-sizes[0] // (8 << 20))
            block = -(-sizes[0] // blocks // 4096) * 4096
            lines += [f"[clip{number}]", f"bs={block}", f"filesize={block * blocks}", f"nrfiles={len(sizes)}",
                      f"size={block * blocks * len(sizes)}", f"directory={self.media}"]
        job = self.folder / "job.fio"
        job.write_text("\n".join(lines) + "\n")
        return run(["fio", "--output-format=json", str(job)])

    def payload_cpu(self, memory):
        """User seconds a GB, without those of the start."""
        short = self.streamsim(memory / "media", "40ms")[1]
        whole = self.streamsim(memory / "media")[1]
        shutil.rmtree(memory / "media")
        return (whole - short) * 1e9 / self.bytes

    def compare(self, memory):
        self.note_sizes()
        runners = {"streamsim": self.streamsim,
                   "fio direct": lambda: self.fio(1),
                   "fio cached": lambda: self.fio(0)}
        rows = {runner: [] for runner in runners}
        order = list(runners)
        for _ in range(self.options.rounds):
            for runner in order:
                rows[runner].append(runners[runner]())
            order = order[1:] + order[:1]
        wall = {runner: [row[0] for row in table] for runner, table in rows.items()}
        for runner, table in rows.items():
            print(f"  {runner:10} median {self.bytes / 1e6 / statistics.median(wall[runner]):7.0f} MB/s, "
                  f"CPU {statistics.median(row[2] for row in table) * 1e9 / self.bytes:.3f} s/GB")
        better = min(("fio direct", "fio cached"), key=lambda runner: statistics.median(wall[runner]))
        ratios = [theirs / ours for ours, theirs in zip(wall["streamsim"], wall[better])]
        cpu = statistics.median(self.payload_cpu(memory) for _ in range(3))
        good = statistics.median(ratios) >= 0.95 and cpu <= 0.1
        print(f"  against {better}: ratio median {statistics.median(ratios):.2f} (from {min(ratios):.2f} to "
              f"{max(ratios):.2f}), payload {cpu:.3f} CPU s/GB: {'good' if good else 'NOT good enough'}", flush=True)
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    parser.add_argument("--memory", default="/dev/shm", help="a folder in memory, with 2 GB free")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", default=",".join(FORMATS), help=f"of {', '.join(FORMATS)}")
    options = parser.parse_args()
    if not shutil.which("fio"):
        print("skipped: fio is not installed")
        return NOTHING_DONE
    if shutil.disk_usage(options.dir).free < NO_ROOM_BYTES:
        print(f"skipped: less than {NO_ROOM_BYTES / 1e9:.0f} GB free in {options.dir}")
        return NOTHING_DONE
    if not os.path.isdir(options.memory) or shutil.disk_usage(options.memory).free < 2e9:
        print(f"skipped: less than 2 GB free in {options.memory}")
        return NOTHING_DONE
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.dir) as folder, \
            tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.memory) as memory:
        results = [Bench(options, pathlib.Path(folder), name).compare(pathlib.Path(memory))
                   for name in options.formats.split(",")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
