"""The package for Debian: the release build with the shared libraries of this computer's Debian, packed by CPack."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]

# The dependencies are installed first: all that is left after the purge is streamsim's.
CHECK = r"""
set -eux
export DEBIAN_FRONTEND=noninteractive
files() { find /usr /etc /var/lib -path /var/lib/dpkg -prune -o -path /var/lib/apt -prune -o -print | sort; }
apt-get update
apt-get satisfy -y --no-install-recommends "$(dpkg-deb --field /streamsim.deb Depends)"
files >/tmp/before
apt-get install -y --no-install-recommends /streamsim.deb

cd /tmp
streamsim --version
if ldd /usr/bin/streamsim /usr/bin/streamsim-smb | grep 'not found'; then exit 1; fi
streamsim --prores-hd --streams 2 --duration 5s --clip-duration 2s /tmp/media
streamsim --prores-hd --streams 2 --duration 5s sim:h500
zcat /usr/share/man/man1/streamsim.1.gz | grep -q '^\.SH DESCRIPTION'
for file in bash-completion/completions/streamsim zsh/vendor-completions/_streamsim \
            fish/vendor_completions.d/streamsim.fish doc/streamsim/copyright doc/streamsim/changelog.gz; do
    test -s /usr/share/$file
done

apt-get purge -y streamsim
files >/tmp/after
diff /tmp/before /tmp/after
"""


def say(text):
    print(f"streamsim: {text}", file=sys.stderr, flush=True)


def run(what, command, **options):
    """The command's output is told only when it fails."""
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, errors="replace", **options)
    if ended.returncode != 0:
        raise RuntimeError(f"{what} failed (status {ended.returncode}):\n{ended.stdout}")
    return ended.stdout


def common(commands, *arguments, **options):
    """Commands with the functions of tools/common.sh, which tell their progress."""
    command = ["bash", "-euc", f'. "{REPO}/tools/common.sh"; {commands}', "bash", *map(str, arguments)]
    return subprocess.run(command, check=True, **options)


def build(build_root, out, sbom):
    """Returns the package. It has equal bytes whenever and wherever a commit is built with the same packages."""
    directory = build_root / "deb"
    time = run("git log", ["git", "-C", str(REPO), "log", "-1", "--format=%ct"]).strip()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": time}
    common('quietly "configuring the .deb" configure release "$1" -DSTREAMSIM_TESTS=OFF -DSTREAMSIM_RELOCATABLE=ON '
           '-DSTREAMSIM_DEB=ON\nbuild "$1"', directory, env=environment)
    packed = directory / "packed"
    shutil.rmtree(packed, ignore_errors=True)
    bill = directory / "sbom.spdx.json"
    bill.write_text(sbom)
    run("cpack", ["cpack", "-D", f"CPACK_STREAMSIM_SBOM={bill}", "-B", str(packed)], cwd=directory, env=environment, umask=0o022)
    out.mkdir(parents=True, exist_ok=True)
    return [pathlib.Path(shutil.copy2(package, out)) for package in packed.glob("*.deb")]


def check(deb, work):
    """Installs the package in a clean root, plays, and purges it; raises RuntimeError when that shows a fault."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        say(f"{deb.name} was not tried in a clean root: that takes root and debootstrap (tools/setup --packages)")
        return
    root_folder = common("build_root", stdout=subprocess.PIPE, text=True).stdout.strip()
    codename = run("os-release", ["sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME"]).strip()
    clean = pathlib.Path(root_folder) / f"deb-root-{codename}.tar"
    with tempfile.TemporaryDirectory(dir=work) as place:
        root = pathlib.Path(place) / "root"
        if not clean.exists():
            say(f"fetching the packages of a clean Debian ({codename}) for {clean}")
            run("debootstrap", ["debootstrap", "--variant=minbase", codename, str(root)])
            run("tar", ["tar", "-C", str(root), "-cf", f"{clean}.new", "."])
            os.replace(f"{clean}.new", clean)
        else:
            root.mkdir()
            run("tar", ["tar", "-C", str(root), "-xf", str(clean)])
        shutil.copy(deb, root / "streamsim.deb")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        (root / "tmp/media").mkdir()
        # The mount of /proc ends with the process.
        inside = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", str(root)]
        run(f"the check of {deb.name}", [*inside, "/bin/sh", "-c", CHECK],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
