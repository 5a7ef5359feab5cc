"""Tests the package `lehr` over the program that LEHR_PROGRAM names: values, errors, interrupts, progress."""

import array
import contextlib
import dataclasses
import html
import importlib
import importlib.util
import inspect
import io
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import typing
import unittest
from pathlib import Path
from unittest import mock

import lehr
from lehr import _program, _progress

SMALL = dict(device="cpu", threads=1, trials=2, no_baseline=True, quiet=True)
GEMM = "gemm m=24 n=20 k=16"
OPTIMIZED = {
    "model": "net.onnx",
    "out": "faster",
    "threads": 2,
    "speedup": 1.5,
    "original_us": 300.0,
    "rewritten_us": 200.0,
    "error": 2e-7,
    "covered_share": 0.6,
    "not_covered": [{"operator": "LSTM", "share": 0.4}],
    "replaced": 3,
    "places": 4,
    "database": "lehr.db",
    "tune": {},
    "apply": {},
}


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.enterContext(contextlib.chdir(self.enterContext(tempfile.TemporaryDirectory())))

    def stand_in(self, text):
        """Puts a program in place of lehr: Python's `text`."""
        file = Path("stand_in")
        file.write_text(f"#!{sys.executable}\nimport json, os, sys\n" + textwrap.dedent(text))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return mock.patch.object(_program, "program", return_value=str(file.absolute()))


