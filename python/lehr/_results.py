"""The program's results as values: the essentials with types, the rest in `document`."""

import importlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Self

from ._progress import time_text

_Interval = tuple[float, float]


def _document() -> Any:
    return field(repr=False, compare=False)


def _pair(values: Sequence[float] | None) -> Any:
    return None if values is None else tuple(values)


def _ratio(value: float | None, interval: _Interval | None = None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}x" + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")


def _speed(gflops: float | None) -> str:
    return "-" if gflops is None else f"{gflops:.1f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _table(rows: Iterable[tuple[str, object]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


@dataclass(frozen=True)
class Winner:
    """The fastest known kernel of a workload on a device. Intervals are of 95 %."""

    workload: str
    device: str  #: with all that a time depends on, its compiler too
    target: str  #: "cpu" or "cuda"
    config: str
    time_us: float
    time_us_interval: _Interval
    gflops: float | None  #: None: this version cannot read the workload
    speedup_vs_default: float | None
    speedup_vs_default_interval: _Interval | None
    baseline: str | None  #: the fastest vendor library that it was compared with
    speedup_vs_baseline: float | None
    speedup_vs_baseline_interval: _Interval | None
    provisional: bool  #: there was no time to prove it; export() does
    trials: int
    document: dict[str, Any] = _document()

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        return cls(**_winner(document, document), device=document["device"], trials=document["trials"])

    def _rows(self) -> list[tuple[str, object]]:
        low, high = self.time_us_interval
        return [
            ("workload", self.workload),
            ("target", self.target),
            ("time", f"{time_text(self.time_us)} ({time_text(low)} to {time_text(high)})"),
            ("GFLOP/s", _speed(self.gflops)),
            ("vs default", _ratio(self.speedup_vs_default, self.speedup_vs_default_interval)),
            (
                f"vs {self.baseline or 'libraries'}",
                _ratio(self.speedup_vs_baseline, self.speedup_vs_baseline_interval),
            ),
            ("config", self.config),
            ("trials", self.trials),
            *([("provisional", "there was no time to prove it")] if self.provisional else []),
        ]

    def _repr_html_(self) -> str:
        return _table(self._rows())


class Winners(list[Winner]):
    """A list of Winner that a notebook shows as one table."""

    def _repr_html_(self) -> str:
        names = ("workload", "time", "GFLOP/s", "vs default", "vs library", "config", "trials")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = "".join(f"<tr>{''.join(map(_cell, _winner_row(each)))}</tr>" for each in self)
        return f"<table><tr>{head}</tr>{rows}</table>"


def _cell(value: object) -> str:
    return f"<td>{escape(str(value))}</td>"


def _winner_row(each: Winner) -> tuple[object, ...]:
    library = _ratio(each.speedup_vs_baseline, each.speedup_vs_baseline_interval)
    return (
        each.workload,
        time_text(each.time_us),
        _speed(each.gflops),
        _ratio(each.speedup_vs_default, each.speedup_vs_default_interval),
        f"{library} {each.baseline}" if each.baseline else library,
        each.config,
        each.trials,
    )


@dataclass(frozen=True)
class RowsKernel:
    """One of the kernels that serve a range of rows together."""

    rows: tuple[int, int]  #: it serves from so many to so many
    config: str
    time_us: float | None  #: with the most of these rows


@dataclass(frozen=True)
class Tuned(Winner):
    """The result of tune().

    For a range of rows `kernels` has all that serve it, and config, time and GFLOP/s are those of the most
    rows. A range is compared with no default and no library, so their fields are None.
    """

    default_us: float | None = None
    stopped: str = ""  #: why the search ended, a sentence; of a range ""
    seconds: float = 0
    database: str = ""
    kernels: tuple[RowsKernel, ...] = ()  #: of a range, by rows

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        return cls(
            **_winner(document, document["best"]),
            device=document["identity"],
            trials=document["trials"]["measured"],
            default_us=(document.get("default") or {}).get("time_us"),
            stopped=document.get("stop_text", ""),
            seconds=document["elapsed_s"]["total"],
            database=document["database"],
            kernels=_kernels(document["set"]) if "set" in document else (),
        )

    def _rows(self) -> list[tuple[str, object]]:
        served = [(f"rows {each.rows[0]} to {each.rows[1]}", each.config) for each in self.kernels]
        return [*super()._rows(), *served]


def _kernels(document: Mapping[str, Any]) -> tuple[RowsKernel, ...]:
    times = {each["rows"]: each["us"] for each in document["times"]}
    least, kernels = document["least"], []
    for member in document["members"]:
        most = member["to"]
        kernels.append(RowsKernel((least, most), member["config"], times.get(most)))
        least = most + 1
    return tuple(kernels)


