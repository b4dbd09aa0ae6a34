#!/usr/bin/env python3
"""Runs a recipe of docs/how-to/start-seats.md, with the text of the page, on four computers of this machine.

usage: recipes.py ssh|ansible|slurm|mpirun|kubernetes|cluster STREAMSIM SOURCE_DIR WORK_DIR

The computers are network namespaces (real/lab/lab) with their own names, addresses, /root, /tmp, /run and /dev/shm: the
host at 10.0.0.5 and the seats edit1, edit2 and edit3, all with the storage at /mnt/media. They have real sshd's, and a
Slurm of their own; Ansible and the schema of Kubernetes come from PyPI into WORK_DIR/venv. A program of this file
stands for kubectl and the cluster (cluster: with the host inside it).

Each recipe has to exit with 0 and to leave a result that passes, of three complete seats, with the digest of one
process that plays the same alone; no key may be left anywhere. Prints "skipped: REASON" where there is no root, or
where a program is not installed.
"""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PAGE = "docs/how-to/start-seats.md"
RECIPES = {"ssh": "ssh", "ansible": "Ansible", "slurm": "Slurm", "mpirun": "mpirun", "kubernetes": "Kubernetes",
           "cluster": "Kubernetes"}
HOST, SEATS = "10.0.0.5", 3
RECIPE_WITHIN_S, READY_WITHIN_S = 240, 30
DAY = {"schema": "streamsim.scenario", "version": 1, "duration": "3s", "seed": 1, "seats": [
    {"count": SEATS, "target": "/mnt/media",
     "streams": [{"format": "prores-proxy-hd", "count": 2, "clip_duration": "1s"}]}]}
SLURM = """
ClusterName=recipes
SlurmctldHost=host({host})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/slurm/state
SlurmdSpoolDir={folder}/slurm/%n
SlurmctldPidFile={folder}/slurm/slurmctld.pid
SlurmdPidFile={folder}/slurm/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# Makes the files of a computer, then starts a program there.
COMPUTER = """
name=$1 files=$2 shared=$3 work=$4; shift 4
hostname "$name"
mount --bind "$shared/hosts" /etc/hosts
[ ! -e /etc/ssh/ssh_config ] || mount --bind "$shared/ssh_config" /etc/ssh/ssh_config
mount -t tmpfs -o size=1m tmpfs /mnt
mkdir /mnt/media
mount --bind "$shared/media" /mnt/media
mount --bind "$shared/local" /usr/local
if [ "$name" != host ]; then
    mount --bind "$files/shm" /dev/shm
    mount --bind "$files/root" /root
    mount --bind "$files/tmp" /tmp
    mount --bind "$files/run" /run
fi
cd "$work"
exec "$@"
"""
# A container: its root is read-only and holds the system's programs and the volumes.
CONTAINER = """
root=$1; shift
mount --bind "$root" "$root"
for folder in usr proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
while [ "$1" != -- ]; do
    mount --bind "$1" "$root/$2"
    [ "$3" != ro ] || mount -o remount,bind,ro "$root/$2"
    shift 3