class Results(InAFolder):
    def test_a_log_is_tuned_read_and_exported(self):
        found = lehr.tune(GEMM, db="log.db", **SMALL)
        self.assertTrue(found.workload.startswith(GEMM))
        self.assertGreater(found.time_us, 0)
        low, high = found.time_us_interval
        self.assertLessEqual(low, high)
        self.assertEqual((found.target, found.trials, found.database), ("cpu", 2, "log.db"))
        self.assertEqual(found.document["trials"]["measured"], 2)
        self.assertIn(found.config, found._repr_html_())
        self.assertNotIn("document", repr(found))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            found.time_us = 1

        best = lehr.best(db="log.db")
        self.assertEqual(
            [(each.workload, each.config, each.device) for each in best],
            [(found.workload, found.config, found.device)],
        )
        self.assertIn("<table>", best[0]._repr_html_())

        exported = lehr.export(db="log.db", out=Path("kernels"))
        self.assertEqual((exported.folder, exported.kernels, exported.skipped), ("kernels", 1, ()))
        self.assertIn("kernels", exported._repr_html_())
        self.check_loaded("kernels", found.workload)
        with self.assertRaisesRegex(lehr.InputError, "pass --replace if lehr wrote it"):
            lehr.export(db="log.db", out="kernels")
        self.assertEqual(lehr.export(db="log.db", out="kernels", replace=True).kernels, 1)
        lehr.export(db="log.db", out="other", name="other")
        self.check_loaded("other", found.workload)

    def check_loaded(self, folder, workload):
        try:
            import numpy
        except ImportError:
            with self.assertRaises(lehr.MissingError):
                lehr.load(folder)
            return
        a, b = numpy.ones((24, 16), "f4"), numpy.ones((16, 20), "f4")
        kernel = lehr.load(folder).find(workload)
        self.assertTrue((kernel(a, b) == 16).all())

    def test_a_list_is_one_result_for_each(self):
        found = lehr.tune([GEMM, "gemm m=8\n n=8 k=8"], **SMALL)
        self.assertEqual([each.workload.split(" batch")[0] for each in found], [GEMM, "gemm m=8 n=8 k=8"])
        self.assertEqual(len(lehr.tune([GEMM], **SMALL)), 1)

    def test_nothing_to_tune_is_said_so(self):
        for nothing in ("", [], [" "]):
            with self.assertRaisesRegex(lehr.InputError, "there is no workload"):
                lehr.tune(nothing)

    def test_a_range_has_all_its_kernels(self):
        text = "gemm m=1..3 n=8 k=8"
        few = SMALL | {"trials": 4}
        found = lehr.tune(text, db="log.db", **few)
        self.assertTrue(found.workload.startswith(text))
        self.assertEqual([found.kernels[0].rows[0], found.kernels[-1].rows[1]], [1, 3])
        self.assertEqual(found.kernels[-1].config, found.config)
        self.assertEqual((found.default_us, found.speedup_vs_default, found.baseline), (None, None, None))
        self.assertEqual((found.database, found.document["set"]["most"]), ("log.db", 3))
        self.assertIn("rows 1 to", found._repr_html_())
        several = lehr.tune([GEMM, text], db="log.db", **few)
        self.assertEqual([len(each.kernels) > 0 for each in several], [False, True])
        # The second run times the kernels again and may choose another: the log's answer is the second run's.
        best = lehr.best(db="log.db", workload=text)
        self.assertEqual([each.config for each in best], [several[1].config])

    def test_a_network_is_what_the_document_says(self):
        text = f"""
            print(json.dumps({OPTIMIZED!r} | {{"apply": [sys.argv, os.environ["LEHR_ONNXRUNTIME"]]}}))
        """
        with self.stand_in(text), mock.patch.dict(os.environ, LEHR_ONNXRUNTIME="/an/engine.so"):
            result = lehr.optimize(
                "net.onnx", out="faster", dims={"batch": 1}, time=20, threads=2, no_winograd=True
            )
        self.assertEqual((result.speedup, result.covered_share, result.places), (1.5, 0.6, 4))
        self.assertEqual(result.not_covered, (lehr.NotCovered("LSTM", 0.4),))
        arguments, engine = result.document["apply"]
        self.assertEqual(
            arguments[1:],
            [
                "optimize",
                "net.onnx",
                "--json",
                "--dim",
                "batch=1",
                "--out",
                "faster",
                "--time",
                "20",
                "--threads",
                "2",
                "--no-winograd",
                "--progress",
                "json",
            ],
        )
        self.assertEqual(engine, "/an/engine.so")
        with self.stand_in(text), mock.patch.dict(os.environ, LEHR_ONNXRUNTIME="/an/engine.so"):
            arguments, _ = lehr.optimize("net.onnx", dims={"batch": 1}).document["apply"]
        self.assertNotIn("--out", arguments, "the program has a default")
        self.assertIn("LSTM 40.0 %", result._repr_html_())
        unknown = dict(
            OPTIMIZED, speedup=None, original_us=None, rewritten_us=None, error=None, covered_share=None
        )
        self.assertIn("<table>", lehr.Optimized.of(unknown)._repr_html_())


class Reports(InAFolder):
    def setUp(self):
        super().setUp()
        lehr.tune(GEMM, db="log.db", **SMALL | {"trials": 6})
        lehr.tune("gemm m=8 n=8 k=8", db="log.db", **SMALL)

    def test_a_page_is_shown_and_saved(self):
        report = lehr.report("log.db")
        self.assertIsNone(report.path)
        self.assertEqual(len(report.document["tasks"]), 2)
        report.save("saved.html")
        again = lehr.report(["log.db"], out=Path("page.html"), others=0)
        self.assertEqual(again.path, "page.html")
        for name in ("saved.html", "page.html"):
            self.assertTrue(Path(name).read_text().startswith("<!doctype html>"))
        frame = report._repr_html_()
        self.assertTrue(frame.isascii())
        self.assertEqual(html.unescape(frame.partition('srcdoc="')[2].partition('"')[0]), report.html)
        self.assertIn('sandbox="allow-scripts"', frame)
        self.assertNotIn("<!doctype", repr(report))
        with self.assertRaisesRegex(lehr.InputError, "none.db"):
            lehr.report("none.db")

    def test_trials_are_columns(self):
        found = lehr.trials("log.db")
        self.assertEqual({len(column) for column in found.values()}, {8})
        self.assertEqual(len(set(found["workload"])), 2)
        self.assertEqual(sorted(found["order"]), [1, 1, 2, 2, 3, 4, 5, 6])
        self.assertIn("knob_mr", found)
        best = {each.workload: each for each in lehr.best(db="log.db")}
        for workload, winner in best.items():
            times = [us for us, of in zip(found["time_us"], found["workload"], strict=True) if of == workload]
            self.assertEqual(len(times), winner.trials)
        for package in ("pandas", "polars"):
            if importlib.util.find_spec(package):
                frame = importlib.import_module(package).DataFrame(found)
                self.assertEqual(frame.shape, (8, len(found)))

    def test_winners_are_one_table(self):
        found = lehr.best(db="log.db")
        self.assertIsInstance(found, list)
        text = found._repr_html_()
        self.assertEqual((text.count("<table>"), text.count("<tr>")), (1, 3))
        self.assertIn(found[0].config, text)
        unread = dataclasses.replace(found[0], gflops=None)  # of a workload that only another version reads
        self.assertIn("<td>-</td>", unread._repr_html_())


