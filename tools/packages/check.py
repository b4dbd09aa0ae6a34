"""Checks packages as a seat meets them: what they need, and whether they play. Each function returns a list of problems."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

import binaries
import deb
from fetch import say
from program import REPO, build_program
from signature import is_signed
from targets import GLIBC, MACOS, TARGETS

# The system's own libraries: all others have to lie beside the program.
SYSTEM = {
    "Linux": ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
    "Darwin": ("/usr/lib/libSystem.B.dylib",),
}
# A kind of clip each: QuickTime, MXF (which takes libav), DPX and OpenEXR files.
CLIPS = (["--prores-hd"], ["--format", "dnxhr-sq-hd"], ["--format", "dpx10-filled-a-hd"], ["--format", "exr-zip-hd"])
ARM_LIBRARIES = "/usr/aarch64-linux-gnu"
PLAY = ["--quiet", "--streams", "2", "--duration", "2s", "--clip-duration", "1s"]
MODEL = ["--quiet", "--frames", "240", "--seed", "1", "--prores-hd", "--json", "-", "sim:h500"]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1200, **options)


def check_needs(stage, target, cache):
    """No newer system, no library that is not in the package, and no path of this machine."""
    problems = []
    files = [path for folder in ("bin", "lib/streamsim") for path in (stage / folder).glob("*")]
    beside = {path.name for path in files}
    for path in files:
        data = path.read_bytes()
        problems += [f"{target.name}: {path.name} has the path {place} of this machine in it" for place in (cache, REPO)
                     if str(place).encode() in data]
        for name in binaries.libraries_needed(path, target):
            ours = pathlib.PurePath(name).name in beside and (not target.macos or name.startswith("@rpath/"))
            # Windows' own: those of the C runtime and of its interfaces, in its system folder.
            system = (name.lower().startswith("api-ms-win-crt-") or (pathlib.Path("/usr/lib/x86_64-linux-gnu/wine/x86_64-windows")
                      / name.lower()).exists()) if target.windows else name in SYSTEM[target.system]
            if not ours and not system:
                problems.append(f"{target.name}: {path.name} needs {name}, which is neither beside it nor the system's")
        if target.linux and binaries.glibc_needed(path) > tuple(map(int, GLIBC.split("."))):
            problems.append(f"{target.name}: {path.name} needs glibc {binaries.glibc_needed(path)}, newer than {GLIBC}")
        if target.macos and (binaries.macos_needed(path) != MACOS or not is_signed(path)):
            problems.append(f"{target.name}: {path.name} is for macOS {binaries.macos_needed(path)}, "
                            f"{'' if is_signed(path) else 'not '}signed; expected {MACOS}, signed")
    if target.macos and binaries.macos_search_paths(stage / "bin/streamsim") != ["@loader_path/../lib/streamsim"]:
        problems.append(f"{target.name}: streamsim looks for libraries in {binaries.macos_search_paths(stage / 'bin/streamsim')}")
    return problems


def check_plays(name, program, media, digest):
    """The program, given as the words of a command, plays real clips below the target `media`, and a model as every build does."""
    problems = []
    for clip in CLIPS:
        played = run(*program, *PLAY, *clip, media)
        if played.returncode not in (0, 1):  # 1: frames were late, which this busy machine may be
            problems.append(f"{name}: play {' '.join(clip)}: exit {played.returncode}: {played.stdout}{played.stderr}")
    model = run(*program, *MODEL)
    if model.returncode != 0 or json.loads(model.stdout)["digest"] != digest:
        problems.append(f"{name}: a run of sim:h500: exit {model.returncode}, or another digest than the build of this computer, "
                        f"{digest}: {model.stderr}")
    return problems


def native_digest():
    """The digest of the build of this computer, which other compilers and libraries made."""
    played = run(REPO / "tools/run", *MODEL)
    if played.returncode != 0:
        raise RuntimeError(f"tools/run: exit {played.returncode}: {played.stderr}")
    return json.loads(played.stdout)["digest"]


def check_linux(package, packager, work):
    """In a root with nothing but the C library, the archive and what it takes to look: no file of this computer's helps."""
    if os.geteuid() != 0:
        say(f"{package.name} was not run in a root of its own: that takes root")
        return []
    root = pathlib.Path(work) / "root"
    for folder in ("lib64", "lib/x86_64-linux-gnu", "tmp", "dev", "proc"):
        (root / folder).mkdir(parents=True)
    for name, minor in {"null": 3, "urandom": 9}.items():
        os.mknod(root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    shutil.copy("/lib64/ld-linux-x86-64.so.2", root / "lib64")
    for name in SYSTEM["Linux"][:5]:
        shutil.copy(f"/lib/x86_64-linux-gnu/{name}", root / "lib/x86_64-linux-gnu")
    shutil.unpack_archive(package, root, "gztar")
    name = package.name.removesuffix(".tar.gz")
    wrapper = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", root, f"/{name}/bin/streamsim"]
    problems = check_plays(package.name, wrapper, "/tmp", native_digest())
    return problems + check_nfs(package.name, wrapper, pathlib.Path(work) / "lab")


def check_nfs(name, program, folder):
    """The program plays from a server of this computer."""
    lab = [REPO / "tests/real/lab/lab"]
    up = run(*lab, "up", "--dir", folder, "--name", f"package{os.getpid()}", "--loopback", "--nfs")
    if up.returncode == 77:
        say(f"{name} did not play nfs://: {up.stderr.strip()}")
        return []
    if up.returncode != 0:
        return [f"{name}: nfs://: {up.stderr}"]
    try:
        state = json.loads(up.stdout)
        inside = ["ip", "netns", "exec", state["server"]["namespace"]]
        played = run(*inside, *program, *PLAY, "--prores-hd", "nfs://127.0.0.1/export")
        return [] if played.returncode in (0, 1) else [f"{name}: play nfs://: exit {played.returncode}: {played.stdout}{played.stderr}"]
    finally:
        run(*lab, "down", "--dir", folder)


def check_arm(package, packager, work):
    """By an emulator of the processor, with the C library that Debian has for it."""
    emulator = shutil.which("qemu-aarch64")
    if not emulator or not pathlib.Path(ARM_LIBRARIES).exists():
        say(f"{package.name} was not run: qemu-aarch64 or its C library is not here (tools/setup --packages)")
        return []
    shutil.unpack_archive(package, work, "gztar")
    media = pathlib.Path(work) / "media"
    media.mkdir()
    program = [emulator, "-L", ARM_LIBRARIES, f"{work}/{package.name.removesuffix('.tar.gz')}/bin/streamsim"]
    return check_plays(package.name, program, media, native_digest())


def check_wheel(wheel, packager, work):
    venv = pathlib.Path(work) / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    installed = run(venv / "bin/pip", "install", "--quiet", "--no-index", wheel)
    if installed.returncode != 0:
        return [f"{wheel.name}: pip install: {installed.stderr}"]
    media = pathlib.Path(work) / "media"
    media.mkdir()
    problems = check_plays(wheel.name, [venv / "bin/streamsim"], media, native_digest())
    if shutil.which("pipx"):
        version = run("pipx", "run", "--no-cache", "--pip-args=--no-index", "--spec", wheel, "streamsim", "--version",
                      env={**os.environ, "PIPX_HOME": f"{work}/pipx"})
        if version.returncode != 0 or not version.stdout.startswith("streamsim "):
            problems.append(f"{wheel.name}: pipx run: exit {version.returncode}: {version.stdout}{version.stderr}")
    else:
        say(f"{wheel.name} was not run by pipx: it is not here (tools/setup --packages)")
    return problems


def check_windows(packager, work):
    """The tests that ask nothing of Linux, and the program from outside, under wine."""
    wine = shutil.which("wine64") or "/usr/lib/wine/wine64"
    if not pathlib.Path(wine).exists():
        say("the Windows program was not run: wine64 is not here (tools/setup --packages)")
        return []
    toolchain = packager.toolchain(TARGETS["windows-x86_64"])
    folder = build_program(toolchain, packager.fetcher, packager.jobs, ["tests_portable"], tests=True)
    stage = packager.stage(toolchain.target)
    for path in (stage / "bin").glob("*.dll"):
        for test in {each.parent for each in folder.rglob("*.exe")}:
            shutil.copy(path, test)
    os.environ.update(WINEPREFIX=f"{work}/wine", WINEDEBUG="-all", DISPLAY="", WINEDLLOVERRIDES="mscoree=;mshtml=")
    problems = []
    try:
        subprocess.run([wine, "wineboot", "--init"], capture_output=True, timeout=300, check=True)
        if subprocess.run(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-L", "portable"],
                          stdout=sys.stderr).returncode != 0:
            problems.append("windows-x86_64: the portable tests under wine")
        place = pathlib.Path(work) / "place"
        place.mkdir()
        played = run(sys.executable, REPO / "tests/port/windows_play.py", wine, stage / "bin/streamsim.exe", place,
                     folder / "tests/windows_event.exe")
        if played.returncode != 0:
            problems.append(f"windows-x86_64: the program under wine: {played.stdout}{played.stderr}")
    finally:
        server = shutil.which("wineserver") or "/usr/lib/wine/wineserver64"
        subprocess.run([server, "-k"], capture_output=True, check=False)
    return problems


def check(name, packages, packager):
    """Checks the packages that tools/package made for one of its targets."""
    say(f"checking {name}")
    with tempfile.TemporaryDirectory(prefix="streamsim-package-") as work:
        if name == "deb":
            try:
                for package in packages:
                    deb.check(package, work)
            except RuntimeError as error:
                return [str(error)]
            return []
        if name == "wheel":
            return check_wheel(next(each for each in packages if "manylinux_2_28_x86_64" in each.name), packager, work)
        target = TARGETS[name]
        problems = check_needs(packager.stage(target), target, packager.cache)
        if name == "linux-x86_64":
            problems += check_linux(packages[0], packager, work)
        if name == "linux-aarch64":
            problems += check_arm(packages[0], packager, work)
        if target.windows:
            problems += check_windows(packager, work)
        return problems
