"""A headless Chromium, spoken to over the DevTools protocol through a pair of pipes: no port, no library."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

# As root Chromium has no sandbox of its own to offer; the pages are ours. No name resolves: it has no network.
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-component-update",
             "--disable-extensions", "--force-color-profile=srgb", "--remote-debugging-pipe", "about:blank"]
PATIENCE_S = 120


def program():
    """The browser's path; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. `profile` is a directory for the browser's own files. Use it in a `with`."""

    def __init__(self, profile):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def take_pipes():  # Chromium reads from 3 and writes to 4
            # First out of the way of each other.
            read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write))
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [program(), f"--user-data-dir={profile}", *ARGUMENTS], preexec_fn=take_pipes, pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._bytes = b""
        self._last_id = 0
        self._session = None
        self._loaded = False
        self.requests = []  # URLs, since the last open()
        self.errors = []  # uncaught exceptions of the page, and what it logs as an error
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1,
                  uploadThroughput=-1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _receive(self, deadline):
        while b"\0" not in self._bytes:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self._from, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("Chromium " + ("has ended" if ready else f"said nothing for {PATIENCE_S} s"))
            self._bytes += piece
        message, self._bytes = self._bytes.split(b"\0", 1)
        message = json.loads(message)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "?"))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        return message

    def call(self, method, **parameters):
        """The result of a DevTools method; raises what it failed with."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def look(self, width, height, dark=False, phone=False):
        """The window that the next pages are shown in."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """Shows a file, and returns when it is loaded."""
        self.requests, self.errors, self._loaded = [], [], False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + PATIENCE_S
        while not self._loaded:
            self._receive(deadline)

    def run(self, script):
        """The value of a JavaScript expression; of a promise, what it comes to."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "?"))
        return result["result"].get("value")

    def screenshot(self, path):
        """The whole page, as a PNG file."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, optimizeForSpeed=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

    def print(self, path):
        """As paper, in a PDF file of the size that the page asks for."""
        picture = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        with open(path, "wb") as out:
            out.write(base64.b64decode(picture["data"]))
