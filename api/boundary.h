// What crosses the library's face: its own errors, and states behind its handles. For api/ alone.
#pragma once

#include <optional>

#include "api/lehr.h"
#include "base/error.h"
#include "database/database.h"
#include "tune/events.h"
#include "tune/open_device.h"

namespace lehr::api {

struct Device::State {
  OpenDevice open;
  double opening_s = 0;  ///< counts as the first session's time
};

struct Log::State {
  std::string path;
  std::optional<Database> database;  ///< nullopt: not yet
};

Code code_of(ErrorKind kind);

/// What `call` gives; an Error of the house becomes one of the face.
template <typename Call>
auto guarded(Call&& call) {
  try {
    return call();
  } catch (const lehr::Error& error) {
    throw Error(code_of(error.kind()), error.what());
  }
}

/// Hands events on to a callback that may be empty and may throw, which then gets no more.
class Reporter {
 public:
  /// `later_s`: what comes when the sessions have come to their end.
  explicit Reporter(OnProgress sink, double later_s = 0)
      : sink_(sink ? harmless(std::move(sink)) : OnProgress()), later_s_(later_s) {}
  void show(Event event);
  void note(const std::string& text) { say(Progress::Kind::kNote, text); }
  void step(const std::string& text) { say(Progress::Kind::kStep, text); }

 private:
  void say(Progress::Kind kind, const std::string& text);

  const OnProgress sink_;
  const double later_s_;
};

/// Opened now, where it was not; what was done to it, such as a change to a newer format, is a note.
Database& database_of(Log& log, Reporter& reporter);

}  // namespace lehr::api
