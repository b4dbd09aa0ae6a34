"""Builds the libraries for one target into its prefix. Those under the LGPL are shared, so that anybody can replace them."""
import hashlib
import inspect
import shutil

import toolchain as toolchain_module
from fetch import PINS, fail, run, say

TOOLCHAIN = inspect.getsource(toolchain_module)

# FFmpeg's parts: the containers that clips come in, with what it takes to know their frames; and the ones that `prepare`
# writes. Its encoder for DNxHR is the only one: ProRes and pictures are made by streamsim itself.
FFMPEG = {
    "demuxer": "mov,mxf,matroska,avi,mpegts,mpegps,mpegvideo,gxf",
    "muxer": "mov,mp4,mxf",
    "parser": "h264,hevc,mpegvideo,mpeg4video,mjpeg,dnxhd,vc1,av1,vp8,vp9,aac,ac3,mpegaudio",
    "decoder": "h264,hevc,mpeg1video,mpeg2video,mpeg4,mjpeg,prores,dnxhd,jpeg2000,dvvideo,cfhd,v210,rawvideo,vc1,vp8,vp9",
    "encoder": "dnxhd",
}


class Build:
    """The building of one library: where its source is, where it is built, and with which tools."""

    def __init__(self, name, source, toolchain, jobs):
        self.source, self.toolchain, self.jobs = source, toolchain, jobs
        self.prefix, self.target = toolchain.prefix, toolchain.target
        self.folder = toolchain.folder / f"build-{name}"
        self.log = toolchain.folder / f"{name}.log"

    def run(self, *command, cwd=None, **environment):
        run(command, self.log, cwd=cwd or self.folder, env={**self.toolchain.environment, **environment})

    def cmake(self, *options, shared=False):
        self.run("cmake", "-G", "Ninja", "-S", self.source, "-B", self.folder,
                 f"-DCMAKE_TOOLCHAIN_FILE={self.toolchain.file}", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_INSTALL_PREFIX={self.prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                 "-DCMAKE_SKIP_INSTALL_RPATH=ON",
                 f"-DBUILD_SHARED_LIBS={'ON' if shared else 'OFF'}", "-DBUILD_TESTING=OFF", *options)
        self.run("ninja", f"-j{self.jobs}", "install")

    def make(self, *words):
        self.run("make", f"-j{self.jobs}", *words)


def edit(path, before, after):
    text = path.read_text()
    if before not in text:
        fail(f"{path}: expected the text {before!r}")
    path.write_text(text.replace(before, after))


def build_libuv(build):
    build.cmake("-DLIBUV_BUILD_TESTS=OFF")
    # Its shared library is built too; a program that found it first would need it.
    for path in [*build.prefix.glob("lib/libuv.*"), *build.prefix.glob("bin/libuv.*")]:
        if path.name != "libuv_a.a":
            path.unlink()
    pc = build.prefix / "lib/pkgconfig/libuv.pc"
    static = build.prefix / "lib/pkgconfig/libuv-static.pc"
    pc.write_text(static.read_text())


def build_libzmq(build):
    """Static, which its exception to the LGPL allows. CURVE by the code of its own, tweetnacl."""
    build.source = shutil.copytree(build.source, build.folder / "source")
    build.folder = build.folder / "build"
    build.folder.mkdir()
    # The C++ library of the compiler wants allocators that can be had for other types.
    edit(build.source / "src/secure_allocator.hpp", "struct secure_allocator_t : std::allocator<T>\n{\n",
         "struct secure_allocator_t : std::allocator<T>\n{\n    secure_allocator_t () = default;\n"
         "    template <class U> secure_allocator_t (const secure_allocator_t<U> &) {}\n"
         "    template <class U> struct rebind { typedef secure_allocator_t<U> other; };\n")
    build.cmake("-DENABLE_CURVE=ON", "-DWITH_LIBSODIUM=OFF", "-DBUILD_SHARED=OFF", "-DBUILD_STATIC=ON", "-DBUILD_TESTS=OFF",
                "-DENABLE_WS=OFF", "-DWITH_DOCS=OFF", "-DWITH_PERF_TOOL=OFF", "-DENABLE_DRAFTS=OFF", "-DENABLE_CPACK=OFF",
                "-DWITH_OPENPGM=OFF", "-DWITH_NORM=OFF", "-DENABLE_PRECOMPILED=OFF",
                "-DZMQ_WIN32_WINNT=0x0A00", "-DCMAKE_CXX_FLAGS=-w", *(["-DZMQ_HAVE_IPC=0"] if build.target.windows else []))
    (build.prefix / "lib/pkgconfig/libzmq.pc").write_text(
        f"prefix={build.prefix}\nName: libzmq\nDescription: ZeroMQ\nVersion: {PINS['sources']['libzmq']['version'].split('-')[0]}\n"
        f"Libs: -L${{prefix}}/lib -lzmq{' -lws2_32 -liphlpapi' if build.target.windows else ''}\n"
        "Cflags: -I${prefix}/include -DZMQ_STATIC\n")


def build_fmt(build):
    build.cmake("-DFMT_TEST=OFF", "-DFMT_DOC=OFF")


def build_spdlog(build):
    build.cmake("-DSPDLOG_FMT_EXTERNAL=ON", "-DSPDLOG_BUILD_EXAMPLE=OFF")


def build_CLI11(build):
    build.cmake("-DCLI11_BUILD_TESTS=OFF", "-DCLI11_BUILD_EXAMPLES=OFF", "-DCLI11_BUILD_DOCS=OFF")


def build_nlohmann_json(build):
    build.cmake("-DJSON_BuildTests=OFF")


def build_zlib(build):
    # Its build for CMake needs a file that Debian leaves out. All compilers here have <unistd.h>, that for Windows too, and
    # fdopen, which the library takes for missing on macOS.
    sources = sorted(build.source.glob("*.c"))
    for path in sources:
        build.run(build.toolchain.bin / "cc", "-O2", "-fPIC", "-w", "-DHAVE_UNISTD_H", "-Dfdopen=fdopen", "-c", path, "-o", f"{path.stem}.o")
    build.run(build.toolchain.bin / "ar", "rcs", build.prefix / "lib/libz.a", *sorted(f"{path.stem}.o" for path in sources))
    for header in ("zlib.h", "zconf.h"):
        shutil.copy(build.source / header, build.prefix / "include")


def build_Imath(build):
    build.cmake()


def build_OpenEXR(build):
    build.cmake("-DOPENEXR_BUILD_TOOLS=OFF", "-DOPENEXR_INSTALL_EXAMPLES=OFF", "-DOPENEXR_INSTALL_TOOLS=OFF")


def build_Boost(build):
    link = build.prefix / "include/boost"
    link.unlink(missing_ok=True)
    link.symlink_to(build.source / "usr/include/boost")


def build_nlopt(build):
    build.cmake("-DNLOPT_CXX=OFF", *(f"-DNLOPT_{part}=OFF" for part in ("PYTHON", "OCTAVE", "MATLAB", "GUILE", "SWIG", "TESTS")),
                shared=True)


def build_libnfs(build):
    build.source = shutil.copytree(build.source, build.folder / "source")
    # It exports all functions, not only those marked: libnfs_authunix_create is not.
    lists = build.source / "CMakeLists.txt"
    lists.write_text("".join(line for line in lists.read_text().splitlines(True) if "libnfs_EXPORTS" not in line))
    lists = build.source / "lib/CMakeLists.txt"
    lists.write_text("".join(line for line in lists.read_text().splitlines(True) if "version.rc" not in line))
    if build.target.windows:  # otherwise it exports functions of the C library too; the list lacks some of those used here
        edit(build.source / "lib/CMakeLists.txt", "add_library(nfs ${SOURCES})", "add_library(nfs ${SOURCES} libnfs-win32.def)")
        names = build.source / "lib/libnfs-win32.def"
        edit(names, "nfs_mt_service_thread_start\nnfs_mt_service_thread_stop\n",
             "libnfs_authunix_create\nnfs_get_rpc_context\nnfs_lstat64_async\nrpc_set_auth\n")
    # A list may not be longer than the message that it came in: the check that nfs_library_linux.cc makes on Linux.
    edit(build.source / "lib/libnfs-zdr.c", "if (*size > UINT32_MAX/elsize) {",
         "if (*size > UINT32_MAX/elsize || (zdrs->x_op == ZDR_DECODE && *size > (uint32_t)(zdrs->size - zdrs->pos) / 4)) {")
    build.folder = build.folder / "build"
    build.folder.mkdir()
    build.cmake(shared=True)


def build_liburing(build):
    shutil.copytree(build.source, build.folder, dirs_exist_ok=True)
    build.run("./configure", f"--prefix={build.prefix}", f"--cc={build.toolchain.bin}/cc", f"--cxx={build.toolchain.bin}/c++")
    build.make("-C", "src", f"AR={build.toolchain.bin}/ar", f"RANLIB={build.toolchain.bin}/ranlib", "ENABLE_SHARED=0", "install")
    build.run("make", "liburing.pc")
    shutil.copy(build.folder / "liburing.pc", build.prefix / "lib/pkgconfig/liburing.pc")


def configure_host(target):
    """The system as configure scripts name it."""
    if target.windows:
        return "x86_64-w64-mingw32"
    return f"{target.triple.split('-')[0]}-" + ("apple-darwin22" if target.macos else "linux-gnu")


def build_libmicrohttpd(build):
    build.run(build.source / "configure", f"--prefix={build.prefix}", f"--host={configure_host(build.target)}",
              "--enable-shared", "--disable-static", "--disable-doc", "--disable-examples", "--disable-https", "--disable-bauth",
              "--disable-dauth", "--disable-curl", CC=f"{build.toolchain.bin}/cc", AR=f"{build.toolchain.bin}/ar",
              RANLIB=f"{build.toolchain.bin}/ranlib", RC=f"{build.toolchain.bin}/windres", DLLTOOL=f"{build.toolchain.bin}/dlltool")
    # Not all: for Windows, files for other compilers would be made of what this linker does not write.
    build.make("-C", "src/include", "install")
    name = ["LDFLAGS=-Wl,-install_name,@rpath/" + build.target.shared("libmicrohttpd", 12)] if build.target.macos else []
    build.make("-C", "src/microhttpd", *name, "libmicrohttpd.la", "install-libLTLIBRARIES")
    build.make("install-pkgconfigDATA")


def build_ffmpeg(build):
    tools, target = build.toolchain.bin, build.target
    system = "mingw64" if target.windows else "darwin" if target.macos else "linux"
    build.run(build.source / "configure", f"--prefix={build.prefix}", "--enable-cross-compile",
              f"--arch={target.triple.split('-')[0]}", f"--target-os={system}", f"--cc={tools}/cc", f"--cxx={tools}/c++",
              f"--ar={tools}/ar", f"--ranlib={tools}/ranlib", f"--windres={tools}/windres", "--host-cc=cc",
              "--disable-stripping",
              "--enable-shared", "--disable-static", "--disable-everything", "--disable-autodetect", "--disable-programs",
              "--disable-doc", "--disable-network", "--disable-asm", "--disable-debug", "--disable-avdevice", "--disable-avfilter",
              "--disable-swscale", "--disable-swresample", "--disable-postproc", "--install-name-dir=@rpath",
              *(f"--enable-{kind}={names}" for kind, names in FFMPEG.items()))
    # The old C library has the function still, and the compiler's headers no longer declare it. The libraries have the
    # words of this configuration in them.
    config = build.folder / "config.h"
    config.write_text(config.read_text().replace("#define HAVE_SYSCTL 1", "#define HAVE_SYSCTL 0")
                      .replace(str(build.toolchain.cache), "/streamsim-libraries"))
    if target.macos:
        edit(build.folder / "ffbuild/config.mak", "-compatibility_version,$(LIBMAJOR)", "-compatibility_version,$(LIBMAJOR).0.0")
    # For Windows, files for other compilers are left out: streamsim opens the libraries when it runs.
    build.make("SLIB_EXTRA_CMD=", "SLIB_INSTALL_EXTRA_SHLIB=", "SLIB_INSTALL_EXTRA_LIB=", "install")


def build_googletest(build):
    build.cmake()


def build_libraries(toolchain, fetcher, jobs, tests):
    """Builds what is missing or has changed; `tests`: GoogleTest too."""
    for name, pin in PINS["sources"].items():
        recipe = globals().get(f"build_{name}")
        if recipe is None or (name == "liburing" and not toolchain.target.linux) or (pin.get("tests") and not tests):
            continue
        source = fetcher.source(name)
        wanted = hashlib.sha256("\n".join((str(pin), str(PINS["compiler"]), toolchain.target.triple, inspect.getsource(recipe),
                                           inspect.getsource(Build), TOOLCHAIN, str(FFMPEG) if name == "ffmpeg" else "")).encode()).hexdigest()
        stamp = toolchain.folder / f"{name}.done"
        if stamp.exists() and stamp.read_text() == wanted:
            continue
        say(f"{toolchain.target.name}: building {name}")
        build = Build(name, source, toolchain, jobs)
        shutil.rmtree(build.folder, ignore_errors=True)
        build.folder.mkdir()
        build.log.unlink(missing_ok=True)
        recipe(build)
        shutil.rmtree(toolchain.folder / f"build-{name}")
        stamp.write_text(wanted)
