#!/usr/bin/env python3
"""streamsim calibrate on real storage whose truth is known: throttled disks, slow file systems, NFS over links.

    calibrate_real.py STREAMSIM --sinkfs PROGRAM [ROW...] [--duration 6s] [--set-size BYTES] [--short]

Rows (all of them by default):
    throttle    a disk that the kernel holds at 60, 100 and 200 MB/s: the number of streams is what division gives,
                within 1, in the model's prediction and in the held-back run
    fuse        a file system whose reads take planned times: p50 and p90 of the model's read of 1 MiB within 5 % of
                the plan, p99 within 25 %; the time of the file system itself, and of its rate, is measured with a plan
                of 0
    network     seats with links of 1 Gb/s, a server with 2 and with 1.5 Gb/s (NFS): the rates, and the streams of
                four seats, predicted and then measured
    slowed      a storage that is slowed down to 60 % after its calibration: --check rejects the model
    other-load  other programs read in bursts while the storage is calibrated: the interval is wider than without
                them, and holds what the storage plays with them or without

Each check is one printed line: what was planned, measured and predicted, and whether it holds. Exit code 1 where one
does not. Everything is real time, wants root and the computer for itself. --short: probes of 2 s on small files, short
searches; to see that it works, not how exact it is.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

STREAM_BYTES_PER_S = 281e6 / 8  # of prores-hd
FORMATS = pathlib.Path(__file__).resolve().parents[2] / "formats" / "media"
MIB = 1 << 20
GROUPS = pathlib.Path("/sys/fs/cgroup/blkio")
LAB = pathlib.Path(__file__).resolve().parent.parent / "real" / "lab" / "lab"


class Skipped(Exception):
    pass


class Failed(Exception):
    pass


def sh(script):
    done = subprocess.run(["/bin/sh", "-ec", script], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{script}\n{done.stderr}")
    return done.stdout.strip()


def nanoseconds(text):
    number, unit = re.fullmatch(r"([0-9.e+]+)(ns|us|ms|s)", text).groups()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


class Model:
    """A calibrated model document."""

    def __init__(self, path):
        self.document = json.loads(path.read_text())
        self.held_back = self.document["calibration"]["held_back"]

    def number(self, pointer, member="value"):
        at = self.document
        for key in pointer.strip("/").split("/"):
            at = at[key]
        value = at.get(member)
        return nanoseconds(value) if isinstance(value, str) else value

    def read_ns(self, quantile):
        """Of a read of 1 MiB that is alone."""
        byte_s = self.number("/node/cpu_s_per_byte") + 8 / self.number("/node/front_end/bits_per_s")
        return (self.number("/node/response/median") + self.number(f"/drive/access/{quantile}")
                + self.number("/client/cpu_s_per_request") * 1e9 + MIB * byte_s * 1e9)


class ThrottledDisk:
    """A loop device that a control group may read at a rate."""

    def __init__(self, bench, bytes_per_s, size="8G"):
        if not (GROUPS / "blkio.throttle.read_bps_device").exists():
            raise Skipped("there is no blkio controller of control groups v1")
        self.bench = bench
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="disk-", dir=bench.folder))
        self.path = self.folder / "disk"
        self.path.mkdir()
        self.device = sh(f"truncate -s {size} {self.folder}/image; "
                         f"losetup --direct-io=on --find --show {self.folder}/image")
        sh(f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {self.device}; mount {self.device} {self.path}")
        self.group = GROUPS / f"streamsim-bench-{os.getpid()}"
        self.group.mkdir(exist_ok=True)
        self.throttle(bytes_per_s)

    def throttle(self, bytes_per_s):
        number = pathlib.Path("/sys/block", pathlib.Path(self.device).name, "dev").read_text().strip()
        (self.group / "blkio.throttle.read_bps_device").write_text(f"{number} {int(bytes_per_s)}")

    def join(self):
        (self.group / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        sh(f"umount {self.path}; losetup --detach {self.device}")
        with contextlib.suppress(OSError):
            self.group.rmdir()
        shutil.rmtree(self.folder)


class SlowFolder:
    """tests/real/sinkfs with a plan for its reads."""

    def __init__(self, bench, *rules):
        if not bench.options.sinkfs:
            raise Skipped("--sinkfs names no program")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fuse-", dir=bench.folder))
        self.path = self.folder / "mount"
        self.path.mkdir()
        self.plan(*rules)
        self.process = subprocess.Popen([bench.options.sinkfs, self.folder / "rules", self.path, self.folder / "log"],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise Skipped("sinkfs does not come up")

    def plan(self, *rules):
        (self.folder / "rules").write_text("\n".join(("blocks 1", *rules)) + "\n")

    def change(self, *rules):
        self.plan(*rules)
        self.process.send_signal(signal.SIGUSR1)

    def join(self):
        pass

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.failed = 0
        self.names = 0
        # sinkfs keeps the beginnings of files only: a format whose files need no more, of 33 MB/s.
        self.small = folder / "small.json"
        small = json.loads((FORMATS / "dpx10.json").read_text())
        small |= {"name": "small", "raster": {"width": 1024, "height": 332}}
        self.small.write_text(json.dumps(small))

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)

    def row(self, name, holds, text):
        self.failed += 0 if holds else 1
        self.say(f"{'holds' if holds else 'FAILS'}  {name}: {text}")

    def run(self, command, join=None, codes=(0,)):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, preexec_fn=join)
        if self.options.verbose:
            print(done.stderr, flush=True)
        if done.returncode not in codes:
            raise Failed(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stderr[-3000:]}")
        return done, time.monotonic() - begin

    def probe_words(self, place=None):
        options = self.options
        format_words = ["--format", self.small] if isinstance(place, SlowFolder) else ["--prores-hd"]
        return [*format_words, "--duration", options.duration, "--set-size", options.set_size]

    def search_words(self):
        if self.options.short:
            return ["--duration", "4s", "--confirm", "10s"]
        return ["--duration", "10s", "--confirm", "30s"]

    def calibrate(self, place, *, target=None, join=None, before=(), after=()):
        """The model, the notes, seconds."""
        self.names += 1
        model = self.folder / f"model{self.names}.json"
        report = self.folder / f"report{self.names}.json"
        command = [*before, self.options.binary, "calibrate", target or place.path, "-o", model, "--json", report,
                   *self.probe_words(place), *after]
        _, seconds = self.run(command, join or (place.join if place else None), codes=(0, 1))
        return Model(model), json.loads(report.read_text()), seconds, model

    def most(self, place, *words, target=None, before=()):
        report = self.folder / "max.json"
        report.unlink(missing_ok=True)
        self.run([*before, self.options.binary, "max", "--prores-hd", *words, "--json", report,
                  target or place.path], place.join if place else None, codes=(0, 1))
        found = json.loads(report.read_text())
        return found["formats"][0]["streams"], found

    # --- rows

    def throttle(self):
        for rate in self.options.rates:
            disk = ThrottledDisk(self, rate * 1e6)
            try:
                model, _, seconds, _ = self.calibrate(disk)
            finally:
                disk.close()
            planned = math.floor(rate * 1e6 / STREAM_BYTES_PER_S)
            back = model.held_back
            fitted = model.number("/node/front_end/bits_per_s") / 8e6
            holds = abs(back["predicted"] - planned) <= 1 and abs(back["streams_measured"] - planned) <= 1
            self.row(f"throttle {rate} MB/s", holds and not back["rejected"],
                     f"planned {planned} streams, measured {back['streams_measured']}, predicted "
                     f"{back['predicted']} ({back['low']} to {back['high']}); rate of the model {fitted:.1f} MB/s; "
                     f"{seconds:.0f} s")

    def fuse(self):
        lognormal = [math.exp(math.log(4) + 0.5 * statistics.NormalDist().inv_cdf((i + 0.5) / 400)) for i in range(400)]
        plans = [("none", []), ("5 ms", [5.0]), ("2 ms, 15 % 20 ms", [2.0] * 85 + [20.0] * 15),
                 ("lognormal, median 4 ms", lognormal)]
        base_ms = 0.0
        for name, times in plans:
            rules = ["times " + " ".join(f"{each:.4f}ms*1" for each in times)] if times else []
            folder = SlowFolder(self, "rate 500000000", *rules)
            try:
                model, _, seconds, _ = self.calibrate(folder)
            finally:
                folder.close()
            if not times:
                base_ms = model.read_ns("p50") / 1e6
                self.say(f"       fuse at 500 MB/s without a plan: a read of 1 MiB takes {base_ms:.3f} ms; {seconds:.0f} s")
                continue
            times = sorted(times)
            good, texts = True, []
            for quantile, share, allowed in (("p50", 0.5, 0.05), ("p90", 0.9, 0.05), ("p99", 0.99, 0.25)):
                planned = times[min(int(share * len(times)), len(times) - 1)] + base_ms
                fitted = model.read_ns(quantile) / 1e6
                good = good and abs(fitted / planned - 1) <= allowed
                texts.append(f"{quantile} planned {planned:.2f} ms, model {fitted:.2f} ({fitted / planned - 1:+.1%})")
            back = model.held_back
            self.row(f"fuse {name}", good, f"{'; '.join(texts)}; held back: measured {back['streams_measured']}, "
                     f"predicted {back['predicted']} ({back['low']} to {back['high']}); {seconds:.0f} s")

    def slowed(self):
        folder = SlowFolder(self, "rate 400000000", "times 1ms*1")
        try:
            model, _, seconds, path = self.calibrate(folder)
            back = model.held_back
            folder.change("rate 240000000", "times 1ms*1")
            done, checked = self.run([self.options.binary, "calibrate", folder.path, "-o", path, "--check",
                                      *self.probe_words(folder)], codes=(0, 1))
        finally:
            folder.close()
        again = Model(path).held_back
        rejected = "REJECTED" in done.stdout.upper() and done.returncode == 1
        self.row("slowed to 60 %", rejected and not back["rejected"],
                 f"400 MB/s: measured {back['streams_measured']}, predicted {back['predicted']} ({back['low']} to "
                 f"{back['high']}), {'rejected' if back['rejected'] else 'accepted'}; 240 MB/s: measured "
                 f"{again['streams_measured']}, {'REJECTED' if rejected else 'not rejected'}, exit code "
                 f"{done.returncode}; {seconds:.0f} s and {checked:.0f} s")

    def other_load(self):
        rate = 300e6
        disk = ThrottledDisk(self, rate)
        try:
            alone, _, _, _ = self.calibrate(disk)
            bursts = Bursts(disk, 0.4 * rate)
            with bursts:
                model, report, seconds, _ = self.calibrate(disk, after=["--again"])
                with_bursts, _ = self.most(disk, *self.search_words())
            without, _ = self.most(disk, *self.search_words())
        finally:
            disk.close()
        back, before = model.held_back, alone.held_back
        lowest, highest = min(with_bursts, without), max(with_bursts, without)
        wider = back["high"] - back["low"] > before["high"] - before["low"]
        error = model.document["calibration"]["model_error"], alone.document["calibration"]["model_error"]
        covers = back["low"] <= highest and back["high"] >= lowest
        said = [note for note in report["notes"] if "other load" in note]
        self.row("other load", covers and wider and bool(said),
                 f"max without it {without}, with it {with_bursts}; predicted {back['predicted']} ({back['low']} to "
                 f"{back['high']}), alone {before['predicted']} ({before['low']} to {before['high']}); model error "
                 f"{error[0]:.3f}, alone {error[1]:.3f}; notes: {said or 'none of other load'}; {seconds:.0f} s; "
                 f"bursts read {bursts.bytes_per_s() / 1e6:.0f} MB/s")

    def network(self):
        for server in self.options.servers:
            self.network_of(server)

    def network_of(self, server):
        with NetworkLab(self, 4, "1gbit", f"{int(server * 1000)}mbit") as lab:
            one, report, seconds, path = self.calibrate(None, target=lab.url, before=lab.ranks(1))
            gb = one.number("/node/front_end/bits_per_s") / 1e9
            low = one.number("/node/front_end/bits_per_s", "low") / 1e9
            open_above = one.number("/node/front_end/bits_per_s", "high") is None
            self.row(f"network, server {server} Gb/s, one seat", 0.93 <= low <= 1.02 and open_above,
                     f"server at least {low:.3f} Gb/s (planned: 1 of the seat's link); {report['notes'][0]}; "
                     f"{seconds:.0f} s")
            two, report, seconds, path = self.calibrate(None, target=lab.url, before=lab.ranks(2))
            gb = two.number("/node/front_end/bits_per_s") / 1e9
            seat = two.number("/client/link/bits_per_s") / 1e9
            high = two.number("/node/front_end/bits_per_s", "high")
            told = f"{gb:.3f} Gb/s" if high else f"at least {gb:.3f} Gb/s"
            near = abs(gb / server - 1) <= 0.05
            self.row(f"network, server {server} Gb/s, two seats", near and abs(seat - 1) <= 0.05,
                     f"server {told} (planned {server}), seat {seat:.3f} Gb/s (planned 1); "
                     f"{' '.join(report['notes'][:1])}; {seconds:.0f} s")
            predicted, _ = self.most(None, "--seats", "4", "--find", "streams", target=f"sim:{path}")
            total, _ = self.most(None, "--seats", "4", "--find", "total", target=f"sim:{path}")
            predicted //= 4  # results count the streams of all seats
            self.say(f"       prediction for four seats: {predicted} streams of prores-hd a seat; {total} in all, where "
                     f"seats may have different numbers")
            found, _ = self.most(None, *self.search_words(), target=lab.url, before=lab.ranks(4))
            found //= 4
            planned = math.floor(server * 1e9 / 8 * 0.941 / STREAM_BYTES_PER_S)
            self.row(f"network, server {server} Gb/s, four seats", abs(found - predicted) <= 1,
                     f"predicted {predicted} a seat ({total} in all where they differ), measured {found} a seat; "
                     f"division gives {planned} in all")


class Bursts:
    """Another program's reads: for 3 s of 7 so many bytes a second, from many files at once."""

    READERS = 32

    def __init__(self, disk, bytes_per_s):
        self.disk, self.rate = disk, bytes_per_s
        self.process = None
        self.begin = 0.0

    def __enter__(self):
        path = self.disk.path / "other-load"
        with open(path, "wb") as out:
            for _ in range(256):
                out.write(os.urandom(MIB))
        os.sync()
        code = f"""
import mmap, os, random, threading, time
descriptor = os.open({str(path)!r}, os.O_RDONLY | os.O_DIRECT)
begin = time.monotonic()
each = {MIB} * {self.READERS} / {self.rate}
def read(number):
    buffer = mmap.mmap(-1, {MIB})
    due = begin + number * each / {self.READERS}
    while True:
        now = time.monotonic()
        at = (max(due, now) - begin) % 7
        if at > 3:
            due = now + 7 - at + number * each / {self.READERS}
        time.sleep(max(due - time.monotonic(), 0))
        os.preadv(descriptor, [buffer], random.randrange(256) * {MIB})
        due = max(due + each, time.monotonic() - each)
for number in range({self.READERS}):
    threading.Thread(target=read, args=(number,)).start()
"""
        self.begin = time.monotonic()
        self.process = subprocess.Popen([sys.executable, "-c", code], preexec_fn=self.disk.join)
        return self

    def __exit__(self, *_):
        text = pathlib.Path(f"/proc/{self.process.pid}/io").read_text()
        self.read = int(re.search(r"read_bytes: (\d+)", text).group(1))
        self.seconds = time.monotonic() - self.begin
        self.process.kill()
        self.process.wait()
        (self.disk.path / "other-load").unlink()

    def bytes_per_s(self):
        return self.read / self.seconds


