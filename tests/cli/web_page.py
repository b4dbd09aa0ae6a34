#!/usr/bin/env python3
"""Watches a run by its page over HTTP (--web), as browsers do.

    web_page.py STREAMSIM WORK
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import unittest
import urllib.parse

WATCHERS = 50


class Run:
    """streamsim with --web; its URL as it prints it."""

    def __init__(self, *words):
        self.process = subprocess.Popen([STREAMSIM, "--quiet", *words], stderr=subprocess.PIPE, text=True)
        found = re.search(r"page: (http://\S+)", self.process.stderr.readline())
        self.url = urllib.parse.urlsplit(found[1])

    def ask(self, path="/", method="GET", host=None, query=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port, timeout=60)
        query = self.url.query if query is None else query
        connection.putrequest(method, path + ("?" + query if query else ""), skip_host=True)
        connection.putheader("Host", host or self.url.netloc)
        connection.endheaders()
        return connection.getresponse()

    def events(self):
        """Each event of the stream, (kind, data), until the server ends it."""
        kind = None
        for line in self.ask("/events"):
            name, _, text = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                kind = text
            elif name == "data":
                yield kind, json.loads(text)

    def end(self):
        self.process.stderr.read()
        return self.process.wait(60)


class WebPage(unittest.TestCase):
    def test_fifty_browsers_see_the_report_at_the_end(self):
        page, result = WORK / "page.html", WORK / "page.json"
        run = Run("--prores-hd", "--streams", "4", "--duration", "4s", "--html", page, "--json", result, "--web", "0",
                  "null:")
        seen = [[] for _ in range(WATCHERS)]
        threads = [threading.Thread(target=lambda into: into.extend(run.events()), args=(each,)) for each in seen]
        for thread in threads:
            thread.start()
        shown = run.ask()
        self.assertEqual(shown.status, 200)
        self.assertIn("connect-src 'self'", shown.headers["Content-Security-Policy"])
        self.assertIn("data-live", shown.read().decode())
        self.assertEqual(run.end(), 0)
        for thread in threads:
            thread.join()
        main = re.search(r"<main>\n(.*)</main>", page.read_text(), re.DOTALL)[1]
        for events in seen:
            self.assertEqual([kind for kind, _ in events].count("end"), 1)
            self.assertEqual(events[-1][0], "end")
            self.assertEqual(events[-1][1]["main"], main)
            pages = [data for kind, data in events if kind == "page"]
            self.assertGreater(len(pages), 0)
            self.assertIn("PLAYING", pages[-1]["main"])
        self.assertEqual(json.loads(result.read_text())["totals"]["frames_dropped"], 0)

    def test_only_this_computer_is_answered_without_a_key(self):
        run = Run("--prores-hd", "--duration", "2s", "--web", "0", "null:")
        self.assertEqual(run.url.hostname, "127.0.0.1")
        for host in ("evil.example", "127.evil.example", "127.0.0.1.evil.example:80", "localhost.evil", ""):
            self.assertEqual(run.ask(host=host or " ").status, 403, host)
        for host in ("localhost", f"localhost:{run.url.port}", "127.0.0.1", "[::1]:80"):
            self.assertEqual(run.ask(host=host).status, 200, host)
        self.assertEqual(run.ask("/etc/passwd").status, 404)
        self.assertEqual(run.ask("/../../etc/passwd").status, 404)
        for method in ("POST", "PUT", "DELETE"):
            self.assertEqual(run.ask(method=method).status, 405, method)
        self.assertEqual(run.end(), 0)

    def test_other_computers_need_the_key_of_the_url(self):
        run = Run("--prores-hd", "--duration", "2s", "--web", "0.0.0.0:0", "null:")
        key = urllib.parse.parse_qs(run.url.query)["key"][0]
        self.assertRegex(key, "^[0-9a-f]{32}$")
        for query in ("key=", "key=" + key[:-1], "key=" + "0" * 32, "other=" + key, ""):
            self.assertEqual(run.ask(query=query or "x=1").status, 403, query)
            self.assertEqual(run.ask("/events", query=query or "x=1").status, 403, query)
        self.assertEqual(run.ask(host="anything.example").status, 200)
        self.assertEqual(run.end(), 0)

    def test_an_address_in_use_is_said_before_play(self):
        run = Run("--prores-hd", "--duration", "2s", "--web", "0", "null:")
        second = subprocess.run([STREAMSIM, "--duration", "1s", "--web", str(run.url.port), "null:"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(second.returncode, 3)
        self.assertIn("--web 127.0.0.1:", second.stderr)
        self.assertEqual(run.end(), 0)


if __name__ == "__main__":
    STREAMSIM, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
