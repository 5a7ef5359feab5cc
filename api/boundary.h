// The boundary of the library: its own errors, and the states behind its handles. For api/ alone.
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
  double opening_s = 0;  ///< seconds that opening took; they count as the first session's time
};

struct Log::State {
  std::string path;
  std::optional<Database> database;  ///< nullopt until it is opened
};

Code code_of(ErrorKind kind);
/// Returns the sentence for an exception of the standard library or of another one.
std::string sentence_of(const std::exception& error);
/// Returns what `call` returns. Turns every exception but std::bad_alloc into an api::Error.
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
void check_model(const NetworkFile& model);

/// Hands events on to a callback, which may be empty. A callback that throws gets no more events. Any thread
/// may report.
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

/// Returns the log's database, and opens it first if that has not been done.
Database& database_of(Log& log);

}  // namespace lehr::api
