// Prints progress on stderr: on a terminal one line that is updated, else a line from time to time, or JSON
// for programs.
#pragma once

#include <string>
#include <string_view>

#include "api/lehr.h"

namespace lehr {

enum class ProgressStyle {
  kQuiet,
  kPlain,     ///< a line for each note and new best (at most one a second), and every 5 s
  kTerminal,  ///< one line that is rewritten at most 10 times a second
  kJson,      ///< a JSON object per line (cli/README.md); at most 10 trials a second that are not new bests
};

inline constexpr const char* kProgressHelp = "auto | json | none: events on stderr, json: one a line (auto)";

/// Returns the style that `--progress TEXT` and `--quiet` choose. "" means auto: the style that suits stderr.
/// `--quiet` is short for `--progress none`. Throws Error(kUser) for another text, and for `--quiet` together
/// with json or auto.
ProgressStyle progress_style(std::string_view text, bool quiet);

class ProgressPrinter {
 public:
  explicit ProgressPrinter(ProgressStyle style) : style_(style) {}

  void show(const api::Progress& progress);
  /// Ends the updating line, so that later text starts on a line of its own.
  void finish();

 private:
  void line(const std::string& text);
  void show_json(const api::Progress& progress);

  ProgressStyle style_;
  bool open_line_ = false;
  double last_s_ = -1;
};

}  // namespace lehr
