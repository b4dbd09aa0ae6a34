"""Fetches the pinned sources by the clients of the package registries, and unpacks them with Debian's patches."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

PINS = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())


def say(text):
    print(f"streamsim: {text}", file=sys.stderr, flush=True)


def fail(text):
    say(text)
    sys.exit(1)


def run(command, log, **options):
    """Runs a command; its output goes to the file `log`, whose end is shown when the command fails."""
    with open(log, "ab") as out:
        out.write(("$ " + " ".join(map(str, command)) + "\n").encode())
        out.flush()
        done = subprocess.run(list(map(str, command)), stdout=out, stderr=out, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        lines = pathlib.Path(log).read_text(errors="replace").splitlines()
        print("\n".join(lines[-40:]), file=sys.stderr)
        fail(f"{command[0]} failed (status {done.returncode}); its whole output is in {log}")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Fetcher:
    """Downloads into `cache`/downloads; a file that is there already is not downloaded again."""

    def __init__(self, cache):
        self.downloads = cache / "downloads"
        self.unpacked = cache / "sources"
        self.state = cache / "apt"
        self.downloads.mkdir(parents=True, exist_ok=True)
        self.unpacked.mkdir(parents=True, exist_ok=True)
        self.log = cache / "fetch.log"

    def file(self, what, checksum, fetch):
        """The downloaded file with this checksum; `fetch` puts it, under any name, into the folder that it is given."""
        found = self.downloads / checksum
        if found.exists() and sha256(found) == checksum:
            return found
        say(f"fetching {what}")
        place = self.downloads / "new"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        fetch(place)
        files = [path for path in place.iterdir() if path.is_file()]
        matching = [path for path in files if sha256(path) == checksum]
        if not matching:
            fail(f"{what}: expected a file with the SHA-256 {checksum}, found "
                 + (", ".join(f"{path.name} with {sha256(path)}" for path in files) or "no file"))
        matching[0].rename(found)
        shutil.rmtree(place)
        return found

    def apt(self, place, *words):
        """Runs apt-get with the package lists of bookworm and trixie, sources among them, in a state of its own."""
        sources = self.state / "sources.list"
        options = ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
                   "-o", f"Dir::State::lists={self.state}/lists", "-o", f"Dir::Cache={self.state}/cache",
                   "-o", "APT::Sandbox::User=" + ("root" if os.geteuid() == 0 else os.environ.get("USER", "nobody"))]
        ready = self.state / "ready"
        if not ready.exists():
            for folder in ("lists/partial", "cache/archives/partial"):
                (self.state / folder).mkdir(parents=True, exist_ok=True)
            # The archives that this machine is set up for, each with its sources.
            listed = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI) $(CODENAME)"],
                                    capture_output=True, text=True, check=True).stdout
            archives = {tuple(line.split()[1:]) for line in listed.splitlines() if line.startswith("Debian ")}
            main = [uri for uri, codename in archives if codename == "bookworm"]
            if not main:
                fail("packages are built on Debian 12: apt-get knows no archive of bookworm here")
            archives.add((main[0], "trixie"))
            sources.write_text("".join(f"{kind} {uri} {codename} main\n" for uri, codename in sorted(archives, key=lambda each: each[1])
                                       for kind in ("deb", "deb-src")))
            run(["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "update"], self.log, cwd=place)
            ready.touch()
        run(["apt-get", *options, *words], self.log, cwd=place)

    def source(self, name):
        """The folder of a library's source, unpacked and patched."""
        pin = PINS["sources"][name]
        package, version = pin["package"], pin["version"]
        if "deb" in pin:
            archives = [self.file(f"{package} {version}", pin["deb"],
                                  lambda place: self.apt(place, "download", f"{package}={version}"))]
        else:
            archives = [
                self.file(f"{package} {version}", pin["tar"],
                          lambda place: self.apt(place, "source", "--download-only", "--tar-only",
                                                 f"{package}={version}")),
                self.file(f"Debian's patches of {package} {version}", pin["patches"],
                          lambda place: self.apt(place, "source", "--download-only", "--diff-only",
                                                 f"{package}={version}"))]
        folder = self.unpacked / name
        stamp = self.unpacked / f"{name}.done"
        wanted = "\n".join(path.name for path in archives)
        if stamp.exists() and stamp.read_text() == wanted:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if "deb" in pin:
            run(["dpkg-deb", "--extract", archives[0], folder], self.log)
        else:
            run(["tar", "xf", archives[0], "--strip-components=1", "-C", folder], self.log)
            run(["tar", "xf", archives[1], "-C", folder], self.log)
            self.patch(folder)
        stamp.write_text(wanted)
        return folder

    def patch(self, folder):
        series = folder / "debian/patches/series"
        for line in series.read_text().splitlines() if series.exists() else ():
            name = line.split("#")[0].strip()
            if name:
                run(["patch", "--quiet", "-p1", "-i", f"debian/patches/{name}"], self.log, cwd=folder)

    def compiler(self):
        """The cross-compiling clang, unpacked."""
        pin = PINS["compiler"]
        folder = self.unpacked / f"{pin['package']}-{pin['version']}"
        program = folder / "ziglang/zig"
        if not program.exists():
            wheel = self.file(f"{pin['package']} {pin['version']} (100 MB)", pin["wheel"],
                              lambda place: run(["pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:",
                                                 f"{pin['package']}=={pin['version']}"], self.log, cwd=place))
            half = folder.with_name(folder.name + ".new")
            shutil.rmtree(half, ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.unpack_archive(wheel, half, "zip")
            (half / "ziglang/zig").chmod(0o755)
            half.rename(folder)
        return program
