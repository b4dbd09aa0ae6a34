#!/usr/bin/env python3
"""Fails one call of streamsim into the C library after the other, from outside (failing_calls.cc).

usage: from_outside.py STREAMSIM LIBRARY FORMATS [--all] [--seed N] [--seconds N] [--only CASE[/FAMILY/CALL/HOW][@K]] [-j N]

Each case runs once without a failure, which counts its calls, and then again and again with one failure each. Without
--all a sample of calls by chance, spread evenly, for --seconds in all (STREAMSIM_SAMPLE times that). Never may happen: an end by a signal, a hang that
two Ctrl-C do not end, part of a result told as whole, exit code 0 where something was not done, a frame with an error on
time, a changed file of others. The exit code is 1 where one of them did.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HOWS = ("error", "broken", "short", "hang", "kill", "killed")
OF_FAMILY = {"files": HOWS, "system": ("error", "broken", "short", "hang"),
             "sockets": ("error", "broken", "hang"), "memory": ("error", "broken"),
             "threads": ("error", "broken")}
STATE_BYTES = 8192
NAMES_AT, NAME_BYTES, NAME_ENTRY_BYTES = 512, 24, 32
UNWANTED = ("CHECK failed", "internal error", "terminate called", "Assertion", "double free", "corrupted")
HEALTHY_TIMEOUT_S = 60
HANGS_MAX = 4  # of one function: each takes seconds
HANGS_SHARE = 0.01  # in a sample
HANG_TIMEOUT_S = 4
SIGNAL_TIMEOUT_S = 12


class Found(Exception):
    """What must not happen."""


def tree(folder):
    """The bytes of each file below, as a checksum; folders end in '/'."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(at, name), folder) + "/"] = ""
        for name in files:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def load(path):
    with open(path, encoding="utf-8", newline="") as file:
        return json.load(file)


class Outcome:
    def __init__(self, code, err, out, hung, failed):
        self.code, self.err, self.out, self.hung, self.failed = code, err, out, hung, failed

    def killed(self):
        return self.code == -signal.SIGKILL


