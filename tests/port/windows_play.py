#!/usr/bin/env python3
"""windows_play.py WINE STREAMSIM.EXE DIRECTORY [WINDOWS_EVENT.EXE]: the Windows program from outside. Makes a short
sequence in folders of DIRECTORY, by paths as Windows writes them, plays and removes it, and ends plays early. The last
program raises events of the console. Exits 1 with what was wrong."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

wine, program, place = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
event_program = sys.argv[4] if len(sys.argv) > 4 else None
FORMATS = pathlib.Path(__file__).resolve().parents[2] / "formats"
FRAMES = 24
FORMAT = {"schema": "streamsim.media-format", "version": 1, "name": "small", "title": "small", "container": "sequence",
          "codec": "dpx", "raster": {"width": 256, "height": 128}, "rate": [24, 1],
          "dpx": {"bits": 10, "packing": "filled-a", "byte_order": "big", "image_offset": 8192},
          "sources": [{"what": "all", "basis": "as small as it goes"}]}
INTERRUPTED = 130
problems = []


def windows(path):
    """/tmp/a as wine's drive has it: Z:\\tmp\\a"""
    return "Z:" + str(path).replace("/", "\\")


def run(*words, expected=0):
    done = subprocess.run([wine, program, *words], capture_output=True, timeout=120)
    if done.returncode != expected:
        print(*problems, sep="\n")
        sys.exit(f"{' '.join(words)}: exit {done.returncode}, expected {expected}\n"
                 f"{done.stdout.decode(errors='replace')}{done.stderr.decode(errors='replace')}")
    return done.stdout.decode() + (done.stderr.decode() if expected else "")


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found!r}, expected {wanted!r}")


def expect_played(what, result, io, direct):
    totals = result["totals"]
    expect(f"{what}: io", result["target"]["io"], io)
    expect(f"{what}: direct", result["target"]["direct"], direct)
    expect(f"{what}: frames", totals["frames_scheduled"], 2 * FRAMES)
    expect(f"{what}: bytes", totals["bytes_read"] >= 2 * FRAMES * 256 * 128 * 4, True)
    expect(f"{what}: failed", totals["frames_failed"], 0)


def expect_evidence(result):
    """The facts of this computer."""
    expect("processors", result["host"]["cpus"] >= 1, True)
    expect("processor time", result["client"]["cpu_ns"] > 0, True)
    expect("mount", result["mount"]["point"], "Z:\\")
    expect("mount options", result["mount"]["options"].split(",")[-1], "rw")
    expect("links have names", all(link["name"] for link in result["links"]), True)


def play(target, form, result_file, *options, expected=0):
    run("--quiet", "--format", form, "--frames", str(2 * FRAMES), "--json", windows(result_file), *options, target,
        expected=expected)
    return json.loads(result_file.read_text())


def plays_in_every_way(media, form, result_file):
    target = windows(media)
    for io, direct in (("auto", True), ("iocp", True), ("iocp", False), ("threads", True), ("threads", False)):
        result = play(target, form, result_file, "--io", io, "--direct" if direct else "--buffered")
        expect_played(f"--io {io}", result, "iocp" if io == "auto" else io, direct)
        expect("clip", result["streams"][0]["clip"].endswith(tuple("/" + name.name for name in media.rglob("*"))), True)
    expect_evidence(result)
    real_time = play(target, form, result_file, "--realtime")
    expect("real time", real_time["client"]["realtime"] or bool(real_time["notices"]), True)
    refused = run("--io", "uring", "--format", form, target, expected=2)
    expect("--io uring", "io_uring is there on Linux only" in refused, True)


def long_folder_works(form):
    """A folder of more than 300 characters, with everything in it."""
    folder = place.joinpath("L\u00e4nge " + "x" * 150, "y" * 150, "Aufl\u00f6sung")
    folder.mkdir(parents=True)
    target, result_file = windows(folder), folder / "Ergebnis.json"
    run("prepare", "--quiet", "--format", form, "--clip-duration", "1s", target)
    expect_played("long folder", play(target, form, result_file), "iocp", True)
    page = folder / "Bericht.html"
    expect("report of a long folder", "small" in run("report", windows(result_file), "--html", windows(page)), True)
    expect("page of a long folder", page.stat().st_size > 1000, True)
    long_format = folder / "small.json"
    long_format.write_text(json.dumps(FORMAT))
    play(target, windows(long_format), result_file)
    run("clean", target)
    expect("left by clean", sorted(one.name for one in folder.iterdir()),
           ["Bericht.html", "Ergebnis.json", "small.json"])


