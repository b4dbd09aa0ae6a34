#!/usr/bin/env python3
"""Mutation testing: do the tests notice small faults in the cores?

    tests/mutation/run.py [--cores play,ledger,judge,merge,sim] [--count 300] [--seed 1] [--jobs 2] [--survivors FILE]

Copies the tree below .build/mutation, puts switchable faults into the cores (rewrite.py), builds the tests of the labels
unit, sim and digest once, notes which test reaches which fault, and then switches on one fault after the other: those
drawn by the seed. A fault that makes no test that reaches it fail, and none hang, has survived. Faults that change
nothing that can be seen stand in equivalent.txt, with the reason. Prints the score of each core and the survivors; with
--survivors only those that an earlier output, FILE, names are tried again.
Needs clang, and its Python bindings (Debian: python3-clang).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
WORK = SOURCE / ".build/mutation"
CORES = {
    "play": ["src/play/player.cc", "src/play/player_end.cc", "src/play/frame_read.cc", "src/play/frame_stream.cc",
             "src/play/slot_reads.cc", "src/play/play_path.cc", "src/play/frame_write.cc", "src/play/recorder.cc"],
    "ledger": ["src/play/ledger.cc"],
    "judge": ["src/judge/*.cc", "src/judge/*/*.cc"],
    "merge": ["src/result/merge*.cc"],
    "sim": ["src/sim/*/*.cc", "src/sim/*.cc"],
}
HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
#include <memory>

// Which of the faults is on: STREAMSIM_MUTANT=<number>; with STREAMSIM_REACHED=<file> which were asked for is written there.
namespace streamsim::mutation {
constexpr int kMutants = %d;
inline unsigned char reached[kMutants + 1];
inline const int chosen = [] {
    const char* const number = std::getenv("STREAMSIM_MUTANT");
    if (std::getenv("STREAMSIM_REACHED") != nullptr) {
        std::atexit([] {
            std::FILE* const file = std::fopen(std::getenv("STREAMSIM_REACHED"), "ab");
            if (file == nullptr) return;
            for (int i = 0; i <= kMutants; ++i) {
                if (reached[i] != 0) std::fprintf(file, "%%d\\n", i);
            }
            std::fclose(file);
        });
    }
    return number == nullptr ? 0 : std::atoi(number);
}();
inline bool is_on(int number) {
    __atomic_store_n(&reached[number], 1, __ATOMIC_RELAXED);
    return number == chosen;
}
}  // namespace streamsim::mutation
#define STREAMSIM_MUTANT(number) (::streamsim::mutation::is_on(number))
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def files_of(core):
    return sorted(path.relative_to(SOURCE) for pattern in CORES[core] for path in SOURCE.glob(pattern))


def copy_tree():
    tree = WORK / "source"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in ("CMakeLists.txt", "CMakePresets.json", "src", "include", "formats", "tests", "tools", "docs", "README.md"):
        (shutil.copytree if (SOURCE / name).is_dir() else shutil.copy2)(SOURCE / name, tree / name)
    return tree


def compile_arguments():
    include = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    return ["-std=c++20", f"-I{SOURCE}/src", f"-I{SOURCE}/include", f"-isystem{include}/include"]


def mutate(tree, cores):
    """Rewrites the files of the cores in the tree; the mutants, by core. Faults that do not compile are left out."""
    sys.path.insert(0, str(HERE))
    from rewrite import Rewriter
    arguments = compile_arguments()
    mutants = {}
    number = 1
    header = tree / "src/mutant.h"
    header.write_text(HEADER % 100_000)
    for core in cores:
        mutants[core] = []
        for path in files_of(core):
            without = set()
            while True:
                rewriter = Rewriter(SOURCE / path, path, arguments, number, without)
                (tree / path).write_bytes(rewriter.rewritten())
                wrong = does_not_compile(tree, path)
                bad = {each.number for each in rewriter.mutants if each.line in wrong}
                if not wrong:
                    break
                if not bad:
                    say(f"{path}: does not compile: {wrong}")
                    without = {each.number for each in rewriter.mutants} | without
                without |= bad
            number = rewriter.next
            mutants[core] += rewriter.mutants
        say(f"{core}: {len(mutants[core])} mutants in {len(files_of(core))} files")
    header.write_text(HEADER % number)
    return mutants


def does_not_compile(tree, path):
    """The lines of the errors."""
    done = subprocess.run(["clang++", "-std=c++20", "-w", "-fsyntax-only", "-ferror-limit=0", f"-I{tree}/src", f"-I{tree}/include",
                           str(tree / path)], capture_output=True, text=True, check=False)
    return {int(line) for line in re.findall(rf"{re.escape(path.name)}:(\d+):\d+: error", done.stderr)}


def build(tree):
    directory = WORK / "build"
    flags = ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -w -D_GLIBCXX_ASSERTIONS", "-DSTREAMSIM_TESTS=ON", "-DSTREAMSIM_WERROR=OFF"]
    if shutil.which("ccache"):
        flags.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    with (WORK / "build.log").open("w") as log:
        for command in (["cmake", "--preset", "release", "-B", str(directory), *flags],
                        ["cmake", "--build", str(directory), "-j", str(os.cpu_count()), "--target", "tests_unit", "tests_sim",
                         "tests_digest"]):
            if subprocess.run(command, cwd=tree, stdout=log, stderr=log, check=False).returncode != 0:
                sys.exit(f"the build failed: {WORK / 'build.log'}")
    return directory


class Test:
    def __init__(self, name, command, directory):
        self.name, self.command, self.directory = name, command, directory
        self.seconds, self.reached = 0.0, frozenset()


def tests_of(directory):
    """The tests that are not slow, as ctest knows them."""
    text = subprocess.run(["ctest", "--test-dir", str(directory), "--show-only=json-v1", "-L", "^(unit|sim|digest)$", "-LE", "^slow$"],
                          capture_output=True, text=True, check=True).stdout
    for each in json.loads(text)["tests"]:
        if each.get("command"):
            place = {p["name"]: p["value"] for p in each["properties"]}.get("WORKING_DIRECTORY", str(directory))
            yield Test(each["name"], each["command"], place)


def run(test, limit, **environment):
    """True: it passed in time."""
    try:
        return subprocess.run(test.command, cwd=test.directory, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def note_reached(test):
    """Runs it as it is. False: it fails, and can tell nothing."""
    file = WORK / f"reached/{re.sub('[^A-Za-z0-9]', '_', test.name)[:150]}-{abs(hash(test.name))}"
    began = time.monotonic()
    passed = run(test, 300, STREAMSIM_REACHED=str(file))
    test.seconds = time.monotonic() - began
    test.reached = frozenset(map(int, file.read_text().split())) if file.exists() else frozenset()
    return passed


def is_killed(mutant, tests):
    """The name of the test that noticed; empty: none did."""
    for test in tests:
        if not run(test, 10 + 10 * test.seconds, STREAMSIM_MUTANT=str(mutant.number)):
            return test.name
    return ""


def survivors_in(file):
    """"file: code what" of each survivor of an earlier output: the lines may have moved since."""
    return {f"{path}: {what}" for path, what in re.findall(r"^survived, .*?: (\S+?):\d+: (.*)$", file.read_text(), re.MULTILINE)}


def known_equivalents():
    """"file: code what" of each, and its reason. The lines of the file are not in it: they move."""
    known = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what, _, reason = line.partition(" -- ")
            known[what] = reason
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--count", type=int, default=300, help="mutants that are drawn, of all cores together; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--survivors", type=pathlib.Path)
    given = parser.parse_args()
    cores = given.cores.split(",")
    began = time.monotonic()
    tree = copy_tree()
    by_core = mutate(tree, cores)
    directory = build(tree)
    say(f"built after {time.monotonic() - began:.0f} s")
    shutil.rmtree(WORK / "reached", ignore_errors=True)
    (WORK / "reached").mkdir()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        tests = list(tests_of(directory))
        good = [test for test, passed in zip(tests, pool.map(note_reached, tests)) if passed]
        good = sorted((test for test in good if test.reached), key=lambda test: test.seconds)
        say(f"{len(good)} of {len(tests)} tests reach a mutant, after {time.monotonic() - began:.0f} s")
        equivalents = known_equivalents()
        every = [(core, each) for core in cores for each in by_core[core]
                 if f"{each.path}: {each.what}" not in equivalents]
        if given.survivors:
            wanted = survivors_in(given.survivors)
            every = [(core, each) for core, each in every if f"{each.path}: {each.what}" in wanted]
        drawn = every if given.count == 0 else random.Random(given.seed).sample(every, min(given.count, len(every)))
        reaching = {each.number: [test for test in good if each.number in test.reached] for _, each in drawn}
        killers = []
        for (_, each), killer in zip(drawn, pool.map(lambda pair: is_killed(pair[1], reaching[pair[1].number]), drawn)):
            killers.append(killer)
            say(f"{len(killers)} of {len(drawn)}: {each}: {killer or 'survived'}")
    survivors = []
    print(f"{'core':<8} {'drawn':>6} {'killed':>7} {'survived':>9} {'score':>7}")
    for core in cores:
        own = [(each, killer) for (of, each), killer in zip(drawn, killers) if of == core]
        killed = sum(killer != "" for _, killer in own)
        survivors += [each for each, killer in own if killer == ""]
        print(f"{core:<8} {len(own):>6} {killed:>7} {len(own) - killed:>9} {killed / len(own) if own else 1:>7.1%}")
    print(f"all      {len(drawn):>6} {len(drawn) - len(survivors):>7} {len(survivors):>9} "
          f"{1 - len(survivors) / max(len(drawn), 1):>7.1%}   of {len(every)}; {len(equivalents)} are known to change nothing")
    for each in survivors:
        print(f"survived, {len(reaching[each.number])} tests reach it: {each}")
    print(f"seed {given.seed}, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
