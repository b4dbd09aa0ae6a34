#!/usr/bin/env python3
"""streamsim as fast as it goes on nfs:// against a plain reader on libnfs: the same file, connections and requests in
flight, one after the other, several times over. Prints each pair and the median ratios.

    nfs_rate.py STREAMSIM NFS_READER nfs://HOST/EXPORT/DIR/CLIP [--version 3] [--connections 1 4] [--pairs 5]
                [--seconds 3] [--in-flight 16]

CLIP is a container of compressed frames of a few MB, warm in the server's memory and a GB or more. HOST answers at
the usual ports; EXPORT is one word. For servers in a namespace: `ip netns exec SEAT python3 nfs_rate.py ...`.
Processor time is that of playing alone, without what either takes to begin: where others work on the same
machine it is the steadier figure of the two. Exits 1 where streamsim is more than a tenth slower.
"""
import argparse
import json
import statistics
import subprocess
import sys
import urllib.parse

PIECE = 1 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("streamsim", "reader", "clip"):
        parser.add_argument(name)
    parser.add_argument("--version", default="3", choices=("3", "4"))
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4])
    for option, default in (("pairs", 5), ("seconds", 3), ("in-flight", 16)):
        parser.add_argument(f"--{option}", type=int, default=default)
    given = parser.parse_args()
    url = urllib.parse.urlsplit(given.clip)
    export, name = url.path[1:].split("/", 1)
    slow = False
    for connections in given.connections:
        pairs = []
        for _ in range(given.pairs):
            plain = json.loads(subprocess.check_output(
                [given.reader, url.hostname, "/" + export, "/" + name, given.version, str(connections),
                 str(given.in_flight // connections), str(given.seconds)]))
            ours = play(given, connections)
            pairs.append((ours["bytes_per_s"] / plain["bytes_per_s"], ours["cpu_s_per_gb"] / plain["cpu_s_per_gb"]))
            print(f"{connections} connections: reader {show(plain)}, streamsim {show(ours)}", flush=True)
        speed, cpu = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        print(f"{connections} connections: streamsim has {speed:.2f} of the reader's rate, "
              f"for {cpu:.2f} of its processor time a GB")
        slow |= speed < 0.9
    return 1 if slow else 0


def play(given, connections):
    """Frames of one clip in pieces of 1 MiB: as many frames at once as have about so many pieces."""
    frame = json.loads(subprocess.check_output([given.streamsim, "inspect", "--json", "-", given.clip],
                                               stderr=subprocess.DEVNULL))["frame_bytes"]
    pieces = max(1, -(-frame["max"] // PIECE))
    document = json.loads(subprocess.check_output(
        [given.streamsim, "--fps", "max", "--duration", f"{given.seconds}s", "--no-probes", "--quiet", "--json", "-",
         "--inflight", str(max(1, given.in_flight // pieces)), "--io-depth", str(min(pieces, given.in_flight)),
         f"{given.clip}?version={given.version}&connections={connections}"]))
    read = document["totals"]["bytes_read"]
    return {"bytes_per_s": document["totals"]["read_bytes_per_s"],
            "cpu_s_per_gb": document["client"]["cpu_ns"] / read}


def show(run):
    return f"{run['bytes_per_s'] / 1e9:.2f} GB/s at {run['cpu_s_per_gb']:.3f} s/GB"


if __name__ == "__main__":
    sys.exit(main())