class NetworkLab:
    """tests/real/lab with NFS; ranks of mpirun are its seats."""

    def __init__(self, bench, seats, rate, server_rate):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lab-", dir=bench.folder))
        done = subprocess.run([LAB, "up", "--dir", self.folder, "--name", f"streamsim-{os.getpid()}", "--owner",
                               str(os.getpid()), "--seats", str(seats), "--rate", rate, "--server-rate", server_rate,
                               "--nfs"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(done.stderr.strip())
        if not shutil.which("mpirun"):
            raise Skipped("there is no mpirun")
        facts = json.loads(done.stdout)
        self.seats = facts["seats"]
        self.url = f"nfs://{facts['server']['address']}{facts['server']['nfs_export']}"
        cases = "".join(f"{seat['address']}) exec ip netns exec {seat['namespace']} unshare --uts /bin/sh -c "
                        f"\"hostname h{number}; $*\" ;;\n" for number, seat in enumerate(self.seats))
        self.agent = self.folder / "agent"
        self.agent.write_text("#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1; shift\n"
                              f"case $host in\n{cases}esac\nexit 1\n")
        self.agent.chmod(0o755)

    def ranks(self, count):
        inside = ["ip", "netns", "exec", self.seats[0]["namespace"]]
        if count == 1:
            return inside
        hosts = ",".join(seat["address"] for seat in self.seats[:count])
        return [*inside, "mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "--mca", "mpi_yield_when_idle", "1",
                "--mca", "plm_rsh_agent", self.agent, "--host", hosts, "-np", str(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([LAB, "down", "--dir", self.folder])
        shutil.rmtree(self.folder, ignore_errors=True)


ROWS = {"throttle": Bench.throttle, "fuse": Bench.fuse, "network": Bench.network, "slowed": Bench.slowed,
        "other-load": Bench.other_load}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="streamsim")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--sinkfs", help="tests/real/sinkfs, as built")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="a folder on a disk with 12 GB free")
    parser.add_argument("--duration", default="6s", help="of a probe")
    parser.add_argument("--set-size", default="512MiB")
    parser.add_argument("--rates", type=lambda text: [int(each) for each in text.split(",")], default=[60, 100, 200],
                        help="MB/s of the throttled disks")
    parser.add_argument("--servers", type=lambda text: [float(each) for each in text.split(",")], default=[2, 1.5],
                        help="Gb/s of the servers")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="what streamsim says while it runs")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: control groups, mounts and namespaces need root")
        return 77
    for row in options.rows:
        if row not in ROWS:
            parser.error(f"{row}: there is no such row")
    if options.short:
        options.duration, options.set_size = "2s", "256MiB"
    with tempfile.TemporaryDirectory(prefix="streamsim-bench-", dir=options.dir) as folder:
        bench = Bench(options, pathlib.Path(folder))
        for row in options.rows or ROWS:
            try:
                ROWS[row](bench)
            except Skipped as reason:
                print(f"skipped: {row}: {reason}", flush=True)
            except Failed as reason:
                bench.row(row, False, str(reason))
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
