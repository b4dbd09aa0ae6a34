"""The bill of materials of a package, as SPDX 2.3 in JSON."""
import datetime
import hashlib
import json
import subprocess

from fetch import PINS
from program import libraries_of, runtimes_of

RUNTIME_LICENCES = {"libc++": "Apache-2.0 WITH LLVM-exception", "libc++abi": "Apache-2.0 WITH LLVM-exception",
                    "libunwind": "Apache-2.0 WITH LLVM-exception", "compiler-rt": "MIT", "mingw-w64": "ZPL-2.1"}
# The packages of Debian whose code is in the program of the .deb; its other libraries are dependencies.
DEB_PARTS = {"CLI11": "libcli11-dev", "nlohmann_json": "nlohmann-json3-dev", "Boost": "libboost-dev", "Chart.js": "libjs-chart.js"}


def entry(name, number, licence, checksum=None, origin=None):
    return {"SPDXID": "SPDXRef-" + name.replace("_", "-").replace("+", "p"), "name": name, "versionInfo": number,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            **({"checksums": [{"algorithm": "SHA256", "checksumValue": checksum}]} if checksum else {}),
            **({"sourceInfo": origin} if origin else {})}


def make_sbom(target, version, revision, seconds):
    """The text for an archive: streamsim, the libraries whose code is in the package, and the compiler that made it."""
    parts = []
    for name, pin in libraries_of(target):
        kind = "binary" if "deb" in pin else "source"
        parts.append(entry(name, pin["version"], pin["licence"], pin.get("deb") or pin["tar"],
                           f"Debian {kind} package {pin['package']} {pin['version']}"
                           + ("" if "deb" in pin else f", with its patches (SHA-256 {pin['patches']})")))
    pin = PINS["compiler"]
    origin = f"PyPI package {pin['package']}"
    for name in runtimes_of(target):
        parts.append(entry(name, pin["version"], RUNTIME_LICENCES[name], pin["wheel"], f"in the {origin}"))
    compiler = entry(pin["package"], pin["version"], pin["licence"], pin["wheel"], origin)
    return text_of(f"streamsim-{version}-{target.name}", version, revision, seconds, parts, [compiler])


def make_deb_sbom(version, revision, seconds):
    licences = {name: pin["licence"] for name, pin in PINS["sources"].items()}
    parts = []
    for name, package in DEB_PARTS.items():
        number = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True).stdout
        parts.append(entry(name, number, licences[name], None, f"Debian package {package} {number}"))
    return text_of(f"streamsim_{version}_deb", version, revision, seconds, parts, [])


def text_of(name, version, revision, seconds, parts, tools):
    packages = [entry("streamsim", f"{version} ({revision})", "Apache-2.0"), *parts, *tools]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-streamsim"),
                 *(("SPDXRef-streamsim", "CONTAINS", part["SPDXID"]) for part in parts),
                 *((tool["SPDXID"], "BUILD_TOOL_OF", "SPDXRef-streamsim") for tool in tools)]
    identity = hashlib.sha256(json.dumps([name, revision, packages]).encode()).hexdigest()
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{identity}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: tools/package"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }, indent=1) + "\n"
