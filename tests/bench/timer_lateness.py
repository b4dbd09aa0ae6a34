#!/usr/bin/env python3
"""How late the timers of streamsim are, beyond a loop that does nothing but wait for a timerfd.

Both wait for the deadlines of the same number of streams on null storage, 24 times a second, in turn; each
round's difference is taken, and the median over the rounds is reported. All streams are due at once: with many
of them, the time that a frame takes is most of the lateness of those behind it. Exits 1 where 16 streams are
later by 50 us (median) or 200 us (p99).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def play(binary, streams, seconds, folder):
    result = folder / "result.json"
    done = subprocess.run([binary, "--quiet", "--prores-hd", "--fps", "24", "--streams", str(streams), "--duration",
                           f"{seconds}s", "--json", result, "null:"], check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"streamsim ended with {done.returncode}")
    return json.loads(result.read_text())["client"]["loop_lateness_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--bare", help="bare_timer (ninja bare_timer); found beside the build of streamsim")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    build = pathlib.Path(options.binary).resolve().parents[2]
    bare = options.bare or build / "tests" / "bench" / "bare_timer"
    if not pathlib.Path(bare).exists():
        print(f"there is no {bare}: build the target bare_timer")
        return 77
    good = True
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as name:
        for streams in (16, 1000):
            rounds = []
            for _ in range(options.rounds):
                alone = json.loads(subprocess.check_output([bare, str(streams), str(options.seconds)]))
                ours = play(options.binary, streams, options.seconds, pathlib.Path(name))
                rounds.append({key: ours[key] - alone[key] for key in ("p50", "p99")})
                print(f"{streams} streams: bare p50 {alone['p50'] / 1e3:.0f} us, p99 {alone['p99'] / 1e3:.0f} us; "
                      f"streamsim p50 {ours['p50'] / 1e3:.0f} us, p99 {ours['p99'] / 1e3:.0f} us", flush=True)
            p50, p99 = (statistics.median(each[key] for each in rounds) / 1e3 for key in ("p50", "p99"))
            print(f"{streams} streams: later by {p50:.0f} us (median) and {p99:.0f} us (p99)")
            good = good and (streams > 16 or (p50 < 50 and p99 < 200))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
