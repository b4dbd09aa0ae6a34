"""Reads from a program or a shared library what it asks of the system that it is carried to."""
import re
import struct
import subprocess


def tool(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def load_commands(path):
    """The load commands of a Mach-O file, each as (number, bytes)."""
    data = path.read_bytes()
    magic, _, _, _, count, _, _, _ = struct.unpack_from("<8I", data)
    if magic != 0xFEEDFACF:
        raise ValueError(f"{path}: not a 64-bit Mach-O file")
    offset, out = 32, []
    for _ in range(count):
        number, size = struct.unpack_from("<2I", data, offset)
        out.append((number, data[offset:offset + size]))
        offset += size
    return out


def libraries_needed(path, target):
    """The names of the shared libraries that the system loads with it."""
    if target.windows:
        return re.findall(r"DLL Name: (\S+)", tool("objdump", "-p", path))
    if target.linux:
        return re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d", path))
    dylib_loads = (0xC, 0x8000001F, 0x80000018)  # LC_LOAD_DYLIB, LC_REEXPORT_DYLIB, LC_LOAD_WEAK_DYLIB
    return texts_of(path, dylib_loads)


def texts_of(path, numbers):
    """The texts of these load commands of a Mach-O file, each of which begins with where its text does."""
    return [body[struct.unpack_from("<I", body, 8)[0]:].split(b"\0")[0].decode()
            for number, body in load_commands(path) if number in numbers]


def macos_search_paths(path):
    """Where a program looks for @rpath."""
    return texts_of(path, (0x8000001C,))  # LC_RPATH


def glibc_needed(path):
    """The newest version of glibc that it asks for, as (2, 28)."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", tool("readelf", "--version-info", path))
    return max((tuple(map(int, version)) for version in versions), default=(0, 0))


def macos_needed(path):
    """The oldest macOS that it runs on, as "13.0", by its LC_BUILD_VERSION."""
    for number, body in load_commands(path):
        if number == 0x32:
            version = struct.unpack_from("<I", body, 12)[0]
            return f"{version >> 16}.{version >> 8 & 0xFF}"
    return None