class Bench:
    """The programs, and folders to work in."""

    def __init__(self, options):
        self.streamsim = os.path.abspath(options.streamsim)
        self.failing = os.path.abspath(options.calls)
        self.folder = tempfile.mkdtemp(prefix="streamsim-failures-")
        self.format = os.path.join(self.folder, "tiny.json")
        document = load(os.path.join(options.formats, "media", "dpx12.json"))
        document.update(name="tiny", title="tiny", raster={"width": 64, "height": 36})
        with open(self.format, "w", encoding="utf-8", newline="") as file:
            json.dump(document, file)
        self.media = os.path.join(self.folder, "media")
        os.mkdir(self.media)
        self.healthy(["prepare", "--quiet", "--format", self.format, "--clip-duration", "250ms", self.media])

    def healthy(self, words, codes=(0,)):
        done = subprocess.run([self.streamsim, *words], capture_output=True, timeout=HEALTHY_TIMEOUT_S, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode not in codes:
            raise Found(f"afterwards `{' '.join(words)}` ends with {done.returncode}: {done.stderr.decode()[-600:]}")
        return done

    def fail(self, words, folder, family, call=None, how=None, at=None):
        """The outcome, and of each function of the family the number of its calls where none is to fail."""
        state = os.path.join(folder, "state")
        with open(state, "wb") as file:
            file.truncate(STATE_BYTES)
        env = dict(os.environ, LD_PRELOAD=self.failing, FAILING_FAMILY=family, FAILING_STATE=state)
        if how is not None:
            env.update(FAILING_CALL=call, FAILING_HOW=how, FAILING_AT=str(at))
        with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "err"), "wb") as err:
            process = subprocess.Popen([self.streamsim, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env=env)
            hung = self.wait(process, HANG_TIMEOUT_S if how == "hang" else HEALTHY_TIMEOUT_S)
            stuck = hung is None
        with open(state, "rb") as file:
            text = file.read()
        os.remove(state)
        failed = text[8:].split(b"\0")[0].decode(errors="replace")
        calls = {}
        for entry in range(NAMES_AT, STATE_BYTES - NAME_ENTRY_BYTES, NAME_ENTRY_BYTES):
            name = text[entry:entry + NAME_BYTES].split(b"\0")[0].decode()
            if name:
                calls[name] = struct.unpack("<Q", text[entry + NAME_BYTES:entry + NAME_ENTRY_BYTES])[0]
        texts = []
        for name in ("err", "out"):
            with open(os.path.join(folder, name), "rb") as file:
                texts.append(file.read().decode(errors="replace"))
        if stuck:
            raise Found(f"hangs, and two Ctrl-C did not end it: {failed}: {texts[0][-500:]}")
        return Outcome(process.returncode, *texts, hung, failed), calls

    @staticmethod
    def wait(process, seconds):
        """Waits; then interrupts, twice. True: it had to be interrupted; None: it had to be killed."""
        waits = ((seconds, signal.SIGINT), (SIGNAL_TIMEOUT_S, signal.SIGINT), (SIGNAL_TIMEOUT_S, signal.SIGKILL))
        for i, (timeout, then) in enumerate(waits):
            try:
                process.wait(timeout=timeout)
                return i > 0
            except subprocess.TimeoutExpired:
                process.send_signal(then)
        process.wait()
        return None


class Case:
    """One command line. Each run has a folder with files of others."""
    name = ""
    takes_long = False  # not in a sample
    families = ("files", "system", "memory", "threads")
    codes = (0, 2, 3, 130)
    foreign = {"others/notes.txt": "of others", "target/shot.txt": "of others too"}

    def __init__(self, bench):
        self.bench = bench

    def prepare(self, folder):
        for name, text in self.foreign.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                file.write(text)

    def words(self, folder):
        raise NotImplementedError

    def begin(self, folder):
        """Starts what else belongs to a run."""

    def check(self, folder, outcome, how):
        """After a run; in a healthy world again."""

    def judge(self, folder, outcome, how):
        may_be_killed = how in ("kill", "killed")
        if outcome.code < 0 and not (may_be_killed and outcome.killed()):
            raise Found(f"ends by signal {-outcome.code}")
        for text in UNWANTED:
            if text in outcome.err:
                raise Found(f"says {text!r}")
        if outcome.code >= 0 and outcome.code not in self.codes:
            raise Found(f"ends with {outcome.code}")
        if outcome.code in (2, 3) and "streamsim:" not in outcome.err:
            raise Found(f"ends with {outcome.code} and gives no reason")
        for name, text in self.foreign.items():
            with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
                if file.read() != text:
                    raise Found(f"{name} was changed")
        self.check(folder, outcome, how)

    def copy_media(self, folder):
        shutil.copytree(self.bench.media, os.path.join(folder, "target"), dirs_exist_ok=True)


def only_foreign(folder):
    left = [name for name in tree(os.path.join(folder, "target")) if name != "shot.txt"]
    if left and left != ["streamsim-media/"]:  # an empty folder may be anybody's
        raise Found(f"afterwards clean leaves {', '.join(left)}")


class Prepare(Case):
    name = "prepare"

    def words(self, folder):
        return ["prepare", "--format", self.bench.format, "--clip-duration", "125ms", "--streams", "2",
                os.path.join(folder, "target")]

    def check(self, folder, outcome, how):
        target = os.path.join(folder, "target")
        frames = sorted(name for name in tree(target) if name.endswith(".dpx"))
        if outcome.code == 0 and len(frames) != 6:
            raise Found(f"ends with 0, and there are {len(frames)} of 6 frames")
        self.bench.healthy(self.words(folder))
        result = os.path.join(folder, "verify.json")
        self.bench.healthy(["--quiet", "--verify", "--fps", "max", "--frames", "3", "--streams", "2", "--format",
                            self.bench.format, "--json", result, target])
        totals = load(result)["totals"]
        if totals["frames_on_time"] != 6 or totals["frames_failed"] != 0:
            raise Found(f"the media are not whole: {totals}")
        self.bench.healthy(["clean", "--quiet", target])
        only_foreign(folder)


class Clean(Case):
    name = "clean"

    def prepare(self, folder):
        super().prepare(folder)
        self.copy_media(folder)

    def words(self, folder):
        return ["clean", os.path.join(folder, "target")]

    def check(self, folder, outcome, how):
        if outcome.code == 0:
            only_foreign(folder)
        # 2: nothing is there any more.
        self.bench.healthy(self.words(folder), codes=(0, 2))
        only_foreign(folder)


class Play(Case):
    name = "play"
    codes = (0, 1, 2, 3, 130)
    families = ("files", "system", "memory", "threads", "sockets")
    outputs = ("json", "csv", "html")
    io = "threads"
    more = ()
    earlier = {}  # results of an earlier run, by extension

    def prepare(self, folder):
        super().prepare(folder)
        self.copy_media(folder)
        for kind, text in self.earlier.items():
            with open(os.path.join(folder, "result." + kind), "w", encoding="utf-8", newline="") as file:
                file.write(text)

    def words(self, folder):
        words = ["--io", self.io, "--format", self.bench.format, "--duration", "200ms", *self.more]
        for kind in self.outputs:
            words += ["--" + kind, os.path.join(folder, "result." + kind)]
        return [*words, os.path.join(folder, "target")]

    def whole(self, path, kind):
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        if kind == "json":
            return json.loads(text)["schema"].startswith("streamsim.")
        if kind == "html":
            return text.rstrip().endswith("</html>")
        return text.endswith("\n")

    def output(self, folder, kind, outcome):
        """The file, or the one beside it where streamsim says that the result is there and the earlier one stays.

        With exit code 0 or 1 only a file that has appeared during the run stays."""
        path = os.path.join(folder, "result." + kind)
        beside = os.path.join(folder, "result.2." + kind)
        appeared = f"streamsim: {path}: another file has appeared there during the run and is kept: the result is in {beside}"
        refused = f"streamsim: {path}: cannot be written: "
        if not any(outcome.code == 3 and line.startswith(refused) and line.endswith(f": the result is in {beside}") or
                   line == appeared and self.earlier for line in outcome.err.splitlines()):
            return path
        if self.earlier:
            with open(path, encoding="utf-8", newline="") as file:
                if file.read() != self.earlier[kind]:
                    raise Found(f"result.{kind} is said to be kept, and is not the earlier one")
        return beside

    def check_outputs(self, folder, outcome, how):
        for kind in self.outputs:
            path = self.output(folder, kind, outcome)
            there = os.path.exists(path)
            if outcome.code in (0, 1) and not there:
                raise Found(f"ends with {outcome.code}, and result.{kind} is not there")
            try:
                if there and not self.whole(path, kind):
                    raise Found(f"result.{kind} is cut")
            except ValueError as error:
                raise Found(f"result.{kind} is damaged: {error}") from error
        if outcome.killed() or how == "broken":
            return
        expected = {os.path.basename(self.output(folder, kind, outcome)) for kind in self.outputs}
        expected |= {"result." + kind for kind in self.outputs} | {"out", "err", "target", "others", "journal"}
        more = set(os.listdir(folder)) - expected
        if more and not outcome.hung:
            raise Found(f"leaves {', '.join(more)}")

    def check(self, folder, outcome, how):
        self.check_outputs(folder, outcome, how)
        if outcome.code in (0, 1) and "json" in self.outputs:
            self.check_result(load(self.output(folder, "json", outcome)), outcome.code)
        if outcome.code in (0, 1) and self.earlier:
            for kind in self.outputs:
                with open(self.output(folder, kind, outcome), encoding="utf-8", newline="") as file:
                    if file.read() == self.earlier.get(kind):
                        raise Found(f"ends with {outcome.code}, and result.{kind} is the earlier one")
        locks = (".lock", ".lease")  # a lease stays where the process was killed
        after = {name: text for name, text in tree(os.path.join(folder, "target")).items()
                 if not name.endswith(locks) and name != "shot.txt"}
        if after != {name: text for name, text in tree(self.bench.media).items() if not name.endswith(locks)}:
            raise Found("the media were changed")

    def check_result(self, result, code):
        totals = result["totals"]
        ended = sum(totals["frames_" + kind] for kind in ("on_time", "late", "dropped", "failed", "cancelled"))
        if ended != totals["frames_scheduled"]:
            raise Found(f"the counts do not add up: {totals}")
        missed = totals["frames_late"] + totals["frames_failed"] + totals["stalls"]
        missed += totals["frames_dropped"] - totals["startup_drops"]
        if code == 0 and (missed or not totals["frames_scheduled"] or not result["verdict"]["pass"]):
            raise Found(f"ends with 0, and the result says {totals}")


class PlayUring(Play):
    name = "play-uring"
    families = ("files", "threads")
    io = "uring"


class PlayAgain(Play):
    """Over the results of an earlier run."""
    name = "play-again"
    families = ("files",)

    def __init__(self, bench):
        super().__init__(bench)
        folder = tempfile.mkdtemp(dir=bench.folder)
        self.earlier = {}
        self.prepare(folder)
        bench.healthy(self.words(folder), codes=(0, 1))
        for kind in self.outputs:
            with open(os.path.join(folder, "result." + kind), encoding="utf-8", newline="") as file:
                self.earlier[kind] = file.read()
        shutil.rmtree(folder)


class Record(Play):
    name = "record"
    families = ("files", "threads")
    outputs = ("json",)
    more = ("--record", "1", "--streams", "0", "--durable")

    def words(self, folder):
        words = super().words(folder)
        at = words.index("--streams")
        return words[:at] + words[at + 2:]

    def check(self, folder, outcome, how):
        self.check_outputs(folder, outcome, how)
        if outcome.code in (0, 1):
            self.check_result(load(os.path.join(folder, "result.json")), outcome.code)
            told = "recordings could not be removed" in outcome.err
            if outcome.code == 0 and not told and any("run-" in name for name in tree(os.path.join(folder, "target"))):
                raise Found("ends with 0, and recordings are left")
        self.bench.healthy(["clean", "--quiet", os.path.join(folder, "target")])
        only_foreign(folder)


WORKLOAD = {
    "schema": "streamsim.workload", "version": 1, "name": "small", "title": "small", "description": "small",
    "basis": "assumed: nothing", "clients": 1, "duration": "200ms",
    "meters": [{"name": "m", "users": 2, "operations": {"read": 50, "write": 50}, "blocks": "4KiB",
                "files": {"count": 2, "bytes": "64KiB"}}]}


class Workload(Play):
    name = "workload"
    families = ("files", "threads")
    outputs = ("json",)

    def prepare(self, folder):
        Case.prepare(self, folder)

    def words(self, folder):
        document = os.path.join(self.bench.folder, "small.json")
        if not os.path.exists(document):
            with open(document, "w", encoding="utf-8", newline="") as file:
                json.dump(WORKLOAD, file)
        return ["run", document, "--io", "threads", "--json", os.path.join(folder, "result.json"),
                os.path.join(folder, "target")]

    def check(self, folder, outcome, how):
        self.check_outputs(folder, outcome, how)
        if outcome.code == 0:
            done = load(os.path.join(folder, "result.json"))["steps"][0]["all"]
            if done["failed"] or not done["operations"]:
                raise Found(f"ends with 0, and {done['failed']} operations failed, {done['operations']} are done")
        self.bench.healthy(["clean", "--quiet", os.path.join(folder, "target")], codes=(0, 2))
        only_foreign(folder)


class Journal(Play):
    name = "journal"
    families = ("files", "threads")
    outputs = ()

    def words(self, folder):
        return [*super().words(folder)[:-1], "--journal", os.path.join(folder, "journal"),
                os.path.join(folder, "target")]

    def check(self, folder, outcome, how):
        super().check(folder, outcome, how)
        journal = os.path.join(folder, "journal")
        files = [name for name in os.listdir(journal) if name.endswith(".json")] if os.path.isdir(journal) else []
        if outcome.code == 0 and not files:
            raise Found("ends with 0, and there is no journal")
        for name in files:
            path = os.path.join(journal, name)
            try:
                result = load(path)
            except ValueError as error:
                raise Found(f"the journal is damaged: {error}") from error
            if outcome.code in (0, 1) and "the journal cannot be written" not in outcome.err:
                self.check_result(result, outcome.code)


class Report(Play):
    name = "report"
    families = ("files", "memory")
    codes = (0, 2, 3, 130)
    outputs = ("html", "json")

    def __init__(self, bench):
        super().__init__(bench)
        self.result = os.path.join(bench.folder, "played.json")
        bench.healthy(["--quiet", "--format", bench.format, "--duration", "200ms", "--json", self.result, bench.media],
                      codes=(0, 1))

    def prepare(self, folder):
        Case.prepare(self, folder)

    def words(self, folder):
        return ["report", self.result, "--html", os.path.join(folder, "result.html")]

    def check(self, folder, outcome, how):
        self.outputs = ("html",)
        self.check_outputs(folder, outcome, how)


class Keep(Case):
    """inspect --keep-checksums of media of others."""
    name = "keep-checksums"
    families = ("files",)

    def prepare(self, folder):
        super().prepare(folder)
        for at, _, files in os.walk(self.bench.media):
            for name in files:
                if name.endswith(".dpx"):
                    shutil.copy(os.path.join(at, name), os.path.join(folder, "others", name))

    def words(self, folder):
        return ["inspect", "--keep-checksums", os.path.join(folder, "others")]

    def check(self, folder, outcome, how):
        others = os.path.join(folder, "others")
        kept = [name for name in os.listdir(others) if name.endswith(".streamsim-checksums")]
        if outcome.code == 0 and not kept:
            raise Found("ends with 0, and no checksums were kept")
        if not kept:
            self.bench.healthy(self.words(folder))
        self.bench.healthy(["--quiet", "--verify", "--fps", "max", "--frames", "3", others])


class Join(Case):
    """One seat of a meeting: it fails, and the host does not."""
    name = "join"
    takes_long = True
    families = ("sockets", "threads")
    codes = (0, 1, 2, 3, 130)
    fails = "join"
    OTHER_TIMEOUT_S = 45

    def prepare(self, folder):
        super().prepare(folder)
        with open(os.path.join(folder, "play.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "streamsim.scenario", "version": 1, "description": "a meeting", "seed": 1,
                       "duration": "300ms", "seats": [{"count": 1, "target": "null:", "streams": [
                           {"format": "prores-hd", "count": 1}]}]}, file)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        key = os.path.join(folder, "key")
        self.lines = getattr(self, "lines", {})
        self.lines[folder] = {
            "host": ["host", os.path.join(folder, "play.json"), "--seats", "1", "--key", key, "--listen", address,
                     "--within", "8s", "--quiet", "--json", os.path.join(folder, "result.json")],
            "join": ["join", address, "--key", key, "--allow", os.path.join(folder, "target"), "--name", "edit"]}

    def words(self, folder):
        return self.lines[folder][self.fails]

    def begin(self, folder):
        """Starts the other one, which a thread waits for."""
        other = "host" if self.fails == "join" else "join"
        process = []

        def run():
            end = time.monotonic() + 8
            while other == "join" and not os.path.exists(os.path.join(folder, "key")) and time.monotonic() < end:
                time.sleep(0.02)
            process.append(subprocess.Popen([self.bench.streamsim, *self.lines[folder][other]],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE))
            self.bench.wait(process[0], self.OTHER_TIMEOUT_S)
        thread = threading.Thread(target=run)
        thread.start()
        key = os.path.join(folder, "key")
        while other == "host" and thread.is_alive() and not (os.path.exists(key) and os.path.getsize(key)):
            time.sleep(0.02)
        return thread, process

    def check(self, folder, outcome, how):
        thread, process = outcome.other
        thread.join()
        told = process[0].stderr.read().decode(errors="replace")
        if process[0].returncode not in self.codes:
            raise Found(f"the other one ends with {process[0].returncode}: {told[-600:]}")
        host = process[0].returncode if self.fails == "join" else outcome.code
        if host == 0:
            result = load(os.path.join(folder, "result.json"))
            if not result["verdict"]["pass"] or not result["totals"]["frames_on_time"]:
                raise Found(f"the host ends with 0, and the result says {result['totals']}")


class Host(Join):
    """The host fails, and its seat does not."""
    name = "host"
    fails = "host"


CASES = (Prepare, Clean, Play, PlayUring, PlayAgain, Record, Workload, Journal, Report, Keep, Join, Host)


def trial(case, family, call, how, at):
    """One run; a sentence where it found something."""
    folder = tempfile.mkdtemp(dir=case.bench.folder)
    outcome = None
    told = f"{case.name}/{family}/{call}/{how}@{at}"
    try:
        case.prepare(folder)
        other = case.begin(folder)
        outcome, _ = case.bench.fail(case.words(folder), folder, family, call, how, at)
        outcome.other = other
        case.judge(folder, outcome, how)
        return None
    except Found as found:
        told += f": {found}"
        if outcome is not None:
            told += f"\n    failed: {outcome.failed}\n    exit code {outcome.code}: {outcome.err.strip()[-500:]}"
        return told
    except (OSError, KeyError, ValueError) as error:
        raise RuntimeError(told) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def trials_of(case, options):
    """(family, function, how, number of the call)."""
    found = []
    for family in case.families:
        folder = tempfile.mkdtemp(dir=case.bench.folder)
        case.prepare(folder)
        other = case.begin(folder)
        outcome, calls = case.bench.fail(case.words(folder), folder, family)
        outcome.other = other
        case.judge(folder, outcome, None)
        shutil.rmtree(folder)
        if outcome.code not in (0, 1):
            sys.exit(f"{case.name} without a failure ends with {outcome.code}: {outcome.err}")
        if family == "files" and not calls:
            sys.exit(f"no call was counted: is {case.bench.failing} there? {outcome.err}")
        for call, count in calls.items():
            for how in OF_FAMILY[family]:
                most = min(options.calls_max, HANGS_MAX) if how == "hang" else options.calls_max
                step = max(1, (count + 2) / most)
                numbers = sorted({int(i * step) for i in range(int((count + 2) / step))})
                found += [(family, call, how, at) for at in numbers]
    return found


def sample(trials, chance):
    """The trials by chance, of each function and failure one before the second of any; few hangs, which take long."""
    groups = {}
    for each in chance.sample(trials, len(trials)):
        if each[3] == "hang" and chance.random() > HANGS_SHARE:
            continue
        groups.setdefault((each[0].name, *each[1:4]), []).append(each)
    found = []
    for turn in range(max(map(len, groups.values()))):
        round_of = [group[turn] for group in groups.values() if turn < len(group)]
        found += chance.sample(round_of, len(round_of))
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("streamsim")
    parser.add_argument("calls")
    parser.add_argument("formats")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--calls-max", type=int, default=300, help="of one function, spread evenly")
    parser.add_argument("-j", type=int, default=2)
    options = parser.parse_args()
    bench = Bench(options)
    chosen, _, number = options.only.partition("@")
    wanted = chosen.split("/") + [""] * 3
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    failures, count = [], 0
    try:
        todo = []
        for make in CASES:
            if wanted[0] != make.name and (wanted[0] or (not options.all and make.takes_long)):
                continue
            case = make(bench)
            trials = [(case, *each) for each in trials_of(case, options)
                      if all(part in ("", name) for part, name in zip(wanted[1:], each))]
            if number:
                trials = [(case, *wanted[1:4], int(number))]
            print(f"{case.name}: {len(trials)} trials", flush=True)
            todo += trials
        if not options.all and not number:
            todo = sample(todo, chance)
        end = time.monotonic() + options.seconds * float(os.environ.get("STREAMSIM_SAMPLE", 1))
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            def one(each):
                return None if not options.all and time.monotonic() > end else trial(*each) or ""
            for told in pool.map(one, todo):
                count += told is not None
                if told:
                    failures.append(told)
                    print(told, flush=True)
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    print(f"{count} runs, {len(failures)} found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
