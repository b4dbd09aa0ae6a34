#!/usr/bin/env python3
"""Asks a program that plays for its metrics, reads them with the reader of Prometheus, and prints the samples as JSON.

open_metrics_reader.py URL: exit 77 without python3-prometheus-client.
"""
import json
import sys
import urllib.request

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    print("python3-prometheus-client is not installed")
    sys.exit(77)

with urllib.request.urlopen(sys.argv[1], timeout=10) as answer:
    kind, text = answer.headers["Content-Type"], answer.read().decode()
families = list(text_string_to_metric_families(text))
print(json.dumps({
    "type": kind,
    "families": {family.name: [family.type, family.unit] for family in families},
    "samples": [[sample.name, sample.labels, sample.value] for family in families for sample in family.samples]}))