done
shift
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
"""


class Problem(Exception):
    pass


class Skipped(Exception):
    pass


def need(**programs):
    """programs: the Debian package of each."""
    for program, package in programs.items():
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            raise Skipped(f"there is no {program} (Debian's package {package})")


def wait_until(ready, what):
    end = time.monotonic() + READY_WITHIN_S
    while not ready():
        if time.monotonic() > end:
            raise Problem(f"{what} does not come up")
        time.sleep(0.05)


# --- the page

def section(page, title):
    """(files of the section by their names, its command lines)"""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    if match is None:
        raise Problem(f"{PAGE} has no section {title}")
    files, commands = {}, []
    for before, language, text in re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)^```$", match.group(1), re.S | re.M):
        name = re.match(r"`([\w-]+\.\w+)`.*:$", before)
        if name:
            files[name.group(1)] = text
        elif language == "sh":
            commands.append(text)
        else:
            raise Problem(f"{PAGE}: {title}: a text has no name of a file before it")
    return files, commands


# --- the computers

class Computer:
    def __init__(self, name, namespace, folder):
        self.name, self.namespace, self.folder = name, namespace, pathlib.Path(folder)
        self.files = self.folder / name

    def furnish(self):
        for folder in ("shm", "root", "tmp", "run/sshd"):
            (self.files / folder).mkdir(parents=True)
        (self.files / "tmp").chmod(0o1777)

    def wrapped(self, command):
        return ["nsenter", f"--net=/run/netns/{self.namespace}", "unshare", "--mount", "--uts", "--propagation", "slave",
                "sh", "-ec", COMPUTER, "sh", self.name, self.files, self.folder / "shared", self.folder / "work", *command]

    def begin(self, *command, out=subprocess.DEVNULL, **more):
        return subprocess.Popen(self.wrapped(command), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                start_new_session=True, **more)

    def run(self, *command, **more):
        """(exit code, text)"""
        try:
            done = subprocess.run(self.wrapped(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=RECIPE_WITHIN_S, **more)
        except subprocess.TimeoutExpired as late:
            raise Problem(f"{' '.join(command)} has not ended after {RECIPE_WITHIN_S} s: {late.stdout}") from late
        return done.returncode, done.stdout


def lab_program(source):
    """The program real/lab/lab as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("lab", str(source / "tests/real/lab/lab"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    loader.exec_module(module)
    return module


@contextlib.contextmanager
def computers(source, folder):
    """The host and the seats, until the recipe has ended. No program on them outlives this."""
    program = lab_program(source)
    state = program.planned(argparse.Namespace(
        name=f"recipe{os.getpid()}", dir=folder / "lab", seats=SEATS, nodes=1, nfs=False, smb=False, loopback=False,
        rate=None, server_rate=None, wire=None, nfs_port=0, mount_port=0, smb_port=0))
    state["nfs"] = state["smb"] = False
    state["server"]["nodes"] = [HOST]
    for number, seat in enumerate(state["seats"], 1):
        seat["address"] = f"10.0.0.{20 + number}"
    why = program.no_lab_because(state)
    if why:
        raise Skipped(why)
    (folder / "lab").mkdir()
    (folder / "lab/lab.json").write_text(json.dumps(state))
    lab = program.Lab(state)
    program.keep(lab, os.getpid())
    try:
        lab.wire()
        host = Computer("host", state["server"]["namespace"], folder)
        seats = [Computer(f"edit{number}", seat["namespace"], folder) for number, seat in enumerate(state["seats"], 1)]
        for computer in (host, *seats):
            computer.furnish()
        yield host, seats
    finally:
        lab.down()


def furnish(folder, binary, source):
    """The files that all computers share."""
    folder.chmod(0o755)
    shared = folder / "shared"
    for name in ("media", "local/bin"):
        (shared / name).mkdir(parents=True)
    (folder / "work").mkdir()
    shutil.copy2(binary, shared / "local/bin/streamsim")
    shutil.copytree(source / "formats", shared / "local/share/streamsim/formats")
    (shared / "hosts").write_text("".join(
        f"{address} {names}\n" for address, names in
        [("127.0.0.1", "localhost"), (HOST, "host streamsim-host")]
        + [(f"10.0.0.{20 + number}", f"edit{number}") for number in range(1, SEATS + 1)]))
    (shared / "ssh_config").write_text("")


def start_sshd(host, seats):
    need(sshd="openssh-server", **{"ssh-keygen": "openssh-client", "scp": "openssh-client"})
    shared = host.folder / "shared"
    known = []

    def make_key(path):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        return path.with_suffix(".pub").read_text()

    user = make_key(host.files / "user")
    for number, seat in enumerate(seats, 1):
        known.append(f"{seat.name},10.0.0.{20 + number} {make_key(seat.files / 'hostkey')}")
        (seat.files / "authorized").write_text(user)
        (seat.files / "sshd_config").write_text(
            f"Port 22\nHostKey {seat.files}/hostkey\nAuthorizedKeysFile {seat.files}/authorized\nPidFile none\n"
            "StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
            "Subsystem sftp internal-sftp\n")
    (shared / "known").write_text("".join(known))
    (shared / "ssh_config").write_text(
        f"Host *\n  User root\n  IdentityFile {host.files}/user\n  BatchMode yes\n  StrictHostKeyChecking yes\n"
        f"  UserKnownHostsFile {shared}/known\n  GlobalKnownHostsFile /dev/null\n")
    for seat in seats:
        with open(seat.files / "sshd.out", "wb") as out:
            seat.begin("/usr/sbin/sshd", "-D", "-e", "-f", seat.files / "sshd_config", out=out)
        wait_until(lambda: host.run("ssh", seat.name, "true")[0] == 0, f"the sshd of {seat.name}")


def start_slurm(host, seats):
    need(slurmctld="slurmctld", slurmd="slurmd", sbatch="slurm-client", munged="munge")
    folder = host.folder
    for name in ("munge", "slurm/state"):
        (folder / name).mkdir(parents=True)
    (folder / "munge/key").write_bytes(os.urandom(128))
    (folder / "munge/key").chmod(0o600)
    processors = os.cpu_count()
    nodes = "".join(f"NodeName={seat.name} NodeAddr=10.0.0.{20 + number} CPUs={processors} State=UNKNOWN\n"
                    for number, seat in enumerate(seats, 1))
    (folder / "slurm/slurm.conf").write_text(SLURM.format(host=HOST, folder=folder, nodes=nodes))

    def begin(computer, *command):
        with open(folder / f"slurm/{computer.name}-{command[0]}.out", "wb") as out:
            computer.begin(*command, out=out)

    begin(host, "munged", "--foreground", *(f"--{what}={folder}/munge/{file}" for what, file in (
        ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
    wait_until((folder / "munge/socket").exists, "munged")
    begin(host, "slurmctld", "-D", "-f", folder / "slurm/slurm.conf")
    for seat in seats:
        begin(seat, "slurmd", "-D", "-N", seat.name, "-f", folder / "slurm/slurm.conf")
    wait_until(lambda: host.run("sinfo", "-h", "-t", "idle", "-o", "%D")[1].strip() == str(SEATS), "Slurm")


def use_pypi(work, *packages):
    """Programs of PyPI, for the recipe."""
    folder = work / "venv"
    if not (folder / "bin/pip").exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode != 0:
            raise Skipped("there is no venv of Python (Debian's package python3-venv)")
    installed = subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    if installed.returncode != 0:
        raise Skipped(f"PyPI has not given {' '.join(packages)}: {installed.stdout.strip().splitlines()[-1]}")
    os.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    return folder / "bin"


# --- a cluster, as far as the recipe of Kubernetes sees it

class Cluster:
    """Carries out the words of kubectl that the page has. A pod is a process on a computer, in a container."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.state = json.loads((self.folder / "cluster/cluster.json").read_text())

    def do(self, words):
        files = [words[at + 1] for at, word in enumerate(words) if word == "-f"]
        if words[0] == "create":
            at = {"secret": 3, "configmap": 2}[words[1]]
            source = pathlib.Path(words[at + 1].removeprefix("--from-file="))
            kept = self.folder / "cluster" / f"{words[1]}-{words[at]}"
            kept.mkdir(mode=0o700)
            shutil.copy(source, kept / source.name)
        elif words[0] == "apply":
            for job in self.jobs(files):
                for number in range(job["spec"].get("completions", 1)):
                    self.start(job, number)
        elif words[0] == "delete" and files:
            for job in self.jobs(files):
                self.remove(job["metadata"]["name"])
        elif words[0] == "delete":
            shutil.rmtree(self.folder / "cluster" / f"{words[1]}-{words[2]}")
        elif words[:2] == ["get", "job"] and words[3:] == ["-o", "jsonpath={.status.conditions[*].type}"]:
            codes = [pod / "code" for pod in self.pods(words[2])]
            if all(code.exists() for code in codes):
                print("Complete" if all(code.read_text() == "0\n" for code in codes) else "Failed")
        elif words[0] == "logs":
            for pod in self.pods(words[1].removeprefix("job/")):
                print((pod / "log").read_text())
        else:
            raise Problem(f"kubectl {' '.join(words)}: is not known here")
        return 0

    @staticmethod
    def jobs(files):
        import yaml  # of the environment that has kubernetes-validate
        documents = [document for file in files for document in yaml.safe_load_all(pathlib.Path(file).read_text())]
        return [document for document in documents if document["kind"] == "Job"]

    def pods(self, name):
        return sorted((self.folder / "cluster/pods").glob(f"{name}-*"))

    def volume(self, volume, pod):
        """The folder of a volume, with the rights that Kubernetes gives to its files."""
        if "persistentVolumeClaim" in volume:
            return {"media": self.folder / "shared/media", "results": self.folder / "work"}[
                volume["persistentVolumeClaim"]["claimName"]]
        kind, name = ("secret", "secretName") if "secret" in volume else ("configmap", "name")
        said = volume["secret" if kind == "secret" else "configMap"]
        made = pod / "volumes" / volume["name"]
        (made / "..then").mkdir(parents=True)
        for file in (self.folder / "cluster" / f"{kind}-{said[name]}").iterdir():
            shutil.copy(file, made / "..then" / file.name)
            (made / "..then" / file.name).chmod(said.get("defaultMode", 0o644))
            (made / file.name).symlink_to(f"..data/{file.name}")
        (made / "..data").symlink_to("..then")
        return made

    def start(self, job, number):
        spec = job["spec"]["template"]["spec"]
        container = spec["containers"][0]
        pod = self.folder / "cluster/pods" / f"{job['metadata']['name']}-{number}"
        root = pod / "root"
        for name in ("usr", "proc", "sys", "dev", "etc"):
            (root / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        for name in ("passwd", "group", "nsswitch.conf", "ld.so.cache"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        shutil.copy(self.folder / "shared/hosts", root / "etc/hosts")
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        mounts = []
        for mount in container["volumeMounts"]:
            (root / mount["mountPath"][1:]).mkdir(parents=True, exist_ok=True)
            mounts += [self.volume(volumes[mount["name"]], pod), mount["mountPath"][1:],
                       "ro" if mount.get("readOnly") else "rw"]
        name = "host" if "host" in job["metadata"]["name"] else f"edit{number + 1}"
        computer = Computer(name, self.state[name], self.folder)
        with open(pod / "log", "wb") as out:
            process = computer.begin(
                "sh", "-c", "code=$1; shift; \"$@\"; echo $? >\"$code\"", "sh", pod / "code",
                "sh", "-ec", CONTAINER, "sh", root, *mounts, "--", *container["command"], out=out)
        (pod / "pid").write_text(str(process.pid))

    def remove(self, name):
        for pod in self.pods(name):
            if not (pod / "code").exists():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(int((pod / "pid").read_text()), signal.SIGTERM)
            shutil.rmtree(pod / "volumes")


def start_cluster(host, seats, files, bin_folder):
    need(setpriv="util-linux")
    folder = host.folder / "cluster"
    (folder / "pods").mkdir(parents=True)
    (folder / "cluster.json").write_text(json.dumps(
        {computer.name: computer.namespace for computer in (host, *seats)}))
    kubectl = host.folder / "shared/local/bin/kubectl"
    kubectl.write_text(f"#!/bin/sh\nexec {bin_folder}/python {pathlib.Path(__file__).resolve()} kubectl "
                       f"{host.folder} \"$@\"\n")
    kubectl.chmod(0o755)
    for name, text in files.items():
        if name.endswith(".yaml"):
            checked = subprocess.run([bin_folder / "kubernetes-validate", "--strict", "-k", "1.37", "-"],
                                     input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(f"{name}: {checked.stdout.strip()}")
            if checked.returncode != 0:
                raise Problem(f"{name} is not what the schema of Kubernetes says")


# --- the recipes

def keys_left(folder):
    """The files that hold a key of streamsim, in the folders of all computers."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
            if b"streamsim.key" in path.read_bytes():
                found.append(path)
    return found


def check_result(work, one):
    result = json.loads((work / "day-result.json").read_text())
    problems = []
    players = [seat for seat in result["seats"] if seat["seats"]]
    states = [(seat["host"]["name"], seat["state"]) for seat in players]
    if result["verdict"]["pass"] is not True:
        problems.append(f"the verdict: {result['verdict']}")
    if len(states) != SEATS or any(state != "complete" for _, state in states):
        problems.append(f"{SEATS} complete seats are expected: {states}")
    if len({name for name, _ in states}) != SEATS:
        problems.append(f"the seats are not on {SEATS} computers: {states}")
    for what in ("digest", "frames_scheduled", "bytes_read"):
        of_one, of_all = ({**document, **document["totals"]}[what] for document in (one, result))
        print(f"{what}: {of_all}, one process: {of_one}")
        if of_one != of_all:
            problems.append(f"{what} is not that of one process")
    return problems


def play_alone(host):
    """The result of one process, which makes the media first."""
    code, text = host.run("streamsim", "run", "day.json", "--yes", "--quiet", "--json", host.files / "one.json")
    if code != 0:
        raise Problem(f"one process alone: exit code {code}: {text}")
    return json.loads((host.files / "one.json").read_text())


def environment(folder):
    return os.environ | {
        "SLURM_CONF": str(folder / "slurm/slurm.conf"), "ANSIBLE_HOME": str(folder / "host/ansible"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "host/ansible/tmp"), "ANSIBLE_FORKS": "1", "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_ASYNC_DIR": str(folder / "host/ansible/async"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "HOME": str(folder / "host/root"),
        "PATH": f"/usr/local/bin:{os.environ['PATH']}:/usr/sbin"}


def run_recipe(recipe, binary, source, work_dir, folder):
    files, commands = section((source / PAGE).read_text(), RECIPES[recipe])
    if recipe == "cluster":
        commands = ["sh in-cluster.sh"]
        files["seats.yaml"] = files["seats.yaml"].replace(f"{HOST}:9470", "streamsim-host:9470")
    furnish(folder, binary, source)
    with computers(source, folder) as (host, seats):
        work = folder / "work"
        (work / "day.json").write_text(json.dumps(DAY))
        for name, text in files.items():
            (work / name).write_text(text)
        if recipe in ("ssh", "ansible", "mpirun"):
            start_sshd(host, seats)
        if recipe == "ansible":
            use_pypi(work_dir, "ansible-core")
        elif recipe == "mpirun":
            need(mpirun="openmpi-bin")
            if "\nMPI: " not in host.run("streamsim", "--version")[1]:
                raise Skipped("this streamsim was built without MPI")
        elif recipe in ("kubernetes", "cluster"):
            start_cluster(host, seats, files, use_pypi(work_dir, "kubernetes-validate==1.37.0"))
        os.environ.update(environment(folder))
        if recipe == "slurm":
            start_slurm(host, seats)
        one = play_alone(host)
        problems = []
        for command in commands:
            began = time.monotonic()
            code, text = host.run("sh", "-c", command)
            print(f"$ {command.strip()}\n{text}exit code {code} after {time.monotonic() - began:.1f} s")
            if code != 0:
                problems.append(f"exit code {code}")
        for log in [*work.glob("slurm-*.out"), *folder.glob("cluster/pods/*/log")]:
            print(f"--- {log.name} of {log.parent.name}\n{log.read_text()}")
        problems += [f"a key is left: {path.relative_to(folder)}" for path in keys_left(folder)]
        problems += check_result(work, one) if (work / "day-result.json").exists() else ["there is no result"]
        return problems


def main():
    if sys.argv[1] == "kubectl":
        return Cluster(sys.argv[2]).do(sys.argv[3:])
    recipe, (binary, source, work_dir) = sys.argv[1], map(pathlib.Path, sys.argv[2:5])
    work_dir.mkdir(parents=True, exist_ok=True)
    # Not in /tmp: each computer has its own.
    with tempfile.TemporaryDirectory(prefix="streamsim-recipe-", dir="/var/tmp") as folder:
        try:
            problems = run_recipe(recipe, binary.resolve(), source, work_dir.resolve(), pathlib.Path(folder))
        except Skipped as why:
            print(f"skipped: {why}")
            return 0
        except Problem as problem:
            problems = [str(problem)]
    print(*problems or [f"the recipe of {RECIPES[recipe]} does what the page says"], sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
