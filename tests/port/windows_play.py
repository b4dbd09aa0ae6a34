#!/usr/bin/env python3
"""windows_play.py WINE STREAMSIM.EXE DIRECTORY: the Windows program from outside. Makes a short sequence in
DIRECTORY, by a path as Windows writes it, plays it, and removes it. Exits 1 with what was wrong."""
import json
import pathlib
import subprocess
import sys

wine, program, place = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
FORMATS = pathlib.Path(__file__).resolve().parents[2] / "formats"
FRAMES = 24
FORMAT = {"schema": "streamsim.media-format", "version": 1, "name": "small", "title": "small", "container": "sequence",
          "codec": "dpx", "raster": {"width": 256, "height": 128}, "rate": [24, 1],
          "dpx": {"bits": 10, "packing": "filled-a", "byte_order": "big", "image_offset": 8192},
          "sources": [{"what": "all", "basis": "as small as it goes"}]}
problems = []


def windows(path):
    """/tmp/a as wine's drive has it: Z:\\tmp\\a"""
    return "Z:" + str(path).replace("/", "\\")


def run(*words, expected=0):
    done = subprocess.run([wine, program, *words], capture_output=True, timeout=120)
    if done.returncode != expected:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}, expected {expected}\n"
                 f"{done.stdout.decode(errors='replace')}{done.stderr.decode(errors='replace')}")
    return done.stdout.decode()


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found!r}, expected {wanted!r}")


def main():
    media = place / "Schnitt \u20ac"
    media.mkdir()
    (place / "small.json").write_text(json.dumps(FORMAT))
    target, form = windows(media), windows(place / "small.json")
    result_file = place / "Ergebnis \u20ac.json"

    version = run("--version")
    expect("--version", version.splitlines()[-2:], [
        "storage backends: threads, null, sim",
        "not built in: io_uring, nfs:// (play the mounted share), smb:// (play the mounted share), "
        "--metrics and --web, making EXR frames, MPI"])
    run("prepare", "--quiet", "--format", form, "--clip-duration", "1s", target)
    for io in ("--direct", "--buffered"):
        run("--quiet", "--format", form, "--frames", str(2 * FRAMES), "--json", windows(result_file), io, target,
            expected=0)
        result = json.loads(result_file.read_text())
        totals = result["totals"]
        expect("io", result["target"]["io"], "threads")
        expect("direct", result["target"]["direct"], io == "--direct")
        expect("frames", totals["frames_scheduled"], 2 * FRAMES)
        expect("bytes", totals["bytes_read"] >= 2 * FRAMES * 256 * 128 * 4, True)
        expect("failed", totals["frames_failed"], 0)
        expect("clip", result["streams"][0]["clip"].endswith(tuple("/" + name.name for name in media.rglob("*"))), True)
    text = run("report", windows(result_file))
    expect("report", "small" in text, True)
    expect("standard output", "\r" in text, False)
    run("--quiet", "--frames", "24", "--json", "/dev/null", windows(place / "nobody"), expected=3)
    run("clean", target)
    expect("left by clean", list(media.iterdir()), [])
    virtual = json.loads(run("--quiet", "--frames", "240", "--seed", "1", "--prores-hd", "--json", "-", "sim:h500"))
    expect("io of a model", virtual["target"]["io"], "sim")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
