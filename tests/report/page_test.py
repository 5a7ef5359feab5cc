"""Tests the page of `lehr report` in a browser: each section draws, and asks for nothing.

    page_test.py PROGRAM

Chromium is driven through its pipe for debuggers. Exit code 77 (skipped; in CI a failure): it is not here.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TASKS = ("--device", "cpu", "--threads", "1", "--no-baseline", "--quiet")
SCRIPT = "</script><img src=x onerror=alert(1)>"
# Whether every chart has pixels of more than one colour.
DRAWN = """[...document.querySelectorAll("canvas")].every((each) => {
  const { data } = each.getContext("2d").getImageData(0, 0, each.width, each.height);
  const pixels = new Uint32Array(data.buffer);
  return pixels.some((pixel) => pixel !== pixels[0]);
})"""
PICTURES = '[...document.querySelectorAll("canvas")].map((each) => each.toDataURL()).join()'
ROWS = '[...document.querySelectorAll("tbody tr")].map((each) => each.innerText)'


def flat(text):
    return " ".join(text.split())


class Browser:
    def __init__(self, program, folder):
        asked, answered = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4: the shell puts them there.
        flags = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--disable-gpu"]
        flags += ["--disable-dev-shm-usage"]  # a container has little of /dev/shm
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []
        shell = f'exec "$@" 3<&{asked[0]} 4>&{answered[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", program, *flags],
            pass_fds=(asked[0], answered[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(asked[0])
        os.close(answered[1])
        self.to, self.said, self.buffer = asked[1], answered[0], b""
        self.calls, self.events, self.session = 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.to)
        self.process.wait()
        os.close(self.said)

    def message(self):
        while b"\0" not in self.buffer:
            read = os.read(self.said, 1 << 20)
            if not read:
                raise AssertionError("the browser has ended")
            self.buffer += read
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session="", **parameters):
        """Calls a method of the open page; of the browser where `session` is None."""
        self.calls += 1
        request = {"id": self.calls, "method": method, "params": parameters}
        if self.session and session is not None:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while (message := self.message()).get("id") != self.calls:
            self.events.append(message)
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']}")
        return message["result"]

    def value(self, expression):
        """Returns the value of an expression in the page, once a promise is kept."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def until(self, condition):
        """Waits until `condition` holds, which it checks once a frame."""
        look = f"requestAnimationFrame(() => kept(Boolean({condition})))"
        while not self.value(f"new Promise((kept) => {look})"):
            thrown = [each for each in self.events if each["method"] == "Runtime.exceptionThrown"]
            if thrown:
                raise AssertionError(thrown[0])

    def open(self, address):
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.until('document.querySelector("#page h1, iframe")')


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # Its end may leave files that it still writes.
        data = cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        cls.browser = Browser(CHROMIUM, data)
        cls.addClassCleanup(cls.browser.close)
        # A file's name may be markup, too.
        cls.logs = ["older.db", "<img src=x onerror=alert(1)>.db"]
        for log, trials in zip(cls.logs, ("2", "40"), strict=True):
            cls.lehr(
                "tune", "gemm", "--m", "16", "--n", "24", "--k", "32", *TASKS, "--trials", trials, "--db", log
            )
        cls.lehr("tune", "gemm", "--m", "1..3", "--n", "8", "--k", "8", *TASKS, "--trials", "12", "--db", log)
        cls.lehr("report", *cls.logs, "--out", "page.html")
        cls.document = json.loads(cls.lehr("report", *cls.logs, "--json"))
        cls.page = cls.folder / "page.html"
        workloads = [task["workload"] for task in cls.document["tasks"]]
        cls.most = max(range(len(workloads)), key=lambda at: cls.document["tasks"][at]["trials"]["total"])
        cls.range = next(at for at, text in enumerate(workloads) if ".." in text)

    @classmethod
    def lehr(cls, *arguments):
        ran = subprocess.run([PROGRAM, *arguments], cwd=cls.folder, capture_output=True, text=True)
        if ran.returncode:
            raise AssertionError(f"{arguments}: {ran.stderr}")
        return ran.stdout

    def changed(self, change):
        """Returns the page with another document in it."""
        document = json.loads(json.dumps(self.document))
        change(document)
        data = json.dumps(document).replace("<", "\\u003c")
        begin, end = '<script type="application/json" id="data">', "</script>"
        before, _, rest = self.page.read_text().partition(begin)
        page = self.folder / "changed.html"
        page.write_text(before + begin + data + end + rest.partition(end)[2])
        return page

    def open(self, section, page=None):
        """Opens a section, which has to be drawn, silent and alone."""
        address = (page or self.page).as_uri() + f"#{section}"
        self.browser.open(address)
        self.silent(address)

    def silent(self, address):
        self.browser.until(DRAWN)
        for event in self.browser.events:
            method, what = event["method"], event["params"]
            if "willReadFrequently" in str(what):  # that is about DRAWN
                continue
            self.assertNotIn(
                method, ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"), what
            )
            if method == "Network.requestWillBeSent":
                asked = what["request"]["url"]
                self.assertIn(asked, ("about:blank", address.partition("#")[0]))
        self.assertEqual(self.browser.value("document.querySelectorAll('img').length"), 0)

    def charts(self):
        return self.browser.value('document.querySelectorAll("canvas").length')

    def choose(self, label, value):
        """Chooses in the first control of that name. The change is drawn when this returns."""
        find = f'[...document.querySelectorAll("label")].find((each) => each.innerText.startsWith("{label}"))'
        self.browser.value(
            f'{{ const made = {find}.querySelector("select, input"); made.value = {json.dumps(value)};'
            " made.dispatchEvent(new Event('input', { bubbles: true })); }"
        )

    def test_every_section_is_drawn_in_every_light(self):
        sections = {"summary": 0, "changes-0": 0, f"task-{self.most}": 5, f"task-{self.range}": 3}
        for media, scheme in (("", "light"), ("", "dark"), ("print", "dark")):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            self.browser.call("Emulation.setEmulatedMedia", media=media, features=features)
            for section, charts in sections.items():
                with self.subTest(section, media=media, scheme=scheme):
                    self.open(section)
                    self.assertGreaterEqual(self.charts(), charts)
        # The page was light when printed in dark mode. The light changes while it is open.
        before = self.browser.value(PICTURES)
        self.browser.call("Emulation.setEmulatedMedia", media="", features=features)
        self.browser.until(f"{PICTURES} !== {json.dumps(before)}")
        self.browser.call("Emulation.setEmulatedMedia", media="", features=[])

    def test_figures_are_those_of_the_document_and_of_best(self):
        self.open("summary")
        rows = self.browser.value(ROWS)
        for task in self.document["tasks"]:
            us, rate = task["winner"]["time_us"], task["winner"]["gflops"]
            time = f"{us:#.4g} us" if us >= 1 else f"{1000 * us:#.4g} ns"
            found = [row for row in rows if task["short"] in row and time in row and f"\t{rate:.4g}" in row]
            self.assertTrue(found, (task["short"], time, rows))

        for at, log in enumerate(self.logs):
            best = json.loads(self.lehr("best", "--db", log, "--json"))
            told = [task["winner"] for task in self.document["tasks"] if task["log"] == at]
            for winner in best:
                del winner["lost"]  # why an export leaves it out, which makes each kernel again
            self.assertEqual(told, best)

    def test_a_filter_changes_points_and_rows(self):
        self.open(f"task-{self.most}")
        for label, value in (
            ("knob", None),
            ("picked by", "default"),
            ("across", "time_us"),
            ("over", "order"),
            ("colour", "seconds"),
        ):
            pictures, rows = self.browser.value(PICTURES), self.browser.value(ROWS)
            if value is None:
                knobs = self.document["tasks"][self.most]["trials"]["knobs"]
                name = max(knobs, key=lambda each: len(set(knobs[each])))
                value = f"{name}={next(each for each in knobs[name] if each is not None)}"
            self.choose(label, value)
            with self.subTest(label):
                self.assertTrue(self.browser.value(PICTURES) != pictures)
                if label in ("knob", "picked by"):
                    self.assertNotEqual(self.browser.value(ROWS), rows)
                self.choose(label, "all" if label in ("knob", "picked by") else value)
        self.silent(self.page.as_uri())

    def test_headings_sort_and_a_text_filters(self):
        self.open("summary")
        of = "[...document.querySelectorAll('tbody')][0].rows"
        trials = (
            f"[...{of}].map((each) => Number(each.cells[each.cells.length - 2].innerText.replace(',', '')))"
        )
        head = "[...document.querySelectorAll('th')].find((each) => each.innerText.startsWith('trials'))"
        for way, reverse in (("ascending", False), ("descending", True)):
            self.browser.value(f"{head}.querySelector('button').click()")
            self.assertEqual(self.browser.value(f"{head}.getAttribute('aria-sort')"), way)
            found = self.browser.value(trials)
            self.assertEqual(found, sorted(found, reverse=reverse))
        self.choose("workload", "m=1..3")
        self.assertEqual(self.browser.value(f"{of}.length"), 1)
        self.choose("workload", "nothing has this")
        self.assertEqual(self.browser.value(f"{of}.length"), 0)

    def test_a_task_opens_by_a_click_and_back_leads_home(self):
        self.open("summary")
        title = 'document.querySelector("h1").innerText'
        home, short = self.browser.value(title), self.document["tasks"][0]["short"]
        self.browser.value("document.querySelector('tbody tr').cells[2].click()")
        self.browser.until(f"{title} === {json.dumps(short)} && location.hash === '#task-0' && {DRAWN}")
        self.browser.value("history.back()")
        self.browser.until(f"{title} === {json.dumps(home)}")
        self.browser.value("document.querySelector('tbody a').click()")
        self.browser.until(f"{title} === {json.dumps(short)}")
        self.browser.value("location.hash = '#task-999'")
        self.browser.until(f"{title} === {json.dumps(home)}")

    def test_texts_of_a_stranger_are_texts(self):
        def change(document):
            task = document["tasks"][self.most]
            task["short"] = task["workload"] = task["winner"]["config"] = SCRIPT
            failure = {"kind": SCRIPT, "count": 1, "sentence": SCRIPT, "example": SCRIPT, "config": SCRIPT}
            task["failures"].append(failure)
            task["sessions"][0]["began_unix_ms"] = 9.2e18
            document["logs"][0]["began_unix_ms"] = -9.2e18
            task["trials"]["family"][0] = task["trials"]["picked_by"][0] = SCRIPT

        page = self.changed(change)
        for section, least in (("summary", 1), (f"task-{self.most}", 7)):
            self.open(section, page)
            text = self.browser.value("document.getElementById('page').innerText")
            self.assertGreaterEqual(text.count(SCRIPT), least)
        self.open("summary")
        self.assertIn(self.logs[1], self.browser.value("document.getElementById('page').innerText"))

    def test_little_is_enough(self):
        def without(document):
            document.update(tasks=[], changes=[])

        def bare(document):
            for task in document["tasks"]:
                lists = ("libraries", "sessions", "knobs", "neighbours", "failures", "phases")
                task.update({key: [] for key in lists}, roofline=None, default_us=None, vs_default=None)
                trials = task["trials"]
                trials["predicted"] = [None] * trials["shown"]
                trials["knobs"] = {}
            self.assertGreater(len(document["tasks"]), 2)
            document["tasks"][0].update(winner=None, rows=None)

        self.open("summary", self.changed(without))
        for section in ("summary", "task-0", f"task-{self.most}", f"task-{self.range}"):
            self.open(section, self.changed(bare))

    def test_a_network_has_its_bars_and_tables(self):
        def change(document):
            match = {"workload": "w", "short": "w", "task": 0, "occurrences": 2, "kernels": 1, "best_us": 3.0}
            match |= {
                "default_us": 4.0,
                "library_us": None,
                "library": None,
                "before_us": 9.0,
                "after_us": 7.0,
            }
            layer = {"node": "n", "operator": "Conv", "workload": None, "kernel": False, "before_us": 9.0}
            network = {
                "model": "a/net.onnx",
                "folder": "faster",
                "engine": "1.2",
                "threads": 1,
                "matches": [match],
            }
            network |= {
                "places": 2,
                "replaced": 1,
                "speedup": None,
                "covered_share": 0.5,
                "reasons": {"why": 1},
            }
            network |= {
                "not_covered": [{"operator": "LSTM", "share": 0.5}],
                "layers": [layer | {"after_us": 7.0}],
            }
            document["networks"].append(network | {"original_us": 9.0, "rewritten_us": 7.0})

        self.open("network-0", self.changed(change))
        self.assertEqual(self.charts(), 1)
        rows = [flat(row) for row in self.browser.value(ROWS)]
        self.assertIn("w 2 1 3.000 us 4.000 us - 9.000 us 7.000 us", rows)
        self.assertIn("n Conv no 9.000 us 7.000 us", rows)

    def test_a_notebooks_frame_follows_links(self):
        text = self.page.read_text().replace("&", "&amp;").replace('"', "&quot;")
        frame = self.folder / "frame.html"
        frame.write_text(
            f'<!doctype html><meta charset="utf-8"><iframe sandbox="allow-scripts" srcdoc="{text}"></iframe>'
        )
        self.browser.open(frame.as_uri())
        frames = []
        while not frames:
            targets = self.browser.call("Target.getTargets", session=None)["targetInfos"]
            frames = [each for each in targets if each["type"] == "iframe"]
        outer = self.browser.session
        self.addCleanup(setattr, self.browser, "session", outer)
        attached = self.browser.call("Target.attachToTarget", targetId=frames[0]["targetId"], flatten=True)
        self.browser.session = attached["sessionId"]
        self.browser.until("document.querySelector('#page h1')")
        self.browser.value(f"document.querySelector('a[href=\"#task-{self.most}\"]').click()")
        self.browser.until(f"document.querySelector('canvas') && {DRAWN}")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not CHROMIUM:
        print("skipped: chromium is not here (apt-get install chromium)")
        sys.exit(1 if os.environ.get("LEHR_CI") else 77)
    unittest.main()
