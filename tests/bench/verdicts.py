#!/usr/bin/env python3
"""Random stagings of trouble with a known cause: how often is the verdict right?

    tests/bench/verdicts.py BUILD [--count 200] [--seed 1] [--share-of-two 0.3]

BUILD is the build directory. Draws stagings by the seed: the storage (slow or cold reads, slow opens, little bandwidth,
errors, a server that stands still), the network (loss, a cut, a pulled plug, a full link), the client (streamsim
stopped, decoding that is too slow, too little in flight) or the media (missing, cut, unreadable or slow
frames), alone or two sides at once, each with drawn numbers. The storage is a FUSE file system that
does what it is told, the network one of namespaces with a real NFS server. Prints a table of what was staged against
`verdict.limit`, as docs/reference/verdicts.md has it, and each verdict that was wrong. A verdict is right when it names a
side that was staged, or is `none` where every frame was on time; `unknown` with a next step is neither right nor wrong.
Needs root. Nothing else should run. Exits 1 below 95 %, or when any was wrong.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent / "real/lab/lab"
SIDES = ("storage", "network", "client", "media")
SIDE_OF_LIMIT = {"storage": "storage", "network": "network", "client-cpu": "client", "client-scheduling": "client",
                 "media": "media", "none": "none", "unknown": "unknown"}
CLIPS = "clip a frames=96\nclip b frames=96\n"


class Staging:
    """What is wrong: rules of the file system, options, and something done while it plays."""

    def __init__(self):
        self.sides, self.names = [], []
        self.rules, self.options, self.meanwhile = [], [], []
        self.lab = []  # words for the lab before play, and [after seconds, words] while it plays

    def __str__(self):
        return " + ".join(self.names)


def both(verb, rule):
    return [f"{verb} a {rule}", f"{verb} b {rule}"]


def storage(staging, draw):
    kind = draw.choice(["slow-reads", "slow-opens", "bandwidth", "errors", "stall"])
    if kind == "slow-reads":
        staging.rules += both("read", f"frame=* delay={draw.randint(120, 260)}ms")
    elif kind == "slow-opens":
        staging.rules += both("open", f"frame=* delay={draw.randint(110, 240)}ms")
        staging.options += ["--pattern", "on-demand"]
    elif kind == "bandwidth":
        staging.rules.append(f"rate {draw.randint(1_200_000, 2_600_000)}")
    elif kind == "errors":
        staging.rules += both("read", f"frame=every:{draw.randint(2, 3)} error=EIO")
    else:
        staging.meanwhile.append(("server", draw.uniform(1.5, 2.5), draw.uniform(0.7, 1.5)))
    return kind


def client(staging, draw):
    kind = draw.choice(["stopped", "slow-decoder", "too-little-in-flight"])
    if kind == "stopped":
        staging.meanwhile.append(("streamsim", draw.uniform(1.4, 2.4), draw.uniform(0.6, 1.2)))
    elif kind == "slow-decoder":
        staging.options += ["--decode-cpu", f"{draw.randint(60, 120)}ms"]
    else:
        staging.rules += both("read", f"frame=* delay={draw.randint(60, 75)}ms")
        staging.options += ["--inflight", "1", "--io-depth", "1"]
    return kind


def media(staging, draw):
    kind = draw.choice(["missing", "short", "unreadable", "slow-frame"])
    frame = draw.randint(30, 44)
    clip = draw.choice("ab")
    staging.rules.append({"missing": f"missing {clip} frame={frame}", "short": f"short {clip} frame={frame} bytes={draw.randint(0, 9_000)}",
                          "unreadable": f"read {clip} frame={frame} error=EIO",
                          "slow-frame": f"read {clip} frame={frame} delay={draw.randint(650, 1_100)}ms"}[kind])
    return kind


def network(staging, draw):
    kind = draw.choice(["loss", "cut", "plug", "full-link"])
    after, length = draw.uniform(1.5, 2.5), draw.uniform(0.7, 2.0)
    if kind == "loss":
        staging.lab.append((0, ["wire", "0", f"loss {draw.randint(2, 5)}", "delay_us 10000"]))
    elif kind == "cut":
        staging.lab += [(after, ["cut", "0"]), (after + length, ["mend", "0"])]
    elif kind == "plug":
        staging.lab += [(after, ["unplug", "0"]), (after + length, ["plug", "0"])]
    else:
        staging.options += ["--streams", str(draw.randint(4, 6))]
    return kind


def drawn(seed, share_of_two):
    """The staging of a seed. A network has a real server: of two sides it goes with the client and with corrupt media."""
    draw = random.Random(seed)
    staging = Staging()
    sides = [draw.choice(SIDES)]
    if draw.random() < share_of_two:
        others = {"storage": ("client", "media"), "network": ("client",), "client": ("storage", "media"),
                  "media": ("storage", "client")}
        sides.append(draw.choice(others[sides[0]]))
    kinds = {"storage": storage, "client": client, "media": media, "network": network}
    for side in sides:
        if side == "client" and "network" in sides:  # the server delays no reads there
            staging.meanwhile.append(("streamsim", draw.uniform(1.4, 2.4), draw.uniform(0.6, 1.2)))
            kind = "stopped"
        else:
            kind = kinds[side](staging, draw)
        staging.sides.append(side)
        staging.names.append(f"{side}: {kind}")
    return staging


class Stage:
    def __init__(self, build):
        self.build = build
        self.program = build / "src/cli/streamsim"
        self.lab_place = None

    def play(self, staging):
        """The result of the run."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if "network" in staging.sides:
                return self.play_in_lab(staging, folder)
            mount = folder / "mount"
            mount.mkdir()
            (folder / "rules").write_text(CLIPS + "\n".join(staging.rules) + "\n")
            with subprocess.Popen([self.build / "tests/real/slowfs", folder / "rules", mount, folder / "log"],
                                  stdout=subprocess.PIPE, text=True) as server:
                try:
                    if server.stdout.readline() != "ready\n":
                        raise RuntimeError("slowfs does not come up")
                    options = ["--streams", "2", "--duration", "4s", *staging.options, str(mount)]
                    return self.run([self.program], options, staging, folder, server.pid)
                finally:
                    server.terminate()

    def run(self, program, options, staging, folder, server=0):
        result = folder / "result.json"
        with subprocess.Popen([*program, "--quiet", "--json", result, *options], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            events = [(after, self.stop, (server if whom == "server" else process.pid, length))
                      for whom, after, length in staging.meanwhile]
            events += [(after, self.lab, words) for after, words in staging.lab if after > 0]
            began = time.monotonic()
            for after, act, words in sorted(events, key=lambda each: each[0]):
                time.sleep(max(0, began + 1 + after - time.monotonic()))  # a second to begin
                act(*words)
            error = process.stderr.read()
            if process.wait() not in (0, 1):
                raise RuntimeError(error)
        return json.loads(result.read_text())

    @staticmethod
    def stop(process, length):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)
            time.sleep(length)
            os.kill(process, signal.SIGCONT)

    def lab(self, *words):
        subprocess.run([LAB, *words, "--dir", self.lab_place], check=True, stdout=subprocess.DEVNULL)

    def play_in_lab(self, staging, folder):
        self.lab_place = str(folder / "lab")
        pathlib.Path(self.lab_place).mkdir()
        full = any("full-link" in name for name in staging.names)
        rates = ["--rate", "10gbit", "--server-rate", "400mbit"] if full else []
        wire = ["--wire", str(self.build / "tests/real/wire")] if any("loss" in name for name in staging.names) else []
        subprocess.run([LAB, "up", "--dir", self.lab_place, "--name", f"v{os.getpid() % 10_000}", "--owner", str(os.getpid()),
                        "--nfs", *rates, *wire], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        facts = json.loads((pathlib.Path(self.lab_place) / "lab.json").read_text())
        try:
            streams = staging.options or ["--streams", "1"]
            target = str(pathlib.Path(self.lab_place) / "export")
            subprocess.run([self.program, "prepare", "--quiet", "--prores-hd", *streams, "--clip-duration", "3s", target],
                           check=True, stdout=subprocess.DEVNULL)
            for after, words in staging.lab:
                if after == 0:
                    self.lab(*words)
            seat = ["ip", "netns", "exec", facts["seats"][0]["namespace"], self.program]
            server = facts["server"]
            options = ["--prores-hd", *streams, "--duration", "7s", f"nfs://{server['address']}{server['nfs_export']}"]
            return self.run(seat, options, staging, folder)
        finally:
            subprocess.run([LAB, "down", "--dir", self.lab_place], check=False, stdout=subprocess.DEVNULL)


def said(result):
    """The side of the verdict, and the sides of all causes."""
    sides = {SIDE_OF_LIMIT[cause["limit"]] for cause in result["causes"]}
    return SIDE_OF_LIMIT[result["verdict"]["limit"]], sides


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share-of-two", type=float, default=0.3)
    given = parser.parse_args()
    stage = Stage(given.build.resolve())
    table = collections.Counter()
    right = wrong = unsure = named = pairs = 0
    problems = []
    for i in range(given.count):
        seed = given.seed * 1_000_003 + i
        staging = drawn(seed, given.share_of_two)
        try:
            result = stage.play(staging)
        except (RuntimeError, subprocess.CalledProcessError, OSError) as error:
            print(f"{i}: {staging}: could not be staged: {error}", file=sys.stderr)
            continue
        side, causes = said(result)
        table[" + ".join(sorted(staging.sides)), side] += 1
        if len(staging.sides) == 2:
            pairs += 1
            named += set(staging.sides) <= causes
        if side in staging.sides or (side == "none" and result["verdict"]["pass"]):
            right += 1
        elif side == "unknown" and result["verdict"].get("next"):
            unsure += 1
        else:
            wrong += 1
        if side not in staging.sides:
            problems.append(f"- seed {seed}, {staging}: {result['verdict']['limit']}: {result['verdict']['reason']}")
        print(f"{i + 1} of {given.count}: {staging}: {side}", file=sys.stderr, flush=True)
    columns = (*SIDES, "unknown", "none")
    print(f"| staged | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for row in sorted({staged for staged, _ in table}):
        print(f"| {row} | {' | '.join(str(table[row, column] or '') for column in columns)} |")
    total = right + wrong + unsure
    print(f"\n{total} stagings: {right} right ({right / max(total, 1):.1%}), {unsure} unknown with a next step, {wrong} wrong; "
          f"of {pairs} with two sides at once, {named} had both among their causes.\n")
    print(*problems, sep="\n")
    return 0 if wrong == 0 and right >= 0.95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
