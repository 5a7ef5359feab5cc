"""Shows the program's events: as a bar of tqdm where that is installed, else as lines on a terminal."""

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

tqdm: Any
try:
    tqdm = importlib.import_module("tqdm.auto").tqdm
except ImportError:
    tqdm = None


def tell(text: str) -> None:
    """Writes a line to stderr. It is lost where stderr is closed or takes nothing, as the program's are."""
    _try_to(lambda: print(text, file=sys.stderr))


def _try_to(write: Callable[[], object]) -> None:
    if sys.stderr is None:  # print() would take stdout
        return
    try:
        write()
    except (OSError, ValueError):
        pass


class Display:
    """The display of one command's events. Notes are always shown, unless it is quiet."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Any = None
        self._shown_s = float("-inf")
        self._lines = False
        if not quiet and tqdm is None:
            _try_to(self._see_terminal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            _try_to(self._bar.close)

    def note(self, text: str) -> None:
        if self._quiet:
            return
        if self._bar is not None:
            _try_to(lambda: self._bar.write(text, file=sys.stderr))
        else:
            tell(text)

    def show(self, event: Mapping[str, Any]) -> None:
        if not self._quiet:
            _try_to(lambda: self._show(event))

    def _see_terminal(self) -> None:
        self._lines = sys.stderr.isatty()

    def _show(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "note":
            self.note("note: " + event["note"])
        elif event["event"] == "step":
            self._step(event["note"])
        elif tqdm is not None:
            self._show_bar(event)
        elif self._lines and (event["event"] in ("setup", "finals") or time.monotonic() - self._shown_s > 2):
            self._shown_s = time.monotonic()
            print(f"{event['elapsed_s']:.0f} s: {progress_text(event)}", file=sys.stderr)

    def _step(self, text: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(text)
        elif self._lines:
            print(text, file=sys.stderr)

    def _show_bar(self, event: Mapping[str, Any]) -> None:
        if self._bar is None:
            self._bar = tqdm(bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} s{postfix}", leave=False)
        bar = self._bar
        bar.n = round(event["elapsed_s"])
        bar.total = None if event["eta_s"] is None else max(round(event["elapsed_s"] + event["eta_s"]), 1)
        bar.set_postfix_str(progress_text(event), refresh=False)
        bar.refresh()


def progress_text(event: Mapping[str, Any]) -> str:
    """Returns "best 8.6 us, 1.35x default, 64 trials"."""
    if event["event"] == "setup" and "tasks" not in event:
        return str(event["note"])
    words = []
    if "tasks" in event:
        words.append(f"{event['known']} of {event['tasks']} workloads")
    if event["best_us"]:
        words.append(f"best {time_text(event['best_us'])}")
        if event["default_us"]:
            words.append(f"{event['default_us'] / event['best_us']:.2f}x default")
    limit = f"/{event['trial_limit']}" if event["trial_limit"] else ""
    words.append(f"{event['measured']}{limit} trials")
    return ", ".join(words)


def time_text(us: float | None) -> str:
    """Returns "812 ns", "12.3 us", "4.56 ms", "1.20 s"; "-" for None."""
    if not us:
        return "-"
    for factor, unit in ((1e3, "ns"), (1, "us"), (1e-3, "ms")):
        if us * factor < 1000:
            return f"{us * factor:.3g} {unit}"
    return f"{us * 1e-6:.2f} s"
