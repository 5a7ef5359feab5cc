// Prints progress lines.
#include "cli/progress.h"

#include <unistd.h>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"

namespace lehr {
namespace {

/// Returns the number of characters that fit on one line of the terminal. The last column stays free, since a
/// longer line would wrap and could not be overwritten.
std::size_t room_on_line() {
  const std::size_t columns = columns_of(stderr);
  return columns < 2 ? 79 : columns - 1;
}

}  // namespace

ProgressStyle progress_style(std::string_view text, bool quiet) {
  const std::string choice =
      text.empty() ? (quiet ? "none" : "auto") : parse_choice("--progress", text, {"auto", "json", "none"});
  if (quiet && choice != "none") throw_user("--quiet and --progress {} exclude each other", choice);
  if (choice == "none") return ProgressStyle::kQuiet;
  if (choice == "json") return ProgressStyle::kJson;
  return isatty(STDERR_FILENO) ? ProgressStyle::kTerminal : ProgressStyle::kPlain;
}

void ProgressPrinter::line(const std::string& text) {
  finish();
  write_to_stderr(toned(printable(text)) + "\n");
}

void ProgressPrinter::finish() {
  if (open_line_) write_to_stderr("\n");
  open_line_ = false;
}

void ProgressPrinter::show_json(const api::Progress& progress) {
  using enum api::Progress::Kind;
  const bool often = progress.kind == kTrial || progress.kind == kFitted;
  if (progress.kind == kSetup) last_s_ = -1;
  if (often && last_s_ >= 0 && progress.elapsed_s - last_s_ < 0.1) return;
  write_to_stderr(progress.json + "\n");
  if (often) last_s_ = progress.elapsed_s;
}

void ProgressPrinter::show(const api::Progress& progress) {
  using enum api::Progress::Kind;
  if (style_ == ProgressStyle::kQuiet) return;
  if (style_ == ProgressStyle::kJson) return show_json(progress);
  switch (progress.kind) {
    case kNote:
      return line("note: " + progress.text);
    case kSetup:
      last_s_ = -1;
      return line(progress.text);
    case kResumed:
    case kStep:
      return line(progress.text);
    case kFinals:
      line(progress.text);
      return line("timing the finalists against the default and the baselines");
    case kFitted:
      return;
    case kTrial:
    case kNewBest:
      break;
  }
  const bool best = progress.kind == kNewBest;
  const double since = last_s_ < 0 ? 1e9 : progress.elapsed_s - last_s_;
  if (style_ == ProgressStyle::kTerminal) {
    if (since < 0.1 && !best) return;
    // "\r" goes to the start, "\033[K" clears the rest of a longer previous line.
    const std::string text = printable(progress.text.substr(0, room_on_line()));
    write_to_stderr("\r\033[K" + painted(best && takes_colour(stderr) ? kGreen : "", text));
    open_line_ = true;
    last_s_ = progress.elapsed_s;
    return;
  }
  if (since < (best ? 1.0 : 5.0)) return;
  line(progress.text);
  last_s_ = progress.elapsed_s;
}

}  // namespace lehr
