#!/usr/bin/env python3
"""Reads a JUnit report as a build server does, checks its structure, and prints what is in it as JSON. Called by
reports_test. Exit 1 with the problem where it is not well-formed XML, or not what the readers of such reports take.
"""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree


def check(condition, problem):
    if not condition:
        sys.exit(problem)


def main():
    top = ElementTree.parse(sys.argv[1]).getroot()
    check(top.tag == "testsuites" and [suite.tag for suite in top] == ["testsuite"], "expected one testsuite")
    suite = top[0]
    cases = suite.findall("testcase")
    check([child.tag for child in suite] == ["properties"] + ["testcase"] * len(cases), "unknown elements")
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), "timestamp")
    outcomes = {"failure": 0, "error": 0}
    for case in cases:
        check(re.fullmatch(r"\d+\.\d{3}", case.get("time")) and case.get("classname"), "a testcase's attributes")
        check(len(case) <= 1, "a testcase has one outcome")
        for outcome in case:
            outcomes[outcome.tag] += 1
            check(outcome.get("message") and outcome.get("type"), "an outcome's attributes")
    for element in top, suite:
        counts = [int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")]
        check(counts == [len(cases), outcomes["failure"], outcomes["error"], 0], "the sums are wrong")
    check(len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases), "names are not unique")
    print(json.dumps({
        "cases": [case.get("classname") + " " + case.get("name") for case in cases],
        "properties": {each.get("name"): each.get("value") for each in suite.find("properties")},
        "texts": [outcome.get("message") + "|" + outcome.text for case in cases for outcome in case],
        **outcomes}))


main()
