// Copies a shard's log to a shared folder while the log grows. SQLite itself never writes to the shared
// folder.
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

/// The name of the file that one attempt at a shard publishes: "shard-3-of-8.n017.0123456789ab.db".
struct PublishedName {
  Shard shard;
  std::string host;
  std::string attempt;  ///< first digits of the session that measured the plan's probe
};
inline constexpr std::size_t kAttemptDigits = 12;
std::string to_text(const PublishedName& name);

/// A published file, with its parsed name.
struct PublishedFile : PublishedName {
  std::filesystem::path path;
};
/// Returns the files that all attempts at all shards have published, in order of their names. Other files are
/// ignored.
std::vector<PublishedFile> published_in(const std::filesystem::path& folder);

/// Returns the path of the file that marks a shard as finished and states its result.
std::filesystem::path done_file(const std::filesystem::path& folder, const Shard& shard);

/// Publishes a log again and again in a thread of its own. Each time, SQLite's backup makes a copy in the
/// log's folder. The copy's bytes are written to the shared folder under a temporary name, flushed with
/// fsync, and renamed.
class Publisher {
 public:
  /// `tell` is called from another thread. It gets a sentence when the folder cannot be written, and another
  /// when it can be written again.
  Publisher(std::filesystem::path folder, PublishedName name, std::filesystem::path log, double every_s,
            std::function<void(const std::string&)> tell);
  Publisher(const Publisher&) = delete;
  /// Publishes once more.
  ~Publisher();
  /// Publishes for the last time. Returns a sentence that explains why that failed; "" if it did not fail.
  std::string finish();

 private:
  void run(double every_s);
  /// Publishes once. Returns "", or a sentence that explains why that failed.
  std::string publish() const;

  const std::filesystem::path folder_, log_;
  const PublishedName name_;
  const std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;  // the last member, since the thread uses all others
};

}  // namespace lehr::cluster
