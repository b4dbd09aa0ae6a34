"""The systems that packages are built for."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Target:
    name: str  # as tools/package takes it, and in the names of archives
    triple: str  # as the compiler takes it, with the least version of the C library or system
    system: str  # as CMake names it
    processor: str
    wheel: str  # the platform tag of a Python wheel

    @property
    def linux(self):
        return self.system == "Linux"

    @property
    def windows(self):
        return self.system == "Windows"

    @property
    def macos(self):
        return self.system == "Darwin"

    def shared(self, name, major):
        """The file name of a shared library, by which programs load it."""
        if self.windows:
            return f"{name.removeprefix('lib')}-{major}.dll"
        return f"{name}.{major}.dylib" if self.macos else f"{name}.so.{major}"


GLIBC = "2.28"  # of Rocky Linux 8, and of the VFX Reference Platform
MACOS = "13.0"

TARGETS = {
    target.name: target
    for target in (
        Target("linux-x86_64", f"x86_64-linux-gnu.{GLIBC}", "Linux", "x86_64", "manylinux_2_28_x86_64"),
        Target("linux-aarch64", f"aarch64-linux-gnu.{GLIBC}", "Linux", "aarch64", "manylinux_2_28_aarch64"),
        Target("windows-x86_64", "x86_64-windows-gnu", "Windows", "x86_64", "win_amd64"),
        Target("macos-arm64", f"aarch64-macos.{MACOS}", "Darwin", "arm64", "macosx_13_0_arm64"),
        Target("macos-x86_64", f"x86_64-macos.{MACOS}", "Darwin", "x86_64", "macosx_13_0_x86_64"),
    )
}
