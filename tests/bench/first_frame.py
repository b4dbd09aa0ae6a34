#!/usr/bin/env python3
"""The time from the start of the process to the submission of the first read of media.

The cases: one local clip (ProRes HD, as prepare makes it, named as a file), and a folder of many DPX files
(200,000 sparse ones unless --files says otherwise) whose listing is warm. Each is played several times for three
frames; the instants are those of execve and of the first submission to io_uring, by perf or, where that may not
trace, by strace. A round in which a virtual machine was without its processors is left out: hosts take them to find
memory, which costs tens of milliseconds. Beside it stands the time of `ls -f` of the folder, below which no program falls that lists it.

The result: a median below 20 ms for the clip and 50 ms for the folder; exit code 1 where it is not.
"""
import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NOTHING_DONE = 77
LIMITS_MS = {"clip": 20.0, "folder": 50.0}
HEAD_BYTES = 4096
ROUNDS_LEFT_OUT = 5  # times those that are kept, at most


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def by_perf(command, folder):
    """The instants of execve and of the first submission, in seconds, by the kernel's tracepoints."""
    data = folder / "perf.data"
    run(["perf", "record", "-q", "-e", "sched:sched_process_exec", "-e", "io_uring:io_uring_submit_req", "-o", data,
         *command])
    return events(run(["perf", "script", "-i", data, "-F", "time,event"]), r"([\d.]+): .*sched_process_exec",
                  r"([\d.]+): .*io_uring_submit_req")


def by_strace(command, folder):
    """The same by strace, which stops the process at these two system calls and at each new thread."""
    trace = folder / "trace"
    run(["strace", "-f", "--seccomp-bpf", "-ttt", "-e", "trace=execve,io_uring_enter", "-o", trace, *command])
    return events(trace.read_text(), r"\d+ +([\d.]+) execve", r"\d+ +([\d.]+) io_uring_enter\(\d+, [1-9]")


def events(text, begin, submission):
    first = re.search(begin, text)
    read = re.search(submission, text)
    if not first or not read:
        sys.exit("no read was submitted to io_uring")
    return float(first[1]), float(read[1])


def stolen_ticks():
    """The time that the host of this virtual machine gave to others or to itself."""
    return int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])


def undisturbed_ms(rounds, measure):
    """The times of so many rounds, and how many were left out; all times where most rounds are disturbed."""
    kept, disturbed = [], []
    while len(kept) < rounds and len(disturbed) < ROUNDS_LEFT_OUT * rounds:
        before = stolen_ticks()
        time_ms = measure()
        (kept if stolen_ticks() == before else disturbed).append(time_ms)
    return (kept, len(disturbed)) if len(kept) == rounds else (kept + disturbed, 0)


def first_frame_ms(binary, target, folder, tracer):
    begin, read = tracer([binary, "--quiet", "--frames", "3", target], folder)
    return (read - begin) * 1e3


def choose_tracer(folder):
    """perf delays the program less; it wants root. None: neither is here."""
    for tracer, probe in ((by_perf, ["perf", "record", "-q", "-e", "io_uring:io_uring_submit_req", "-o",
                                     folder / "perf.data", "true"]),
                          (by_strace, ["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true"])):
        if shutil.which(probe[0]) and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return tracer
    return None


def make_clip(binary, folder):
    run([binary, "prepare", "--quiet", "--yes", "--prores-hd", "--clip-duration", "2s", folder])
    return next(folder.rglob("*.mov"))


def make_folder(binary, folder, files):
    """Sparse files with the header of a prepared frame."""
    made = folder / "made"
    made.mkdir()
    run([binary, "prepare", "--quiet", "--yes", "--format", "dpx8-hd", "--clip-duration", "100ms", made])
    frame = next(made.rglob("*.dpx"))
    size = frame.stat().st_size
    with open(frame, "rb") as source:
        head = source.read(HEAD_BYTES)
    shutil.rmtree(made)
    shot = folder / "shot"
    shot.mkdir()
    for number in range(files):
        with open(shot / f"shot.{86400 + number:07d}.dpx", "wb") as out:
            out.write(head)
            out.truncate(size)
    return shot


def listing_ms(path):
    begin = time.monotonic()
    run(["ls", "-f", path])
    return (time.monotonic() - begin) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on the disk to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--files", type=int, default=200_000)
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.dir) as name:
        folder = pathlib.Path(name)
        tracer = choose_tracer(folder)
        if tracer is None:
            print("skipped: neither perf nor strace can trace here")
            return NOTHING_DONE
        targets = {"clip": make_clip(options.binary, folder),
                   "folder": make_folder(options.binary, folder, options.files)}
        for case, target in targets.items():
            first_frame_ms(options.binary, target, folder, tracer)  # warms the listing and the program
            times, left_out = undisturbed_ms(
                options.rounds, lambda target=target: first_frame_ms(options.binary, target, folder, tracer))
            median = statistics.median(times)
            fine = median < LIMITS_MS[case]
            good &= fine
            floor = ""
            if case == "folder":
                alone = statistics.median(listing_ms(target) for _ in range(options.rounds))
                floor = f"; {median / alone:.1f} times `ls -f` ({alone:.1f} ms)"
            print(f"{case}: first read after {median:.1f} ms (from {min(times):.1f} to {max(times):.1f}; {left_out} "
                  f"rounds left out), limit {LIMITS_MS[case]:.0f} ms{floor}: {'good' if fine else 'NOT good enough'}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
