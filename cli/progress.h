// What goes on, on stderr: one updating line on a terminal, else a line now and then.
#pragma once

#include <string>

#include "api/lehr.h"

namespace lehr {

enum class ProgressStyle {
  kQuiet,
  kPlain,     ///< lines: notes, new bests (at most one a second), and every 5 s
  kTerminal,  ///< one line that is rewritten at most 10 times a second
};

/// Of --quiet: else as stderr is a terminal or not.
ProgressStyle progress_style(bool quiet);

class ProgressPrinter {
 public:
  explicit ProgressPrinter(ProgressStyle style) : style_(style) {}

  void show(const api::Progress& progress);
  /// Ends the updating line, so that what follows starts on a line of its own.
  void finish();

 private:
  void line(const std::string& text);

  ProgressStyle style_;
  bool open_line_ = false;
  double last_s_ = -1;
};

}  // namespace lehr
