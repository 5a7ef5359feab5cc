// The boundary of the library: errors of its public interface, and the states of its handles. Only for api/.
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
  double opening_s = 0;  ///< seconds that opening the device took; they count as time of the first session
};

struct Log::State {
  std::string path;
  std::optional<Database> database;  ///< nullopt until the file is opened
};

Code code_of(ErrorKind kind);
/// Returns a sentence for an exception that is not Lehr's own.
std::string sentence_of(const std::exception& error);
/// Calls `call` and returns its result. An exception other than std::bad_alloc becomes an api::Error.
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

/// Throws lehr::Error if an option that names a file or folder is empty.
void check_named(std::string_view flag, const std::string& path);
/// Throws lehr::Error if the file's name is empty or a size is below 1.
void check_model(const NetworkFile& model);

/// Passes events on to a callback, which may be empty. After a callback throws, it gets no more events. Any
/// thread may call the members.
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

/// Returns the log's database. Opens it if it is not open yet.
Database& database_of(Log& log);

}  // namespace lehr::api
