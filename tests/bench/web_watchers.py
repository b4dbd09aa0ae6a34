#!/usr/bin/env python3
"""What fifty watchers of the page (--web) cost a run on null storage, in real time: the share of a processor, in pairs.

Each pair is one run that nobody watches, and one that fifty connections follow to its end. The watchers are processes
of their own; they only read. Less than three hundredths of a processor, and no frame more missed, is what is claimed.
"""
import argparse
import http.client
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.parse


def follow(url):
    """Reads the events of the page until the server ends them."""
    connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=300)
    connection.request("GET", "/events", headers={"Host": url.netloc})
    answer = connection.getresponse()
    while answer.read(65536):
        pass


def watch(port, count):
    """In a process of its own, so that its time is not that of the bench."""
    url = urllib.parse.urlsplit(f"http://127.0.0.1:{port}/")
    threads = [threading.Thread(target=follow, args=(url,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def play(options, folder, watchers):
    """The percent of a processor that the run took, and the frames that it missed."""
    result = folder / "result.json"
    run = subprocess.Popen([options.binary, "--quiet", "--prores-hd", "--streams", str(options.streams), "--duration",
                            options.duration, "--json", result, "--web", "0", "null:"], stderr=subprocess.PIPE, text=True)
    port = re.search(r"page: http://127\.0\.0\.1:(\d+)/", run.stderr.readline())[1]
    others = subprocess.Popen([sys.executable, __file__, options.binary, "--watch", port, "--watchers", str(watchers)])
    run.stderr.read()
    if run.wait() not in (0, 1):
        sys.exit(f"streamsim ended with {run.returncode}")
    others.wait()
    document = json.loads(result.read_text())
    totals = document["totals"]
    return document["client"]["cpu_percent"], totals["frames_scheduled"] - totals["frames_on_time"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--duration", default="20s")
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        return watch(options.watch, options.watchers)
    more = []
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-") as name:
        for _ in range(options.pairs):
            alone, watched = play(options, pathlib.Path(name), 0), play(options, pathlib.Path(name), options.watchers)
            more.append((watched[0] - alone[0], watched[1] - alone[1]))
            print(f"alone {alone[0]:.2f} % of a processor, {alone[1]} missed; {options.watchers} watchers "
                  f"{watched[0]:.2f} %, {watched[1]} missed", flush=True)
    median = statistics.median(cpu for cpu, _ in more)
    missed = sum(frames for _, frames in more)
    print(f"{options.streams} streams, {options.watchers} watchers: {median:+.2f} % of a processor (median of "
          f"{options.pairs} pairs), {missed:+} frames missed")
    return 0 if median < 3 and missed <= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