class Interface(InAFolder):
    def test_every_public_function_is_wholly_annotated(self):
        functions = [getattr(lehr, name) for name in lehr.__all__]
        functions += [each for kind in functions if inspect.isclass(kind) for each in vars(kind).values()]
        functions = [getattr(each, "__func__", each) for each in functions]
        folder = os.path.dirname(lehr.__file__)  # what a dataclass makes is of no file
        functions = [
            each
            for each in functions
            if inspect.isfunction(each) and each.__code__.co_filename.startswith(folder)
        ]
        self.assertGreater(len(functions), 15)
        functions += typing.get_overloads(lehr.tune)
        for function in functions:
            hints = typing.get_type_hints(function).keys() | {"self", "cls"}
            self.assertLessEqual({*inspect.signature(function).parameters, "return"}, hints, function)
        returned = [typing.get_type_hints(each)["return"] for each in typing.get_overloads(lehr.tune)]
        self.assertEqual(returned, [lehr.Tuned, list[lehr.Tuned]])

    def test_the_version_is_the_programs(self):
        said = subprocess.run([lehr.program(), "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout.split(), ["lehr", lehr.__version__])

    def test_values_of_numpy_are_flags_as_pythons_are(self):
        one = mock.Mock(tolist=mock.Mock(return_value=True))  # as numpy.bool_ has it
        values = {"no_winograd": one, "m": array.array("i", [1, 16]), "fresh": False, "time": None}
        self.assertEqual(_program.flags_of(values), ["--no-winograd", "--m", "1", "--m", "16"])
        try:
            import numpy
        except ImportError:
            return
        values = {
            "no_winograd": numpy.True_,
            "fresh": numpy.False_,
            "seed": numpy.int64(7),
            "time": numpy.float32(1.5),
        }
        self.assertEqual(_program.flags_of(values), ["--no-winograd", "--seed", "7", "--time", "1.5"])

    def test_the_program_finds_what_this_python_has(self):
        library = Path("packages/onnxruntime/capi/libonnxruntime.so.1.2").absolute()
        library.parent.mkdir(parents=True)
        library.touch()
        (library.parents[1] / "__init__.py").touch()
        self.enterContext(mock.patch.object(sys, "path", [str(library.parents[2])]))
        for variable, found in (("", str(library)), ("/another.so", "/another.so")):
            with mock.patch.dict(os.environ, LEHR_ONNXRUNTIME=variable):
                self.assertEqual(_program.environment()["LEHR_ONNXRUNTIME"], found)
        for prefix, searched, path in (
            ("/venv", "/usr/bin", "/venv/bin:/usr/bin"),
            ("/venv", "/usr/bin:/venv/bin", "/usr/bin:/venv/bin"),
            (sys.base_prefix, "/usr/bin", "/usr/bin"),
        ):
            with mock.patch.object(sys, "prefix", prefix), mock.patch.dict(os.environ, PATH=searched):
                self.assertEqual(_program.environment()["PATH"], path)


class Errors(InAFolder):
    def fails(self, kind, code, text, function, *arguments, **options):
        with self.assertRaises(kind) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.exit_code, code)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(caught.exception.sentence, str(caught.exception))
        self.assertIsInstance(caught.exception, lehr.Error)

    def test_each_exit_code_is_an_exception_with_the_sentence(self):
        self.fails(lehr.InputError, 1, "k=0 is out of range", lehr.tune, "gemm m=8 n=8 k=0", **SMALL)
        self.fails(lehr.InputError, 1, "trials=0 tunes nothing", lehr.tune, "gemm m=8 n=8 k=8", trials=0)
        self.fails(lehr.InputError, 1, "is for a list", lehr.tune, "gemm m=8 n=8 k=8", shard="0/2")
        self.fails(lehr.InputError, 1, "there is no database 'none.db'", lehr.best, db="none.db")
        self.fails(lehr.InputError, 1, "--wrong-flag", lehr.best, wrong_flag=1)
        self.fails(lehr.InputError, 1, "has no kernels.py", lehr.load, "nothing")
        lehr.tune(GEMM, **SMALL)
        self.fails(lehr.NotFoundError, 3, "", lehr.export, out="kernels", target="cuda")
        no_compiler = mock.patch.dict(os.environ, PATH="/nowhere", CXX="")
        with no_compiler:
            self.fails(lehr.MissingError, 2, "compiler", lehr.tune, GEMM, **SMALL)
        with self.stand_in(
            "print('[1]')\nprint('note: x\\nlehr: it differs\\nin two lines', file=sys.stderr); sys.exit(4)"
        ):
            self.fails(lehr.CheckError, 4, "it differs\nin two lines", lehr.best, quiet=True)
        with self.stand_in("os.kill(os.getpid(), 9)"):
            self.fails(lehr.Error, 137, "killed by signal 9", lehr.best)

    def test_what_is_missing_is_said_before_any_work(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            self.fails(
                lehr.MissingError, 2, "-m pip install onnxruntime", lehr.optimize, "net.onnx", out="faster"
            )
        self.enterContext(mock.patch.object(_program, "__file__", "/nowhere/lehr/_program.py"))
        with mock.patch.dict(os.environ, LEHR_PROGRAM="", PATH="/nowhere"):
            self.fails(lehr.MissingError, 2, "program lehr is not here", lehr.best)
        with mock.patch.dict(os.environ, LEHR_PROGRAM="/no/file"):
            self.fails(lehr.MissingError, 2, "/no/file", lehr.best)


class Interrupts(InAFolder):
    def test_ctrl_c_ends_the_program_and_leaves_a_valid_log(self):
        script = f"import lehr; lehr.tune({GEMM!r}, time=60, device='cpu', threads=1, db='log.db')"
        python = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, process_group=0)
        until = time.monotonic() + 60
        while time.monotonic() < until and not (Path("log.db").exists() and lehr_has_trials()):
            time.sleep(0.1)
        begun = time.monotonic()
        os.killpg(python.pid, signal.SIGINT)  # as a terminal does, and a notebook
        _, told = python.communicate(timeout=60)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertIn(b"KeyboardInterrupt", told)
        verified = subprocess.run([lehr.program(), "db", "verify", "log.db"], capture_output=True)
        self.assertEqual(verified.returncode, 0, verified)
        self.assertTrue(lehr.best(db="log.db"))


def lehr_has_trials():
    try:
        return bool(lehr.best(db="log.db", quiet=True))
    except lehr.Error:
        return False


class Progress(InAFolder):
    def test_the_program_tells_an_event_a_line(self):
        command = [
            lehr.program(),
            "tune",
            "gemm",
            "--m",
            "8",
            "--n",
            "8",
            "--k",
            "8",
            "--progress",
            "json",
            "--json",
        ]
        command += _program.flags_of(SMALL | {"quiet": None})
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        events = [json.loads(line) for line in ran.stderr.splitlines()]
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds[0], "setup")
        self.assertIn("best", kinds)
        self.assertEqual(kinds[-1], "finals")
        for event in events:
            self.assertLessEqual({"elapsed_s", "eta_s", "measured", "best_us", "failed"}, event.keys())

    def test_events_are_shown_on_a_terminal_and_notes_everywhere(self):
        event = {
            "event": "best",
            "note": "",
            "elapsed_s": 2.0,
            "eta_s": 8.0,
            "measured": 5,
            "trial_limit": None,
            "best_us": 20.0,
            "default_us": 30.0,
            "trials_per_s": 2.5,
            "gflops": 1.0,
            "failed": {},
        }
        text = "best 20 us, 1.50x default, 5 trials"
        self.assertEqual(_progress.progress_text(event), text)
        note = {"event": "note", "note": "a word"}
        for quiet, terminal, shown in (
            (False, True, f"2 s: {text}\nnext\nnote: a word\n"),
            (False, False, "note: a word\n"),
            (True, True, ""),
        ):
            stream = io.StringIO()
            stream.isatty = mock.Mock(return_value=terminal)
            with mock.patch("sys.stderr", stream), mock.patch.object(_progress, "tqdm", None):
                with _progress.Display(quiet) as display:
                    display.show(event)
                    display.show(event)
                    display.show({"event": "step", "note": "next"})
                    display.show(note)
            self.assertEqual(stream.getvalue(), shown)

    def test_a_stderr_that_takes_nothing_ends_nothing(self):
        note = {"event": "note", "note": "a word"}
        closed, full = io.StringIO(), mock.Mock(write=mock.Mock(side_effect=OSError(28, "full")))
        closed.close()
        for stream in (None, closed, full):
            for bar in (None, mock.Mock(side_effect=ValueError("closed"))):
                out = io.StringIO()
                with (
                    mock.patch("sys.stderr", stream),
                    mock.patch("sys.stdout", out),
                    mock.patch.object(_progress, "tqdm", bar),
                    _progress.Display(False) as display,
                ):
                    display.show(note)
                    display.show({"event": "setup", "note": "first", "elapsed_s": 2.0, "eta_s": None})
                    display.note("another")
                self.assertEqual(out.getvalue(), "")
        script = f"import lehr; print(lehr.tune({GEMM!r}, trials=1, device='cpu', no_baseline=True).trials)"
        shell = ["sh", "-c", '"$@" 2>&-', "sh", sys.executable, "-c", script]
        ran = subprocess.run(shell, stdout=subprocess.PIPE, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (0, "1\n"))

    def test_a_bar_is_as_long_as_the_time(self):
        bar = mock.MagicMock()
        with (
            mock.patch.object(_progress, "tqdm", mock.Mock(return_value=bar)),
            _progress.Display(False) as display,
        ):
            display.show(
                {
                    "event": "trial",
                    "elapsed_s": 2.0,
                    "eta_s": 8.0,
                    "measured": 5,
                    "trial_limit": 10,
                    "best_us": None,
                    "default_us": None,
                    "tasks": 4,
                    "known": 1,
                }
            )
        self.assertEqual((bar.n, bar.total), (2, 10))
        bar.set_postfix_str.assert_called_with("1 of 4 workloads, 5/10 trials", refresh=False)
        bar.close.assert_called_once()

    def test_times_have_three_digits(self):
        self.assertEqual(
            [_progress.time_text(us) for us in (0.5, 12.34, 4567, 1.2e6, None)],
            ["500 ns", "12.3 us", "4.57 ms", "1.20 s", "-"],
        )


if __name__ == "__main__":
    unittest.main()
