#!/usr/bin/env python3
"""streamsim over nfs:// (versions 3 and 4) and smb:// against plain programs on the same libraries, over servers and
links of its own (tests/real/lab: network namespaces, nfs-ganesha, Samba), as root.

    remote_rate.py STREAMSIM [--protocols nfs3 nfs4 smb] [--connections 1 2 4] [--rounds 3] [--seconds 1.5]
                   [--only read|prepare|first]

read     one clip as fast as it goes, by 1, 2 and 4 connections, with 16 MiB in flight (SMB: a frame a request), against a
         plain reader: rate, and CPU seconds a GB of playing alone (with streamsim's helper processes).
prepare  1 and 4 clips, 320 frames of 3.5 MB in all, against a plain writer of new files by as many connections: rate.
first    the first frame of a folder of 300 frames, from the start of the program to its end, over cables of 20 ms and
         100 ms there and back.

plain and streamsim run one after the other in every round; the medians of the ratios count. Clip and files lie in memory
(tmpfs), so that no disk decides. Exits 1 where a goal is missed by more than the measurement scatters, and 77 with a
sentence where there can be no servers.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LAB = SOURCE / "tests/real/lab/lab"
SERVER, IN_FLIGHT, FRAMES = "10.77.0.10", 16, 320
GOALS = {"rate": 1.0, "cpu": 1.1, "prepare": 0.9, 20: 1.0, 100: 4.0}
TOLERANCE = {"rate": 0.1, "cpu": 0.15, "prepare": 0.1}
URLS = {"nfs3": "nfs://{server}/export/{path}?version=3&connections={n}",
        "nfs4": "nfs://{server}/export/{path}?version=4&connections={n}",
        "smb": "smb://{server}/public/{path}?connections={n}"}


class Skipped(Exception):
    pass


def run(command):
    # to a file: the daemons that the lab starts keep its standard error open
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=said, text=True, check=False)
        said.seek(0)
        text = said.read().strip()
    if done.returncode == 77:
        raise Skipped(text)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{text[-2000:]}")
    return done.stdout


class Network:
    """A server with a folder in memory, and one seat."""

    def __init__(self, folder, *options):
        self.folder, self.options = folder, options
        self.name = f"rate{os.getpid()}"
        self.export = folder / "export"

    def __enter__(self):
        if os.geteuid() != 0:
            raise Skipped("network namespaces and servers need root")
        self.export.mkdir(parents=True)
        run(["mount", "-t", "tmpfs", "-o", "size=6g", "tmpfs", self.export])
        self.export.chmod(0o777)
        try:
            run([LAB, "up", "--dir", self.folder, "--name", self.name, "--nfs", "--smb", "--owner", os.getpid(), *self.options])
        except BaseException:
            run(["umount", self.export])
            raise
        return self

    def __exit__(self, *_):
        run([LAB, "down", "--dir", self.folder])
        subprocess.run(["umount", "--lazy", self.export], check=False)

    def seat(self, command):
        return run(["ip", "netns", "exec", f"{self.name}-s0", *command])

    def delay(self, rtt_ms):
        run([LAB, "wire", "0", f"delay_us {rtt_ms * 500}", "--dir", self.folder])


class Bench:
    def __init__(self, options, build):
        self.options, self.build, self.missed = options, build, []

    def url(self, protocol, path, connections=1):
        return URLS[protocol].format(server=SERVER, path=path, n=connections)

    def judge(self, good, text):
        print(text + ("" if good else "   MISSED"), flush=True)
        if not good:
            self.missed.append(text)

    # --- read

    def plain(self, protocol, way, path, connections, request_bytes=4 << 20):
        seconds = self.options.seconds
        if protocol == "smb":
            return [self.build / "tests/bench/plain_smb", way, f"smb://{SERVER}/public/{path}", request_bytes, connections,
                    seconds]
        return [self.build / "tests/bench/plain_nfs", way, SERVER, "/export", f"/{path}", protocol[-1], connections,
                max(1, IN_FLIGHT // connections), seconds]

    def play(self, network, protocol, path, connections, frame_bytes):
        """As many frames at once as have 16 pieces of a MiB; by SMB two a connection, whose plain reader never waits."""
        pieces = max(1, -(-frame_bytes // (1 << 20)))
        frames = 2 * connections if protocol == "smb" else max(1, IN_FLIGHT // pieces)
        document = json.loads(network.seat(
            [self.options.streamsim, "--fps", "max", "--duration", f"{self.options.seconds}s", "--no-probes", "--quiet",
             "--json", "-", "--inflight", frames, "--io-depth", min(pieces, IN_FLIGHT),
             self.url(protocol, path, connections)]))
        return {"bytes_per_s": document["totals"]["read_bytes_per_s"],
                "cpu_s_per_gb": document["client"]["cpu_ns"] / document["totals"]["bytes_read"]}

    def read(self, network):
        run([self.options.streamsim, "prepare", "--quiet", "--prores-uhd", "--clip-duration", "10s", network.export])
        run(["chmod", "-R", "a+rX", network.export])
        clip = next(network.export.rglob("*.mov"))
        path = clip.relative_to(network.export)
        frame = json.loads(run([self.options.streamsim, "inspect", "--json", "-", clip]))["frame_bytes"]["max"]
        print("\nread       connections   plain GB/s  s/GB   streamsim GB/s  s/GB   rate   CPU")
        for protocol in self.options.protocols:
            for connections in self.options.connections:
                pairs = []
                for _ in range(self.options.rounds):
                    plain = json.loads(network.seat(self.plain(protocol, "read", path, connections, frame)))
                    pairs.append((plain, self.play(network, protocol, path, connections, frame)))
                self.show_read(protocol, connections, pairs)
        shutil.rmtree(network.export / "streamsim-media")

    def show_read(self, protocol, connections, pairs):
        rate, cpu = (statistics.median(ours[key] / plain[key] for plain, ours in pairs)
                     for key in ("bytes_per_s", "cpu_s_per_gb"))
        plain, ours = ({key: statistics.median(pair[i][key] for pair in pairs) for key in pairs[0][0]} for i in (0, 1))
        good = rate >= GOALS["rate"] - TOLERANCE["rate"] and cpu <= GOALS["cpu"] + TOLERANCE["cpu"]
        self.judge(good, f"{protocol:10} {connections:11} {plain['bytes_per_s'] / 1e9:12.2f} {plain['cpu_s_per_gb']:6.3f}"
                   f"{ours['bytes_per_s'] / 1e9:15.2f} {ours['cpu_s_per_gb']:6.3f} {rate:7.2f} {cpu:5.2f}")

    # --- prepare

    def prepare(self, network):
        print("\nprepare    clips   plain MB/s   streamsim MB/s   rate")
        for protocol in self.options.protocols:
            for clips in (1, 4):
                rounds = [self.write_in_turn(network, protocol, clips) for _ in range(self.options.rounds)]
                rate = statistics.median(ours / plain for plain, ours in rounds)
                plain, ours = (statistics.median(each[i] for each in rounds) / 1e6 for i in (0, 1))
                self.judge(rate >= GOALS["prepare"] - TOLERANCE["prepare"],
                           f"{protocol:10} {clips:5} {plain:12.0f} {ours:16.0f} {rate:6.2f}")

    def write_in_turn(self, network, protocol, clips):
        """(bytes a second of the plain writer, of prepare); what prepare takes to begin and to end is left out."""
        frames = FRAMES // 8 if protocol == "nfs4" else FRAMES  # libnfs writes 3 KiB at a time there
        with self.folder(network) as folder:
            plain = json.loads(network.seat(self.plain(protocol, "write", f"{folder.name}/plain", clips)))
        (few_bytes, few_s), (all_bytes, all_s) = (self.prepared(network, protocol, clips, count)
                                                  for count in (frames // 8, frames))
        return plain["bytes_per_s"], (all_bytes - few_bytes) / max(all_s - few_s, 1e-3)

    def prepared(self, network, protocol, clips, frames):
        with self.folder(network) as folder:
            begin = time.monotonic()
            network.seat([self.options.streamsim, "prepare", "--quiet", "--yes", "--prores-uhd", "--clip-duration",
                          f"{frames / clips / 30:.3f}s", "--streams", clips, self.url(protocol, folder.name, clips)])
            took = time.monotonic() - begin
            return sum(each.stat().st_size for each in folder.rglob("*.mov")), took

    @contextlib.contextmanager
    def folder(self, network):
        """A new one each time: the server remembers names. Files are emptied, since it holds removed ones open."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="written-", dir=network.export))
        folder.chmod(0o777)
        yield folder
        for each in folder.rglob("*"):
            if each.is_file():
                os.truncate(each, 0)
        shutil.rmtree(folder)

    # --- the first frame

    def first(self, network):
        folder = network.export / "shot"
        folder.mkdir()
        for number in range(300):
            (folder / f"shot.{1000 + number:06}.dpx").write_bytes(small_dpx())
        print("\nfirst frame   RTT ms   seconds   goal")
        for protocol in self.options.protocols:
            for rtt_ms in (20, 100):
                network.delay(rtt_ms)
                times = []
                for _ in range(min(self.options.rounds, 3)):
                    begin = time.monotonic()
                    network.seat([self.options.streamsim, "--frames", "1", "--no-probes", "--quiet",
                                  self.url(protocol, "shot").replace("?connections=1", "").replace("&connections=1", "")])
                    times.append(time.monotonic() - begin)
                seconds = statistics.median(times)
                self.judge(seconds < GOALS[rtt_ms], f"{protocol:11} {rtt_ms:8} {seconds:9.2f} {GOALS[rtt_ms]:6.0f}")


