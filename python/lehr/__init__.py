"""Lehr finds the fastest kernel for a matrix product or a convolution, and makes networks faster.

    import lehr
    found = lehr.tune("gemm m=512 n=512 k=512", time=30, device="cpu")
    found.time_us, found.speedup_vs_default

    lehr.report("lehr.db").save("report.html")

    faster = lehr.optimize("resnet18.onnx", out="faster", dims={"batch": 1}, time=300)
    session = faster.session()

    lehr.export(out="kernels")
    kernel = lehr.load("kernels").find("gemm m=512 n=512 k=512")

Each function runs the program `lehr` and returns what it found as a frozen dataclass, with the whole JSON
document in `document`. A keyword that a function doesn't name is a flag of the command: `no_baseline=True`
is `--no-baseline`, `seed=7` is `--seed 7`. What goes wrong is an Error with the program's sentence and exit
code. Ctrl-C ends the program, which leaves a valid log, and raises KeyboardInterrupt as always.
"""

import functools
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Unpack, overload

from . import _flags
from ._program import (
    CheckError,
    Error,
    InputError,
    MissingError,
    NotFoundError,
    environment,
    flags_of,
    program,
    run,
)
from ._results import Exported, NotCovered, Optimized, Report, RowsKernel, Tuned, Winner, Winners, columns_of

__version__ = "0.1.0"

__all__ = [
    "CheckError",
    "Error",
    "Exported",
    "InputError",
    "MissingError",
    "NotCovered",
    "NotFoundError",
    "Optimized",
    "Report",
    "RowsKernel",
    "Tuned",
    "Winner",
    "Winners",
    "__version__",
    "best",
    "export",
    "load",
    "optimize",
    "program",
    "report",
    "trials",
    "tune",
]


_File = str | os.PathLike[str]
_Files = _File | list[_File] | tuple[_File, ...]


@overload
def tune(
    workload: str,
    *,
    quiet: bool = False,
    **flags: Unpack[_flags.Tune],
) -> Tuned: ...


@overload
def tune(
    workload: list[str] | tuple[str, ...],
    *,
    quiet: bool = False,
    **flags: Unpack[_flags.Tune],
) -> list[Tuned]: ...


def tune(
    workload: str | list[str] | tuple[str, ...],
    *,
    quiet: bool = False,
    **flags: Unpack[_flags.Tune],
) -> Tuned | list[Tuned]:
    """Finds a fast kernel for a workload, such as "gemm m=512 n=512 k=512", within `time` seconds: a Tuned.

    For a list of workloads, `time` seconds each, the result is a list: equal ones are tuned once, and those
    that nothing here can compute are left out with a note. A range of rows ("gemm m=1..2048 n=1024 k=1024")
    is one workload whose result has several `kernels`. A later call goes on from the log `db` (./lehr.db).
    The flags are those of `lehr tune --help`.
    """
    if str(flags.get("trials")) == "0":
        raise InputError("trials=0 tunes nothing: lehr tune --trials 0 says what is believed")
    if isinstance(workload, str) and flags.get("shard"):
        raise InputError("shard is for a list of workloads")
    workloads = [workload] if isinstance(workload, str) else list(workload)
    command = ["tune", "--problems", "-", "--strict", "--json", *flags_of(flags)]
    text = "".join(" ".join(each.split()) + "\n" for each in workloads)
    if not text.strip():
        raise InputError("there is no workload to tune: name one, such as 'gemm m=512 n=512 k=512'")
    document = run(command, text=text, quiet=quiet, progress=True)
    if isinstance(workload, str):
        return Tuned.of(document)
    return [Tuned.of(each) for each in (document if isinstance(document, list) else [document])]


def optimize(
    model: _File,
    *,
    dims: Mapping[str, int | str] | None = None,
    quiet: bool = False,
    **flags: Unpack[_flags.Optimize],
) -> Optimized:
    """Writes a network that ONNX Runtime runs faster than the ONNX file `model` into `out` (./faster): an
    Optimized.

    `out` is new or empty; with `replace` it may be what an earlier call wrote. `dims` gives the model's named
    dimensions their sizes, as {"batch": 1}; one may have a range, "1..8". The network is tuned for `threads`
    threads within `time` seconds, and compared with the original by the package onnxruntime of this Python.
    The flags are those of `lehr optimize
    --help`.
    """
    if not environment().get("LEHR_ONNXRUNTIME"):
        raise _package_missing("lehr.optimize compares networks in ONNX Runtime", "onnxruntime")
    dim = [f"{name}={size}" for name, size in (dims or {}).items()]
    command = ["optimize", os.fspath(model), "--json", *flags_of({"dim": dim} | flags)]
    return Optimized.of(run(command, quiet=quiet, progress=True))


def best(*, quiet: bool = False, **flags: Unpack[_flags.Best]) -> Winners:
    """The fastest known kernel of each workload in a log: a list of Winner, in a notebook a table."""
    documents = run(["best", "--json", *flags_of(flags)], quiet=quiet)
    return Winners(Winner.of(each) for each in documents)


def report(
    logs: _Files = (),
    *,
    applied: _Files = (),
    out: _File | None = None,
    others: int | None = None,
    quiet: bool = False,
) -> Report:
    """A page of one log or several (./lehr.db), also in the file `out`: a Report, which a notebook shows.

    `applied` are folders that optimize() wrote. `others` is how many trials of a task the page has beside
    those that were the fastest until then; 0: all.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html") if out is None else Path(out)
        flags = flags_of({"applied": _listed(applied), "out": page, "others": others})
        run(["report", *map(os.fsdecode, _listed(logs)), *flags], quiet=quiet)
        return Report(page.read_text(encoding="utf-8"), None if out is None else os.fsdecode(out))


def trials(logs: _Files = (), *, quiet: bool = False) -> dict[str, list[Any]]:
    """All trials of one log or several (./lehr.db) as columns of one length, for a DataFrame.

    What is not known is None: the time of a trial that failed, a knob that its family does not have. Of a
    range of rows these are the trials with the most rows.
    """
    found = run(["report", *map(os.fsdecode, _listed(logs)), "--json", "--others", "0"], quiet=quiet)
    return columns_of(found)


def _listed(files: _Files) -> list[_File]:
    return list(files) if isinstance(files, (list, tuple)) else [files]


def export(*, quiet: bool = False, **flags: Unpack[_flags.Export]) -> Exported:
    """Writes a log's winners, compiled, into the folder `out`: an Exported.

    `out` is new or empty; with `replace` it may be what an earlier call wrote.
    """
    return Exported.of(run(["export", "--json", *flags_of(flags)], quiet=quiet))


def load(folder: _File, **options: Any) -> Any:
    """Loads the library in a folder that export() wrote, with the Python module beside it: its Library.

    Its functions take NumPy arrays. The options are those of the module's load: `threads`, `cuda`,
    `features`, `self_test`.
    """
    folder = Path(folder).absolute()
    manifest = folder / "manifest.json"
    name = json.loads(manifest.read_bytes()).get("name", "kernels") if manifest.is_file() else "kernels"
    file = folder / f"{name}.py"
    if not file.is_file():
        raise InputError(f"{folder} has no {file.name}: lehr.export writes a folder that has")
    if importlib.util.find_spec("numpy") is None:
        raise _package_missing("kernels run on NumPy arrays", "numpy")
    return _module(file).load(**options)


@functools.cache
def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _package_missing(why: str, package: str) -> MissingError:
    return MissingError(f"{why}, which is not installed here: {sys.executable} -m pip install {package}")
