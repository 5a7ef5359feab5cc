// A shard's log, copied to a shared folder while it grows. SQLite never writes there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/plan.h"

namespace lehr::cluster {

/// The name of what one attempt at a shard publishes: "shard-3-of-8.n017.0123456789ab.db".
struct PublishedName {
  Shard shard;
  std::string host;
  std::string attempt;  ///< how the session begins that measured the plan's probe
};
inline constexpr std::size_t kAttemptDigits = 12;
std::string to_text(const PublishedName& name);

/// A file of a folder by its name.
struct PublishedFile : PublishedName {
  std::filesystem::path path;
};
/// What all attempts at all shards have published, in order of their names. Other files are passed over.
std::vector<PublishedFile> published_in(const std::filesystem::path& folder);

/// The file that says that a shard's share was gone through, and what came of it.
std::filesystem::path done_file(const std::filesystem::path& folder, const Shard& shard);

/// Publishes a log in a thread of its own, each time whole: a copy by SQLite's backup beside the log, its
/// bytes under a temporary name, fsync, rename.
class Publisher {
 public:
  /// `tell` gets a sentence when the folder cannot be written, and when it can be again; from another thread.
  Publisher(std::filesystem::path folder, PublishedName name, std::filesystem::path log, double every_s,
            std::function<void(const std::string&)> tell);
  Publisher(const Publisher&) = delete;
  /// Publishes once more.
  ~Publisher();
  /// Publishes once more, and that is the last time. Returns why it did not go, a sentence; "": it went.
  std::string finish();

 private:
  void run(double every_s);
  /// "", or why not.
  std::string publish() const;

  const std::filesystem::path folder_, log_;
  const PublishedName name_;
  const std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace lehr::cluster
