"""Packs a folder as .tar.gz, .zip or Python wheel: equal folders give equal bytes."""
import base64
import gzip
import hashlib
import io
import tarfile
import time
import zipfile

from fetch import sha256


def files_of(stage):
    return [path for path in sorted(stage.rglob("*")) if path.is_file()]


def is_program(path):
    """Programs and shared libraries may be executed; documents may not."""
    return path.parent.name == "bin" or ".so" in path.name or path.suffix == ".dylib"


def new_name(package):
    """Where a package is written, so that one of its own name is whole."""
    return package.with_name(package.name + ".new")


def write_checksum(package):
    """Gives a package its name, and its checksum."""
    if new_name(package).exists():
        new_name(package).replace(package)
    package.with_name(package.name + ".sha256").write_text(f"{sha256(package)}  {package.name}\n")


def pack_tar(stage, package, top, seconds):
    """All files below the folder `top`, of the time `seconds` since 1970."""
    with open(new_name(package), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=seconds) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in files_of(stage):
            data = path.read_bytes()
            entry = tarfile.TarInfo(f"{top}/{path.relative_to(stage)}")
            entry.size, entry.mtime, entry.mode = len(data), seconds, 0o755 if is_program(path) else 0o644
            tar.addfile(entry, io.BytesIO(data))
    write_checksum(package)


def add_to_zip(packed, name, data, seconds, mode):
    entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    entry.create_system = 3  # Unix, so that the mode counts
    entry.external_attr = (0o100000 | mode) << 16
    packed.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def pack_zip(stage, package, top, seconds):
    with zipfile.ZipFile(new_name(package), "w") as packed:
        for path in files_of(stage):
            add_to_zip(packed, f"{top}/{path.relative_to(stage)}", path.read_bytes(), seconds, 0o755 if is_program(path) else 0o644)
    write_checksum(package)


METADATA = """Metadata-Version: 2.1
Name: streamsim
Version: {version}
Summary: plays media from storage as an edit system does, and counts the frames that are late
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""


def pack_wheel(stage, package, version, tag, seconds):
    """A wheel whose installation puts bin/ among the scripts, and lib/ and share/ beside them: the program finds its files as
    in an archive. There is no Python in it."""
    info, data_folder = f"streamsim-{version}.dist-info", f"streamsim-{version}.data"
    files = {}
    for path in files_of(stage):
        name = path.relative_to(stage).as_posix()
        program = name.startswith("bin/")
        files[f"{data_folder}/{'scripts/' + name[4:] if program else 'data/' + name}"] = (
            path.read_bytes(), 0o755 if is_program(path) else 0o644)
    readme = (stage / "share/doc/streamsim/README.md").read_text()
    files[f"{info}/METADATA"] = ((METADATA.format(version=version) + readme).encode(), 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: tools/package\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/licenses/LICENSE"] = ((stage / "share/doc/streamsim/LICENSE").read_bytes(), 0o644)
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for name, (data, _) in files.items()]
    files[record] = (("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644)
    with zipfile.ZipFile(new_name(package), "w") as packed:
        for name, (data, mode) in files.items():
            add_to_zip(packed, name, data, seconds, mode)
    write_checksum(package)
