"""The bill of materials of a package, as SPDX 2.3 in JSON."""
import datetime
import hashlib
import json

from fetch import PINS
from program import libraries_of


def make_sbom(target, version, revision, seconds):
    """The text: streamsim, the libraries whose code is in the package, and the compiler that made it."""
    def package(name, number, licence, checksum, origin):
        return {"SPDXID": "SPDXRef-" + name.replace("_", "-"), "name": name, "versionInfo": number,
                "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                **({"checksums": [{"algorithm": "SHA256", "checksumValue": checksum}]} if checksum else {}),
                **({"sourceInfo": origin} if origin else {})}

    packages = [package("streamsim", f"{version} ({revision})", "Apache-2.0", None, None)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-streamsim")]
    for name, pin in libraries_of(target):
        kind = "binary" if "deb" in pin else "source"
        packages.append(package(name, pin["version"], pin["licence"], pin.get("deb") or pin["tar"],
                                f"Debian {kind} package {pin['package']} {pin['version']}"
                                + ("" if "deb" in pin else f", with its patches (SHA-256 {pin['patches']})")))
        relations.append(("SPDXRef-streamsim", "CONTAINS", packages[-1]["SPDXID"]))
    pin = PINS["compiler"]
    packages.append(package(pin["package"], pin["version"], pin["licence"], pin["wheel"], f"PyPI package {pin['package']}"))
    relations.append((packages[-1]["SPDXID"], "BUILD_TOOL_OF", "SPDXRef-streamsim"))
    name = f"streamsim-{version}-{target.name}"
    identity = hashlib.sha256(json.dumps([name, revision, packages]).encode()).hexdigest()
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{identity}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: tools/package"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }, indent=1) + "\n"
