#!/usr/bin/env python3
"""Holds a trace (--trace) against the rows (--csv) and the result (--json) of the same run. Called by reports_test.

trace_agreement.py TRACE CSV RESULT: prints each disagreement and how many slices and marks there are; exit 1 where
there is a disagreement. Numbers are read as decimals, so that nothing is rounded here.
"""
import collections
import csv
import decimal
import json
import sys

COLUMNS = ["seat", "stream", "frame", "clip_frame", "file", "kind", "reason", "errno", "bytes", "scheduled_ns",
           "submitted_ns", "opened_ns", "open_ns", "due_ns", "completed_ns", "margin_ns"]


def key(row):
    return int(row["seat"]), int(row["stream"]), int(row["frame"])


def time_of_mark(row):
    """Without a deadline (play never began, or is as fast as it goes) the last thing that happened; else 0."""
    times = [row[at] for at in ("due_ns", "completed_ns", "submitted_ns", "scheduled_ns") if row[at] != ""]
    return int(times[0]) if times else 0


def check_event(event, row, expected_ns, problems):
    """Its arguments are the row's columns; its time is that one, from the beginning of the trace."""
    expected = {name: row[name] for name in COLUMNS if row[name] != ""}
    found = {name: str(value) for name, value in event["args"].items()}
    if found != expected:
        problems.append(f"{key(row)}: the arguments are {found}, the row is {expected}")
    if event["ts"] * 1000 != expected_ns:
        problems.append(f"{key(row)}: ts {event['ts']}, but the row says {expected_ns} ns")
    if event["pid"] != int(row["seat"]) + 1:
        problems.append(f"{key(row)}: is in process {event['pid']}")


def check_tracks(slices, names, problems):
    """As a viewer sees them, which reads binary fractions: nothing overlaps, each track is one stream's."""
    tracks = collections.defaultdict(list)
    for event in slices:
        tracks[event["pid"], event["tid"]].append(event)
    for track, events in tracks.items():
        if track not in names:
            problems.append(f"track {track} has no name")
        if len({key(event["args"])[:2] for event in events}) != 1:
            problems.append(f"track {track} has slices of several streams")
        spans = sorted((int(float(e["ts"]) * 1000), int(float(e["dur"]) * 1000), e["name"]) for e in events)
        for (at, length, name), (next_at, _, next_name) in zip(spans, spans[1:]):
            if at + length > next_at:
                problems.append(f"track {track}: {name} lies over {next_name}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        rows = {key(row): row for row in csv.DictReader(file)}
    with open(sys.argv[3], encoding="utf-8") as file:
        starts = {(s["seat"], s["stream"]): s["play_start_ns"] for s in json.load(file)["streams"]}

    problems = []
    events = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        events[event["ph"]].append(event)
        if event["ph"] != "M" and event["ts"] < 0:
            problems.append(f"an event lies before 0: {event}")
    names = {(e["pid"], e["tid"]) for e in events["M"] if e["name"] == "thread_name"}
    slices = collections.Counter(key(event["args"]) for event in events["X"])
    marks = collections.Counter(key(event["args"]) for event in events["i"])
    offset = trace["otherData"]["offset_ns"]
    for place, row in rows.items():
        read = row["submitted_ns"] != "" and row["completed_ns"] != ""
        if slices[place] != int(read):
            problems.append(f"{place}: {slices[place]} slices, but it was {'' if read else 'not '}read")
        if marks[place] != int(not read or row["kind"] != "on_time"):
            problems.append(f"{place}: {marks[place]} marks, but it is {row['kind']}")
    for event in events["X"] + events["i"]:
        row = rows.get(key(event["args"]))
        if row is None:
            problems.append(f"there is no row for {event}")
            continue
        start = offset + starts[key(row)[:2]]
        at = int(row["submitted_ns"]) if event["ph"] == "X" else time_of_mark(row)
        check_event(event, row, start + at, problems)
        if event["ph"] == "X" and event["dur"] * 1000 != int(row["completed_ns"]) - int(row["submitted_ns"]):
            problems.append(f"{key(row)}: dur {event['dur']}")
    check_tracks(events["X"], names, problems)
    print("\n".join(problems))
    print(f"{len(events['X'])} slices, {len(events['i'])} marks, {len(events['C'])} counters")
    sys.exit(1 if problems else 0)


main()
