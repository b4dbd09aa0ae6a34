#!/usr/bin/env python3
"""How long a plan with twelve choices takes (plan_twelve_choices.json): printed, not asserted.

plan_time.py STREAMSIM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def main():
    need = pathlib.Path(__file__).with_name("plan_twelve_choices.json")
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "plan.json"
        before = os.times()
        begin = time.monotonic()
        subprocess.run([sys.argv[1], "plan", "-q", str(need), "--json", str(result)], check=True)
        wall, after = time.monotonic() - begin, os.times()
        plan = json.loads(result.read_text(encoding="utf-8"))
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{plan['configurations']:.0f} configurations, {plan['played']} runs, {plan['verified']} verified: "
          f"{wall:.1f} s on {os.cpu_count()} processors, {cpu:.1f} s of processor time; "
          f"cheapest {plan['plans'][0]['price']:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
