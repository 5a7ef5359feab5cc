// A session's events on stderr: one updating line on a terminal, else a line now and then.
#pragma once

#include <string>

#include "tune/events.h"

namespace lehr {

enum class ProgressStyle {
  kQuiet,
  kPlain,     ///< lines: notes, new bests (at most one a second), and every 5 s
  kTerminal,  ///< one line that is rewritten at most 10 times a second
};

class ProgressPrinter {
 public:
  explicit ProgressPrinter(ProgressStyle style) : style_(style) {}

  void show(const Event& event);
  /// Ends the updating line, so that what follows starts on a line of its own.
  void finish();

 private:
  void line(const std::string& text);

  ProgressStyle style_;
  bool open_line_ = false;
  double last_s_ = -1;
};

/// "best 123 us 345.6 GFLOP/s 2.31x default, 64/200 trials, 8.1/s, failed: compile 1, 12 s, ETA 14 s".
std::string progress_text(const Event& event);
/// "compile 3, timeout 1"; "" if none.
std::string failures_text(const std::map<FailureKind, int>& failed);

}  // namespace lehr
