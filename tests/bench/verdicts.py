#!/usr/bin/env python3
"""Random stagings of trouble with a known cause: how often is the verdict right?

    tests/bench/verdicts.py BUILD [--count 200] [--seed 1] [--share-of-two 0.3] [--share-of-weak 0.25] [--only WORDS]

BUILD is the build directory. Draws stagings by the seed: the storage (slow reads, slow opens, little bandwidth, errors,
a server that stands still or is slow, a disk with a limit), the network (loss, delay, a cut, a pulled plug, a full
link), the client (streamsim stopped, decoding that is too slow, too little in flight, a busy processor, a small share
of it) or the media (missing, cut, unreadable or slow frames), alone or two sides at once, each with drawn numbers, and
some so weak that few frames or none are missed. The storage is a FUSE file system that does what it is told, a disk
behind a limit of the kernel, or a real NFS 3, NFS 4 or SMB server; the network one of namespaces. --only: stagings whose names
have WORDS. Prints a table of what was staged against `verdict.limit`, as docs/reference/verdicts.md has it, and each
verdict that was wrong. A verdict is right when it names a side that was staged, or is `none` where every frame was on
time; `unknown` with a next step is neither right nor wrong.
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
        self.place = "fuse"  # or "lab", "disk"
        self.protocol, self.server_rate = "", ""  # of the lab
        self.streams = 1
        self.disk_rate = self.hogs = self.processor_share = 0

    def __str__(self):
        return " + ".join(self.names)


def both(verb, rule):
    return [f"{verb} a {rule}", f"{verb} b {rule}"]


def storage(staging, draw, weak):
    kinds = ["slow-reads", "slow-opens", "bandwidth", "errors", "stall"]
    kind = draw.choice([*kinds, "server-stops", "server-is-slow", "disk-limit"])
    if kind == "slow-reads":
        staging.rules += both("read", f"frame=* delay={draw.randint(45, 120) if weak else draw.randint(120, 260)}ms")
    elif kind == "slow-opens":
        staging.rules += both("open", f"frame=* delay={draw.randint(35, 110) if weak else draw.randint(110, 240)}ms")
        staging.options += ["--pattern", "on-demand"]
    elif kind == "bandwidth":
        staging.rules.append(f"rate {draw.randint(2_600_000, 3_600_000) if weak else draw.randint(1_200_000, 2_600_000)}")
    elif kind == "errors":
        # Weak ones come once: frames that always fail, among others that do not, are what damaged media look like.
        rare = f"frame=every:{draw.randint(9, 30)} pass=1"
        staging.rules += both("read", f"{rare if weak else f'frame=every:{draw.randint(2, 3)}'} error=EIO")
    elif kind == "stall":
        staging.meanwhile.append(("server", draw.uniform(1.5, 2.5), draw.uniform(0.2, 0.7) if weak else draw.uniform(0.7, 1.5)))
    elif kind == "disk-limit":
        staging.place = "disk"
        staging.disk_rate = draw.randint(40_000_000, 52_000_000) if weak else draw.randint(15_000_000, 40_000_000)
    else:
        in_lab(staging, draw)
        daemon = staging.protocol[:3]
        if kind == "server-is-slow":
            staging.lab.append((draw.uniform(1.0, 2.0), ["slow", daemon]))
        else:
            after = draw.uniform(1.5, 2.5)
            length = draw.uniform(0.3, 0.8) if weak else draw.uniform(0.8, 2.0)
            staging.lab += [(after, ["stop", daemon]), (after + length, ["resume", daemon])]
        return f"{kind} ({staging.protocol})"
    return kind


def client(staging, draw, weak):
    kind = draw.choice(["stopped", "slow-decoder", "too-little-in-flight", "busy-processor", "processor-share"])
    if kind == "stopped":
        staging.meanwhile.append(("streamsim", draw.uniform(1.4, 2.4), draw.uniform(0.15, 0.6) if weak else draw.uniform(0.6, 1.2)))
    elif kind == "slow-decoder":
        staging.options += ["--decode-cpu", f"{draw.randint(38, 60) if weak else draw.randint(60, 120)}ms"]
    elif kind == "too-little-in-flight":
        staging.rules += both("read", f"frame=* delay={draw.randint(42, 60) if weak else draw.randint(60, 75)}ms")
        staging.options += ["--inflight", "1", "--io-depth", "1"]
    elif kind == "busy-processor":
        staging.hogs = draw.randint(3, 6) if weak else draw.randint(8, 16)
        staging.options += ["--decode-cpu", f"{draw.randint(4, 9)}ms"]
    else:
        staging.processor_share = draw.uniform(0.3, 0.6) if weak else draw.uniform(0.1, 0.3)
        staging.options += ["--decode-cpu", f"{draw.randint(12, 18)}ms"]
    return kind


def media(staging, draw, weak):
    kind = draw.choice(["missing", "short", "unreadable", "slow-frame"])
    frame = draw.randint(30, 44)
    clip = draw.choice("ab")
    delay = draw.randint(300, 650) if weak else draw.randint(650, 1_100)
    staging.rules.append({"missing": f"missing {clip} frame={frame}", "short": f"short {clip} frame={frame} bytes={draw.randint(0, 9_000)}",
                          "unreadable": f"read {clip} frame={frame} error=EIO",
                          "slow-frame": f"read {clip} frame={frame} delay={delay}ms"}[kind])
    return kind


def network(staging, draw, weak):
    kind = draw.choice(["loss", "delay", "cut", "plug", "full-link"])
    in_lab(staging, draw)
    after, length = draw.uniform(1.5, 2.5), draw.uniform(0.3, 0.7) if weak else draw.uniform(0.7, 2.0)
    if kind == "loss":
        staging.lab.append((0, ["wire", "0", f"loss {1 if weak else draw.randint(2, 5)}", "delay_us 10000"]))
    elif kind == "delay":  # both ways, for each frame when it is due
        staging.lab.append((0, ["wire", "0", f"delay_us {draw.randint(12, 25) if weak else draw.randint(25, 60)}000"]))
        staging.options += ["--pattern", "on-demand"]
    elif kind == "cut":
        staging.lab += [(after, ["cut", "0"]), (after + length, ["mend", "0"])]
    elif kind == "plug":
        staging.lab += [(after, ["unplug", "0"]), (after + length, ["plug", "0"])]
    else:
        staging.streams = draw.randint(4, 6)
        staging.server_rate = f"{draw.randint(90, 105) * staging.streams if weak else 400}mbit"
    return f"{kind} ({staging.protocol})"


def in_lab(staging, draw):
    staging.place = "lab"
    staging.protocol = draw.choice(["nfs", "nfs4", "smb"])


def drawn(seed, share_of_two, share_of_weak):
    """The staging of a seed. A network has a real server: of two sides it goes with a client that stands still."""
    draw = random.Random(seed)
    staging = Staging()
    sides = [draw.choice(SIDES)]
    if draw.random() < share_of_two:
        others = {"storage": ("client", "media"), "network": ("client",), "client": ("storage", "media"),
                  "media": ("storage", "client")}
        sides.append(draw.choice(others[sides[0]]))
    kinds = {"storage": storage, "client": client, "media": media, "network": network}
    weak = draw.random() < share_of_weak
    for side in sorted(sides, key=("storage", "network", "client", "media").index):
        if side == "client" and staging.place == "lab":  # the server delays no reads there
            staging.meanwhile.append(("streamsim", draw.uniform(1.4, 2.4), draw.uniform(0.6, 1.2)))
            kind = "stopped"
        elif side == "media" and staging.place != "fuse":
            continue
        else:
            kind = kinds[side](staging, draw, weak)
        staging.sides.append(side)
        staging.names.append(f"{'weak ' if weak else ''}{side}: {kind}")
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
            if staging.place == "lab":
                return self.play_in_lab(staging, folder)
            if staging.place == "disk":
                return self.play_on_disk(staging, folder)
            mount = folder / "mount"
            mount.mkdir()
            (folder / "rules").write_text(CLIPS + "\n".join(staging.rules) + "\n")
            with subprocess.Popen([self.build / "tests/real/slowfs", folder / "rules", mount, folder / "log"],
                                  stdout=subprocess.PIPE, text=True) as server:
                try:
                    if server.stdout.readline() != "ready\n":
                        raise RuntimeError("slowfs does not come up")
                    options = ["--streams", "2", "--duration", "4s", *staging.options, str(mount)]
                    os.sched_setaffinity(server.pid, {0})  # a busy client is no busy server
                    with self.client_of(staging) as program:
                        return self.run(program, options, staging, folder, server.pid)
                finally:
                    server.terminate()

    @contextlib.contextmanager
    def client_of(self, staging):
        """The words that begin streamsim on the client that is staged."""
        if staging.hogs:
            hogs = [subprocess.Popen(["taskset", "-c", "1", sys.executable, "-c", "while True: pass"])
                    for _ in range(staging.hogs)]
            try:
                yield ["taskset", "-c", "1", self.program]
            finally:
                for hog in hogs:
                    hog.kill()
                    hog.wait()
        elif staging.processor_share:
            with group("cpu") as place:
                (place / "cpu.cfs_quota_us").write_text(str(round(100_000 * staging.processor_share)))
                yield in_group(place, self.program)
        else:
            yield [self.program]

    def play_on_disk(self, staging, folder):
        """From a disk whose reads the kernel holds to a rate."""
        (folder / "disk").mkdir()
        subprocess.run(["truncate", "-s", "2G", folder / "image"], check=True)
        device = subprocess.run(["losetup", "--direct-io=on", "--find", "--show", folder / "image"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip()
        try:
            subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device], check=True)
            subprocess.run(["mount", device, folder / "disk"], check=True)
            subprocess.run([self.program, "prepare", "--quiet", "--prores-hd", "--streams", "2", "--clip-duration", "6s",
                            folder / "disk"], check=True, stdout=subprocess.DEVNULL)
            number = (pathlib.Path("/sys/block") / device[5:] / "dev").read_text().strip()
            options = ["--prores-hd", "--streams", "2", "--duration", "5s", *staging.options, str(folder / "disk")]
            with group("blkio") as place:
                (place / "blkio.throttle.read_bps_device").write_text(f"{number} {staging.disk_rate}")
                return self.run(in_group(place, self.program), options, staging, folder)
        finally:
            subprocess.run(["umount", "--lazy", folder / "disk"], check=False, stderr=subprocess.DEVNULL)
            subprocess.run(["losetup", "--detach", device], check=False)

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
        daemon = staging.protocol[:3]
        rates = ["--rate", "10gbit", "--server-rate", staging.server_rate] if staging.server_rate else []
        wire = any(words[0] == "wire" for _, words in staging.lab)
        subprocess.run([LAB, "up", "--dir", self.lab_place, "--name", f"v{os.getpid() % 10_000}", "--owner", str(os.getpid()),
                        f"--{daemon}", *rates, *(["--wire", self.build / "tests/real/wire"] if wire else [])], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        facts = json.loads((pathlib.Path(self.lab_place) / "lab.json").read_text())
        try:
            streams = ["--streams", str(staging.streams)]
            target = str(pathlib.Path(self.lab_place) / "export")
            subprocess.run([self.program, "prepare", "--quiet", "--prores-hd", *streams, "--clip-duration", "3s", target],
                           check=True, stdout=subprocess.DEVNULL)
            for after, words in staging.lab:
                if after == 0:
                    self.lab(*words)
            server = facts["server"]
            seat = ["ip", "netns", "exec", facts["seats"][0]["namespace"], "env",
                    f"STREAMSIM_SMB_PASSWORD={server['password']}", self.program]
            target = {"nfs": f"nfs://{server['address']}{server['nfs_export']}",
                      "nfs4": f"nfs://{server['address']}{server['nfs_export']}?version=4",
                      "smb": f"smb://{server['user']}@{server['address']}/{server['smb_share']}"}[staging.protocol]
            options = ["--prores-hd", *streams, "--duration", "7s", *staging.options, target]
            return self.run(seat, options, staging, folder)
        finally:
            subprocess.run([LAB, "down", "--dir", self.lab_place], check=False, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def group(controller):
    """A control group of its own."""
    place = pathlib.Path("/sys/fs/cgroup") / controller / f"streamsim-verdicts-{os.getpid()}"
    place.mkdir()
    try:
        yield place
    finally:
        place.rmdir()


def in_group(place, program):
    return ["sh", "-c", f'printf %s $$ > {place}/cgroup.procs; exec "$@"', "sh", program]


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
    parser.add_argument("--share-of-weak", type=float, default=0.25)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the results of all but right verdicts")
    given = parser.parse_args()
    stage = Stage(given.build.resolve())
    table = collections.Counter()
    right = wrong = unsure = named = pairs = 0
    problems = []
    for i in range(given.count):
        seed = given.seed * 1_000_003 + i
        staging = drawn(seed, given.share_of_two, given.share_of_weak)
        if given.only not in str(staging):
            continue
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
        if side not in staging.sides and given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{seed}.json").write_text(json.dumps(result, indent=1))
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
