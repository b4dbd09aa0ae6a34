"""The cross-compiler as the programs that configure scripts and CMake look for, and as a toolchain file of CMake."""
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


class Toolchain:
    """The tools of one target in `folder`/bin, its libraries in `folder`/prefix."""

    def __init__(self, target, compiler, folder, cache):
        self.target = target
        self.folder = folder
        self.cache = cache
        self.prefix = folder / "prefix"
        self.bin = folder / "bin"
        self.file = folder / "toolchain.cmake"
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        # The compiler builds the C and C++ libraries of each target once, and keeps them here.
        self.environment |= {"ZIG_GLOBAL_CACHE_DIR": str(cache / "compiler"), "ZIG_LOCAL_CACHE_DIR": str(cache / "compiler"),
                            "SOURCE_DATE_EPOCH": "0", "PKG_CONFIG_LIBDIR": f"{self.prefix}/lib/pkgconfig", "PKG_CONFIG_PATH": "",
                            "LC_ALL": "C", "TZ": "UTC"}
        self.bin.mkdir(parents=True, exist_ok=True)
        self.prefix.mkdir(exist_ok=True)
        # Without a level of optimisation, the compiler would check for undefined behaviour.
        # Paths of this machine are in no package: neither where sources are nor where they were built.
        named = f"-g0 -fno-sanitize=undefined -ffile-prefix-map={cache}=/streamsim-libraries"
        tools = {"cc": f"cc -target {target.triple} {named}", "c++": f"c++ -target {target.triple} {named}",
                 "ar": "ar", "ranlib": "ranlib", "dlltool": "dlltool"}
        for tool, words in tools.items():
            script = self.bin / tool
            # The linker for Windows exports everything without being told, and refuses what tells other linkers so.
            # Nothing keeps the names of functions and of object files that nobody asks for: a link strips.
            strip = "-s" if tool in ("cc", "c++") else ""
            script.write_text(f"#!/bin/bash\nwords=() strip={strip}\nfor word; do\n    case $word in\n"
                              "        -Wl,--output-def* | -Wl,*.def | -Wl,--enable-auto-image-base | -Wl,--disable-auto-image-base) ;;\n"
                              "        -Wl,--pic-executable* | -Wl,--image-base,* | -Wl,-dynamic,* | -Wl,-single_module) ;;\n"
                              "        -c | -E | -S | -M*) strip= ;;&\n"
                              f"        *) words+=(\"$word\") ;;\n    esac\ndone\nexec {compiler} {words} \"${{words[@]}}\" $strip\n")
            script.chmod(0o755)
        # Libraries want a compiler of resources for their versions, which packages do without: each makes an empty object.
        (self.bin / "empty.c").write_text("")
        windres = self.bin / "windres"
        windres.write_text("#!/bin/bash\nwhile [ $# -gt 0 ]; do\n    [ \"$1\" != -o ] || out=$2\n    shift\ndone\n"
                           f"exec {self.bin}/cc -c {self.bin}/empty.c -o \"$out\"\n")
        windres.chmod(0o755)
        lines = {
            "CMAKE_SYSTEM_NAME": target.system,
            "CMAKE_SYSTEM_PROCESSOR": target.processor,
            "CMAKE_C_COMPILER": self.bin / "cc",
            "CMAKE_CXX_COMPILER": self.bin / "c++",
            "CMAKE_RC_COMPILER": self.bin / "windres",
            "CMAKE_AR": self.bin / "ar",
            "CMAKE_RANLIB": self.bin / "ranlib",
            "CMAKE_FIND_ROOT_PATH": self.prefix,
            "CMAKE_FIND_ROOT_PATH_MODE_PROGRAM": "NEVER",
            "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
            "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
            "CMAKE_FIND_ROOT_PATH_MODE_PACKAGE": "ONLY",
        }
        if target.macos:
            # CMake asks the computer that builds how old its macOS is, and takes none for one without rpaths.
            lines["CMAKE_USER_MAKE_RULES_OVERRIDE"] = folder / "rules.cmake"
            (folder / "rules.cmake").write_text('set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-Wl,-rpath,")\n')
        if target.windows:
            lines["CMAKE_CROSSCOMPILING_EMULATOR"] = "/usr/lib/wine/wine64"
        self.file.write_text("".join(f'set({name} "{value}")\n' for name, value in lines.items()))
