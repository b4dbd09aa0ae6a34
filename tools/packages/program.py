"""Builds streamsim for one target, and gathers what a package of it holds in a folder."""
import pathlib
import re
import shutil
import subprocess

import binaries
import signature
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
    environment = toolchain.environment
    origin = "@loader_path" if target.macos else "$ORIGIN"
    say(f"{target.name}: building streamsim")
    run(["cmake", "-G", "Ninja", "-S", REPO, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={toolchain.file}",
         "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", *(["-DCMAKE_EXE_LINKER_FLAGS=-Wl,-x"] if target.macos else []),
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
    if target.macos:  # the compiler signs those for arm64 alone
        for path in (program, *beside.glob("*.dylib")):
            signature.sign(path)
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


def runtimes_of(target):
    """The compiler's own libraries whose code is in a package of the target: name -> licence, below the compiler's folder."""
    return {"libc++": "lib/libcxx/LICENSE.TXT", "libc++abi": "lib/libcxxabi/LICENSE.TXT", "libunwind": "lib/libunwind/LICENSE.TXT",
            "compiler-rt": "LICENSE", **({"mingw-w64": "lib/libc/mingw/COPYING"} if target.windows else {})}


NOTICE = """streamsim is under the Apache License 2.0 (LICENSE). The libraries in this package are under the licences in licences/;
where a licence names a file of /usr/share/common-licenses, that file is in licences/common-licenses/.

Under the GNU Lesser General Public License are libnfs, libmicrohttpd, NLopt, and FFmpeg's libavutil, libavcodec and libavformat.
They are shared libraries beside the program: a library of the same name and interface takes the place of each. ZeroMQ, under the
same licence, is part of the program, as its exception for static linking allows. All come from
Debian's source packages, whose versions and checksums are in sbom.spdx.json. tools/package in the sources of streamsim fetches
them, and builds them again; tools/packages/libraries.py says with which options, and what it changes: in libnfs the check of the
length of lists, and which functions it exports, and in FFmpeg two lines of config.h.
"""


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
    compiler = fetcher.compiler().parent
    for name, text in runtimes_of(target).items():
        shutil.copy(compiler / text, folder / f"licences/{name}.txt")
    # Debian's texts name those that its systems have in a folder.
    for text in sorted((folder / "licences").glob("*.txt")):
        for name in set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text.read_text(errors="replace"))):
            (folder / "licences/common-licenses").mkdir(exist_ok=True)
            shutil.copy(pathlib.Path("/usr/share/common-licenses") / name, folder / "licences/common-licenses" / name)
    (folder / "NOTICE").write_text(NOTICE)
