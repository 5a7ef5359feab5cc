"""Shows the program's events: as a bar of tqdm where that is installed, else as lines on a terminal."""

import sys
import time

try:
    from tqdm.auto import tqdm
except ImportError:
    tqdm = None


class Display:
    """Of one command. Notes are always shown, unless it is quiet."""

    def __init__(self, quiet):
        self._quiet = quiet
        self._bar = None
        self._shown_s = float("-inf")
        self._lines = not quiet and tqdm is None and sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()

    def note(self, text):
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr)

    def show(self, event):
        if self._quiet:
            return
        if event["event"] == "note":
            return self.note("note: " + event["note"])
        if event["event"] == "step":
            return self._step(event["note"])
        if tqdm is not None:
            self._show_bar(event)
        elif self._lines and (event["event"] in ("setup", "finals") or time.monotonic() - self._shown_s > 2):
            self._shown_s = time.monotonic()
            print(f"{event['elapsed_s']:.0f} s: {progress_text(event)}", file=sys.stderr)

    def _step(self, text):
        if self._bar is not None:
            self._bar.set_postfix_str(text)
        elif self._lines:
            print(text, file=sys.stderr)

    def _show_bar(self, event):
        if self._bar is None:
            self._bar = tqdm(bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} s{postfix}", leave=False)
        bar = self._bar
        bar.n = round(event["elapsed_s"])
        bar.total = None if event["eta_s"] is None else max(round(event["elapsed_s"] + event["eta_s"]), 1)
        bar.set_postfix_str(progress_text(event), refresh=False)
        bar.refresh()


def progress_text(event):
    """ "best 8.6 us, 1.35x default, 64 trials"."""
    if event["event"] == "setup" and "tasks" not in event:
        return event["note"]
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


def time_text(us):
    """ "812 ns", "12.3 us", "4.56 ms", "1.20 s"; "-" for None."""
    if not us:
        return "-"
    for factor, unit in ((1e3, "ns"), (1, "us"), (1e-3, "ms")):
        if us * factor < 1000:
            return f"{us * factor:.3g} {unit}"
    return f"{us * 1e-6:.2f} s"
