#!/usr/bin/env python3
"""Compares what readers said of documents with what their JSON schemas say. Called by schema_agreement_test.

schema_agreement.py SCHEMA_DIRECTORY FILE: each line of FILE is {"schema", "what", "document", "refused", "problems"}
or {"schema", "pointer", "document", "known": [keys]}. Prints each disagreement; exit 1 where there is one, 77
without python3-jsonschema.
"""
import json
import re
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

# Two members that are right alone and wrong together are the reader's business: what it says then.
TOGETHER = [
    r"a cluster of several nodes has a", r"a cache of ssd_bytes has", r"a tail_share above 0 says", r"expected a part of the",
    r"without flow control what does not", r"expected less than the \d+ drives", r"no faster than its outer",
    r"takes no less than to the next", r"is for \"codec\"", r"a cost has s_per_frame", r"never taken",
    r"what is read ahead waits there", r"a drive holds whole blocks", r"the seat's last is", r"in one place are of one length",
    r"the least and the most.*found \[\d+,\d+\]$",
    # How much a text says, and what comes before what.
    r"expected more than no time", r"expected at least \d+ bytes or a text.*found \"",
    r"/verify: expected at least 20", r"'0' is not a frame rate",
    r"is after the end", r"never plays", r"never happens",
    # Rules that depend on what there is: formats, files, the model.
    # Intervals, quantiles and correlations: numbers that contradict each other.
    r"expected no (more|less) than ", r"there is no number at", r"expected a row of", r"expected ones on the diagonal",
    r"expected a symmetric matrix", r"no numbers vary together",
    r"is read from real clips only", r"/format: missing, but required", r"is neither a known format",
    r"only a model has", r"have one storage in common", r"happens on a model only",
    # Rules of workloads: keys that reads and writes need, keys that loops and sweeps need, sizes that must fit.
    r"/(blocks|files|files/bytes|operations_per_s|at): missing, but required", r"is of (an open|a closed) loop",
    r"reads and writes, which", r"writes, which this", r"is of random transfers", r"with a weight above 0",
    r"do(es)? not fit", r"less than the smallest block", r"is given twice", r"another meter is named",
    r"expected 1 B to", r"says which step", r"/at: expected", r"never runs", r"would begin", r"are more than",
    # Levels that do not ascend, names and pointers of a need that name nothing.
    r"that ascend", r"expected \"seats\" or the name", r"is no model", r"expected a model",
    r"expected a number that (no choice|some seats)",
    r"expected .*, as the model has at ", r"there is no (number|model)", r"expected such as", r"has no \"pointer\"", r"/value: missing", r"is for (\"from\"|values)", r"expected a JSON pointer", r"or more$",
    # Names in published results that name nothing, numbers that do not fit each other.
    r"there is no row", r"is no row with", r"there is no such parameter", r"expected a multiple of the", r"expected no less than /least",
    r"/(format|row): missing, but required",
    r"sweep: is over", r"which whole_files has none of", r"is not for whole_files", r"beside lengths up_to",
]


def remembering(keyword):
    """A keyword of JSON Schema that checks each valid member once: documents differ in one place, and are alike else."""
    valid = set()

    def check(validator, value, instance, schema):
        if isinstance(instance, dict) and keyword == "properties":
            members = [(instance[name], subschema) for name, subschema in value.items() if name in instance]
        elif isinstance(instance, list) and keyword == "items":
            members = [(item, value) for item in instance]
        else:
            return
        for member, subschema in members:
            key = (id(subschema), json.dumps(member))
            if key in valid:
                continue
            errors = list(validator.descend(member, subschema))
            if not errors:
                valid.add(key)
            yield from errors

    return check


def load(directory):
    schemas = {}
    for name in ("storage-model", "scenario", "workload", "published", "need"):
        with open(f"{directory}/{name}.json", encoding="utf-8") as file:
            schemas[name] = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schemas[name])
    return schemas


def applicable(root, schema, value):
    """Every subschema that speaks of this value."""
    out = [schema]
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].lstrip("#/").split("/"):
            target = target[step]
        out += applicable(root, target, value)
    for branch in schema.get("oneOf", []):
        kind = branch.get("properties", {}).get("kind", {}).get("const")
        if kind is not None and isinstance(value, dict) and value.get("kind") != kind:
            continue
        if branch.get("type") == "array" and not isinstance(value, list):
            continue
        if kind is None and isinstance(value, dict) and not set(branch.get("required", [])) <= set(value):
            continue
        out += applicable(root, branch, value)
    return out


def known_to(root, document, pointer):
    """The keys that the schema knows of the object at the pointer."""
    schemas, value = applicable(root, root, document), document
    for step in [step for step in pointer.split("/") if step]:
        value = value[int(step)] if isinstance(value, list) else value[step]
        following = []
        for schema in schemas:
            if isinstance(schema.get("properties", {}).get(step), dict):
                following.append(schema["properties"][step])
            elif step.isdigit() and "items" in schema:
                following.append(schema["items"])
        schemas = [each for schema in following for each in applicable(root, schema, value)]
    closed = [set(schema.get("properties", {})) for schema in schemas if schema.get("additionalProperties") is False]
    return set.intersection(*closed) if closed else set()


def main():
    schemas = load(sys.argv[1])
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator,
                                        {keyword: remembering(keyword) for keyword in ("properties", "items")})
    validators = {name: kind(schema) for name, schema in schemas.items()}
    compared = disagreed = 0
    with open(sys.argv[2], encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            name = case["schema"]
            compared += 1
            if "known" in case:
                keys = known_to(schemas[name], case["document"], case["pointer"])
                if keys != set(case["known"]):
                    disagreed += 1
                    print(f"{name}: {case['pointer']}: the reader alone knows {sorted(set(case['known']) - keys)}, "
                          f"the schema alone {sorted(keys - set(case['known']))}")
                continue
            refused = not validators[name].is_valid(case["document"])
            if refused == case["refused"]:
                continue
            if case["refused"] and all(any(re.search(said, p) for said in TOGETHER) for p in case["problems"]):
                continue
            disagreed += 1
            who = "schema refuses, reader does not" if refused else f"reader refuses, schema does not: {case['problems']}"
            print(f"{name}: {case['what']}: {who}")
    print(f"{compared} compared, {disagreed} disagree")
    return 1 if disagreed or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
