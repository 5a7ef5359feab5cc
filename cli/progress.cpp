// Progress lines.
#include "cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"

namespace lehr {
namespace {

/// Characters that fit on one line of the terminal, the last column left free: a longer line would wrap and
/// stay.
std::size_t columns_of(std::FILE* terminal) {
  winsize size = {};
  if (ioctl(fileno(terminal), TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1u;
}

}  // namespace

std::string failures_text(const std::map<FailureKind, int>& failed) {
  std::string text;
  for (const auto& [kind, count] : failed)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(kind), count);
  return text;
}

namespace {

std::string shared_text(const SharedProgress& shared) {
  if (shared.best_us <= 0) return "nothing timed yet";
  return fmt::format("all {} of {} workloads: {} {} their defaults", shared.known, shared.tasks,
                     format_time_us(shared.best_us), format_ratio(shared.default_us / shared.best_us));
}

}  // namespace

std::string progress_text(const Event& event) {
  std::string text;
  if (event.shared) {
    text = shared_text(*event.shared);
  } else if (event.best.us > 0) {
    text = fmt::format("best {} {:.1f} GFLOP/s", format_time_us(event.best), event.best_gflops);
    if (event.default_us > 0)
      text += fmt::format(" {} default", format_ratio(event.default_us / event.best.us));
  } else {
    text = "nothing timed yet";
  }
  text += fmt::format(", {}{} trials", event.measured,
                      event.trial_limit > 0 ? fmt::format("/{}", event.trial_limit) : "");
  if (event.measured > 0) text += fmt::format(", {:.1f}/s", event.trials_per_s);
  if (const std::string failed = failures_text(event.failed); !failed.empty()) text += ", failed: " + failed;
  text += ", " + format_seconds(event.elapsed_s);
  if (event.eta_s) text += ", ETA " + format_seconds(*event.eta_s);
  return text;
}

void ProgressPrinter::line(const std::string& text) {
  finish();
  write_to_stderr(printable(text) + "\n");
}

void ProgressPrinter::finish() {
  if (open_line_) write_to_stderr("\n");
  open_line_ = false;
}

void ProgressPrinter::show(const Event& event) {
  if (style_ == ProgressStyle::kQuiet) return;
  switch (event.shared ? EventKind::kTrial : event.kind) {  // turns are too many for a line each
    case EventKind::kSetup:
      last_s_ = -1;
      return line(event.note);
    case EventKind::kResumed:
      return line(event.note);
    case EventKind::kFinals:
      line(progress_text(event));
      return line("timing the finalists against the default and the baselines");
    case EventKind::kFitted:
      return;
    case EventKind::kTrial:
    case EventKind::kNewBest:
      break;
  }
  const bool best = event.kind == EventKind::kNewBest;
  const double since = last_s_ < 0 ? 1e9 : event.elapsed_s - last_s_;
  if (style_ == ProgressStyle::kTerminal) {
    if (since < 0.1 && !best) return;
    // "\r" to the start, "\033[K" clears what the longer line before left over.
    write_to_stderr("\r\033[K" + printable(progress_text(event).substr(0, columns_of(stderr))));
    open_line_ = true;
    last_s_ = event.elapsed_s;
    return;
  }
  if (since < (best ? 1.0 : 5.0)) return;
  line(progress_text(event));
  last_s_ = event.elapsed_s;
}

}  // namespace lehr