def share_works(media, form, result_file):
    """\\\\server\\share, which wine has in its folder dosdevices."""
    shares = pathlib.Path(os.environ["WINEPREFIX"]) / "dosdevices" / "unc" / "server"
    shares.mkdir(parents=True, exist_ok=True)
    (shares / "share").unlink(missing_ok=True)
    (shares / "share").symlink_to(media.parent)
    for target in (f"\\\\server\\share\\{media.name}", f"//server/share/{media.name}"):
        expect_played(target, play(target, form, result_file), "iocp", True)
    (shares / "share").unlink()


def interrupted_runs_leave_results(target, form, result_file):
    def events():
        yield "Ctrl-C", lambda player: player.send_signal(signal.SIGINT)
        if event_program is None:
            return
        for name in ("close", "break"):
            yield name, lambda player, name=name: subprocess.run([wine, event_program, pathlib.Path(program).name, name],
                                                                 check=True, timeout=60, capture_output=True)

    for name, raise_event in events():
        result_file.unlink(missing_ok=True)
        player = subprocess.Popen([wine, program, "--quiet", "--format", form, "--duration", "100s", "--json",
                                   windows(result_file), target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(6)
        expect(f"{name}: plays", player.poll(), None)
        begun = time.monotonic()
        raise_event(player)
        try:
            expect(f"{name}: exit code", player.wait(timeout=30), INTERRUPTED)
            expect(f"{name}: in time", time.monotonic() - begun < 5, True)
            result = json.loads(result_file.read_text())
            expect(f"{name}: interrupted", result["interrupted"], True)
            expect(f"{name}: frames", 0 < result["totals"]["frames_scheduled"] < 2400, True)
        except (subprocess.TimeoutExpired, OSError) as error:
            problems.append(f"{name}: {error}")
            player.kill()


def media_that_cannot_be_written_play(media, form, result_file):
    """REQUIRES: this user may mount."""
    at = place / "read-only"
    at.mkdir()
    if subprocess.run(["mount", "--bind", media, at], capture_output=True).returncode != 0:
        print("not run: media that cannot be written (this user may not mount)")
        return
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", at], check=True, capture_output=True)
        expect_played("read-only media", play(windows(at), form, result_file), "iocp", True)
    finally:
        subprocess.run(["umount", at], check=True)


def models_work():
    virtual = json.loads(run("--quiet", "--frames", "240", "--seed", "1", "--prores-hd", "--json", "-", "sim:h500"))
    expect("io of a model", virtual["target"]["io"], "sim")
    found = run("max", "--prores-uhd", "--duration", "2s", "sim:h500")
    expect("max on a model", "streams" in found, True)


def main():
    media = place / "Schnitt \u20ac \u00e4\u00f6\u00fc"
    media.mkdir()
    (place / "small.json").write_text(json.dumps(FORMAT))
    target, form = windows(media), windows(place / "small.json")
    result_file = place / "Ergebnis \u20ac.json"

    version = run("--version")
    expect("--version", version.splitlines()[-2:], [
        "storage backends: iocp, threads, nfs, null, sim",
        "not built in: io_uring, smb:// (play the mounted share), MPI"])
    run("prepare", "--quiet", "--format", form, "--clip-duration", "1s", target)
    plays_in_every_way(media, form, result_file)
    text = run("report", windows(result_file))
    expect("report", "small" in text, True)
    expect("standard output", "\r" in text or "\x1b" in text, False)
    run("--quiet", "--frames", "24", "--json", "/dev/null", windows(place / "nobody"), expected=3)
    expect_played("a path with '/'", play("Z:" + str(media), form, result_file), "iocp", True)
    expect_played("a path without a drive", play(str(media), form, result_file), "iocp", True)
    share_works(media, form, result_file)
    media_that_cannot_be_written_play(media, form, result_file)
    interrupted_runs_leave_results(target, form, result_file)
    journals = place / "Tagebuch \u20ac"
    play(target, form, result_file, "--journal", windows(journals))
    expect("journals", [one.suffix for one in journals.glob("seat-0-*")], [".json"])
    run("clean", target)
    expect("left by clean", list(media.iterdir()), [])
    long_folder_works(form)
    models_work()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