def _winner(document: dict[str, Any], kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that both kinds of documents have; `kernel` is the part with the config and its
    time."""
    return dict(
        workload=document["workload"],
        target=document["target"],
        config=kernel["config"],
        time_us=kernel["time_us"],
        time_us_interval=_pair(kernel["time_us_interval"]),
        gflops=kernel["gflops"],
        speedup_vs_default=document.get("speedup_vs_default"),
        speedup_vs_default_interval=_pair(document.get("speedup_vs_default_interval")),
        baseline=document.get("baseline"),
        speedup_vs_baseline=document.get("speedup_vs_baseline"),
        speedup_vs_baseline_interval=_pair(document.get("speedup_vs_baseline_interval")),
        provisional=document.get("provisional", False),
        document=document,
    )


@dataclass(frozen=True)
class Exported:
    """The result of export()."""

    folder: str
    kernels: int
    skipped: tuple[str, ...]  #: winners that are left out, with the reason
    document: dict[str, Any] = _document()

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        return cls(document["folder"], document["kernels"], tuple(document["skipped"]), document)

    def _repr_html_(self) -> str:
        return _table([("folder", self.folder), ("kernels", self.kernels), ("left out", len(self.skipped))])


@dataclass(frozen=True)
class NotCovered:
    """The nodes of a network that no kernel computes."""

    operator: str
    share: float  #: of the network's time


@dataclass(frozen=True)
class Optimized:
    """The result of optimize(). A value that could not be measured is None."""

    model: str
    out: str
    threads: int
    speedup: float | None  #: of the whole network, timed in turn with the original
    original_us: float | None
    rewritten_us: float | None
    error: float | None  #: largest difference, as a share of the output's range
    covered_share: float | None  #: of the original's time, what kernels took over
    not_covered: tuple[NotCovered, ...]
    replaced: int
    places: int
    database: str
    document: dict[str, Any] = _document()

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        names = [name for name in cls.__dataclass_fields__ if name not in ("not_covered", "document")]
        left = tuple(NotCovered(each["operator"], each["share"]) for each in document["not_covered"])
        return cls(**{name: document[name] for name in names}, not_covered=left, document=document)

    def session(self, options: Any = None, **arguments: Any) -> Any:
        """An onnxruntime.InferenceSession of the new network, on `threads` threads without `options`."""
        onnxruntime = importlib.import_module("onnxruntime")
        if options is None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self.threads
        folder = Path(self.out).absolute()
        plugin = folder / "liblehr_onnxruntime.so"
        if plugin.exists():  # else nothing gained, and the model is the original
            options.register_custom_ops_library(str(plugin))
        return onnxruntime.InferenceSession(str(folder / "model.onnx"), options, **arguments)

    def _repr_html_(self) -> str:
        left = ", ".join(f"{each.operator} {_share(each.share)}" for each in self.not_covered)
        return _table(
            [
                ("model", self.model),
                ("folder", self.out),
                ("speed-up", _ratio(self.speedup)),
                ("time", f"{time_text(self.rewritten_us)}, original {time_text(self.original_us)}"),
                ("error", "-" if self.error is None else f"{self.error:.1g} of the range"),
                ("covered", f"{_share(self.covered_share)} of the time"),
                ("not covered", left or "-"),
                ("replaced", f"{self.replaced} of {self.places} places"),
            ]
        )


@dataclass(frozen=True)
class Report:
    """A page that report() made."""

    html: str = field(repr=False)  #: the whole page, which needs nothing else
    path: str | None  #: where it lies, if `out` was given

    @property
    def document(self) -> dict[str, Any]:
        """The page's data."""
        begin, end = '<script type="application/json" id="data">', "</script>"
        found: dict[str, Any] = json.loads(self.html.partition(begin)[2].partition(end)[0])
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page into a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # The frame has an origin of its own: a script in there can reach nothing of the notebook's.
        page = escape(self.html).encode("ascii", "xmlcharrefreplace").decode()
        style = "width: 100%; height: 45rem; border: 0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def columns_of(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Returns the trials of all tasks of a report's document as columns of one length; an unknown value is
    None."""
    names = ["workload", "log", "device", "target", "session", "seconds", "order", "family", "picked_by"]
    names += ["predicted", "time_us", "best_us", "failure", "registers", "spill_bytes", "shared_bytes"]
    names += ["compile_s", "run_s", "spread"]
    knobs = sorted({knob for task in document["tasks"] for knob in task["trials"]["knobs"]})
    columns: dict[str, list[Any]] = {name: [] for name in names + [f"knob_{knob}" for knob in knobs]}
    for task in document["tasks"]:
        trials, device = task["trials"], document["devices"][task["device"]]
        alike = {"workload": task["workload"], "log": document["logs"][task["log"]]["file"]}
        alike |= {"device": device["name"], "target": device["target"]}
        count = trials["shown"]
        told = {name: [value] * count for name, value in alike.items()}
        told |= {f"knob_{knob}": trials["knobs"].get(knob, [None] * count) for knob in knobs}
        told["session"] = [task["sessions"][at]["id"] for at in trials["session"]]
        for name, column in columns.items():
            column += told[name] if name in told else trials[name]
    return columns