def small_dpx(width=480, height=270):
    """10 bit RGB, filled: half a megabyte."""
    header = bytearray(2048)
    struct.pack_into(">4sI8sII", header, 0, b"SDPX", 2048, b"V1.0", 2048 + width * height * 4, 1)
    struct.pack_into(">III", header, 24, 1664, 384, 0)
    struct.pack_into(">HHII", header, 768, 0, 1, width, height)
    header[800:804] = bytes((50, 2, 2, 10))
    struct.pack_into(">HHI", header, 804, 1, 0, 2048)
    return bytes(header) + bytes(width * height * 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streamsim", type=pathlib.Path)
    parser.add_argument("--protocols", nargs="+", choices=URLS, default=list(URLS))
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--only", choices=("read", "prepare", "first"))
    parser.add_argument("--build", type=pathlib.Path, help="where the plain programs are built (default: by STREAMSIM)")
    options = parser.parse_args()
    options.streamsim = options.streamsim.resolve()
    build = (options.build or options.streamsim.parents[2]).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="streamsim-rate-"))
    folder.chmod(0o755)
    try:
        run(["cmake", "--build", build, "--target", "plain_nfs", "plain_smb", "wire", "streamsim-smb"])
        bench = Bench(options, build)
        if options.only != "first":
            with Network(folder / "fast") as network:
                for part in ("read", "prepare"):
                    if options.only in (None, part):
                        getattr(bench, part)(network)
        if options.only in (None, "first"):
            with Network(folder / "far", "--wire", build / "tests/real/wire") as network:
                bench.first(network)
    except Skipped as skipped:
        print(f"skipped: {skipped}")
        return 77
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
