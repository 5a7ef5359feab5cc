// What crosses the library's face: its own errors, and states behind its handles. For api/ alone.
#pragma once

#include <mutex>
#include <new>
#include <optional>
#include <string_view>

#include "api/lehr.h"
#include "api/options.h"
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
/// Returns the sentence for an exception of the standard library or of another one.
std::string sentence_of(const std::exception& error);
/// Returns what `call` returns. Whatever it throws becomes an Error of the face, but for std::bad_alloc.
template <typename Call>
auto guarded(Call&& call) {
  try {
    return call();
  } catch (const lehr::Error& error) {
    throw Error(code_of(error.kind()), with_members(error.what()), error.what());
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Code::kMissing, sentence_of(error));
  }
}

/// Throws lehr::Error where an option that names a file or folder is empty.
void check_named(std::string_view flag, const std::string& path);
/// Throws lehr::Error where the file has no name or a size is below 1.
void check_model(const Model& model);

/// Hands events on to a callback that may be empty and may throw, which then gets no more. Any thread may
/// tell.
class Reporter {
 public:
  explicit Reporter(OnProgress sink) : sink_(sink ? harmless(std::move(sink)) : OnProgress()) {}
  void show(Event event);
  void note(const std::string& text) { say(Progress::Kind::kNote, text); }
  void step(const std::string& text) { say(Progress::Kind::kStep, text); }

 private:
  void say(Progress::Kind kind, const std::string& text);

  std::mutex mutex_;
  const OnProgress sink_;
};

/// Opened now, where it was not.
Database& database_of(Log& log);

}  // namespace lehr::api
