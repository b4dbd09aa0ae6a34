#!/usr/bin/env python3
"""Imports the Grafana dashboard of formats/grafana/ with the types of Grafana's own schema, and compares it with a run.

grafana_dashboard.py DASHBOARD STREAMSIM DIRECTORY: nothing is lost on the way through the schema; each metric and each
label that it asks for is one that a run serves. The schema (grafana-foundation-sdk of PyPI) is fetched into DIRECTORY.
"""
import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PACKAGE = "grafana-foundation-sdk==1769699998!10.1.0"  # Grafana 10.1


def fetch(directory):
    """The folder with the package; ends the test as skipped where it is not available."""
    if sys.version_info < (3, 11):
        print("skipped: the schema of Grafana needs Python 3.11")
        sys.exit(0)
    into = directory / "packages"
    if not (into / "grafana_foundation_sdk").is_dir():
        got = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(into), PACKAGE],
                             capture_output=True, text=True, timeout=200)
        if got.returncode != 0:
            print("skipped: grafana-foundation-sdk cannot be fetched from PyPI: " + got.stderr.strip()[-300:])
            sys.exit(0)
    return into


def lost(given, kept, at=""):
    """The places of `given` that `kept` does not have as they were."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return [place for key, value in given.items() for place in
                (lost(value, kept[key], f"{at}/{key}") if key in kept else
                 [] if value is None else [f"{at}/{key}"])]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [place for i, value in enumerate(given) for place in lost(value, kept[i], f"{at}/{i}")]
    return [] if given == kept else [at]


def through_schema(dashboard):
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard
    register_default_plugins()
    return json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))


def served(streamsim):
    """Names of the samples that a run serves, and their labels."""
    run = subprocess.Popen([streamsim, "--prores-hd", "--duration", "60s", "--metrics", "127.0.0.1:0", "null:"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        url = None
        said = ""
        while url is None:
            line = run.stderr.readline()
            said += line
            found = re.search(r"http://[0-9.:]+/metrics", line)
            url = found.group(0) if found else None
            if not line:
                sys.exit("the run ended: " + said)
        samples = {}
        until = time.monotonic() + 30
        while "streamsim_margin_min_seconds" not in samples and time.monotonic() < until:
            text = urllib.request.urlopen(url, timeout=10).read().decode()
            for line in text.splitlines():
                found = re.match(r"(streamsim\w+)(?:\{(.*)\})? ", line)
                if found:
                    samples[found.group(1)] = set(re.findall(r"(\w+)=\"", found.group(2) or ""))
            time.sleep(0.1)
        return samples
    finally:
        run.terminate()
        run.wait()


def main():
    path, streamsim, directory = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    dashboard = json.loads(path.read_text())
    problems = []

    samples = served(streamsim)
    samples["streamsim_faults_injected"] = set()  # only in runs with faults
    if len(samples) < 8:
        problems.append(f"a run serves {sorted(samples)} only")
    targets = [target for panel in dashboard["panels"] for target in panel["targets"]]
    for target in targets:
        names = re.findall(r"streamsim_\w+", target["expr"])
        if not names:
            problems.append(f"{target['expr']}: asks for nothing of streamsim")
        for name in names:
            if name not in samples:
                problems.append(f"{target['expr']}: no run serves {name}")
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
            if label not in set().union(*(samples.get(name, set()) for name in names)):
                problems.append(f"{target['legendFormat']}: {names} have no label {label}")
    asked = {name for target in targets for name in re.findall(r"streamsim_\w+", target["expr"])}
    for name in samples:
        if name not in asked | {"streamsim_info", "streamsim_frames_on_time_total"}:
            problems.append(f"{name} is in no panel")

    sys.path.insert(0, str(fetch(directory)))
    problems += [f"{path.name}: {place}: the schema of Grafana has no such value"
                 for place in lost(dashboard, through_schema(dashboard))]
    for problem in problems:
        print(problem)
    print(f"{len(dashboard['panels'])} panels, {len(targets)} queries, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
