#!/usr/bin/env python3
"""Runs every example of README.md and docs/: the lines that begin with "$ streamsim" in ```console blocks.

usage: docs_examples.py STREAMSIM SOURCE_DIR

Storage that an example names (/mnt/...) is not here: play and max on a format run on sim:null with the same options, everything
else on a small media set in a temporary folder. An example has to end with exit code 0, or with the one that a comment in
its block names ("# exits with 1"). Links between the pages have to lead somewhere.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FORMATS = {"--dpx10", "--dpx12", "--prores-hd", "--prores-uhd", "--format"}
SUBCOMMANDS = {"prepare", "max", "run", "formats", "inspect", "report", "clean", "profile"}
EDL = """TITLE: conform
FCM: NON-DROP FRAME

001  AX       V     C        00:00:00:00 00:00:00:04 00:00:00:00 00:00:00:04
* FROM CLIP NAME: clip-0001
"""
OTIO = {"OTIO_SCHEMA": "Timeline.1", "name": "conform", "global_start_time": None, "tracks": {
    "OTIO_SCHEMA": "Stack.1", "name": "tracks", "source_range": None, "children": [{
        "OTIO_SCHEMA": "Track.1", "name": "V1", "kind": "Video", "source_range": None, "children": [{
            "OTIO_SCHEMA": "Clip.2", "name": "clip-0001", "source_range": {
                "OTIO_SCHEMA": "TimeRange.1",
                "start_time": {"OTIO_SCHEMA": "RationalTime.1", "rate": 24.0, "value": 0.0},
                "duration": {"OTIO_SCHEMA": "RationalTime.1", "rate": 24.0, "value": 4.0}},
            "media_references": {"DEFAULT_MEDIA": {
                "OTIO_SCHEMA": "ExternalReference.1", "target_url": "clip-0001.mov", "available_range": None}},
            "active_media_reference_key": "DEFAULT_MEDIA"}]}]}}


def pages(source):
    return [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]


def examples(page):
    """(line number, command line, exit code expected)"""
    inside, code = False, 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.strip().startswith("```"):
            inside, code = line.strip() == "```console", 0
        elif inside and (match := re.match(r"\s*# exits with (\d+)$", line)):
            code = int(match.group(1))
        elif inside and line.strip().startswith("$ "):
            yield number, line.strip()[2:], code


def documents(page):
    """(line number, scenario, workload or need) of the ```json blocks"""
    text = page.read_text()
    for match in re.finditer(r"```json\n(.*?)```", text, re.S):
        document = json.loads(match.group(1))
        if "schema" not in document:  # one seat of a scenario
            document = {"schema": "streamsim.scenario", "version": 1, "duration": "2m", "seats": [document]}
        yield text.count("\n", 0, match.start()) + 1, document


def help_texts(page):
    """(command, its help) of the page that shows the command line"""
    for match in re.finditer(r"^## streamsim ?(\w*)\n\n```text\n(.*?)\n```$", page.read_text(), re.S | re.M):
        yield match.group(1), match.group(2)


def broken_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
            yield target


class Stage:
    """A folder in which examples run, with the files that they name."""

    def __init__(self, binary, source, folder):
        self.binary, self.source, self.folder = binary, source, folder
        shutil.copytree(source / "formats", folder / "formats")
        self.storage = folder / "storage"
        (self.storage / "project").mkdir(parents=True)
        self.run("prepare", "--format", "prores-proxy-hd@24", "--clip-duration", "500ms", self.storage)
        clip = next(self.storage.rglob("clip-0001.mov"))
        shutil.copy(clip, self.storage / "shot.mov")
        shutil.copy(clip, self.storage / "project" / clip.name)
        for name in ("conform.edl", "edit.edl"):
            (folder / name).write_text(EDL)
        (folder / "conform.otio").write_text(json.dumps(OTIO))
        for name in ("before", "after", "result", "a", "b"):
            self.run("--prores-hd", "--duration", "1s", "--json", f"{name}.json", "sim:null")

    def run(self, *words):
        return subprocess.run([self.binary, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)

    def staged(self, words):
        """What is run in the place of an example."""
        command = words[0] if words[0] in SUBCOMMANDS else "play"
        words = self.shorter(command, words)
        if not any(word.startswith("/mnt/") for word in words):
            return words
        load = command == "run" or "--meter" in words
        if command in ("play", "max") and FORMATS & set(words) and not load and "--cuts" not in words:
            return ["sim:null" if word.startswith("/mnt/") else word for word in words]
        if command == "prepare" or "--meter" in words:
            words = with_option(words, "--clip-duration", "200ms")
        if load:
            words = with_option(words, "--scale", "0.001")
        return [re.sub(r"^/mnt/\w+", str(self.storage), word) for word in words]

    def played(self, document):
        """A scenario plays in virtual time; a workload that fills a volume is read, and asks before it writes."""
        text = re.sub(r'"/mnt/\w+"', '"sim:nfs-generic"', json.dumps(document))
        (self.folder / "example.json").write_text(text)
        if document["schema"] == "streamsim.workload":
            return self.run("run", "example.json", self.storage), 3
        if document["schema"] == "streamsim.need":
            ran = self.run("plan", "example.json")
            return ran, min(ran.returncode, 1)
        ran = self.run("run", "example.json")
        return ran, min(ran.returncode, 1)  # it ran; whether it plays is the model's answer

    @staticmethod
    def shorter(command, words):
        """Searches, workloads and meters of a moment."""
        if command == "max":
            words = with_option(with_option(words, "--streams", "2"), "--confirm", "0")
        if command == "run" and not words[1].endswith(".json") or "--meter" in words:
            words = with_option(words, "--duration", "2s" if command == "max" else "200ms")
            words = words if "--yes" in words else [*words, "--yes"]
        return words


def with_option(words, name, value):
    if name not in words:
        return [*words, name, value]
    at = words.index(name)
    return [*words[:at + 1], value, *words[at + 2:]]


def main():
    binary, source = sys.argv[1], pathlib.Path(sys.argv[2])
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(binary, source, pathlib.Path(folder))
        for page in pages(source):
            name = page.relative_to(source)
            failures += [f"{name}: the link {target} leads nowhere" for target in broken_links(page)]
            for number, line, code in examples(page):
                words = shlex.split(line)
                if words[0] != "streamsim":
                    failures.append(f"{name}:{number}: an example begins with streamsim, not {words[0]}")
                    continue
                count += 1
                ran = stage.run(*stage.staged(words[1:]))
                print(f"{name}:{number}: {line}", flush=True)
                if ran.returncode != code:
                    failures.append(f"{name}:{number}: {line}\n  exit code {ran.returncode}, {code} expected\n  "
                                    + "\n  ".join((ran.stderr.strip() or ran.stdout.strip()).splitlines()[-6:]))
            for number, document in documents(page):
                count += 1
                ran, code = stage.played(document)
                if ran.returncode != code:
                    failures.append(f"{name}:{number}: the document: exit code {ran.returncode}, {code} expected\n  "
                                    + ran.stderr.strip())
        page = source / "docs/reference/command-line.md"
        for command, text in help_texts(page):
            count += 1
            ran = stage.run(*([command] if command else []), "--help")
            if ran.stdout.rstrip() != text:
                failures.append(f"{page.relative_to(source)}: is not what streamsim {command} --help prints")
    print(f"{count} examples on {len(pages(source))} pages")
    print(*failures, sep="\n")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
