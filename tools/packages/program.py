"""Builds streamsim for one target, and gathers what a package of it holds in a folder."""
import os
import pathlib
import shutil
import subprocess

import binaries
from fetch import PINS, run, say

REPO = pathlib.Path(__file__).resolve().parents[2]
LIBAV = ("libavutil", "libavcodec", "libavformat")  # opened when a clip needs them


def commit_time():
    """Seconds since 1970: the time of every file in a package."""
    return int(subprocess.run(["git", "-C", REPO, "log", "-1", "--format=%ct"], capture_output=True, text=True,
                              check=True).stdout)


def build_program(toolchain, fetcher, jobs, targets, tests=False):
    """Builds with the libraries in the toolchain's prefix; returns the folder of the build."""
    target = toolchain.target
    folder = toolchain.folder / "streamsim"
    log = toolchain.folder / "streamsim.log"
    log.unlink(missing_ok=True)
    environment = {**os.environ, **toolchain.environment}
    origin = "@loader_path" if target.macos else "$ORIGIN"
    say(f"{target.name}: building streamsim")
    run(["cmake", "-G", "Ninja", "-S", REPO, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={toolchain.file}",
         "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_EXE_LINKER_FLAGS=-s" + (" -Wl,-x" if target.macos else ""),
         "-DCMAKE_CXX_VISIBILITY_PRESET=hidden",
         "-DCMAKE_VISIBILITY_INLINES_HIDDEN=ON", "-DSTREAMSIM_BATCHES=ON", "-DSTREAMSIM_RELOCATABLE=ON", "-DSTREAMSIM_WERROR=OFF",
         f"-DSTREAMSIM_TESTS={'ON' if tests else 'OFF'}", f"-DCMAKE_INSTALL_RPATH={origin}/../lib/streamsim",
         "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
         f"-DCHART_JS={fetcher.source('Chart.js')}/usr/share/javascript/chart.js/chart.min.js"], log, env=environment)
    run(["cmake", "--build", folder, f"-j{jobs}", "--target", *targets], log, env=environment)
    return folder


def copy_libraries(toolchain, stage):
    """Copies the shared libraries that the program needs and that are ours, to where it finds them."""
    target = toolchain.target
    program = stage / "bin" / ("streamsim.exe" if target.windows else "streamsim")
    beside = stage / "bin" if target.windows else stage / "lib/streamsim"
    beside.mkdir(parents=True, exist_ok=True)
    built = {path.name: path for folder in ("bin", "lib") for path in (toolchain.prefix / folder).glob("*")}
    majors = {name: next(pathlib.Path(path).read_text().split(f"{name.upper()}_VERSION_MAJOR")[1].split()[0]
                         for path in (toolchain.prefix / f"include/{name}").glob("version*.h")
                         if f"#define {name.upper()}_VERSION_MAJOR" in path.read_text().replace("  ", " ")) for name in LIBAV}
    wanted = [pathlib.PurePath(name).name for name in binaries.libraries_needed(program, target)]
    wanted += [target.shared(name, majors[name]) for name in LIBAV]
    done = set()
    while wanted:
        name = wanted.pop()
        if name in done or name not in built:
            continue
        done.add(name)
        shutil.copy(built[name], beside / name)
        wanted += [pathlib.PurePath(each).name for each in binaries.libraries_needed(beside / name, target)]
    return program


def stage_program(toolchain, fetcher, jobs):
    """Returns a folder with bin, lib/streamsim and share: what is unpacked on a seat."""
    folder = build_program(toolchain, fetcher, jobs, ["streamsim"])
    stage = toolchain.folder / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    run(["cmake", "--install", folder, "--prefix", stage], toolchain.folder / "streamsim.log")
    program = copy_libraries(toolchain, stage)
    if toolchain.target.name == "linux-x86_64":  # the one that runs here
        for file, words in {"man/man1/streamsim.1": ["man"],
                            "bash-completion/completions/streamsim": ["completions", "bash"],
                            "zsh/site-functions/_streamsim": ["completions", "zsh"],
                            "fish/vendor_completions.d/streamsim.fish": ["completions", "fish"]}.items():
            path = stage / "share" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(subprocess.run([program, *words], capture_output=True, check=True).stdout)
    add_documents(fetcher, stage / "share/doc/streamsim", toolchain.target)
    return stage


def libraries_of(target):
    """The libraries whose code is in a package of the target: (name, pin)."""
    return [(name, pin) for name, pin in PINS["sources"].items()
            if not pin.get("tests") and (name != "liburing" or target.linux)]


def add_documents(fetcher, folder, target):
    """The licences of everything in the package."""
    (folder / "licences").mkdir(parents=True)
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        shutil.copy(REPO / name, folder)
    for name, _ in libraries_of(target):
        source = fetcher.source(name)
        texts = [path for path in (source / "debian/copyright", *source.glob("usr/share/doc/*/copyright")) if path.exists()]
        shutil.copy(texts[0], folder / "licences" / f"{name}.txt")
    # The compiler's runtime libraries: libc++ and compiler-rt, and for Windows the start code of mingw-w64.
    compiler = fetcher.compiler().parent
    shutil.copy(compiler / "lib/libcxx/LICENSE.TXT", folder / "licences/libc++.txt")
    shutil.copy(compiler / "LICENSE", folder / "licences/compiler-rt.txt")
    if target.windows:
        shutil.copy(compiler / "lib/libc/mingw/COPYING", folder / "licences/mingw-w64.txt")
