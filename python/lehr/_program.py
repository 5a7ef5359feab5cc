"""Finds the program `lehr` and runs it."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._progress import Display


class Error(Exception):
    """The end of a command: its `sentence`, its `exit_code`, and its `document` if it printed one."""

    exit_code = 2

    def __init__(self, sentence: str, exit_code: int | None = None, document: Any = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.exit_code = self.exit_code if exit_code is None else exit_code
        self.document = document


class InputError(Error):
    """Wrong input: the sentence says what would be right."""

    exit_code = 1


class MissingError(Error):
    """Something on this machine is missing or broken: a compiler, a package, a full disk."""

    exit_code = 2


class NotFoundError(Error):
    """Nothing was found, such as a winner in the log."""

    exit_code = 3


class CheckError(Error):
    """A check failed, or could not be made: a wrong result, a damaged log."""

    exit_code = 4


def program() -> str:
    """Returns the program's file: inside this package (the wheel's), else LEHR_PROGRAM's, else the one on PATH."""
    beside = Path(__file__).parent / "program" / "bin" / "lehr"
    if beside.is_file():
        return str(beside)
    found = os.environ.get("LEHR_PROGRAM") or shutil.which("lehr")
    if not found or not os.path.isfile(found):
        raise MissingError(
            f"LEHR_PROGRAM is '{found}', which is no file"
            if found
            else "the program lehr is not here: install the wheel, or name it by LEHR_PROGRAM"
        )
    return found


def environment() -> dict[str, str]:
    """Returns the variables for the program. With them it finds the packages in the environment of this Python,
    also where that environment is not activated: ONNX Runtime, and the vendors' libraries."""
    values = dict(os.environ)
    if not values.get("LEHR_ONNXRUNTIME"):
        found = importlib.util.find_spec("onnxruntime")
        folders = (found.submodule_search_locations if found else None) or []
        for library in sorted(
            each for folder in folders for each in Path(folder).glob("capi/libonnxruntime.so*")
        ):
            values["LEHR_ONNXRUNTIME"] = str(library)
            break
    scripts, path = os.path.join(sys.prefix, "bin"), values.get("PATH", os.defpath)
    if sys.prefix != sys.base_prefix and scripts not in path.split(os.pathsep):
        values["PATH"] = scripts + os.pathsep + path
    return values


def flags_of(values: Mapping[str, Any]) -> list[str]:
    """{"no_baseline": True, "time": "30s", "dim": ["a=1"]} -> --no-baseline --time 30s --dim a=1

    A list is a flag for each of it; what is None or False is left out. NumPy's scalars and arrays count as
    Python's own.
    """
    flags: list[str] = []
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if hasattr(value, "tolist"):
            value = value.tolist()
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                flags += [flag, os.fsdecode(each) if isinstance(each, os.PathLike) else str(each)]
    return flags


def run(arguments: Sequence[str], *, text: str = "", quiet: bool = False, progress: bool = False) -> Any:
    """Returns the JSON document of a command that has `text` on stdin. Raises Error for exit codes but 0."""
    command = [program(), *arguments, *(["--progress", "json"] if progress else [])]
    # Files and not pipes: only one of the pipes would be read while the other one fills.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
        given.write(text.encode())
        given.seek(0)
        # The program runs in a group of its own. A terminal and a notebook interrupt whole groups, and the program
        # would get two interrupts, of which the second kills it.
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=printed,
            stderr=subprocess.PIPE,
            process_group=0,
            env=environment(),
        )
        told = _follow(process, Display(quiet))
        printed.seek(0)
        document = _document(printed.read())
    if process.returncode == 0:
        return document
    raise _error(process.returncode, told, document)


def _follow(process: subprocess.Popen[bytes], display: Display) -> list[str]:
    """Shows the program's events until it ends, and returns the lines that are no events."""
    assert process.stderr is not None
    told: list[str] = []
    try:
        with display:
            for read in process.stderr:
                line = read.decode(errors="replace").rstrip("\n")
                event = _document(line) if line.startswith("{") else None
                if event is not None:
                    display.show(event)
                else:
                    told.append(line)
                    # The error's sentence begins so, and may have more lines.
                    if not any(each.startswith("lehr: ") for each in told):
                        display.note(line)
        process.wait()
    except KeyboardInterrupt:
        _interrupt(process)
        raise
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()
    return told


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupts once, and waits: the program ends its workers and leaves a valid log. Another interrupt kills
    it."""
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    for _ in process.stderr:
        pass
    process.wait()


def _document(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _error(code: int, told: Sequence[str], document: Any) -> Error:
    first = next((i for i, line in enumerate(told) if line.startswith("lehr: ")), len(told) - 1)
    sentence = "\n".join(line.removeprefix("lehr: ") for line in told[max(first, 0) :])
    if code < 0:
        code, sentence = 128 - code, sentence or f"the program was killed by signal {-code}"
    kinds = {each.exit_code: each for each in (InputError, MissingError, NotFoundError, CheckError)}
    kind = kinds.get(code, Error)
    return kind(sentence or f"the program ended with exit code {code}", code, document)
