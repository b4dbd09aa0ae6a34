#!/usr/bin/env python3
"""Opens HTML reports in a headless Chromium that has no network, and reads them as their readers would: on a
desktop, on a phone, in the dark, on paper, and with axe-core.

    page_test.py look|axe STREAMSIM PAGE_SAMPLES WORK

WORK gets the reports, and of each a picture for every way of looking at it. Prints "skipped: ..." where Chromium or
axe-core is not available.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # beside the sources
import chromium

HERE = pathlib.Path(__file__).parent
DESKTOP, PHONE = (1440, 900), (390, 844)
# On models: what plays, what does not, and 200 streams that do not.
RUNS = {
    "good": ["--prores-hd", "--streams", "4", "--duration", "20s"],
    "bad": ["--prores-uhd", "--streams", "8", "--duration", "20s"],
    "seats": ["--prores-hd", "--seats", "4", "--streams", "12", "--duration", "10s"],
    "recorders": ["--prores-hd", "--streams", "4", "--record", "4", "--duration", "10s"],
    "many": ["--prores-hd", "--seats", "50", "--streams", "4", "--duration", "15s", "--preroll-timeout", "60s"],
}
PICTURED = ("good", "bad", "many", "told_in_full", "sheet_24", "sheets", "comparison", "workload-ebu-production-edit",
            "workload-cvs-random-mix")
MAX_BYTES = 2_000_000
AXE = "axe-core@4.10.2"


def skip(reason):
    print("skipped:", reason)
    sys.exit(0)


def make_reports(streamsim, samples, work):
    """The paths of the reports, each with its JSON document beside it."""
    subprocess.run([samples, work], check=True)
    for name, options in RUNS.items():
        path = work / name
        run = subprocess.run([streamsim, *options, "sim:h500?nodes=4", "--quiet", "--json", f"{path}.json", "--html",
                              f"{path}.html"], check=False)
        if run.returncode not in (0, 1):
            sys.exit(f"streamsim {' '.join(options)}: exit {run.returncode}")
    staged = work / "staged_faults.json"
    staged.write_text(json.dumps({"schema": "streamsim.faults", "version": 1, "stalls": [
        {"at": "2s", "for": "400ms"}, {"at": "5s", "for": "300ms"}, {"at": "8500ms", "for": "500ms"}]}))
    path = work / "staged"
    subprocess.run([streamsim, "--dpx10", "--streams", "4", "--duration", "12s", "--readahead", "2", "--faults", staged,
                    "sim:null", "--quiet", "--json", f"{path}.json", "--html", f"{path}.html"], check=False)
    # Pages of other kinds.
    def write(name, *words):
        run = subprocess.run([streamsim, *words, "--quiet", "--html", f"{work / name}.html"], check=False)
        if run.returncode not in (0, 1):
            sys.exit(f"streamsim {' '.join(map(str, words))}: exit {run.returncode}")

    write("ramp", "run", "morning")
    formats = ["--dpx10", "--dpx12", "--prores-uhd"]
    write("sheet_24", "max", *formats, "--fps", "24", "--title", "Stage 4", "--client", "ACME & Sons", "--note",
          "after the switch was replaced", "--json", work / "sheet_24.json", "sim:h500")
    write("sheet_30", "max", *formats, "--fps", "30", "--json", work / "sheet_30.json", "sim:h500")
    write("sheets", "report", work / "sheet_24.json", work / "sheet_30.json")
    write("comparison", "report", work / "good.json", work / "bad.json")
    for workload in ("ebu-production-edit", "cvs-random-mix", "vdi-steady", "ior-n-n-read", "cold-cache"):
        write(f"workload-{workload}", "run", workload, "sim:h500")
    return sorted(work.glob("*.html"))


def looked_up(document, key):
    for part in key.split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def pictures(paper):
    """The pages of a PDF file as grey PGM files."""
    for old in paper.parent.glob(f"{paper.stem}-page*.pgm"):
        old.unlink()
    subprocess.run(["pdftoppm", "-r", "50", "-gray", paper, paper.with_name(f"{paper.stem}-page")], check=True)
    return sorted(paper.parent.glob(f"{paper.stem}-page*.pgm"))


class PageTest(unittest.TestCase):
    browser = None
    reports = []

    def each(self, check, *names):
        """check(report) of each report, or of those that are named, in a sub-test of its own."""
        for report in self.reports:
            if not names or report.stem in names:
                with self.subTest(report=report.stem):
                    self.browser.open(report)
                    check(report)

    def ask(self, question):
        return self.browser.run(f"{(HERE / 'page.js').read_text()}\nask.{question}()")


class Look(PageTest):
    def test_needs_no_network_and_has_the_numbers_of_the_document(self):
        def check(report):
            self.assertEqual(self.browser.requests, ["file://" + str(report)])
            self.assertEqual(self.browser.errors, [])
            data = self.ask("data")
            if not report.with_suffix(".json").exists() or not data:
                return
            document = json.loads(report.with_suffix(".json").read_text())
            for key, value, text in data:
                there = looked_up(document, key)
                self.assertEqual(value, there if isinstance(there, str) else json.dumps(there), key)
                if key.rpartition(".")[2].startswith("frames_"):
                    self.assertEqual(text, f"{there:,}", key)
            keys = {key for key, _, _ in data}
            for i in range(len(document.get("streams", []))):
                for count in ("scheduled", "on_time", "dropped", "late", "failed"):
                    self.assertIn(f"streams.{i}.frames_{count}", keys)
            self.assertLess(report.stat().st_size, MAX_BYTES)

        self.each(check)

    def looks_right(self, way, *names):
        def check(report):
            complaints = [complaint for question in ("tooWide", "overlaps", "empty") for complaint in self.ask(question)]
            self.assertEqual(complaints, [])
            if report.stem in PICTURED:
                self.browser.screenshot(report.with_name(f"{report.stem}-{way}.png"))

        self.each(check, *names)

    def test_desktop(self):
        self.browser.look(*DESKTOP)
        self.looks_right("desktop")

    def test_desktop_in_the_dark(self):
        self.browser.look(*DESKTOP, dark=True)
        self.looks_right("dark", "told_in_full", "good")

    def test_phone(self):
        self.browser.look(*PHONE, phone=True)
        self.looks_right("phone")

    def test_charts_change_with_the_light(self):
        colours = """[...document.querySelectorAll('canvas')].map((canvas) =>
            Chart.getChart(canvas).getDatasetMeta(0).data[0].options.backgroundColor).join()"""

        def check(_):
            light = self.browser.run(colours)
            self.browser.look(*DESKTOP, dark=True)
            self.browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            dark = self.browser.run(colours)
            self.assertNotEqual(light, dark)
            self.browser.run("dispatchEvent(new Event('beforeprint'))")
            self.assertEqual(self.browser.run(colours), light)
            self.browser.run("dispatchEvent(new Event('afterprint'))")
            self.assertEqual(self.browser.run(colours), dark)

        self.browser.look(*DESKTOP)
        self.each(check, "told_in_full")

    def test_a_cursor_marks_all_charts_of_time(self):
        def check(_):
            marked = self.browser.run("""(() => {
                const time = [...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas))
                    .filter((chart) => chart.options.followsCursor);
                const box = time[0].canvas.getBoundingClientRect();
                time[0].canvas.dispatchEvent(new PointerEvent('pointermove',
                    { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true }));
                return [time.length, time.filter((chart) => chart.tooltip.getActiveElements().length > 0).length,
                    new Set(time.map((chart) => chart.scales.x.max)).size,
                    new Set(time.map((chart) => chart.chartArea.left)).size];
            })()""")
            self.assertGreaterEqual(marked[0], 4)
            self.assertEqual(marked[1:], [marked[0], 1, 1])

        self.browser.look(*DESKTOP)
        self.each(check, "bad")

    def test_events_stand_at_their_times(self):
        def check(report):
            events = json.loads(report.with_suffix(".json").read_text())["events"]
            drawn = self.browser.run("JSON.parse(document.getElementById('data').textContent).events")
            self.assertEqual(len(drawn), len(events))
            for (begin, end), event in zip(drawn, events):
                self.assertAlmostEqual(begin, event["from_ns"] / 1e9, delta=0.001)
                self.assertAlmostEqual(end, event["to_ns"] / 1e9, delta=0.001)

        self.each(check, "bad", "staged")

    def test_without_script(self):
        def check(_):
            self.assertEqual(self.ask("tooWide") + self.ask("overlaps"), [])
            self.assertFalse(self.browser.run("document.querySelector('.chart').checkVisibility()"))

        self.browser.look(*DESKTOP)
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.each(check, "told_in_full", "many")
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)

    def test_paper(self):
        def check(report):
            paper = report.with_suffix(".pdf")
            numbers = [" ".join(text.split()) for _, _, text in self.ask("data")]
            self.browser.print(paper)
            text = subprocess.run(["pdftotext", "-raw", paper, "-"], check=True, capture_output=True).stdout.decode()
            text = " ".join(text.split())
            for number in set(numbers):
                self.assertGreaterEqual(text.count(number), numbers.count(number), f"{number} is not all on paper")
            for page in pictures(paper):
                grey = page.read_bytes().split(b"\n", 3)[3]
                self.assertGreater(sum(grey) / len(grey), 120, f"{page.name} is dark")
                self.assertGreater(sum(1 for value in grey if value < 200), 50, f"{page.name} is empty")

        if not shutil.which("pdftotext"):
            self.skipTest("poppler-utils is not here")
        self.browser.look(*DESKTOP, dark=True)
        self.each(check)


class Axe(PageTest):
    script = ""

    def serious(self, _):
        self.browser.run(self.script + "; 0")
        found = self.browser.run("""axe.run().then((found) => found.violations.map((each) =>
            [each.impact, each.id, each.nodes.map((node) => node.html.slice(0, 120))]))""")
        self.assertEqual([each for each in found if each[0] in ("serious", "critical")], [])

    def test_desktop(self):
        self.browser.look(*DESKTOP)
        self.each(self.serious, "good", "bad", "interrupted", "told_in_full")

    def test_dark(self):
        self.browser.look(*DESKTOP, dark=True)
        self.each(self.serious, "good", "told_in_full")

    def test_phone(self):
        self.browser.look(*PHONE, phone=True)
        self.each(self.serious, "told_in_full")


def axe_script(work):
    """The text of axe-core, fetched by npm into WORK."""
    npm = shutil.which("npm")
    if not npm:
        skip("axe-core cannot be fetched: npm is not here")
    place = work / "node_modules" / "axe-core" / "axe.min.js"
    if not place.exists():
        fetched = subprocess.run([npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix",
                                  work, AXE], capture_output=True, text=True, check=False)
        if fetched.returncode != 0 or not place.exists():
            skip("axe-core cannot be fetched: " + (fetched.stderr.strip().splitlines() or ["npm said nothing"])[0])
    return place.read_text()


def main():
    what, streamsim, samples, work = sys.argv[1:]
    if not chromium.program():
        skip("Chromium is not here")
    work = pathlib.Path(work).resolve() / what
    work.mkdir(parents=True, exist_ok=True)
    if what == "axe":
        Axe.script = axe_script(work)
    PageTest.reports = make_reports(streamsim, samples, work)
    profile = work / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    with chromium.Browser(profile) as browser:
        PageTest.browser = browser
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Axe if what == "axe" else Look)
        passed = unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()
    sys.exit(0 if passed else 1)


main()
